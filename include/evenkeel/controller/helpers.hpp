// SPDX-License-Identifier: Apache-2.0
/// @file
/// Common tasks of reconcilers: creating or updating an object, setting a condition of the status.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <utility>

#include <evenkeel/api/fields.hpp>
#include <evenkeel/api/metadata.hpp>
#include <evenkeel/api/snapshot.hpp>
#include <evenkeel/base/object_key.hpp>
#include <evenkeel/client/errors.hpp>
#include <evenkeel/controller/context.hpp>

namespace evenkeel {
inline namespace v0 {

/// The write that create_or_update() made.
enum class OperationResult : std::uint8_t { unchanged, created, updated };

template <class T>
struct CreateOrUpdateResult {
  Snapshot<T> object = {};
  OperationResult operation = OperationResult::unchanged;
};

/// Creates or updates the object at `key` with the changes that `edit(T&)` makes; sends no request if it
/// makes none. `edit` gets the existing object, or a new one with only namespace and name. It must set only
/// fields that this program manages, must not change namespace and name, and may be called twice. The
/// existing object is read as by Context::find(), or from the server if the cached state is out of date. To
/// own the object, call set_controller_reference(owner, object) in `edit`. For objects that the program
/// specifies completely, Context::apply() is simpler. Throws ApiError: Conflict only if `edit` changes a list
/// that another client changed concurrently.
/// Source: controller-runtime controllerutil.CreateOrUpdate; unlike it, sends only the difference.
template <ObjectType T, class Edit>
CreateOrUpdateResult<T> create_or_update(Context& context, const ObjectKey& key, Edit edit) {
  static_assert(detail::CheckedEdit<Edit, T>::passed);
  Snapshot<T> found = context.find<T>(key);
  if (!found) {
    T object{};
    object.metadata.namespace_ = key.namespace_;
    object.metadata.name = key.name;
    std::invoke(edit, object);
    try {
      return {context.wrote(context.client().create(object)), OperationResult::created};
    } catch (const ApiError& error) {
      if (!error.is_already_exists()) throw;
    }
    found = context.client().get<T>(key);  // not yet in the cache
  }
  const std::string before = found->metadata.resource_version;
  Snapshot<T> changed = context.patch(found, [&edit](T& object) { std::invoke(edit, object); });
  const bool same = changed->metadata.resource_version == before;
  return {std::move(changed), same ? OperationResult::unchanged : OperationResult::updated};
}

/// Sets a condition in the status of the object being reconciled, and sends it if it differs.
/// last_transition_time is set to the time of the context's clock when the condition's status changes, and is
/// kept otherwise. An unset observed_generation becomes the generation of the object. The status of T must
/// have `std::vector<Condition> conditions`.
template <ObjectType T>
Snapshot<T> set_condition(Context& context, const T& object, Condition condition) {
  if (!condition.observed_generation) condition.observed_generation = object.metadata.generation;
  return context.patch_status(
      object, [&](auto& status) { set_condition(status.conditions, condition, context.clock().wall_now()); });
}

}  // namespace v0
}  // namespace evenkeel
