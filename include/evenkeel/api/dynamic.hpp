// SPDX-License-Identifier: Apache-2.0
// Objects without a C++ type: any kind as its full document (DynamicObject) or as its metadata only
// (PartialObject).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <evenkeel/api/codec.hpp>
#include <evenkeel/api/json.hpp>
#include <evenkeel/api/metadata.hpp>
#include <evenkeel/api/resource.hpp>
#include <evenkeel/base/object_key.hpp>

namespace evenkeel {
inline namespace v0 {

/// An object of any kind: its document, with accessors for the members that all objects have. Reading and
/// writing it back loses nothing.
/// Lifetime: views returned by accessors are valid until the document changes.
class EVENKEEL_API DynamicObject {
 public:
  DynamicObject() : body_(Json::object()) {}
  explicit DynamicObject(Json body) : body_(std::move(body)) {}
  /// Creates a new object of this kind.
  DynamicObject(const ResourceId& resource, std::string_view namespace_, std::string_view name);

  const Json& body() const noexcept { return body_; }
  Json& body() noexcept { return body_; }
  /// Accesses a member of the document: object["spec"]["replicas"].
  const Json& operator[](std::string_view member) const noexcept { return body_[member]; }
  Json& operator[](std::string_view member) { return body_[member]; }

  // Absent members and members of the wrong type read as "" or 0.
  std::string_view api_version() const noexcept { return text({"apiVersion"}); }
  std::string_view kind() const noexcept { return text({"kind"}); }
  std::string_view name() const noexcept { return text({"metadata", "name"}); }
  std::string_view namespace_() const noexcept { return text({"metadata", "namespace"}); }
  std::string_view uid() const noexcept { return text({"metadata", "uid"}); }
  std::string_view resource_version() const noexcept { return text({"metadata", "resourceVersion"}); }
  std::int64_t generation() const noexcept { return body_.at({"metadata", "generation"}).integer_or(0); }
  bool is_deleting() const noexcept { return !text({"metadata", "deletionTimestamp"}).empty(); }
  ObjectKey key() const { return {std::string(namespace_()), std::string(name())}; }

  std::map<std::string, std::string> labels() const { return texts("labels"); }
  std::map<std::string, std::string> annotations() const { return texts("annotations"); }
  /// Returns the value of one label or annotation; nullopt if absent.
  std::optional<std::string_view> label(std::string_view name) const noexcept;
  std::optional<std::string_view> annotation(std::string_view name) const noexcept;
  void set_label(std::string_view name, std::string_view value) { body_["metadata"]["labels"][name] = value; }
  void set_annotation(std::string_view name, std::string_view value) {
    body_["metadata"]["annotations"][name] = value;
  }
  std::vector<std::string> finalizers() const;

  /// Returns the metadata as a struct. Throws DecodeError.
  ObjectMeta metadata() const;
  /// Returns the object as a typed one. Throws DecodeError, also if it is of another kind.
  template <Described T>
  T as() const {
    return from_tree<T>(body_, what());
  }
  /// Returns "Pod default/web-0", for messages.
  std::string what() const;

  bool operator==(const DynamicObject&) const = default;

 private:
  std::string_view text(std::initializer_list<std::string_view> path) const noexcept;
  std::map<std::string, std::string> texts(std::string_view member) const;

  Json body_;
};

/// The metadata of an object of any kind.
struct PartialObject {
  std::string api_version = {};
  std::string kind = {};
  ObjectMeta metadata = {};

  bool operator==(const PartialObject&) const = default;
};
EVENKEEL_DECLARE_FIELDS(PartialObject)

inline ObjectKey key_of(const DynamicObject& object) {
  return object.key();
}

}  // namespace v0
}  // namespace evenkeel
