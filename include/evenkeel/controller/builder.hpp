// SPDX-License-Identifier: Apache-2.0
// How a controller is put together: controller_for<Demo>(reconcile).owns<ConfigMap>().
#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <evenkeel/api/codec.hpp>
#include <evenkeel/api/crd.hpp>
#include <evenkeel/api/fields.hpp>
#include <evenkeel/cache/cache.hpp>
#include <evenkeel/controller/controller.hpp>
#include <evenkeel/controller/handler.hpp>
#include <evenkeel/controller/predicate.hpp>
#include <evenkeel/controller/reconciler.hpp>

namespace evenkeel::inline v0 {

/// Which events of a watched kind cause a reconcile, and of whom.
struct TriggerOptions {
  Predicate when = {};                        ///< Events that it refuses are not acted on.
  OwnerMatch owner = OwnerMatch::controller;  ///< For owns(): which owners are told.
};

namespace detail {

/// Whether a kind is defined by a CustomResourceDefinition, as opposed to built into the server.
EVENKEEL_API bool is_custom(const ResourceInfo& resource);

/// "Demo" to "demo".
EVENKEEL_API std::string default_name(std::string_view kind);

template <ObjectType T>
WatchSpec watch_of(KeyMapping mapping, TriggerOptions options) {
  return {.resource = T::resource,
          .mapping = std::move(mapping),
          .when = std::move(options.when),
          .crd = is_custom(T::resource) ? std::function<Json()>([] { return crd_for<T>(); }) : nullptr,
          .attach = [](Cache& cache, std::shared_ptr<EventHandler> handler) {
            cache.informer<T>().add_handler(std::move(handler), {.delivery = Delivery::direct});
            return &cache.informer<T>();
          }};
}

// `more` is one key or a range of them.
template <class Keys>
void add_keys(std::vector<ObjectKey>& keys, const Keys& more) {
  if constexpr (std::same_as<Keys, ObjectKey>)
    return keys.push_back(more);
  else
    keys.insert(keys.end(), std::begin(more), std::end(more));
}

// A mapping of the program's own: of the typed object, or of its wire form where metadata is enough.
template <ObjectType T, class F>
KeyMapping mapping_of(F function) {
  return [function = std::move(function)](const WireObject& object, std::vector<ObjectKey>& keys) mutable {
    if constexpr (std::invocable<F&, const WireObject&>) {
      add_keys(keys, std::invoke(function, object));
    } else {
      add_keys(keys, std::invoke(function, *object.template decode<T>()));
    }
  };
}

}  // namespace detail

/// Describes a controller; hand it to Manager::add(). What is not said has a default.
/// Thread safety: one thread at a time.
template <ObjectType T>
class ControllerBuilder {
 public:
  template <class F>
  ControllerBuilder(F reconciler, TriggerOptions options)
      : reconciler_([reconciler = std::move(reconciler)](std::vector<Finalizer<T>> finalizers) {
          return reconcile_function<T>(reconciler, std::move(finalizers));
        }) {
    spec_.resource = T::resource;
    spec_.watches.push_back(detail::watch_of<T>(map_to_object(), std::move(options)));
    spec_.watches.back().primary = true;
    spec_.count = [](Cache& cache) { return cache.informer<T>().store().size(); };
    if (detail::is_custom(T::resource)) spec_.crd = [] { return crd_for<T>(); };
  }

  /// Reconciles the owner of each U that changes.
  template <ObjectType U>
  ControllerBuilder& owns(TriggerOptions options = {}) {
    const OwnerMatch match = options.owner;
    spec_.watches.push_back(detail::watch_of<U>(map_to_owner(T::resource, match), std::move(options)));
    return *this;
  }

  /// Reconciles what `mapping` says of each U that changes: it gets a `const U&`, or a `const WireObject&`
  /// for what metadata tells, and returns an ObjectKey or a range of them. It is called on the cache's
  /// threads, for the state before and the state after a change, and must not block.
  template <ObjectType U, class F>
  ControllerBuilder& watches(F mapping, TriggerOptions options = {}) {
    spec_.watches.push_back(
        detail::watch_of<U>(detail::mapping_of<U>(std::move(mapping)), std::move(options)));
    return *this;
  }

  /// Before an object goes, `clean_up(context, object)` runs; it is kept until that returns done. The
  /// finalizer is added when the object is first seen. `name` is qualified: "demo.example.com/cleanup".
  /// Several run in the order given.
  template <class F>
  requires std::invocable<F&, Context&, const T&> ControllerBuilder& finalize(std::string name, F clean_up) {
    finalizers_.push_back(
        {std::move(name), [clean_up = std::move(clean_up)](Context& context, const T& object) mutable {
           return detail::call_reconciler(clean_up, context, object);
         }});
    return *this;
  }

  /// A name for logs and metrics, unique in its manager. Default: the kind in lower case.
  ControllerBuilder& named(std::string name) {
    spec_.options.name = std::move(name);
    return *this;
  }

  /// Replaces all options but a name that was given before.
  ControllerBuilder& with(ControllerOptions options) {
    if (options.name.empty()) options.name = std::move(spec_.options.name);
    spec_.options = std::move(options);
    return *this;
  }

  operator ControllerSpec() const {
    ControllerSpec spec = spec_;
    if (spec.options.name.empty()) spec.options.name = detail::default_name(T::resource.kind);
    spec.reconcile = reconciler_(finalizers_);
    return spec;
  }

 private:
  ControllerSpec spec_;
  std::function<ReconcileFunction(std::vector<Finalizer<T>>)> reconciler_;
  std::vector<Finalizer<T>> finalizers_;
};

/// A controller for objects of kind T. `reconciler` is called with (Context&, const T&) while the object
/// exists and is not being deleted, or with (Context&, const Request&) whatever became of it; the first form
/// wins if both fit. With several workers it is called concurrently, for different objects.
template <ObjectType T, class F>
requires ObjectReconciler<F, T> || RequestReconciler<F> ControllerBuilder<T> controller_for(
    F reconciler, TriggerOptions options = {}) {
  return {std::move(reconciler), std::move(options)};
}

}  // namespace evenkeel::inline v0
