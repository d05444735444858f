// SPDX-License-Identifier: Apache-2.0
// What a test puts on a server before it begins: typed objects, documents, manifests, all in one list.
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

/// One object, or the objects of a manifest; made implicitly from whichever a test has.
/// Thread safety: as for standard containers.
class EVENKEEL_API Object {
 public:
  /// An object of a C++ type. For a kind that is not built into the API server the CustomResourceDefinition
  /// that the type describes is created first, whether or not the type says installs_crd.
  template <ObjectType T>
  Object(const T& object) : documents_{to_tree(object)}, resource_(T::resource) {
    if constexpr (requires { object.status; }) leave_untouched_status(to_tree(T{}));
    crd_ = [] { return crd_for<T>(); };
  }
  /// An object of any kind, with apiVersion and kind.
  Object(Json document);
  Object(const DynamicObject& object);
  /// YAML or JSON, several documents and Lists too. Throws DecodeError.
  Object(std::string_view manifest);
  Object(const std::string& manifest) : Object(std::string_view(manifest)) {}
  Object(const char* manifest) : Object(std::string_view(manifest)) {}

  const std::vector<Json>& documents() const noexcept { return documents_; }
  /// The kind, if the object has a C++ type; no plural otherwise.
  const ResourceId& resource() const noexcept { return resource_; }
  /// Makes the CustomResourceDefinition that the C++ type describes; null for objects without one.
  const std::function<Json()>& crd() const noexcept { return crd_; }

 private:
  // A status that nobody set is none: nobody has written one yet.
  void leave_untouched_status(const Json& untouched);

  std::vector<Json> documents_;
  ResourceId resource_;
  std::function<Json()> crd_;
};

using Objects = std::vector<Object>;

/// Creates objects as they stand, in their order, and what they need first: their namespaces, and the
/// definitions of kinds that have a C++ type. Definitions among the objects are waited for until they are
/// served.
///
/// Unlike a plain create, which the server would refuse or cut down: a status is written as well, through the
/// subresource where there is one; an object with a deletion timestamp is created and deleted, and must
/// therefore have a finalizer; an owner reference without uid gets that of the owner, which comes before it;
/// resourceVersion, uid, generation and managedFields are left to the server.
/// Throws ApiError for what the server refuses, Error naming the object for what cannot be.
EVENKEEL_API void create_objects(const Client& client, const Objects& objects);

}  // namespace testing
}  // namespace v0
}  // namespace evenkeel
