// SPDX-License-Identifier: Apache-2.0
// The collections of one server that a program keeps a copy of, and reads from them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <evenkeel/api/fields.hpp>
#include <evenkeel/api/metadata.hpp>
#include <evenkeel/api/resource.hpp>
#include <evenkeel/api/snapshot.hpp>
#include <evenkeel/base/clock.hpp>
#include <evenkeel/base/export.hpp>
#include <evenkeel/base/log.hpp>
#include <evenkeel/base/object_key.hpp>
#include <evenkeel/cache/informer.hpp>
#include <evenkeel/cache/wire_object.hpp>
#include <evenkeel/client/client.hpp>
#include <evenkeel/client/options.hpp>

namespace evenkeel {
inline namespace v0 {

struct CacheOptions {
  std::string namespace_ = {};  ///< Of informers that name none; empty: all.
  std::size_t threads = 1;      ///< That split, decode and store; 0: all is done in pump().
  ReflectorOptions reflector = ReflectorOptions();  ///< Of informers that are declared without options.
  Duration resync = Duration::zero();               ///< The same; see InformerOptions::resync.
  std::shared_ptr<const Clock> clock = {};          ///< Null: the machine's.
  Log log = {};
};

namespace detail {
template <ObjectType T>
const ResourceId& resource_of() {
  static const ResourceId resource(T::resource);
  return resource;
}

template <ObjectType T>
std::vector<Snapshot<T>> decode_all(const std::vector<WireObject>& objects) {
  std::vector<Snapshot<T>> result;
  result.reserve(objects.size());
  for (const WireObject& object : objects) result.push_back(object.decode<T>());
  return result;
}

/// Asks the server for the objects that have an owner with this uid, sorted by namespace and name. Only these
/// are decoded by who asks. Throws as Cache::owned_by().
EVENKEEL_API std::vector<WireObject> list_owned(const Client& client, const ResourceId& resource,
                                                std::string_view uid, const std::string& namespace_);
}  // namespace detail

/// How one collection is doing, for probes and explanations.
struct CollectionHealth {
  ResourceId resource = {};
  std::string namespace_ = {};
  InformerHealth informer = {};
};

/// Collections are declared (a controller's for, owns and watches do that); nothing else is ever watched. A
/// read of what is not declared, not synced yet, or asks for more than the cache can answer (field selectors,
/// pages, resourceVersions) goes to the server; it is counted, and logged once for each kind.
/// Objects are decoded when they are read; what they were decoded from is shared, not copied.
/// Thread safety: all members may be called concurrently. Lifetime: informers live as long as the cache; the
/// destructor is stop().
class EVENKEEL_API Cache {
 public:
  explicit Cache(Client client, CacheOptions options = {});
  ~Cache();
  Cache(const Cache&) = delete;
  Cache& operator=(const Cache&) = delete;

  /// Declares a collection, or gives the one that was declared alike. One that keeps whole objects also
  /// serves those who ask for metadata only. After start() it starts at once.
  Informer& informer(const ResourceId& resource, InformerOptions options);
  Informer& informer(const ResourceId& resource) { return informer(resource, default_options()); }
  template <ObjectType T>
  Informer& informer() {
    return informer(ResourceId(T::resource));
  }
  template <ObjectType T>
  Informer& informer(InformerOptions options) {
    return informer(ResourceId(T::resource), std::move(options));
  }
  InformerOptions default_options() const;

  void start();
  /// Ends all streams and waits for handlers that run. What was read stays readable. Final.
  void stop();
  /// Blocks until every informer declared so far is synced; false if stopped before.
  bool wait_for_sync(std::stop_token stop) const;

  /// Without threads: does on the calling thread what is to do at the clock's present time, handlers with
  /// Delivery::direct included; returns how much that was. One thread at a time, and no handler.
  std::size_t pump();
  /// Without threads: when pump() has something to do next, as far as time alone decides it.
  std::optional<TimePoint> next_due() const;

  /// The object, or an empty snapshot. Throws DecodeError if it is no T; a live read throws as
  /// Client::find() does.
  template <ObjectType T>
  Snapshot<T> find(const ObjectKey& key) const {
    return find<T>(key, client_);
  }
  /// The same; live reads go through `live`, with its deadline and stop token.
  template <ObjectType T>
  Snapshot<T> find(const ObjectKey& key, const Client& live) const {
    if (const auto found = find_wire(detail::resource_of<T>(), key)) return found->template decode<T>();
    return live.find<T>(key);
  }

  /// All objects that the options select, sorted by namespace and name. Throws DecodeError naming the object
  /// if one of them is no T: a list that left it out would be taken for the whole. list_wire() gives them
  /// undecoded, to decode one by one.
  template <ObjectType T>
  std::vector<Snapshot<T>> list(const ListOptions& options = {}) const {
    return list<T>(options, client_);
  }
  template <ObjectType T>
  std::vector<Snapshot<T>> list(const ListOptions& options, const Client& live) const {
    const auto found = list_wire(detail::resource_of<T>(), options);
    return found ? detail::decode_all<T>(*found) : live.list<T>(options).items;
  }

  /// Objects of one kind that have an owner with this uid, sorted by namespace and name; of one namespace, or
  /// of all if it is empty. If the cache does not hold every object of that scope whole (the kind is not
  /// declared, not synced yet, kept as metadata only, narrowed by a selector or to another namespace), they
  /// are listed on the server: an empty result means that there are none.
  /// Throws std::invalid_argument without a uid, DecodeError if a child is no T; a live read throws as
  /// Client::list() does.
  template <ObjectType T>
  std::vector<Snapshot<T>> owned_by(std::string_view uid, const std::string& namespace_ = {}) const {
    return owned_by<T>(uid, namespace_, client_);
  }
  /// The same; live reads go through `live`, with its deadline and stop token.
  template <ObjectType T>
  std::vector<Snapshot<T>> owned_by(std::string_view uid, const std::string& namespace_,
                                    const Client& live) const {
    auto found = owned_wire(detail::resource_of<T>(), uid, namespace_);
    return detail::decode_all<T>(found ? *found
                                       : detail::list_owned(live, detail::resource_of<T>(), uid, namespace_));
  }
  /// The children of an object that was read: in its namespace, or in all if it is cluster-scoped.
  template <ObjectType T, ObjectType Owner>
  std::vector<Snapshot<T>> owned_by(const Owner& owner) const {
    return owned_by<T>(owner.metadata.uid, owner.metadata.namespace_);
  }

  /// The same in wire form. Nothing: the cache cannot tell, ask the server (this is counted as a live read).
  /// An empty handle: there is no such object.
  std::optional<WireObject> find_wire(const ResourceId& resource, const ObjectKey& key) const;
  std::optional<std::vector<WireObject>> list_wire(const ResourceId& resource,
                                                   const ListOptions& options) const;
  std::optional<std::vector<WireObject>> owned_wire(const ResourceId& resource, std::string_view uid,
                                                    const std::string& namespace_ = {}) const;

  /// Tells that the server answered a write with this object: reads give it at once, until the watch brings
  /// it or something newer. Objects whose resourceVersions cannot be compared, and collections with label or
  /// field selectors, wait for the watch. Throws DecodeError if `raw` is no object.
  void written(const ResourceId& resource, std::string_view raw);
  template <ObjectType T>
  void written(const Snapshot<T>& object) {
    if (!object.raw().empty()) written(detail::resource_of<T>(), object.raw());
  }

  /// Reads that went to the server.
  std::uint64_t live_reads() const noexcept;
  std::vector<CollectionHealth> health() const;

 private:
  class Impl;

  const Client client_;
  std::unique_ptr<Impl> impl_;
};

}  // namespace v0
}  // namespace evenkeel
