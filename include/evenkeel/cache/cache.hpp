// SPDX-License-Identifier: Apache-2.0
// A read cache: the informers of one API server, with cached reads that fall back to live ones.
#pragma once

#include <chrono>
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
#include <evenkeel/api/json.hpp>
#include <evenkeel/api/metadata.hpp>
#include <evenkeel/api/resource.hpp>
#include <evenkeel/api/snapshot.hpp>
#include <evenkeel/base/clock.hpp>
#include <evenkeel/base/error.hpp>
#include <evenkeel/base/export.hpp>
#include <evenkeel/base/log.hpp>
#include <evenkeel/base/object_key.hpp>
#include <evenkeel/cache/detail/decoded_objects.hpp>
#include <evenkeel/cache/informer.hpp>
#include <evenkeel/cache/object_index.hpp>
#include <evenkeel/cache/wire_object.hpp>
#include <evenkeel/client/client.hpp>
#include <evenkeel/client/options.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {
class ReadObserver;
}

/// Copies of collections on disk, from which the next start of the program resumes instead of listing
/// everything. A copy is used once the server is known to be the same one and a watch from the version of the
/// copy has caught up; only a short list and the missed events are requested. A file that is damaged, of
/// another collection or too old for the server is named in the log and ignored, and the collection is
/// listed. Collections of whole and of compressed objects are copied, but never Secrets; other data may be
/// confidential as well: files can be read by their owner only.
struct DiskCopyOptions {
  /// Directory of the copies, created if it does not exist; not shared with other caches. Empty: no copies.
  /// Best on a volume that survives the container, such as an emptyDir.
  std::string directory = {};
  /// Time between two copies of a collection that changes; a dedicated thread writes them, and Cache::stop()
  /// writes the last ones. Zero, or a cache without threads: only stop() writes copies.
  Duration period = std::chrono::minutes{5};
  /// Limit of all files together. A collection that does not fit has no file.
  std::size_t max_bytes = std::size_t{1} << 30;
};

struct CacheOptions {
  std::string namespace_ = {};  ///< Default for informers that specify none; empty: all namespaces.
  /// Threads that split, decode and store; 0: pump() does all work. Unused if the client has an event loop,
  /// which does it then, by its clock.
  std::size_t threads = 1;
  /// Default for informers declared without options. If `streaming_list` is false, no informer of the cache
  /// requests streaming lists. `cell_label` is that of all its informers; the cache sets it on objects.
  ReflectorOptions reflector = ReflectorOptions();
  /// Maximum JSON bytes of the objects whose decoded form is remembered, over all kinds; about 300 pods. The
  /// decoded form takes about as much again, or twice as much. Zero: every read decodes.
  std::size_t max_decoded_bytes = 1u << 20;
  /// If false, reads that the cache cannot answer throw NotCached. Reads that no cache can answer (field
  /// selectors, pages, resourceVersions) still go to the server, and so do reads of an object whose state a
  /// write left unknown.
  bool live_reads = true;
  Duration resync = Duration::zero();  ///< Default for informers; see InformerOptions::resync.
  /// Time for which reads show a write of this program, or hide an object that it deleted, unless the watch
  /// delivers that state or a newer one earlier. After that, reads show the state of the watch.
  Duration own_write_timeout = std::chrono::minutes{5};
  /// Time for which an object is read from the server after a write that left its state unknown (an eviction,
  /// a conflict, a lost answer), if the watch does not show its new state before. The default is the time
  /// after which API servers end a request, so that a write without an answer is over by then.
  Duration unknown_state_timeout = std::chrono::seconds{60};
  DiskCopyOptions disk = {};
  std::shared_ptr<const Clock> clock = {};  ///< Null: the system clock.
  Log log = {};
  detail::ReadObserver* reads = nullptr;  ///< For testing::explore(). Outlives the cache.
};

