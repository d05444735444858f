// SPDX-License-Identifier: Apache-2.0
// The argument of a reconcile: a client bound to the run, cached reads, log, deadline and stop token.
#pragma once

#include <cstdint>
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
#include <evenkeel/base/time.hpp>
#include <evenkeel/cache/cache.hpp>
#include <evenkeel/client/client.hpp>
#include <evenkeel/workqueue/request_key.hpp>

namespace evenkeel {
inline namespace v0 {

/// The key of the object that a reconcile is about: cluster, namespace and name.
using Request = RequestKey;

namespace detail {

/// The type-erased object that is being reconciled.
struct Primary {
  virtual ~Primary() = default;
  const TypeInfo* type = nullptr;
  const void* object = nullptr;  // the object that the reconciler has a reference to
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

struct ContextApplyOptions {
  /// Makes the object that is being reconciled the controller of the applied object, unless `object` names a
  /// controller or is the reconciled object itself. It is an error if the reconciled object has a namespace
  /// and the applied object has another or none, or if the reconciled object does not exist. False: no owner
  /// is set; the garbage collector does not delete the applied object, so a finalizer must.
  bool own = true;
  bool force = true;  ///< Takes over fields that another field owner holds.
};

/// Construction parameters of a Context. Controllers fill them in; unit tests of reconcilers may, too.
struct ContextOptions {
  Client client;           ///< Unbound; the context binds it.
  Cache* cache = nullptr;  ///< Null: every read is live.
  Request request = {};
  Log log = {};
  std::string field_owner = "evenkeel";
  std::string reconcile_id = {};
  std::uint64_t attempt = 1;
  std::optional<std::uint64_t> term = {};
  std::stop_token stop = {};
  std::optional<Duration> timeout = {};
  std::shared_ptr<const Clock> clock = real_clock();
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
  /// Namespace and name of the object to reconcile.
  const ObjectKey& key() const { return key_; }
  /// Returns 1 plus the number of failures since the last success.
  std::uint64_t attempt() const { return options_.attempt; }
  /// Returns the term of this instance's leadership, with leader election: greater than that of every earlier
  /// leader. Pass it to systems that can reject an older one (docs/election.md).
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
  /// Throws Cancelled if stop() was triggered or deadline() has passed. For long loops.
  void check() const;

  // ---- Reads: from the cache if the kind is declared there (for, owns, watches), else from the server ----

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
  /// Returns all objects of a kind that `owner` owns, by its uid: in its namespace, or in all if it is
  /// cluster-scoped. See Cache::owned_by().
  template <ObjectType T, ObjectType Owner>
  std::vector<Snapshot<T>> owned_by(const Owner& owner) {
    const ObjectMeta& metadata = owner.metadata;
    if (options_.cache != nullptr)
      return options_.cache->owned_by<T>(metadata.uid, metadata.namespace_, client_);
    return detail::decode_all<T>(
        detail::list_owned(client_, detail::resource_of<T>(), metadata.uid, metadata.namespace_));
  }

  // ---- Writes ----

  /// Sends a server-side apply of the fields that `object` sets. An empty namespace means that of the object
  /// being reconciled. Throws std::invalid_argument without sending a request if the object being reconciled
  /// cannot own it; see ContextApplyOptions::own.
  template <ObjectType T>
  Snapshot<T> apply(T object, ContextApplyOptions options = {}) {
    imply(T::resource, object.metadata, options);
    return wrote(client_.apply(object, {.force = options.force}));
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
  void remove(const ObjectKey& key, const DeleteOptions& options = {}) {
    client_.remove<T>(key, options);
  }
  template <ObjectType T>
  void remove(const T& object, const DeleteOptions& options = {}) {
    client_.remove<T>(key_of(object), options);
  }

  // ---- For the library ----

  /// Sets the object being reconciled; null if it does not exist.
  void set_primary(std::unique_ptr<detail::Primary> primary);
  /// Returns the object being reconciled after the last write of this run; the kind must be T.
  template <ObjectType T>
  Snapshot<T> latest() const {
    return static_cast<const detail::PrimaryOf<T>&>(*primary_).latest;
  }
  /// Records the server's answer to a write: later reads return it, and later patches are based on it.
  template <ObjectType T>
  Snapshot<T> wrote(Snapshot<T> object) {
    if (options_.cache != nullptr) options_.cache->written(object);
    if (primary_ != nullptr && object && primary_->type == &type_info<T>() &&
        primary_->metadata->uid == object->metadata.uid) {
      static_cast<detail::PrimaryOf<T>&>(*primary_).latest = object;
    }
    return object;
  }

 private:
  // Returns the snapshot behind a reference that the reconciler has, after the last write of this run.
  template <ObjectType T>
  Snapshot<T> current(const T& object) const {
    if (primary_ == nullptr || primary_->type != &type_info<T>() || primary_->object != &object)
      refuse_stranger();
    return latest<T>();
  }
  [[noreturn]] static void refuse_stranger();
  void imply(const ResourceInfo& resource, ObjectMeta& metadata, const ContextApplyOptions& options) const;
  [[noreturn]] void refuse_owner(const ResourceInfo& resource, const ObjectMeta& metadata,
                                 const char* why) const;

  ContextOptions options_;
  ObjectKey key_;
  std::optional<TimePoint> deadline_;
  Client client_;
  std::unique_ptr<detail::Primary> primary_;
  mutable std::optional<Log> log_;
};

}  // namespace v0
}  // namespace evenkeel
