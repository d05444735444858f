// SPDX-License-Identifier: Apache-2.0
// Metadata of objects, and helpers for finalizers, owner references and conditions.
#pragma once

#include <concepts>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/api/fields.hpp>
#include <evenkeel/api/json.hpp>
#include <evenkeel/api/time.hpp>
#include <evenkeel/base/error.hpp>
#include <evenkeel/base/object_key.hpp>

namespace evenkeel {
inline namespace v0 {

/// Reference to the owner of an object.
struct OwnerReference {
  std::string api_version = {};
  std::string kind = {};
  std::string name = {};
  std::string uid = {};
  std::optional<bool> controller = {};            ///< True for the one owner that manages the object.
  std::optional<bool> block_owner_deletion = {};  ///< Foreground deletion of the owner waits for the object.

  bool operator==(const OwnerReference&) const = default;
};

/// The metadata of an object. Empty strings and zero numbers are not encoded, so that a new object sets only
/// the given fields.
struct ObjectMeta {
  std::string name = {};
  std::string generate_name = {};  ///< The server appends a random suffix if `name` is empty.
  std::string namespace_ = {};
  std::string uid = {};
  std::string resource_version = {};  ///< Opaque.
  std::int64_t generation = 0;        ///< Incremented on changes of the spec.
  std::optional<Time> creation_timestamp = {};
  std::optional<Time> deletion_timestamp = {};
  std::optional<std::int64_t> deletion_grace_period_seconds = {};
  std::map<std::string, std::string> labels = {};
  std::map<std::string, std::string> annotations = {};
  std::vector<std::string> finalizers = {};
  std::vector<OwnerReference> owner_references = {};
  std::vector<Json> managed_fields = {};

  bool operator==(const ObjectMeta&) const = default;
};

/// The standard form of an entry of `status.conditions`.
struct Condition {
  std::string type = {};
  std::string status = {};  ///< "True", "False" or "Unknown".
  std::optional<std::int64_t> observed_generation = {};
  std::optional<Time> last_transition_time = {};
  std::string reason = {};
  std::string message = {};

  bool operator==(const Condition&) const = default;
};

EVENKEEL_DECLARE_FIELDS(OwnerReference)
EVENKEEL_DECLARE_FIELDS(ObjectMeta)
EVENKEEL_DECLARE_FIELDS(Condition)

inline ObjectKey key_of(const ObjectMeta& metadata) {
  return {metadata.namespace_, metadata.name};
}
template <class T>
requires requires(const T& object) {
  { object.metadata } -> std::convertible_to<const ObjectMeta&>;
}
ObjectKey key_of(const T& object) {
  return key_of(object.metadata);
}

/// Returns true if deletion was requested: only finalizers keep the object alive.
inline bool is_deleting(const ObjectMeta& metadata) {
  return metadata.deletion_timestamp.has_value();
}

EVENKEEL_API bool has_finalizer(const ObjectMeta& metadata, std::string_view finalizer);
/// Appends `finalizer`; returns true if it was missing.
EVENKEEL_API bool add_finalizer(ObjectMeta& metadata, std::string_view finalizer);
/// Removes every occurrence; returns true if there was one.
EVENKEEL_API bool remove_finalizer(ObjectMeta& metadata, std::string_view finalizer);

/// Thrown if another controller already owns the object; an object has at most one controller.
class EVENKEEL_API AlreadyOwned : public Error {
 public:
  AlreadyOwned(const ObjectMeta& object, OwnerReference owner);
  const OwnerReference& owner() const { return owner_; }

 private:
  OwnerReference owner_;
};

/// Returns the reference whose `controller` is true, or null.
EVENKEEL_API const OwnerReference* controller_of(const ObjectMeta& metadata);
/// Returns true if both references name the same owner: equal group, kind and name, in any API version.
EVENKEEL_API bool same_owner(const OwnerReference& a, const OwnerReference& b);

/// Returns a reference to the object `owner` of kind `resource`. Throws std::invalid_argument if it has no
/// name or no uid, which means that it does not exist on the server yet.
EVENKEEL_API OwnerReference owner_reference(const ResourceInfo& resource, const ObjectMeta& owner);

/// Adds `reference`, or replaces the one to the same owner. `owner_namespace` is the owner's namespace, ""
/// for cluster-scoped owners. Throws std::invalid_argument if the owner has a namespace and `object` has none
/// or a different one.
EVENKEEL_API void set_owner(ObjectMeta& object, OwnerReference reference, std::string_view owner_namespace);
/// Like set_owner(), for the one controller of `object`: sets `controller`, and `block_owner_deletion` unless
/// the reference sets it. Also throws AlreadyOwned if another owner is the controller. Source:
/// controller-runtime controllerutil.SetControllerReference; WithBlockOwnerDeletion(false) is
/// `block_owner_deletion` here.
EVENKEEL_API void set_controller(ObjectMeta& object, OwnerReference reference,
                                 std::string_view owner_namespace);
/// Removes the reference to the same owner; returns true if there was one.
EVENKEEL_API bool remove_owner(ObjectMeta& object, const OwnerReference& reference);

/// Makes `owner` the controller of `object`; see set_controller().
template <ObjectType Owner>
void set_controller_reference(const Owner& owner, ObjectMeta& object) {
  set_controller(object, owner_reference(Owner::resource, owner.metadata), owner.metadata.namespace_);
}
/// Adds `owner` to the owners of `object`; see set_owner().
template <ObjectType Owner>
void set_owner_reference(const Owner& owner, ObjectMeta& object) {
  set_owner(object, owner_reference(Owner::resource, owner.metadata), owner.metadata.namespace_);
}
/// Returns true if `owner` is among the owners of `object`, by uid.
template <ObjectType Owner>
bool is_owned_by(const ObjectMeta& object, const Owner& owner) {
  for (const OwnerReference& reference : object.owner_references) {
    if (reference.uid == owner.metadata.uid && !reference.uid.empty()) return true;
  }
  return false;
}

/// Returns the condition of this type, or null.
EVENKEEL_API const Condition* find_condition(const std::vector<Condition>& conditions, std::string_view type);
/// Returns true if the condition exists and is "True".
EVENKEEL_API bool is_condition_true(const std::vector<Condition>& conditions, std::string_view type);
/// Sets a condition; its transition time becomes `now` if its status changes, and is kept otherwise. Returns
/// true if anything changed. Source: apimachinery meta.SetStatusCondition.
EVENKEEL_API bool set_condition(std::vector<Condition>& conditions, Condition condition, WallTime now);
/// Removes the condition; returns true if it existed.
EVENKEEL_API bool remove_condition(std::vector<Condition>& conditions, std::string_view type);

}  // namespace v0
}  // namespace evenkeel
