// SPDX-License-Identifier: Apache-2.0
// The forms of a reconciler function for a kind without a C++ type.
#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <evenkeel/api/dynamic.hpp>
#include <evenkeel/base/export.hpp>
#include <evenkeel/controller/reconciler.hpp>
#include <evenkeel/controller/resource_context.hpp>

namespace evenkeel {
inline namespace v0 {

/// Like ObjectReconciler, for a kind without a C++ type.
template <class F>
concept DynamicReconciler = std::invocable<F&, Context&, const DynamicObject&>;

namespace detail {

/// Adds the finalizers that the object lacks. Returns its new state, empty if it does not exist any more.
EVENKEEL_API Snapshot<DynamicObject> with_finalizers(ResourceContext objects, Snapshot<DynamicObject> object,
                                                     const std::vector<Finalizer<DynamicObject>>& finalizers);
/// Runs the clean-ups whose finalizers are still present, and removes each finalizer when it is done.
EVENKEEL_API Result run_finalizers(Context& context, const ResourceId& resource,
                                   Snapshot<DynamicObject> object,
                                   const std::vector<Finalizer<DynamicObject>>& finalizers);

}  // namespace detail

/// Combines a reconciler of a kind without a C++ type and its finalizers into one function.
template <class F>
requires DynamicReconciler<F> || RequestReconciler<F> ReconcileFunction
reconcile_function(ResourceId resource, F function, std::vector<Finalizer<DynamicObject>> finalizers = {}) {
  return [resource = std::move(resource), function = std::move(function),
          finalizers = std::move(finalizers)](Context& context) mutable -> Result {
    Snapshot<DynamicObject> object = context.resource(resource).find(context.key());
    if (object && !object->is_deleting())
      object = detail::with_finalizers(context.resource(resource), std::move(object), finalizers);
    if (object) context.set_primary(std::make_unique<detail::DynamicPrimary>(resource, object));
    if (object && object->is_deleting()) {
      Result result = detail::run_finalizers(context, resource, object, finalizers);
      if (DynamicReconciler<F> || result.kind() != Result::Kind::done) return result;
    }
    if constexpr (DynamicReconciler<F>) {
      return object ? detail::call_reconciler(function, context, *object) : done();
    } else {
      return detail::call_reconciler(function, context, context.request());
    }
  };
}

}  // namespace v0
}  // namespace evenkeel
