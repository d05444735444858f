// SPDX-License-Identifier: Apache-2.0
/// @file
/// What reconcilers do all the time: create or change an object, set a condition of the status.
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

/// What create_or_update() had to do.
enum class Written : std::uint8_t { unchanged, created, updated };

template <class T>
struct WriteOutcome {
  Snapshot<T> object = {};
  Written written = Written::unchanged;
};

/// Creates the object at `key`, or changes it, so that it is as `edit(T&)` makes it; sends nothing if it is
/// so already. `edit` gets what is there, or an object with a name and no more; it must set only what this
/// program decides, keep namespace and name, and may be called twice. What is there is read as
/// Context::find() reads; if that is out of date, the server is asked. To own the object, call
/// set_controller_reference(owner, object) in `edit`. A whole object of one's own is simpler with
/// Context::apply().
/// Throws ApiError: Conflict only if `edit` changes a list that somebody else changed at the same time.
/// Source: controller-runtime controllerutil.CreateOrUpdate; unlike it, only what changed is sent.
template <ObjectType T, class Edit>
WriteOutcome<T> create_or_update(Context& context, const ObjectKey& key, Edit edit) {
  static_assert(detail::CheckedEdit<Edit, T>::passed);
  Snapshot<T> found = context.find<T>(key);
  if (!found) {
    T object{};
    object.metadata.namespace_ = key.namespace_;
    object.metadata.name = key.name;
    std::invoke(edit, object);
    try {
      return {context.wrote(context.client().create(object)), Written::created};
    } catch (const ApiError& error) {
      if (!error.is_already_exists()) throw;
    }
    found = context.client().get<T>(key);  // the cache did not know of it yet
  }
  const std::string before = found->metadata.resource_version;
  Snapshot<T> changed = context.patch(found, [&edit](T& object) { std::invoke(edit, object); });
  const bool same = changed->metadata.resource_version == before;
  return {std::move(changed), same ? Written::unchanged : Written::updated};
}

/// Sets a condition in the status of the object that is being reconciled, and sends that if it changes
/// anything: last_transition_time changes with the condition's status only, and is the clock's time;
/// observed_generation is the object's, unless it is set. T's status has `std::vector<Condition> conditions`.
template <ObjectType T>
Snapshot<T> set_condition(Context& context, const T& object, Condition condition) {
  if (!condition.observed_generation) condition.observed_generation = object.metadata.generation;
  return context.patch_status(
      object, [&](auto& status) { set_condition(status.conditions, condition, context.clock().wall_now()); });
}

}  // namespace v0
}  // namespace evenkeel
