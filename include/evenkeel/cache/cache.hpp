// SPDX-License-Identifier: Apache-2.0
// A read cache: the informers of one API server, with cached reads that fall back to live ones.
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
  std::string namespace_ = {};  ///< Default for informers that specify none; empty: all namespaces.
  std::size_t threads = 1;      ///< Threads that split, decode and store; 0: pump() does all work.
  ReflectorOptions reflector = ReflectorOptions();  ///< Default for informers declared without options.
  Duration resync = Duration::zero();               ///< Default for informers; see InformerOptions::resync.
  std::shared_ptr<const Clock> clock = {};          ///< Null: the system clock.
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

/// Lists the objects on the server that have an owner with this uid, sorted by namespace and name. Only these
/// are decoded, by the caller. Throws as Cache::owned_by() does.
EVENKEEL_API std::vector<WireObject> list_owned(const Client& client, const ResourceId& resource,
                                                std::string_view uid, const std::string& namespace_);
}  // namespace detail

/// State of one informer, for probes and explanations.
struct CollectionHealth {
  ResourceId resource = {};
  std::string namespace_ = {};
  InformerHealth informer = {};
};

/// Reads Kubernetes objects from informers where it can, and from the server otherwise.
/// Kinds are declared (the for, owns and watches clauses of a controller do that); nothing else is ever
/// watched. A read goes to the server if its kind is not declared or not synced yet, or if it asks for more
/// than the cache can answer (field selectors, pages, resourceVersions); such reads are counted, and logged
/// once for each kind.
/// Objects are decoded when they are read; the JSON they are decoded from is shared, not copied.
/// Thread safety: all members may be called concurrently.
/// Lifetime: informers live as long as the cache; the destructor calls stop().
class EVENKEEL_API Cache {
 public:
  explicit Cache(Client client, CacheOptions options = {});
  ~Cache();
  Cache(const Cache&) = delete;
  Cache& operator=(const Cache&) = delete;

  /// Declares an informer, or returns the one that was declared with equal options. An informer that keeps
  /// whole objects also serves callers that ask for metadata only. After start() a new informer starts at
  /// once.
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
  /// Ends all streams and waits for running handlers. Objects that were read stay readable. Final.
  void stop();
  /// Blocks until every informer declared so far is synced; false if stopped before.
  bool wait_for_sync(std::stop_token stop) const;

  /// Without threads: does the work that is due at the clock's current time on the calling thread, including
  /// handlers with Delivery::direct; returns the number of jobs done. Called by one thread at a time, never
  /// by a handler.
  std::size_t pump();
  /// Without threads: the time of the next work for pump(), as far as it depends on time alone.
  std::optional<TimePoint> next_due() const;

  /// Returns the object, or an empty snapshot. Throws DecodeError if it does not decode as a T; a live read
  /// throws as Client::find() does.
  template <ObjectType T>
  Snapshot<T> find(const ObjectKey& key) const {
    return find<T>(key, client_);
  }
  /// Like find(key), but live reads go through `live`, with its deadline and stop token.
  template <ObjectType T>
  Snapshot<T> find(const ObjectKey& key, const Client& live) const {
    if (const auto found = find_wire(detail::resource_of<T>(), key)) return found->template decode<T>();
    return live.find<T>(key);
  }

  /// Returns all objects that the options select, sorted by namespace and name. Throws DecodeError naming the
  /// object if one of them does not decode as a T: a list without it would be taken for complete. list_wire()
  /// returns them undecoded, to be decoded one by one.
  template <ObjectType T>
  std::vector<Snapshot<T>> list(const ListOptions& options = {}) const {
    return list<T>(options, client_);
  }
  template <ObjectType T>
  std::vector<Snapshot<T>> list(const ListOptions& options, const Client& live) const {
    const auto found = list_wire(detail::resource_of<T>(), options);
    return found ? detail::decode_all<T>(*found) : live.list<T>(options).items;
  }

  /// Returns the objects of one kind that have an owner with this uid, sorted by namespace and name; in one
  /// namespace, or in all if it is empty. If the cache does not hold every object of that scope whole (the
  /// kind is not declared, not synced yet, kept as metadata only, or restricted by a selector or to another
  /// namespace), they are listed on the server: an empty result means that there are none.
  /// Throws std::invalid_argument for an empty uid and DecodeError if a child does not decode as a T; a live
  /// read throws as Client::list() does.
  template <ObjectType T>
  std::vector<Snapshot<T>> owned_by(std::string_view uid, const std::string& namespace_ = {}) const {
    return owned_by<T>(uid, namespace_, client_);
  }
  /// Like owned_by(uid, namespace_), but live reads go through `live`, with its deadline and stop token.
  template <ObjectType T>
  std::vector<Snapshot<T>> owned_by(std::string_view uid, const std::string& namespace_,
                                    const Client& live) const {
    auto found = owned_wire(detail::resource_of<T>(), uid, namespace_);
    return detail::decode_all<T>(found ? *found
                                       : detail::list_owned(live, detail::resource_of<T>(), uid, namespace_));
  }
  /// Returns the children of `owner`: in its namespace, or in all namespaces if it is cluster-scoped.
  template <ObjectType T, ObjectType Owner>
  std::vector<Snapshot<T>> owned_by(const Owner& owner) const {
    return owned_by<T>(owner.metadata.uid, owner.metadata.namespace_);
  }

  /// Like find(), list() and owned_by(), but in wire form and without live reads. std::nullopt: the cache
  /// cannot answer, ask the server (this is counted as a live read). An empty handle: the object does not
  /// exist.
  std::optional<WireObject> find_wire(const ResourceId& resource, const ObjectKey& key) const;
  std::optional<std::vector<WireObject>> list_wire(const ResourceId& resource,
                                                   const ListOptions& options) const;
  std::optional<std::vector<WireObject>> owned_wire(const ResourceId& resource, std::string_view uid,
                                                    const std::string& namespace_ = {}) const;

  /// Records the object with which the server answered a write: reads return it at once, until the watch
  /// delivers it or a newer one. Has no effect if the resourceVersions cannot be compared, or for informers
  /// with label or field selectors; these wait for the watch. Throws DecodeError if `raw` is not an object.
  void written(const ResourceId& resource, std::string_view raw);
  template <ObjectType T>
  void written(const Snapshot<T>& object) {
    if (!object.raw().empty()) written(detail::resource_of<T>(), object.raw());
  }

  /// Number of reads that went to the server.
  std::uint64_t live_reads() const noexcept;
  std::vector<CollectionHealth> health() const;

 private:
  class Impl;

  const Client client_;
  std::unique_ptr<Impl> impl_;
};

}  // namespace v0
}  // namespace evenkeel
