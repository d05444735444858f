// SPDX-License-Identifier: Apache-2.0
// What may be a reconciler, and how each form is called.
#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <evenkeel/client/errors.hpp>
#include <evenkeel/controller/context.hpp>
#include <evenkeel/controller/result.hpp>

namespace evenkeel {
inline namespace v0 {

/// Called with the object, while it exists and is not being deleted. Returns Result or nothing (done).
template <class F, class T>
concept ObjectReconciler = std::invocable<F&, Context&, const T&>;

/// Called with the key, whatever became of the object. Returns Result or nothing (done).
template <class F>
concept RequestReconciler = std::invocable<F&, Context&, const Request&>;

/// Any reconciler, its form forgotten.
using ReconcileFunction = std::function<Result(Context&)>;

/// Work to be done before an object of a kind goes.
template <ObjectType T>
struct Finalizer {
  std::string name;
  std::function<Result(Context&, const T&)> clean_up;
};

namespace detail {

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

// Changes the finalizers of an object; empty if it is gone. What was read must still be the latest: a change
// of a list is refused with a conflict otherwise.
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

// Runs the clean-ups whose finalizers are still there, and takes each off when it is done.
template <ObjectType T>
Result run_finalizers(Context& context, Snapshot<T> object, const std::vector<Finalizer<T>>& finalizers) {
  for (const Finalizer<T>& finalizer : finalizers) {
    if (!object || !has_finalizer(object->metadata, finalizer.name)) continue;
    context.set_primary(std::make_unique<PrimaryOf<T>>(object));
    Result result = finalizer.clean_up(context, *object);
    if (result.kind() != Result::Kind::done) return result;
    // The clean-up may have written to the object: what it left is what the change is based on.
    object = edit_finalizers(context, context.latest<T>(),
                             [&](ObjectMeta& metadata) { remove_finalizer(metadata, finalizer.name); });
  }
  return done();
}

}  // namespace detail

/// Makes one function of a reconciler and the finalizers of its kind.
template <ObjectType T, class F>
requires ObjectReconciler<F, T> || RequestReconciler<F> ReconcileFunction
reconcile_function(F function, std::vector<Finalizer<T>> finalizers = {}) {
  return [function = std::move(function),
          finalizers = std::move(finalizers)](Context& context) mutable -> Result {
    Snapshot<T> object = context.find<T>(context.key());
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
