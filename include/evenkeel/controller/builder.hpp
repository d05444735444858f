// SPDX-License-Identifier: Apache-2.0
// The fluent description of a controller: controller_for<Demo>(reconcile).owns<ConfigMap>().
#pragma once

#include <concepts>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <evenkeel/api/codec.hpp>
#include <evenkeel/api/crd.hpp>
#include <evenkeel/api/fields.hpp>
#include <evenkeel/cache/cache.hpp>
#include <evenkeel/controller/controller_spec.hpp>
#include <evenkeel/controller/handler.hpp>
#include <evenkeel/controller/predicate.hpp>
#include <evenkeel/controller/reconciler.hpp>
#include <evenkeel/controller/source.hpp>

namespace evenkeel {
inline namespace v0 {

/// Selects the events of a watched kind that cause a reconcile, and the keys that they add.
struct TriggerOptions {
  Predicate when = {};                        ///< Events for which it returns false are ignored.
  OwnerMatch owner = OwnerMatch::controller;  ///< For owns(): the owners whose keys are added.
  /// Priority of the added keys. Default: 0, and Lane::slow for first lists and resyncs.
  std::optional<Priority> priority = {};
  Duration delay = Duration::zero();  ///< Delay from an event to its reconcile; an earlier due time wins.
  /// Form in which the cache keeps the kind. With metadata only, mappings take a WireObject, and reads of
  /// whole objects go to the server.
  WireForm form = WireForm::whole;
};

namespace detail {

/// Returns "demo" for "Demo".
EVENKEEL_API std::string default_name(std::string_view kind);

template <ObjectType T>
Informer& informer_of(Cache& cache, WireForm form) {
  InformerOptions options = cache.default_options();
  options.form = form;
  return cache.informer<T>(std::move(options));
}

EVENKEEL_API Attachment attach_to(Informer& informer, std::shared_ptr<EventHandler> handler,
                                  Delivery delivery);

template <ObjectType T>
WatchSpec watch_of(KeyMapping mapping, TriggerOptions options, Delivery delivery = Delivery::direct) {
  return {.resource = T::resource,
          .mapping = std::move(mapping),
          .when = std::move(options.when),
          .priority = options.priority,
          .delay = options.delay,
          .crd = [] { return crd_for<T>(); },
          .installs_crd = T::resource.installs_crd,
          .attach =
              [form = options.form, delivery](Cache& cache, std::shared_ptr<EventHandler> handler) {
                return attach_to(informer_of<T>(cache, form), std::move(handler), delivery);
              }};
}

// Returns the keys of all objects of a kind that the cache holds.
EVENKEEL_API std::vector<ObjectKey> all_keys(const Informer& informer);

// `more` is one key or a range of them.
template <class Keys>
void add_keys(std::vector<ObjectKey>& keys, const Keys& more) {
  if constexpr (std::same_as<Keys, ObjectKey>)
    return keys.push_back(more);
  else
    keys.insert(keys.end(), std::begin(more), std::end(more));
}

// A mapping that takes the cache as its second argument.
template <class F, class T>
concept CacheMapping =
    std::invocable<F&, const T&, const Cache&> || std::invocable<F&, const WireObject&, const Cache&>;

// `More` are the arguments after the object: none, or the cache.
template <class F, class T, class... More>
struct MappingResult : std::invoke_result<F&, const T&, More...> {};
template <class F, class T, class... More>
requires std::invocable<F&, const WireObject&, More...>
struct MappingResult<F, T, More...> : std::invoke_result<F&, const WireObject&, More...> {
};

template <class Keys>
concept KeyOrKeys = std::same_as<std::remove_cvref_t<Keys>, ObjectKey> || requires(const Keys& keys) {
  requires std::same_as<std::remove_cvref_t<decltype(*std::begin(keys))>, ObjectKey>;
};

template <class F, class T, class... More>
struct CheckedMapping {
  static_assert(std::invocable<F&, const WireObject&, More...> || std::invocable<F&, const T&, More...>,
                "a mapping takes the watched object, (const U&), or its metadata, (const WireObject&)");
  static_assert(KeyOrKeys<typename MappingResult<F, T, More...>::type>,
                "a mapping returns an ObjectKey, {namespace, name}, or a std::vector<ObjectKey>");
  static constexpr bool passed = true;
};

// Wraps a mapping of the program: of the typed object, or of its wire form where metadata is enough.
template <ObjectType T, class F>
KeyMapping mapping_of(F function) {
  static_assert(CheckedMapping<F, T>::passed);
  return [function = std::move(function)](const WireObject& object, std::vector<ObjectKey>& keys) mutable {
    if constexpr (std::invocable<F&, const WireObject&>) {
      add_keys(keys, std::invoke(function, object));
    } else {
      add_keys(keys, std::invoke(function, *object.template decode<T>()));
    }
  };
}

// Wraps a mapping that reads the cache; each watch has a copy of the function.
template <ObjectType T, class F>
KeyMapping mapping_with(F function, const Cache& cache) {
  static_assert(CheckedMapping<F, T, const Cache&>::passed);
  return [function = std::move(function), &cache](const WireObject& object,
                                                  std::vector<ObjectKey>& keys) mutable {
    if constexpr (std::invocable<F&, const WireObject&, const Cache&>) {
      add_keys(keys, std::invoke(function, object, cache));
    } else {
      add_keys(keys, std::invoke(function, *object.template decode<T>(), cache));
    }
  };
}

}  // namespace detail

/// Returns a watch of U that reconciles the U itself, for Controller::watch().
template <ObjectType U>
WatchSpec watch_object(TriggerOptions options = {}) {
  return detail::watch_of<U>(map_to_object(), std::move(options));
}
/// Returns a watch of U that reconciles its owner of the kind `owner`: watch_owned<Pod>(Demo::resource).
template <ObjectType U>
WatchSpec watch_owned(ResourceId owner, TriggerOptions options = {}) {
  const OwnerMatch match = options.owner;
  return detail::watch_of<U>(map_to_owner(std::move(owner), match), std::move(options));
}
/// Returns a watch of U that reconciles the keys that `mapping` returns; see ControllerBuilder::watches().
template <ObjectType U, class F>
WatchSpec watch_mapped(F mapping, TriggerOptions options = {}) {
  if constexpr (detail::CacheMapping<F, U>) {
    WatchSpec watch = detail::watch_of<U>({}, std::move(options), Delivery::queued);
    watch.bind = [mapping = std::move(mapping)](const Cache& cache) {
      return detail::mapping_with<U>(mapping, cache);
    };
    return watch;
  } else {
    return detail::watch_of<U>(detail::mapping_of<U>(std::move(mapping)), std::move(options),
                               Delivery::queued);
  }
}

/// A fluent description of a controller, for Manager::add(). Every setting has a default.
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
    form_ = options.form;
    spec_.watches.push_back(watch_object<T>(std::move(options)));
    spec_.watches.back().primary = true;
    spec_.count = [form = form_](Cache& cache) { return detail::informer_of<T>(cache, form).store().size(); };
    spec_.crd = [] { return crd_for<T>(); };
    spec_.installs_crd = T::resource.installs_crd;
  }