namespace detail {
template <ObjectType T>
const ResourceId& resource_of() {
  static const ResourceId resource(T::resource);
  return resource;
}

/// A read of objects of one kind, and the parts of them that it needs.
struct PartsRead {
  const ResourceId& resource;
  KeptParts parts = {};
};

template <ObjectType T>
PartsRead read_of() {
  return {resource_of<T>(), {.form = WireForm::projected, .projection = Projection::of<T>()}};
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
  std::string selector = {};        ///< See InformerOptions::selector().
  WireForm form = WireForm::whole;  ///< Form of the kept objects.
  InformerHealth informer = {};
};

/// A read of objects that the cache does not hold: the kind is not declared or not synced yet, or kept only
/// in part. Thrown for reads by index, which the server cannot answer, and for others if
/// CacheOptions::live_reads is false.
class EVENKEEL_API NotCached : public Error {
 public:
  using Error::Error;
};

/// Reads Kubernetes objects from informers where it can, and from the server otherwise.
/// Kinds are declared (the controller_for, owns and watches clauses of a controller do that); nothing else is
/// ever watched. A read goes to the server if its kind is not declared or not synced yet, or if it asks for
/// more than the cache can answer (field selectors, pages, resourceVersions); such reads are counted, and
/// logged once for each kind.
/// Reads show every write through the client of the cache and its copies (Client::with()) from the moment at
/// which the write returns, or completes: creations, updates, patches, applies, deletions, evictions and
/// deletions of collections. Where the answer of a write does not have the new state of an object (an
/// eviction, a scale, a conflict, a lost answer), reads of that object go to the server until the watch shows
/// the new state; lists read such objects one by one, or all from the server if there are more than eight (by
/// an index always one by one).
/// A creation with a generated name whose answer was lost is not shown, because its name is not known.
/// Objects are decoded when they are read, from shared JSON that is not copied. Recently decoded objects are
/// remembered (CacheOptions::max_decoded_bytes): reading one again returns the same object in memory.
/// Thread safety: all members may be called concurrently.
/// Lifetime: declared informers live as long as the cache, leased ones until the last copy of the lease is
/// destroyed; the destructor calls stop().
class EVENKEEL_API Cache {
 public:
  explicit Cache(Client client, CacheOptions options = {});
  ~Cache();
  Cache(const Cache&) = delete;
  Cache& operator=(const Cache&) = delete;

  /// Declares an informer, or returns the existing one of the same namespace and selectors. Before start(),
  /// the informer is changed to keep what all declarations need: projections are united, and whole objects
  /// serve declarations of a projection or of metadata. After start() it is not changed; a declaration that
  /// needs more gets another informer, which starts at once.
  Informer& informer(const ResourceId& resource, InformerOptions options);
  Informer& informer(const ResourceId& resource) { return informer(resource, default_options()); }
  template <ObjectType T>
  Informer& informer() {
    return informer(ResourceId(T::resource));
  }
  template <ObjectType T>
  Informer& informer(InformerOptions options) {
    if (options.form == WireForm::projected)
      options.projection = options.projection.with(Projection::of<T>());
    return informer(ResourceId(T::resource), std::move(options));
  }
  /// Like informer(), but for as long as a copy of the result exists: with the last one the watch ends and
  /// the objects are freed, soon after it, unless informer() has declared the same collection. Must not be
  /// used after the cache is destroyed.
  std::shared_ptr<Informer> lease(const ResourceId& resource, InformerOptions options);
  InformerOptions default_options() const;

