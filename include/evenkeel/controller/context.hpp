// SPDX-License-Identifier: Apache-2.0
// The argument of a reconcile: a client bound to the run, cached reads, log, deadline and stop token.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <evenkeel/api/codec.hpp>
#include <evenkeel/api/fields.hpp>
#include <evenkeel/api/metadata.hpp>
#include <evenkeel/api/resource.hpp>
#include <evenkeel/api/snapshot.hpp>
#include <evenkeel/base/clock.hpp>
#include <evenkeel/base/error.hpp>
#include <evenkeel/base/export.hpp>
#include <evenkeel/base/log.hpp>
#include <evenkeel/base/object_key.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/base/trace.hpp>
#include <evenkeel/cache/cache.hpp>
#include <evenkeel/client/client.hpp>
#include <evenkeel/events/event.hpp>
#include <evenkeel/workqueue/request_key.hpp>

namespace evenkeel {
inline namespace v0 {

class EventRecorder;
class ResourceContext;

/// The key of the object that a reconcile is about: cluster, namespace and name.
using Request = RequestKey;

namespace detail {

class ExplorePoints;

/// The type-erased object that is being reconciled.
struct Primary {
  virtual ~Primary() = default;
  const TypeInfo* type = nullptr;
  const void* object = nullptr;  // the object whose reference the reconciler got
  const ObjectMeta* metadata = nullptr;
  const ResourceInfo* resource = nullptr;
};

template <ObjectType T>
struct PrimaryOf final : Primary {
  explicit PrimaryOf(Snapshot<T> found) : original(std::move(found)), latest(original) {
    type = &type_info<T>();
    object = original.get();
    metadata = &original->metadata;
    resource = &T::resource;
  }
  Snapshot<T> original;
  Snapshot<T> latest;  // after the last write of this run
};

}  // namespace detail

/// Thrown by an apply if the object exists and another owner controls it, or no owner does; what() names the
/// object and its owner. See ContextApplyOptions::skip_unchanged and unowned.
class EVENKEEL_API OwnedByAnother : public Error {
 public:
  using Error::Error;
};

/// Treatment of an applied object that exists and that no owner controls.
enum class Unowned : std::uint8_t {
  adopt,  ///< It is applied, which sets its controller.
  /// OwnedByAnother is thrown without a write, unless an annotation records that the same field owner applied
  /// the object before with ContextApplyOptions::skip_unchanged.
  refuse,
};

struct ContextApplyOptions {
  /// Makes the object that is being reconciled the controller of the applied object, unless `object` names a
  /// controller or is the reconciled object itself. Throws std::invalid_argument if the reconciled object
  /// does not exist, or if it has a namespace and the applied object has another or none. False: no owner is
  /// set; the garbage collector does not delete the applied object, so a finalizer must.
  bool own = true;
  bool force = true;  ///< Takes over fields that another field owner holds.
  /// Reads the object first, as find() does, and sends nothing if every applied field has an equal value in
  /// it and the last apply had exactly the same fields, which an annotation of the object records. Throws
  /// OwnedByAnother without a write if another owner controls it. See docs/applying.md.
  bool skip_unchanged = false;
  /// Deletes the object and applies it again if the server refuses to change an immutable field. If the old
  /// object is not removed at once, the error of the server is thrown, and the next run tries again. Only an
  /// object whose controller is that of the applied one is deleted, so never with `own` false.
  bool recreate_immutable = false;
  /// Treatment of an existing object without a controller. With Unowned::refuse, the object is also read
  /// first, from the server if the cache does not have it. Has no effect if `own` is false and `object` names
  /// no controller.
  Unowned unowned = Unowned::adopt;
};

struct ContextCreateOptions {
  /// Makes the object that is being reconciled the controller of the created object; see
  /// ContextApplyOptions::own.
  bool own = true;
};

/// Construction parameters of a Context. Controllers fill them in; unit tests of reconcilers may, too.
struct ContextOptions {
  Client client;  ///< Unbound; the context binds it.
  Cache* cache =
      nullptr;  ///< Null: every read is live. It shows the writes of `client`, see Cache::observe().
  Request request = {};
  Log log = {};
  std::string field_owner = "evenkeel";
  std::string reconcile_id = {};
  std::uint64_t attempt = 1;
  std::optional<std::uint64_t> term = {};
  std::stop_token stop = {};
  std::optional<Duration> timeout = {};  ///< Unset or 0: none.
  std::shared_ptr<const Clock> clock = real_clock();
  Span span = {};                   ///< Span of the run; not recorded by default.
  EventRecorder* events = nullptr;  ///< Null: Events are only logged. Outlives the context.
  /// Counts the applies that skip_unchanged made unnecessary. Null: they are not counted.
  std::atomic<std::uint64_t>* applies_skipped = nullptr;
  detail::ExplorePoints* points = nullptr;  ///< For testing::explore(). Outlives the context.
};

/// One run of a reconciler. Every call made through it carries the run's deadline, stop token and field
/// owner.
/// Thread safety: one thread at a time; the client returned by client() may be used by other threads.
/// Lifetime: valid during the reconcile only, as are the references that it returns.
class EVENKEEL_API Context {
 public:
  explicit Context(ContextOptions options);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  const Request& request() const { return options_.request; }
  /// Returns the cluster of the object; empty: the home cluster. Client, reads, writes and Events of the
  /// context are those of this cluster.
  std::string_view cluster() const { return options_.request.cluster(); }
  /// Namespace and name of the object to reconcile.
  const ObjectKey& key() const { return key_; }
  /// Returns 1 plus the number of failures since the last success.
  std::uint64_t attempt() const { return options_.attempt; }
  /// Returns a number that is greater than that of every earlier leader or owner of the key: with leader
  /// election the term of this instance's leadership, with shards the generation of the key's slot. Pass it
  /// to systems that can reject an older one (docs/election.md, docs/sharding.md).
  std::optional<std::uint64_t> term() const { return options_.term; }
  /// Returns a logger with controller, object, reconcile id and attempt bound.
  const Log& log() const;
  /// Returns the client, bound to this run.
  const Client& client() const { return client_; }
  /// Triggered when the controller stops and the grace period is over.
  const std::stop_token& stop() const { return options_.stop; }
  /// Returns the end of the reconcile timeout, or std::nullopt if there is none.
  std::optional<TimePoint> deadline() const { return deadline_; }
  const Clock& clock() const { return *options_.clock; }
  /// Returns the span of this run, for attributes of the program's own, and as the parent of its spans: pass
  /// span().context(). Not recorded without a tracer; see docs/tracing.md.
  Span& span() { return options_.span; }
  /// Throws Cancelled if stop() was triggered or deadline() has passed. For long loops.
  void check() const;

  // ---- Reads: from the cache if its kind is declared (controller_for, owns, watches), else from the server

  /// Returns the object, or an empty snapshot.
  template <ObjectType T>
  Snapshot<T> find(const ObjectKey& key) {
    if (options_.cache != nullptr) return options_.cache->find<T>(key, client_);
    return client_.find<T>(key);
  }
  /// Returns all objects of a kind, in one namespace or in all.
  template <ObjectType T>
  std::vector<Snapshot<T>> list(const ListOptions& options = {}) {
    if (options_.cache != nullptr) return options_.cache->list<T>(options, client_);
    return client_.list<T>(options).items;
  }
  /// Returns the objects that have this value in an index of their kind: context.list<Website>(by("secret",
  /// name)). See Cache::list(); throws NotCached without a cache.
  template <ObjectType T>
  std::vector<Snapshot<T>> list(const IndexQuery& query, const IndexListOptions& options = {}) {
    if (options_.cache == nullptr) refuse_without_cache(T::resource, query.index);
    return options_.cache->list<T>(query, options, client_);
  }
  /// Returns all objects of a kind whose owner references have the uid of `owner`: in its namespace, or in
  /// all if it is cluster-scoped. See Cache::owned_by().
  template <ObjectType T, ObjectType Owner>
  std::vector<Snapshot<T>> owned_by(const Owner& owner) {
    const ObjectMeta& metadata = owner.metadata;
    if (options_.cache != nullptr)
      return options_.cache->owned_by<T>(metadata.uid, metadata.namespace_, client_);
    return detail::decode_all<T>(
        detail::list_owned(client_, detail::resource_of<T>(), metadata.uid, metadata.namespace_));
  }

  // ---- Writes: shown by reads as soon as they return; see Cache ----
  //
  // Those of the object that is being reconciled, by key, too, and those that take an object that was read,
  // throw ApiError (Conflict) if another object has its name now.

  /// Sends a server-side apply of the fields that `object` sets. An empty namespace means that of the object
  /// being reconciled. Throws std::invalid_argument without sending a request if the object being reconciled
  /// cannot own it; see ContextApplyOptions::own. Returns the object as it is now.
  template <ObjectType T>
  Snapshot<T> apply(T object, ContextApplyOptions options = {}) {
    imply(T::resource, object.metadata, options.own, "apply");
    if (options.skip_unchanged || options.unowned == Unowned::refuse) {
      Snapshot<T> current = find<T>(key_of(object));
      if (!current && options.unowned == Unowned::refuse) current = client_.find<T>(key_of(object));
      if (!must_apply(options, T::resource, object.metadata, to_tree(type_info<T>(), &object),
                      current ? &current->metadata : nullptr,
                      current ? to_tree(type_info<T>(), current.get()) : Json()))
        return current;
    }
    try {
      return wrote(client_.apply(object, {.force = options.force}));
    } catch (const ApiError& error) {
      if (!options.recreate_immutable || !must_recreate(error, T::resource, object.metadata)) throw;
    }
    return wrote(client_.apply(object, {.force = options.force}));
  }
  /// Sends a server-side apply of only the status that `object` sets. See
  /// Client::apply_status().
  template <ObjectType T>
  Snapshot<T> apply_status(T object, const ApplyOptions& options = {}) {
    ObjectMeta& metadata = object.metadata;
    if (metadata.uid.empty() && primary_ != nullptr && primary_->type == &type_info<T>()) {
      metadata.uid = reconciled_uid(T::resource, key_of(object));
      if (!metadata.uid.empty()) metadata.resource_version = latest<T>()->metadata.resource_version;
    }
    return wrote(client_.apply_status(object, options));
  }
  /// Creates the object; if it has a generate_name instead of a name, the server chooses the name. An empty
  /// namespace means that of the object being reconciled. Throws ApiError (AlreadyExists) if the name is
  /// taken, and std::invalid_argument as apply() does.
  template <ObjectType T>
  Snapshot<T> create(T object, ContextCreateOptions options = {}) {
    imply(T::resource, object.metadata, options.own, "create");
    return wrote(client_.create(object));
  }
  /// Replaces the whole object; throws ApiError (Conflict) if it was written since it was read. See
  /// Client::update() for the types that can be replaced.
  template <ObjectType T>
  Snapshot<T> update(const T& object) {
    return wrote(client_.update(object));
  }

  /// Sends the changes made by `edit`; sends no request if there are none. `object` must be the one being
  /// reconciled.
  template <ObjectType T, class Edit>
  Snapshot<T> patch(const T& object, Edit edit) {
    return patch(current(object), std::move(edit));
  }
  template <ObjectType T, class Edit>
  Snapshot<T> patch(const Snapshot<T>& object, Edit edit) {
    return wrote(client_.patch(object, std::move(edit)));
  }
  /// Like patch(), but edits only the status: `edit` gets a reference to it. The first call also sends plain
  /// members that have their default values; see Client::patch_status().
  template <ObjectType T, class Edit>
  Snapshot<T> patch_status(const T& object, Edit edit) {
    return patch_status(current(object), std::move(edit));
  }
  template <ObjectType T, class Edit>
  Snapshot<T> patch_status(const Snapshot<T>& object, Edit edit) {
    return wrote(client_.patch_status(object, std::move(edit)));
  }

  /// Deletes the object; succeeds if it does not exist.
  template <ObjectType T>
  void remove(const ObjectKey& key, DeleteOptions options = {}) {
    if (options.uid.empty()) options.uid = reconciled_uid(T::resource, key);
    client_.remove<T>(key, options);
  }
  template <ObjectType T>
  void remove(const T& object, const DeleteOptions& options = {}) {
    client_.remove(object, options);
  }

  /// Evicts a Pod: deletes it unless that violates a PodDisruptionBudget; see calls::evict(). Reads of the
  /// Pod go to the server until the watch shows its deletion.
  void evict(const ObjectKey& pod, DeleteOptions options = {});
  /// Like evict(key), but only the Pod with the uid of `pod`, not another one that has taken its name.
  template <ObjectType T>
  void evict(const T& pod, DeleteOptions options = {}) {
    static_assert(T::resource.kind == std::string_view("Pod"), "only Pods can be evicted");
    if (options.uid.empty()) options.uid = pod.metadata.uid;
    evict(key_of(pod), options);
  }

  /// Sets the desired number of replicas. Reads of the object go to the server until the watch shows it.
  template <ObjectType T>
  Scale scale(const ObjectKey& key, std::int64_t replicas) {
    return client_.run(calls::scale<T>(key, replicas, reconciled_uid(T::resource, key)));
  }
  template <int = 0, ObjectType T>
  Scale scale(const T& object, std::int64_t replicas) {
    return client_.scale(object, replicas);
  }

  // ---- Events: shown by `kubectl describe`; see docs/events.md ----

  /// Records a Kubernetes Event about `object`, which need not be the one being reconciled. It is written in
  /// the background: the call neither waits nor fails because of the server. See EventRecorder::event() for
  /// the arguments and what it throws.
  template <ObjectType T>
  void event(const T& object, EventSeverity severity, std::string_view reason, std::string_view message,
             const EventOptions& options = {}) {
    event(event_subject(object), severity, reason, message, options);
  }
  void event(const DynamicObject& object, EventSeverity severity, std::string_view reason,
             std::string_view message, const EventOptions& options = {}) {
    event(event_subject(object), severity, reason, message, options);
  }
  void event(const EventSubject& subject, EventSeverity severity, std::string_view reason,
             std::string_view message, const EventOptions& options = {});

  /// Returns reads and writes for objects of one kind without a C++ type; see
  /// controller/resource_context.hpp.
  ResourceContext resource(ResourceId id);

  // ---- Calls to systems outside of Kubernetes; see docs/exploring.md ----

  /// Marks the following call to another system; `name` describes it, such as "resize volume".
  /// testing::explore() ends the process before the call, and after it: at the next request or explore point
  /// of the run, or at the end of the run. Elsewhere it does nothing.
  void explore_point(std::string_view name) const {
    if (options_.points != nullptr) mark_point(name);
  }
  /// Calls `effect`, which calls another system, and returns its result. testing::explore() ends the process
  /// right before and right after it; elsewhere nothing is added to the call.
  template <class Effect>
  requires std::is_invocable_v<Effect&> std::invoke_result_t<Effect&> explore_point(std::string_view name,
                                                                                    Effect effect)
  const {
    if (options_.points == nullptr) return effect();
    const std::size_t point = begin_point(name);
    if constexpr (std::is_void_v<std::invoke_result_t<Effect&>>) {
      effect();
      end_point(point);
    } else {
      decltype(auto) result = effect();
      end_point(point);
      return result;
    }
  }

  // ---- For the library ----

  /// Sets the object being reconciled; null if it does not exist.
  void set_primary(std::unique_ptr<detail::Primary> primary);
  /// Returns the object being reconciled after the last write of this run; the kind must be T.
  template <ObjectType T>
  Snapshot<T> latest() const {
    return static_cast<const detail::PrimaryOf<T>&>(*primary_).latest;
  }
  /// Records the server's answer to a write: later patches are based on it.
  template <ObjectType T>
  Snapshot<T> wrote(Snapshot<T> object) {
    if (primary_ != nullptr && object && primary_->type == &type_info<T>() &&
        primary_->metadata->uid == object->metadata.uid) {
      static_cast<detail::PrimaryOf<T>&>(*primary_).latest = object;
    }
    return object;
  }

 private:
  friend class ResourceContext;

  // Returns the object being reconciled after the last write of this run; `object` must be the reference that
  // the reconciler got.
  template <ObjectType T>
  Snapshot<T> current(const T& object) const {
    if (primary_ == nullptr || primary_->type != &type_info<T>() || primary_->object != &object)
      refuse_other_object();
    return latest<T>();
  }
  [[noreturn]] static void refuse_other_object();
  [[noreturn]] static void refuse_without_cache(const ResourceInfo& resource, const std::string& index);
  void mark_point(std::string_view name) const;
  std::size_t begin_point(std::string_view name) const;
  void end_point(std::size_t point) const;
  // Returns true if this is the object being reconciled.
  bool is_reconciled(const ResourceInfo& resource, const ObjectKey& key) const;
  // Returns the uid of the object being reconciled if it is this one; else empty.
  std::string reconciled_uid(const ResourceInfo& resource, const ObjectKey& key) const;
  void imply(const ResourceInfo& resource, ObjectMeta& metadata, bool own, const char* verb) const;
  // Returns false, and counts the skipped apply, if nothing has to be sent; otherwise records `document` in
  // the annotations of `metadata`. `current_metadata` is null if the object does not exist. Throws
  // OwnedByAnother.
  bool must_apply(const ContextApplyOptions& options, const ResourceId& resource, ObjectMeta& metadata,
                  const Json& document, const ObjectMeta* current_metadata, const Json& current) const;
  void require_own(const ContextApplyOptions& options, const ResourceId& resource, const ObjectMeta& metadata,
                   const ObjectMeta& current) const;
  // Deletes the object if `error` says that it cannot be changed, and returns true if it can be applied
  // again.
  bool must_recreate(const ApiError& error, const ResourceId& resource, const ObjectMeta& metadata) const;

  ContextOptions options_;
  ObjectKey key_;
  std::optional<TimePoint> deadline_;
  Client client_;
  std::unique_ptr<detail::Primary> primary_;
  mutable std::optional<Log> log_;
};

}  // namespace v0
}  // namespace evenkeel
