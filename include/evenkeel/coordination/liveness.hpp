// SPDX-License-Identifier: Apache-2.0
// The registry of instances. Every instance renews a record periodically. An instance whose record stops
// changing is silent, so that its pending units need not block the others.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/base/error.hpp>
#include <evenkeel/base/export.hpp>
#include <evenkeel/base/mutex.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/coordination/identity.hpp>
#include <evenkeel/coordination/layout.hpp>
#include <evenkeel/coordination/observations.hpp>
#include <evenkeel/coordination/store.hpp>
#include <evenkeel/coordination/transact.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination {

/// The InstanceRecord::schema of this version of the library. An instance that sees a live one with a higher
/// schema makes no decisions, because it may not be able to decode what that one has published.
inline constexpr std::uint32_t known_schema = 1;

/// The value of Layout::instance(scope).
struct InstanceRecord {
  std::string instance = {};
  std::string incarnation = {};
  Mode mode = Mode::local;
  std::uint32_t schema = known_schema;  ///< Schema of the keys and values that the instance writes.
  std::uint64_t renewals = 0;           ///< Grows with every renewal, so that the record changes.
  WallTime at = {};  ///< When it was last renewed, by the instance's wall clock; informational.
  /// After a migration: the new scope of the instance, which no longer owns this one. Otherwise empty.
  std::string moved_to = {};

  friend bool operator==(const InstanceRecord&, const InstanceRecord&) = default;
};
EVENKEEL_API std::string encode(const InstanceRecord& record);
/// Throws DecodeError: "instances/dc1: ...".
EVENKEEL_API InstanceRecord decode_instance(std::string_view value, std::string_view scope = {});

enum class Presence : std::uint8_t {
  live,    ///< Its record changed within the allowed time, or has not been observed for that long yet.
  silent,  ///< Its record has not changed for longer.
  absent,  ///< It has no record, or one that cannot be decoded or that names a new scope.
};
EVENKEEL_API std::string_view text_of(Presence presence);

/// An instance as another one sees it.
struct Instance {
  std::string scope = {};
  InstanceRecord record = {};
  Version version = 0;  ///< Version of its record, for Commit::reads of decisions that depend on its silence.
  Presence presence = Presence::absent;
  Duration unchanged = {};  ///< Time for which its record has been unchanged, as observed by this process.

  friend bool operator==(const Instance&, const Instance&) = default;
};

struct LivenessOptions {
  /// An instance whose record is unchanged for this long is silent. Must be several renewal intervals.
  Duration silence = std::chrono::seconds{60};
};

/// Tracks which instances are live, from the records of snapshots and the times at which this process saw
/// them. Pure. A new process considers every instance live until `silence` has passed. Thread safety: one
/// thread at a time.
class EVENKEEL_API Liveness {
 public:
  /// Throws std::invalid_argument unless options.silence > 0.
  explicit Liveness(Layout layout, LivenessOptions options = {});

  /// Records `entries`: all entries below Layout::instances_prefix() in one snapshot.
  void observe(const std::vector<Entry>& entries, TimePoint now);

  /// Returns all instances that have a record, in the order of scopes.
  std::vector<Instance> instances(TimePoint now) const;
  /// Returns the instance of `scope`, which is absent if it has no record.
  Instance of(std::string_view scope, TimePoint now) const;
  /// Returns when `scope` will be silent unless its record changes; nullopt if it is absent.
  std::optional<TimePoint> silent_at(std::string_view scope) const;
  /// Returns the live instances whose mode is not `mode`, in the order of scopes.
  std::vector<Instance> others_than(Mode mode, TimePoint now) const;

 private:
  struct Known {
    InstanceRecord record;
    bool owned = false;  // readable, and not moved away
    Version version = 0;
    TimePoint since;
  };
  Instance seen(const std::string& scope, const Known& known, TimePoint now) const;

  Layout layout_;
  LivenessOptions options_;
  Observations seen_;
  std::map<std::string, Known, std::less<>> known_;
};

/// Thrown when another instance, or a later run of this one, owns the scope. The caller must stop writing.
class EVENKEEL_API ScopeTaken : public Error {
 public:
  using Error::Error;
};

/// Returns true if `record` is that of this run, and names no new scope. Pure.
EVENKEEL_API bool is_record_of(const InstanceRecord& record, const Identity& me);

/// Returns the record that `me` may write: pure. `present` is the present record, `known` whether its
/// instance is silent, `registered` whether this run has written the record before. Throws ScopeTaken. The
/// cases:
/// - absent, or of another instance that is silent or has moved away: it is taken;
/// - of this run: renewed;
/// - of another run of this instance, or moved away by it: taken, unless this run was registered before and
/// has
///   therefore been succeeded (ScopeTaken);
/// - of another instance that is live: ScopeTaken.
EVENKEEL_API InstanceRecord next_record(const std::optional<InstanceRecord>& present, Presence known,
                                        const Identity& me, Mode mode, bool registered, WallTime wall);

/// An instance's own registry record, and its observations of the others.
/// Thread safety: all members may be called concurrently; transactions run one at a time. Blocks as Store
/// does. Lifetime: must not outlive the store.
class EVENKEEL_API LivenessRegistry {
 public:
  /// `transact` as for LeaseLock.
  LivenessRegistry(Store& store, Layout layout, Identity me, LivenessOptions options = {},
                   TransactOptions transact = {});

  /// Renews the own record; call it several times within LivenessOptions::silence. Returns all instances, of
  /// the same snapshot. Throws ScopeTaken; StoreUnavailable if the outcome is not known; Cancelled.
  std::vector<Instance> renew(Mode mode, std::stop_token stop = {});
  /// Returns all instances without writing. Throws StoreUnavailable; Cancelled.
  std::vector<Instance> look(std::stop_token stop = {});
  /// Tells the registry that this run has written its record by Ledger::publish(), so that renew() does not
  /// take the scope back from a later run. The registry notices it by itself when it sees the record.
  void set_registered() EVENKEEL_EXCLUDES(mutex_);
  /// Removes the record: this instance takes no further part. That of a later run stays. Withdraw the
  /// instance's members before. Throws as renew(), without ScopeTaken.
  void retire(std::stop_token stop = {});

  /// Returns the instances that were observed last.
  std::vector<Instance> instances() const;

 private:
  void observe(StoreSnapshot& snapshot) EVENKEEL_EXCLUDES(mutex_);

  Store& store_;
  const Layout layout_;
  const Identity me_;
  const TransactOptions transact_;
  Mutex transacting_;  // one transaction at a time per token key
  mutable Mutex mutex_;
  Liveness liveness_ EVENKEEL_GUARDED_BY(mutex_);
  bool registered_ EVENKEEL_GUARDED_BY(mutex_) = false;
};

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