  /// Reconciles the owner of each U that changes.
  template <ObjectType U>
  ControllerBuilder& owns(TriggerOptions options = {}) {
    spec_.watches.push_back(watch_owned<U>(T::resource, std::move(options)));
    return *this;
  }

  /// Reconciles the keys that `mapping` returns for each U that changes. `mapping` takes a `const U&`, or a
  /// `const WireObject&` if metadata is enough, and returns an ObjectKey or a range of them. It is called for
  /// the states before and after a change, on a dedicated thread: a slow mapping does not delay other
  /// watches. If it takes a `const Cache&` as well, it can look up the objects that refer to the U:
  ///
  ///     .watches<Secret>([](const Secret& secret, const Cache& cache) { return users_of(secret, cache); })
  ///
  /// An exception thrown by the mapping is logged, and the mapping is called for the same states again: after
  /// 1 s, then after twice the previous delay, up to 5 min. A key without a name is rejected and logged.
  template <ObjectType U, class F>
  ControllerBuilder& watches(F mapping, TriggerOptions options = {}) {
    spec_.watches.push_back(watch_mapped<U>(std::move(mapping), std::move(options)));
    return *this;
  }

  /// Adds a predicate that events of every watch must meet in addition to the watch's own one. Does not apply
  /// to sources. If called several times, all predicates must be met.
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

  /// Reconciles every object of the kind that the cache holds once in each period, at low priority. The first
  /// time is one period after the controller's start.
  ControllerBuilder& every(Duration period) {
    return every(period, [form = form_](Cache& cache) {
      return detail::all_keys(detail::informer_of<T>(cache, form));
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
  /// until that returns done. The finalizer is added when the object is first reconciled. `name` is
  /// qualified: "demo.example.com/cleanup". Several finalizers run in the order in which they were added.
  template <class F>
  ControllerBuilder& finalize(std::string name, F clean_up) {
    static_assert(std::invocable<F&, Context&, const T&>,
                  "a clean-up is called with (Context&, const T&), where T is the kind in controller_for<T>");
    finalizers_.push_back(
        {std::move(name), [clean_up = std::move(clean_up)](Context& context, const T& object) mutable {
           return detail::call_reconciler(clean_up, context, object);
         }});
    return *this;
  }

  /// Sets the name for logs, metrics and flags, unique in its manager; see ControllerOptions::name. Default:
  /// the kind in lower case.
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

  /// Replaces all options except a name set before.
  ControllerBuilder& with(ControllerOptions options) {
    if (options.name.empty()) options.name = std::move(spec_.options.name);
    spec_.options = std::move(options);
    return *this;
  }

  operator ControllerSpec() const {
    ControllerSpec spec = spec_;
    if (spec.options.name.empty()) spec.options.name = detail::default_name(T::resource.kind);
    spec.reconcile = reconciler_(finalizers_);
    for (WatchSpec& watch : spec.watches) watch.when = filter_ && std::move(watch.when);
    spec.watches.insert(spec.watches.end(), channels_.begin(), channels_.end());
    return spec;
  }

 private:
  ControllerSpec spec_;
  std::function<ReconcileFunction(std::vector<Finalizer<T>>)> reconciler_;
  std::vector<Finalizer<T>> finalizers_;
  Predicate filter_;
  std::vector<WatchSpec> channels_;  // of the program's own objects; not filtered
  WireForm form_ = WireForm::whole;
};

/// Returns the description of a controller for objects of kind T. `reconciler` is called with (Context&,
/// const T&) while the object exists and is not being deleted, or with (Context&, const Request&) whether or
/// not it exists; the first form wins if both fit. With several workers it is called concurrently, for
/// different objects.
template <ObjectType T, class F>
ControllerBuilder<T> controller_for(F reconciler, TriggerOptions options = {}) {
  static_assert(
      ObjectReconciler<F, T> || RequestReconciler<F>,
      "a reconciler is called with (Context&, const T&), where T is the kind in controller_for<T>, or "
      "with (Context&, const Request&)");
  return {std::move(reconciler), std::move(options)};
}

}  // namespace v0
}  // namespace evenkeel
