// SPDX-License-Identifier: Apache-2.0
// The forms of a reconciler function.
#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <evenkeel/api/dynamic.hpp>
#include <evenkeel/base/export.hpp>
#include <evenkeel/client/errors.hpp>
#include <evenkeel/controller/context.hpp>
#include <evenkeel/controller/result.hpp>

namespace evenkeel {
inline namespace v0 {

/// A function called with the object while it exists and is not being deleted. Returns Result or void (done).
template <class F, class T>
concept ObjectReconciler = std::invocable<F&, Context&, const T&>;

/// A function called with the key, whether or not the object exists. Returns Result or void (done).
template <class F>
concept RequestReconciler = std::invocable<F&, Context&, const Request&>;

/// Any reconciler, type-erased.
using ReconcileFunction = std::function<Result(Context&)>;

/// A clean-up function that runs before an object of a kind is removed. T is its C++ type, or DynamicObject.
template <class T>
struct Finalizer {
  std::string name;
  std::function<Result(Context&, const T&)> clean_up;
  /// Set instead of `clean_up` if metadata is enough: it also runs for objects that do not decode as a T.
  std::function<Result(Context&, const PartialObject&)> of_metadata = {};
};

namespace detail {

inline PartialObject partial_of(const DynamicObject& object) {
  return {std::string(object.api_version()), std::string(object.kind()), object.metadata()};
}
template <ObjectType T>
PartialObject partial_of(const T& object) {
  return {T::resource.api_version(), std::string(T::resource.kind), object.metadata};
}

template <class T>
Result run_finalizer(const Finalizer<T>& finalizer, Context& context, const T& object) {
  return unfinished(finalizer.clean_up ? finalizer.clean_up(context, object)
                                       : finalizer.of_metadata(context, partial_of(object)));
}

/// Handles an object that does not decode as its C++ type: if it is being deleted, runs the finalizers that
/// it has until one needs the object; else, or then, records a Warning Event CannotDecode and throws
/// TerminalError, because no retry can help before the object changes. Finalizers that need the object have
/// no functions here.
EVENKEEL_API Result reconcile_undecodable(Context& context, const ResourceId& resource,
                                          std::vector<Finalizer<DynamicObject>> finalizers,
                                          const DecodeError& error);

template <class F, class... Arguments>
Result call_reconciler(F& function, Arguments&&... arguments) {
  using Answer = std::invoke_result_t<F&, Arguments...>;
  if constexpr (std::is_void_v<Answer>) {
    std::invoke(function, std::forward<Arguments>(arguments)...);
    return done();
  } else {
    static_assert(std::same_as<Answer, Result>, "a reconciler returns evenkeel::Result or nothing");
    return std::invoke(function, std::forward<Arguments>(arguments)...);
  }
}

// Changes the finalizers of an object; returns an empty snapshot if it does not exist. `object` must be the
// latest state: a change of a list fails with a conflict otherwise.
template <ObjectType T, class Edit>
Snapshot<T> edit_finalizers(Context& context, const Snapshot<T>& object, Edit edit) {
  try {
    return context.client().patch(object, [&](T& changed) { edit(changed.metadata); });
  } catch (const ApiError& error) {
    if (error.is_not_found() && !error.is_no_such_resource()) return {};
    throw;
  }
}

template <ObjectType T>
Snapshot<T> with_finalizers(Context& context, Snapshot<T> object,
                            const std::vector<Finalizer<T>>& finalizers) {
  bool missing = false;
  for (const Finalizer<T>& finalizer : finalizers)
    missing = missing || !has_finalizer(object->metadata, finalizer.name);
  if (!missing) return object;
  return context.wrote(edit_finalizers(context, object, [&](ObjectMeta& metadata) {
    for (const Finalizer<T>& finalizer : finalizers) add_finalizer(metadata, finalizer.name);
  }));
}

// Runs the clean-ups whose finalizers are still present, and removes each finalizer when it is done.
template <ObjectType T>
Result run_finalizers(Context& context, Snapshot<T> object, const std::vector<Finalizer<T>>& finalizers) {
  for (const Finalizer<T>& finalizer : finalizers) {
    if (!object || !has_finalizer(object->metadata, finalizer.name)) continue;
    context.set_primary(std::make_unique<PrimaryOf<T>>(object));
    Result result = run_finalizer(finalizer, context, *object);
    if (result.kind() != Result::Kind::done) return result;
    // The clean-up may have written to the object: base the change on its latest state.
    object = edit_finalizers(context, context.latest<T>(),
                             [&](ObjectMeta& metadata) { remove_finalizer(metadata, finalizer.name); });
  }
  return done();
}

}  // namespace detail

/// Combines a reconciler and the finalizers of its kind into one function.
template <ObjectType T, class F>
requires ObjectReconciler<F, T> || RequestReconciler<F> ReconcileFunction
reconcile_function(F function, std::vector<Finalizer<T>> finalizers = {}) {
  return [function = std::move(function),
          finalizers = std::move(finalizers)](Context& context) mutable -> Result {
    Snapshot<T> object;
    try {
      object = context.find<T>(context.key());
    } catch (const DecodeError& error) {
      std::vector<Finalizer<DynamicObject>> of_metadata;
      for (const Finalizer<T>& finalizer : finalizers)
        of_metadata.push_back({finalizer.name, {}, finalizer.of_metadata});
      return detail::reconcile_undecodable(context, T::resource, std::move(of_metadata), error);
    }
    if (object && !is_deleting(object->metadata))
      object = detail::with_finalizers(context, std::move(object), finalizers);
    if (object) context.set_primary(std::make_unique<detail::PrimaryOf<T>>(object));
    if (object && is_deleting(object->metadata)) {
      Result result = detail::run_finalizers(context, object, finalizers);
      if (ObjectReconciler<F, T> || result.kind() != Result::Kind::done) return result;
    }
    if constexpr (ObjectReconciler<F, T>) {
      return object ? detail::call_reconciler(function, context, *object) : done();
    } else {
      return detail::call_reconciler(function, context, context.request());
    }
  };
}

}  // namespace v0
}  // namespace evenkeel
