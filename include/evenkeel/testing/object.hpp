// SPDX-License-Identifier: Apache-2.0
// Initial objects of a test: typed objects, documents and manifests in one list.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/api/codec.hpp>
#include <evenkeel/api/crd.hpp>
#include <evenkeel/api/dynamic.hpp>
#include <evenkeel/api/fields.hpp>
#include <evenkeel/api/json.hpp>
#include <evenkeel/api/resource.hpp>
#include <evenkeel/base/export.hpp>
#include <evenkeel/client/client.hpp>

namespace evenkeel {
inline namespace v0 {
namespace testing {

/// One object, or the objects of a manifest; converts implicitly from each form.
/// Thread safety: that of standard containers.
class EVENKEEL_API Object {
 public:
  /// An object of a C++ type. For a kind that is not built into the API server, the CustomResourceDefinition
  /// that the type describes is created first, even if the type does not set installs_crd.
  template <ObjectType T>
  Object(const T& object) : documents_{to_tree(object)}, resource_(T::resource) {
    if constexpr (requires { object.status; }) leave_untouched_status(to_tree(T{}));
    crd_ = [] { return crd_for<T>(); };
  }
  /// An object of any kind, with apiVersion and kind.
  Object(Json document);
  Object(const DynamicObject& object);
  /// Parses YAML or JSON, also several documents and Lists. Throws DecodeError.
  Object(std::string_view manifest);
  Object(const std::string& manifest) : Object(std::string_view(manifest)) {}
  Object(const char* manifest) : Object(std::string_view(manifest)) {}

  const std::vector<Json>& documents() const noexcept { return documents_; }
  /// Returns the kind if the object has a C++ type; otherwise a ResourceId with an empty plural.
  const ResourceId& resource() const noexcept { return resource_; }
  /// Returns a function that makes the CustomResourceDefinition of the C++ type; null for objects without
  /// one.
  const std::function<Json()>& crd() const noexcept { return crd_; }

 private:
  // Removes a status that equals the default: it was not set.
  void leave_untouched_status(const Json& untouched);

  std::vector<Json> documents_;
  ResourceId resource_;
  std::function<Json()> crd_;
};

using Objects = std::vector<Object>;

/// Creates objects as given, in their order, after their prerequisites: namespaces, and the definitions of
/// kinds that have a C++ type. After creating a definition, waits until it is served.
///
/// Unlike a plain create: the status is written as well, through the subresource if there is one; an object
/// with a deletion timestamp is created and deleted, and must therefore have a finalizer; an owner reference
/// without a uid gets that of the owner, which must come before it; resourceVersion, uid, generation and
/// managedFields are left to the server.
/// Throws ApiError for errors of the server, and Error naming the object if it cannot be created as given.
EVENKEEL_API void create_objects(const Client& client, const Objects& objects);

}  // namespace testing
}  // namespace v0
}  // namespace evenkeel
