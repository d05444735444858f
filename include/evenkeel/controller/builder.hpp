// SPDX-License-Identifier: Apache-2.0
// The fluent description of a controller: controller_for<Demo>(reconcile).owns<ConfigMap>().
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <evenkeel/api/codec.hpp>
#include <evenkeel/api/fields.hpp>
#include <evenkeel/cache/cache.hpp>
#include <evenkeel/controller/controller_spec.hpp>
#include <evenkeel/controller/detail/watch_clauses.hpp>
#include <evenkeel/controller/handler.hpp>
#include <evenkeel/controller/predicate.hpp>
#include <evenkeel/controller/reconciler.hpp>
#include <evenkeel/controller/resource_reconciler.hpp>
#include <evenkeel/controller/source.hpp>
#include <evenkeel/controller/trigger_options.hpp>

namespace evenkeel {
inline namespace v0 {

/// Returns a watch of U that reconciles the U itself, for Controller::watch(). `options` may have at most one
/// namespace. This and the following functions throw std::invalid_argument as ControllerBuilder does.
template <ObjectType U>
WatchSpec watch_object(TriggerOptions options = {}) {
  auto scope = detail::scope_of(U::resource, options, Projection::of<U>());
  return detail::watch_of<U>(map_to_object(), std::move(options), std::move(scope));
}
/// Returns a watch of U that reconciles the owner of each U, which is of the kind `owner`:
/// watch_owned<Pod>(Demo::resource).
template <ObjectType U>
WatchSpec watch_owned(ResourceId owner, TriggerOptions options = {}) {
  auto scope = detail::scope_of(U::resource, options, Projection::of<U>());
  const OwnerMatch match = options.owner;
  WatchSpec spec =
      detail::watch_of<U>(map_to_owner(std::move(owner), match), std::move(options), std::move(scope));
  spec.owned = true;
  return spec;
}
/// Returns a watch of U that reconciles the keys that `mapping` returns; see ControllerBuilder::watches().
template <ObjectType U, class F>
WatchSpec watch_mapped(F mapping, TriggerOptions options = {}) {
  auto scope = detail::scope_of(U::resource, options, Projection::of<U>());
  return detail::watch_mapped_in<U>(std::move(mapping), std::move(options), std::move(scope));
}

template <ObjectType T>
class Dependents;

/// A fluent description of a controller, for Manager::add(). Every setting has a default. Clauses throw
/// std::invalid_argument, naming themselves, for selectors and namespaces that are invalid.
/// T is the C++ type of the reconciled kind, or DynamicObject.
/// Thread safety: one thread at a time.
template <class T>
class ControllerBuilder {
 public:
  template <class F>
  ControllerBuilder(ResourceId resource, F reconciler, TriggerOptions options)
      : reconciler_([resource, reconciler = std::move(reconciler)](std::vector<Finalizer<T>> finalizers) {
          if constexpr (ObjectType<T>) {
            return reconcile_function<T>(reconciler, std::move(finalizers));
          } else {
            return reconcile_function(resource, reconciler, std::move(finalizers));
          }
        }) {
    spec_.resource = std::move(resource);
    scopes_ = detail::scopes_of("controller_for", spec_.resource, options, detail::projection_of<T>());
    for (const detail::WatchScope& scope : scopes_) {
      spec_.watches.push_back(watch_of_primary(spec_.resource, options, scope));
      spec_.watches.back().primary = true;
    }
    spec_.count = [of = spec_.resource, scopes = scopes_](Cache& cache) {
      std::size_t count = 0;
      for (const Informer* informer : detail::informers_of(cache, of, scopes))
        count += informer->store().size();
      return count;
    };
    spec_.crd = spec_.watches.back().crd;
    spec_.installs_crd = spec_.watches.back().installs_crd;
  }

  /// Reconciles the owner of each U that changes.
  template <ObjectType U>
  ControllerBuilder& owns(TriggerOptions options = {}) {
    for (detail::WatchScope& scope : detail::scopes_of("owns", U::resource, options, Projection::of<U>())) {
      spec_.watches.push_back(
          detail::watch_of<U>(map_to_owner(spec_.resource, options.owner), options, std::move(scope)));
      spec_.watches.back().owned = true;
    }
    return *this;
  }
  template <class U>
  requires(!ObjectType<U>) auto owns(TriggerOptions = {}) { return detail::ExplainedObjectType<U>(); }
  /// Like owns<U>(), for a kind without a C++ type.
  ControllerBuilder& owns(const ResourceId& owned, TriggerOptions options = {}) {
    for (detail::WatchScope& scope : detail::scopes_of("owns", owned, options)) {
      spec_.watches.push_back(
          detail::watch_of(owned, map_to_owner(spec_.resource, options.owner), options, std::move(scope)));
      spec_.watches.back().owned = true;
    }
    return *this;
  }

  /// Reconciles the keys that `mapping` returns for each U that changes. `mapping` takes a `const U&`, or a
  /// `const WireObject&` if metadata is enough, and returns an ObjectKey or a range of them. It is called for
  /// the states before and after a change, on a dedicated thread, so that a slow mapping does not delay other
  /// watches. If it also takes a `const Cache&`, it can look up the objects that refer to the U:
  ///
  ///     .watches<Secret>([](const Secret& secret, const Cache& cache) { return users_of(secret, cache); })
  ///
  /// An exception thrown by the mapping is logged, and the mapping is called for the same states again: after
  /// 1 s, then after twice the previous delay, up to 5 min. A key without a name is rejected and logged.
  template <ObjectType U, class F>
  ControllerBuilder& watches(F mapping, TriggerOptions options = {}) {
    for (detail::WatchScope& scope : detail::scopes_of("watches", U::resource, options, Projection::of<U>()))
      spec_.watches.push_back(detail::watch_mapped_in<U>(mapping, options, std::move(scope)));
    return *this;
  }
  template <class U, class F>
  requires(!ObjectType<U>) auto watches(F, TriggerOptions = {}) { return detail::ExplainedObjectType<U>(); }
  /// Like watches<U>(mapping), for a kind without a C++ type: `mapping` takes a `const DynamicObject&` or a
  /// `const WireObject&`.
  template <class F>
  ControllerBuilder& watches(const ResourceId& watched, F mapping, TriggerOptions options = {}) {
    for (detail::WatchScope& scope : detail::scopes_of("watches", watched, options)) {
      spec_.watches.push_back(detail::with_mapping<DynamicObject>(
          detail::watch_of(watched, {}, options, std::move(scope), Delivery::queued), mapping));
    }
    return *this;
  }
  /// Reconciles the objects of this controller whose index contains the name of the U:
  ///
  ///     .index("secret", [](const Website& site) { return site.spec.secret; })
  ///     .watches<Secret>(indexed("secret"))
  ///
  /// reconciles each Website in the namespace of a changed Secret whose index "secret" contains the Secret's
  /// name; see IndexScope for other namespaces. Only objects that the controller itself watches are found. An
  /// object that changes at the same time is reconciled for its own event, so none is missed.
  /// Manager::add() throws std::invalid_argument if the index is not declared, here or in the cache.
  template <ObjectType U>
  ControllerBuilder& watches(IndexedKeys keys, TriggerOptions options = {}) {
    for (detail::WatchScope& scope :
         detail::scopes_of("watches", U::resource, options, Projection::of<U>())) {
      WatchSpec watch = detail::watch_of<U>({}, options, std::move(scope), Delivery::queued);
      watch.bind = [keys, of = spec_.resource, scopes = scopes_](Cache& cache) {
        return detail::mapping_by_index(cache, U::resource, of, scopes, keys);
      };
      spec_.watches.push_back(std::move(watch));
    }
    return *this;
  }

  /// Adds a watch of another form, made by watch_owned() or a similar function.
  ControllerBuilder& watches(WatchSpec watch) {
    spec_.watches.push_back(std::move(watch));
    return *this;
  }

  /// Declares an index of the reconciled kind; see index_by() and Cache::index(). Reconcilers read it with
  /// context.list<T>(by(name, value)).
  template <class F>
  ControllerBuilder& index(std::string name, F function) {
    IndexDefinition definition = index_by<T>(std::move(name), std::move(function));
    detail::require_form(spec_.resource, definition, scopes_.front().form);
    spec_.indexes.push_back({spec_.resource, std::move(definition)});
    return *this;
  }
  /// Declares an index of another kind, which a clause owns or watches.
  template <ObjectType U, class F>
  ControllerBuilder& index(std::string name, F function) {
    spec_.indexes.push_back({U::resource, index_by<U>(std::move(name), std::move(function))});
    return *this;
  }

  /// Adds a predicate that events of every watch must meet in addition to TriggerOptions::when. Does not
  /// apply to sources, nor to the dependents of a graph. If it is called several times, all predicates must
  /// be met.
  ControllerBuilder& filter(Predicate when) {
    filter_ = std::move(filter_) && std::move(when);
    return *this;
  }

  /// Reconciles the keys that are pushed into a channel.
  ControllerBuilder& source(std::string name, KeyChannel channel) {
    spec_.sources.push_back(
        {.name = std::move(name), .subscribe = [channel](KeySink sink) { return channel.subscribe(sink); }});
    return *this;
  }
  /// Reconciles the keys that `mapping` returns for each object pushed into the channel; see watches().
  template <ObjectType U, class F>
  ControllerBuilder& source(const EventChannel<U>& channel, F mapping, TriggerOptions options = {}) {
    WatchSpec watch = watch_mapped<U>(std::move(mapping), std::move(options));
    watch.crd = nullptr;
    watch.installs_crd = false;
    watch.from_server = false;
    watch.attach = [relay = channel.relay()](Cache&, std::shared_ptr<EventHandler> handler) -> Attachment {
      return {.remove = relay.subscribe(std::move(handler))};
    };
    channels_.push_back(std::move(watch));
    return *this;
  }
  /// Runs `run(const KeySink&, std::stop_token)` on a dedicated thread while the controller runs; see
  /// SourceFunction.
  template <class F>
  requires std::invocable<F&, const KeySink&, std::stop_token> ControllerBuilder& source(
      std::string name, F run, SourceOptions options = {}) {
    spec_.sources.push_back({.name = std::move(name), .run = std::move(run), .options = options});
    return *this;
  }

  /// Reconciles every cached object of the kind once per period, at low priority; first one period after the
  /// controller's start. For periodic work that only some objects need, return requeue_after() and set
  /// ControllerOptions::requeue_priority to Lane::slow (flag --requeue-priority).
  ControllerBuilder& every(Duration period) {
    return every(period, [of = spec_.resource, scopes = scopes_](Cache& cache) {
      return detail::all_keys(detail::informers_of(cache, of, scopes));
    });
  }
  /// Like every(period), but for the keys that `keys(Cache&)` returns, a std::vector<ObjectKey>.
  template <class F>
  requires std::invocable<F&, Cache&> ControllerBuilder& every(Duration period, F keys,
                                                               KeyOptions options = {
                                                                   .priority = Lane::slow}) {
    spec_.timers.push_back({.name = "timer", .period = period, .keys = std::move(keys), .options = options});
    return *this;
  }

  /// Adds a finalizer: when an object is deleted, `clean_up(context, object)` runs, and the object is kept
  /// until that returns done(). The finalizer is added when the object is first reconciled. `name` must be
  /// qualified: "demo.example.com/cleanup". Several finalizers run in the order in which they were added.
  /// `clean_up` takes a const T&, or a const PartialObject& if metadata is enough: then it also runs for
  /// objects that do not decode as a T.
  ///
  /// Predicates do not hide the beginning of a deletion from it, but an object that leaves the label_selector
  /// or field_selector of controller_for(), or a namespace that is no longer among its `namespaces`, does:
  /// the object keeps the finalizer, and is not removed when it is deleted. Use filter(matches_labels(...))
  /// in place of a selector of labels that may change.
  template <class F>
  ControllerBuilder& finalize(std::string name, F clean_up) {
    constexpr bool takes_object = std::invocable<F&, Context&, const T&>;
    static_assert(takes_object || std::invocable<F&, Context&, const PartialObject&>,
                  "a clean-up is called with (Context&, const T&), where T is the kind in controller_for<T>, "
                  "or with (Context&, const PartialObject&)");
    using Object = std::conditional_t<takes_object, T, PartialObject>;
    auto call = [clean_up = std::move(clean_up)](Context& context, const Object& object) mutable {
      return detail::call_reconciler(clean_up, context, object);
    };
    if constexpr (takes_object) {
      finalizers_.push_back({std::move(name), std::move(call)});
    } else {
      finalizers_.push_back({std::move(name), {}, std::move(call)});
    }
    return *this;
  }

  /// Sets the name for logs, metrics and flags, which must be unique in its manager; see
  /// ControllerOptions::name. Default: the kind in lower case.
  ControllerBuilder& named(std::string name) {
    spec_.options.name = std::move(name);
    return *this;
  }

  /// Selects the instances of the program that reconcile, if there is leader election; see
  /// ControllerOptions::runs_on.
  ControllerBuilder& runs_on(RunsOn where) {
    spec_.options.runs_on = where;
    return *this;
  }

  /// Selects the clusters whose objects are reconciled; see ControllerOptions::runs_in. Each cluster has its
  /// own watches, indexes and timers, and a context reads and writes in the cluster of its object.
  ControllerBuilder& runs_in(RunsIn where) {
    spec_.options.runs_in = where;
    return *this;
  }

  /// Replaces all options. A name that was set before is kept if `options` has none.
  ControllerBuilder& with(ControllerOptions options) {
    if (options.name.empty()) options.name = std::move(spec_.options.name);
    spec_.options = std::move(options);
    return *this;
  }

  operator ControllerSpec() const {
    ControllerSpec spec = spec_;
    if (spec.options.name.empty()) spec.options.name = detail::default_name(spec_.resource.kind);
    spec.reconcile = reconciler_(finalizers_);
    for (const auto& finalizer : finalizers_) spec.finalizers.push_back(finalizer.name);
    for (WatchSpec& watch : spec.watches) {
      if (watch.filtered) watch.when = filter_ && std::move(watch.when);
    }
    spec.watches.insert(spec.watches.end(), channels_.begin(), channels_.end());
    return spec;
  }

 private:
  template <ObjectType U>
  friend class Dependents;

  static WatchSpec watch_of_primary(const ResourceId& resource, const TriggerOptions& options,
                                    const detail::WatchScope& scope) {
    if constexpr (ObjectType<T>) {
      return detail::watch_of<T>(map_to_object(), options, scope);
    } else {
      return detail::watch_of(resource, map_to_object(), options, scope);
    }
  }

  ControllerSpec spec_;
  std::function<ReconcileFunction(std::vector<Finalizer<T>>)> reconciler_;
  std::vector<Finalizer<T>> finalizers_;
  Predicate filter_;
  std::vector<WatchSpec> channels_;         // of the program's own objects; not filtered
  std::vector<detail::WatchScope> scopes_;  // of the reconciled objects, one for each namespace
};

/// Returns the description of a controller for objects of kind T. `reconciler` is called with (Context&,
/// const T&) while the object exists and is not being deleted, or with (Context&, const Request&) whether or
/// not it exists; if it accepts both, the first form is used. With several workers it is called concurrently,
/// for different objects.
template <ObjectType T, class F>
ControllerBuilder<T> controller_for(F reconciler, TriggerOptions options = {}) {
  static_assert(
      ObjectReconciler<F, T> || RequestReconciler<F>,
      "a reconciler is called with (Context&, const T&), where T is the kind in controller_for<T>, or "
      "with (Context&, const Request&)");
  return {T::resource, std::move(reconciler), std::move(options)};
}
template <class T, class F>
requires(!ObjectType<T>) auto controller_for(F, TriggerOptions = {}) {
  return detail::ExplainedObjectType<T>();
}
/// Like controller_for<T>(), for a kind without a C++ type: `reconciler` is called with (Context&, const
/// DynamicObject&) or (Context&, const Request&), and reads and writes with Context::resource().
///
///     controller_for(ResourceId{"demo.example.com", "v1", "Website", "websites"},
///                    [](Context& context, const DynamicObject& website) { ... })
template <class F>
ControllerBuilder<DynamicObject> controller_for(ResourceId resource, F reconciler,
                                                TriggerOptions options = {}) {
  static_assert(
      DynamicReconciler<F> || RequestReconciler<F>,
      "a reconciler of a kind without a C++ type is called with (Context&, const DynamicObject&) or "
      "with (Context&, const Request&)");
  return {std::move(resource), std::move(reconciler), std::move(options)};
}

}  // namespace v0
}  // namespace evenkeel