  /// Changes each object of a kind before it is kept: in lists, in events, and in the answers of own writes.
  /// `transform` gets the object as the server sent it, with apiVersion and kind, and may drop or shorten
  /// members that the program does not read. It must not change name, namespace, uid or resourceVersion, and
  /// its result must depend only on the object; it is called concurrently. If it throws or changes one of
  /// these, the object is kept as it is, which is logged for the first object. Reads that the server answers
  /// are not changed. Patching a list of a transformed object drops the members of its elements that the
  /// function has dropped. Each object has to be parsed for it, in contrast to WireForm::projected. Objects
  /// of the kind are not copied to disk. Throws std::invalid_argument, naming the kind, if it has a function
  /// already, or an informer.
  void transform(const ResourceId& resource, std::function<void(Json& object)> transform);
  template <ObjectType T>
  void transform(std::function<void(Json& object)> function) {
    transform(detail::resource_of<T>(), std::move(function));
  }

  /// Declares an index of the objects of a kind, in all its informers, those declared later included; see
  /// index_by(). It declares no informer. Objects that exist are indexed before it returns. Has no effect if
  /// the index exists with the same function: a function without state, the same function pointer, an equal
  /// label_index(), or a copy of `definition`. Throws std::invalid_argument, naming kind and index, if it
  /// exists with another one.
  ///
  ///     cache.index<Website>("secret", [](const Website& site) { return site.spec.secret; });
  ///     websites = cache.list<Website>(by("secret", "tls"), {.namespace_ = "default"});
  void index(const ResourceId& resource, IndexDefinition definition);
  template <ObjectType T, class F>
  void index(std::string name, F function) {
    index(detail::resource_of<T>(), index_by<T>(std::move(name), std::move(function)));
  }

  /// Shows also the writes of `client` and its copies, until the cache is destroyed. Those of the client of
  /// the cache are always shown.
  void observe(const Client& client);

  /// Restricts the divisible informers (InformerOptions::divisible, as the clauses controller_for and
  /// owns declare them), also those declared later, to objects in namespaces whose hashes are in
  /// `wanted`; see Informer::select(). Reads of other namespaces, or of all, go to the server then. A manager
  /// with ShardBy::namespace_range calls it; see docs/sharding.md.
  void select(const HashRanges& wanted);
  /// Returns the counts of the label ReflectorOptions::cell_label; zero without a label.
  CellLabelCounts cell_labels() const;

  void start();
  /// Ends all streams, waits for running handlers, and writes copies to disk (DiskCopyOptions). Objects that
  /// were read stay readable. Final.
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
    if (const auto found = find_parts(detail::read_of<T>(), key, &live)) return decoded().decode<T>(*found);
    return live.find<T>(key);
  }

  /// Returns all objects that the options select, sorted by namespace and name, or in the server's order if
  /// the server answers. Throws DecodeError, naming the object, if one of them does not decode as a T,
  /// because a list without it would be mistaken for a complete one. list_wire() returns undecoded objects,
  /// which can be decoded one by one.
  template <ObjectType T>
  std::vector<Snapshot<T>> list(const ListOptions& options = {}) const {
    return list<T>(options, client_);
  }
  template <ObjectType T>
  std::vector<Snapshot<T>> list(const ListOptions& options, const Client& live) const {
    const auto found = list_parts(detail::read_of<T>(), options, &live);
    return found ? decode_all<T>(*found) : live.list<T>(options).items;
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
    if (const auto found = owned_parts(detail::read_of<T>(), uid, namespace_, &live))
      return decode_all<T>(*found);
    return detail::decode_all<T>(detail::list_owned(live, detail::resource_of<T>(), uid, namespace_));
  }
  /// Returns the children of `owner`: in its namespace, or in all namespaces if it is cluster-scoped.
  template <ObjectType T, ObjectType Owner>
  std::vector<Snapshot<T>> owned_by(const Owner& owner) const {
    return owned_by<T>(owner.metadata.uid, owner.metadata.namespace_);
  }

