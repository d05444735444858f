// SPDX-License-Identifier: Apache-2.0
// The watches that the clauses of ControllerBuilder describe: their scopes and mappings.
#pragma once

#include <concepts>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <evenkeel/api/codec.hpp>
#include <evenkeel/api/crd.hpp>
#include <evenkeel/api/fields.hpp>
#include <evenkeel/base/export.hpp>
#include <evenkeel/base/object_key.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/cache/cache.hpp>
#include <evenkeel/controller/controller_spec.hpp>
#include <evenkeel/controller/handler.hpp>
#include <evenkeel/controller/trigger_options.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// The objects of a kind that one watch covers, and the form in which they are kept.
struct WatchScope {
  std::string namespace_ = {};  // empty: that of the cache
  std::string label_selector = {};
  std::string field_selector = {};
  std::optional<Duration> resync = {};
  WireForm form = WireForm::whole;
  Projection projection = {};
  bool declared = true;  // true: the cache keeps the kind permanently; false: only while the watch exists
};

/// Returns the scopes of a clause such as "owns", one for each namespace. Throws std::invalid_argument,
/// naming clause, kind and option, if a selector cannot be parsed, a namespace is empty, repeated or given
/// for a cluster-scoped kind, or a period is negative. A projected form requires `projection`, that of the
/// C++ type.
EVENKEEL_API std::vector<WatchScope> scopes_of(std::string_view clause, const ResourceId& resource,
                                               const TriggerOptions& options,
                                               const std::optional<Projection>& projection = std::nullopt);
/// Returns the projection of a C++ type; std::nullopt for a DynamicObject.
template <class T>
std::optional<Projection> projection_of() {
  if constexpr (ObjectType<T>)
    return Projection::of<T>();
  else
    return std::nullopt;
}
/// Returns the only scope of a watch that is not a clause of a builder. Throws as scopes_of() does, and for
/// more than one namespace.
EVENKEEL_API WatchScope scope_of(const ResourceId& resource, const TriggerOptions& options,
                                 const std::optional<Projection>& projection = std::nullopt);
EVENKEEL_API Informer& informer_of(Cache& cache, const ResourceId& resource, const WatchScope& scope);
EVENKEEL_API std::vector<const Informer*> informers_of(Cache& cache, const ResourceId& resource,
                                                       const std::vector<WatchScope>& scopes);
/// Returns map_to_indexed() for the objects of these scopes. Throws std::invalid_argument, naming the watched
/// kind, if one of them has no such index.
EVENKEEL_API KeyMapping mapping_by_index(Cache& cache, const ResourceId& watched, const ResourceId& resource,
                                         const std::vector<WatchScope>& scopes, const IndexedKeys& keys);
/// Throws std::invalid_argument if the function of an index needs more than the form that a clause keeps.
EVENKEEL_API void require_form(const ResourceId& resource, const IndexDefinition& index, WireForm kept);

/// Returns "demo" for "Demo".
EVENKEEL_API std::string default_name(std::string_view kind);

EVENKEEL_API Attachment attach_to(const std::shared_ptr<Informer>& informer,
                                  std::shared_ptr<EventHandler> handler, Delivery delivery);

/// Returns a watch of a kind without a C++ type.
EVENKEEL_API WatchSpec watch_of(const ResourceId& resource, KeyMapping mapping, TriggerOptions options,
                                WatchScope scope, Delivery delivery = Delivery::direct);

template <ObjectType T>
WatchSpec watch_of(KeyMapping mapping, TriggerOptions options, WatchScope scope,
                   Delivery delivery = Delivery::direct) {
  WatchSpec watch = watch_of(T::resource, std::move(mapping), std::move(options), std::move(scope), delivery);
  watch.crd = [] { return crd_for<T>(); };
  watch.installs_crd = T::resource.installs_crd;
  return watch;
}

// Returns the keys of all objects that these informers hold.
EVENKEEL_API std::vector<ObjectKey> all_keys(const std::vector<const Informer*>& informers);

// `more` is one key or a range of keys.
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

// Wraps a mapping of the program. It gets the wire form if it accepts that, otherwise the decoded object.
template <class T, class F>
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
template <class T, class F>
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

// Sets the mapping of a watch of U, or of a kind that is decoded as a U.
template <class U, class F>
WatchSpec with_mapping(WatchSpec watch, F mapping) {
  if constexpr (CacheMapping<F, U>) {
    watch.bind = [mapping = std::move(mapping)](const Cache& cache) {
      return mapping_with<U>(mapping, cache);
    };
  } else {
    watch.mapping = mapping_of<U>(std::move(mapping));
  }
  return watch;
}

template <ObjectType U, class F>
WatchSpec watch_mapped_in(F mapping, TriggerOptions options, WatchScope scope) {
  return with_mapping<U>(watch_of<U>({}, std::move(options), std::move(scope), Delivery::queued),
                         std::move(mapping));
}

}  // namespace detail

}  // namespace v0
}  // namespace evenkeel
