// SPDX-License-Identifier: Apache-2.0
// Who takes part: every instance writes a record of itself again and again. One whose record does not change
// any more is silent, and what it has pending need not hold up the others for ever.
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

/// What InstanceRecord::schema is for what this program writes. Who finds a live instance with a higher one
/// takes no decision: it may have said what this program cannot read.
inline constexpr std::uint32_t known_schema = 1;

/// What Layout::instance(scope) says.
struct InstanceRecord {
  std::string instance = {};
  std::string incarnation = {};
  Mode mode = Mode::local;
  std::uint32_t schema = known_schema;  ///< Of the keys and values that it writes.
  std::uint64_t renewals = 0;           ///< Grows with every renewal, so that the record changes.
  WallTime at = {};                     ///< Of the last one, by its calendar; for people.
  /// The scope that the instance has instead, since a migration: nobody has this one. Else empty.
  std::string moved_to = {};

  friend bool operator==(const InstanceRecord&, const InstanceRecord&) = default;
};
EVENKEEL_API std::string encode(const InstanceRecord& record);
/// Throws DecodeError: "instances/dc1: ...".
EVENKEEL_API InstanceRecord decode_instance(std::string_view value, std::string_view scope = {});

enum class Presence : std::uint8_t {
  live,    ///< Its record changed within the time allowed, or was not watched for that long yet.
  silent,  ///< Its record has not changed for longer.
  absent,  ///< It has no record, or one that cannot be read or says where the scope went.
};
EVENKEEL_API std::string_view text_of(Presence presence);

/// An instance as another one sees it.
struct Instance {
  std::string scope = {};
  InstanceRecord record = {};
  Version version = 0;  ///< Of its record. For Commit::reads, where a decision rests upon its silence.
  Presence presence = Presence::absent;
  Duration unchanged = {};  ///< How long its record has been as it is, as far as this process saw.

  friend bool operator==(const Instance&, const Instance&) = default;
};

struct LivenessOptions {
  /// An instance whose record does not change for so long is silent. Longer than a few of its renewals.
  Duration silence = std::chrono::seconds{60};
};

/// Tells who lives, from the records of a snapshot and the times at which this process saw them: pure. A
/// process that has just begun takes everybody for live until `silence` has passed.
/// Thread safety: one thread at a time.
class EVENKEEL_API Liveness {
 public:
  /// Throws std::invalid_argument unless options.silence > 0.
  explicit Liveness(Layout layout, LivenessOptions options = {});

  /// Takes note of `entries`: all below Layout::instances_prefix(), of one snapshot.
  void observe(const std::vector<Entry>& entries, TimePoint now);

  /// All that have a record, in the order of scopes.
  std::vector<Instance> instances(TimePoint now) const;
  /// `scope`, which is absent if it has no record.
  Instance of(std::string_view scope, TimePoint now) const;
  /// When `scope` will be silent unless its record changes; nothing if it is absent.
  std::optional<TimePoint> silent_at(std::string_view scope) const;
  /// Live instances whose mode is not `mode`, in the order of scopes: what agrees on nothing with the others.
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

/// Somebody else writes under this scope: two instances were given the same one, or a later run of this one
/// has begun. Whoever gets this stops writing.
class EVENKEEL_API ScopeTaken : public Error {
 public:
  using Error::Error;
};

/// What may be written to the record of `me`: pure. `present` is what is there, `known` whether it is silent,
/// `registered` whether this run has written it before. Throws ScopeTaken.
/// - absent, or of another instance that is silent or has moved away: it is taken;
/// - of this instance: renewed; of an earlier run of it: taken, unless this run had it before, which was then
///   succeeded by the other one; moved away: the same;
/// - of another instance that is live: ScopeTaken.
EVENKEEL_API InstanceRecord next_record(const std::optional<InstanceRecord>& present, Presence known,
                                        const Identity& me, Mode mode, bool registered, WallTime wall);

/// An instance's own record, and its sight of the others'.
/// Thread safety: all members may be called concurrently. Blocks as Store does. Lifetime: not longer than the
/// store.
class EVENKEEL_API LivenessRegistry {
 public:
  /// `transact` as for LeaseLock.
  LivenessRegistry(Store& store, Layout layout, Identity me, LivenessOptions options = {},
                   TransactOptions transact = {});

  /// Writes the record again; call it a few times within LivenessOptions::silence. What the others are, from
  /// the same snapshot. Throws ScopeTaken; StoreUnavailable if it is not known to be written; Cancelled.
  std::vector<Instance> renew(Mode mode, std::stop_token stop = {});
  /// Only looks. Throws StoreUnavailable; Cancelled.
  std::vector<Instance> look(std::stop_token stop = {});
  /// Removes the record: this instance takes no part any more. Its members are to be withdrawn before. Throws
  /// as renew().
  void retire(std::stop_token stop = {});

  /// What was seen last.
  std::vector<Instance> instances() const;

 private:
  void observe(StoreSnapshot& snapshot) EVENKEEL_EXCLUDES(mutex_);

  Store& store_;
  const Layout layout_;
  const Identity me_;
  const TransactOptions transact_;
  mutable Mutex mutex_;
  Liveness liveness_ EVENKEEL_GUARDED_BY(mutex_);
  bool registered_ EVENKEEL_GUARDED_BY(mutex_) = false;
};

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