  /// Returns the objects that have this value in an index of their kind, sorted by namespace and name.
  /// `options.after` continues a list with a limit. Objects for which the index's function throws are not
  /// among them.
  /// Throws std::invalid_argument, naming the kind and its indexes, if the index is not declared; NotCached
  /// if the cache does not hold every object of that scope whole, as for owned_by(); DecodeError as list()
  /// does.
  template <ObjectType T>
  std::vector<Snapshot<T>> list(const IndexQuery& query, const IndexListOptions& options = {}) const {
    return list<T>(query, options, client_);
  }
  /// Like list(query, options), but objects with an unknown state are read through `live`, with its deadline
  /// and stop token.
  template <ObjectType T>
  std::vector<Snapshot<T>> list(const IndexQuery& query, const IndexListOptions& options,
                                const Client& live) const {
    return decode_all<T>(indexed_parts(detail::read_of<T>(), query, options, live));
  }
  /// Like list(query, options, live), but in wire form.
  std::vector<WireObject> list_wire(const ResourceId& resource, const IndexQuery& query,
                                    const IndexListOptions& options, const Client& live) const {
    return indexed_parts({resource}, query, options, live);
  }

  /// Like find(), list() and owned_by(), but of whole objects, in wire form and without live reads.
  /// std::nullopt: the cache cannot answer, ask the server (this is counted as a live read). An empty handle:
  /// the object does not exist.
  std::optional<WireObject> find_wire(const ResourceId& resource, const ObjectKey& key) const {
    return find_parts({resource}, key, nullptr);
  }
  std::optional<std::vector<WireObject>> list_wire(const ResourceId& resource,
                                                   const ListOptions& options) const {
    return list_parts({resource}, options, nullptr);
  }
  std::optional<std::vector<WireObject>> owned_wire(const ResourceId& resource, std::string_view uid,
                                                    const std::string& namespace_ = {}) const {
    return owned_parts({resource}, uid, namespace_, nullptr);
  }

  /// Like these, but objects with an unknown state are read through `live`, so that the cache answers.
  std::optional<WireObject> find_wire(const ResourceId& resource, const ObjectKey& key,
                                      const Client& live) const {
    return find_parts({resource}, key, &live);
  }
  std::optional<std::vector<WireObject>> list_wire(const ResourceId& resource, const ListOptions& options,
                                                   const Client& live) const {
    return list_parts({resource}, options, &live);
  }
  std::optional<std::vector<WireObject>> owned_wire(const ResourceId& resource, std::string_view uid,
                                                    const std::string& namespace_, const Client& live) const {
    return owned_parts({resource}, uid, namespace_, &live);
  }

  /// Returns true if the object exists, as far as any form in which it is kept shows that; std::nullopt if no
  /// synced informer without selectors has its namespace, or a write left its state unknown.
  std::optional<bool> contains(const ResourceId& resource, const ObjectKey& key) const;

  /// Number of reads that went to the server.
  std::uint64_t live_reads() const noexcept;
  std::vector<CollectionHealth> health() const;

 private:
  class Impl;

  // `live` reads the objects with an unknown state; null: the cache cannot answer if there are any.
  std::optional<WireObject> find_parts(const detail::PartsRead& read, const ObjectKey& key,
                                       const Client* live) const;
  std::optional<std::vector<WireObject>> list_parts(const detail::PartsRead& read, const ListOptions& options,
                                                    const Client* live) const;
  std::optional<std::vector<WireObject>> owned_parts(const detail::PartsRead& read, std::string_view uid,
                                                     const std::string& namespace_, const Client* live) const;
  std::vector<WireObject> indexed_parts(const detail::PartsRead& read, const IndexQuery& query,
                                        IndexListOptions options, const Client& live) const;

  detail::DecodedObjects& decoded() const noexcept;
  template <ObjectType T>
  std::vector<Snapshot<T>> decode_all(const std::vector<WireObject>& objects) const {
    std::vector<Snapshot<T>> result;
    result.reserve(objects.size());
    for (const WireObject& object : objects) result.push_back(decoded().decode<T>(object));
    return result;
  }

  const Client client_;
  std::shared_ptr<Impl> impl_;
};

}  // namespace v0
}  // namespace evenkeel
