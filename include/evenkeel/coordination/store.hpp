// SPDX-License-Identifier: Apache-2.0
// The interface of the store that operator instances share: a small ordered key-value store with optimistic
// transactions. The backends are memory_store.hpp, etcd_store.hpp, kubernetes_store.hpp and
// foundationdb_store.hpp; the rest of the coordination library uses only this interface.
//
// A transaction reads from a snapshot and describes its writes in a Commit, together with the keys and ranges
// that the decision depends on. The store applies all writes, or none of them if one of these keys or ranges
// has changed since the snapshot.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <evenkeel/base/error.hpp>
#include <evenkeel/base/export.hpp>
#include <evenkeel/base/time.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination {

/// A position in the history of one store; grows with each commit that the store applies. 0 precedes the
/// first commit. Versions of different stores cannot be compared, nor can those of different shards where
/// Capabilities::snapshot_scan is false.
using Version = std::uint64_t;

/// One key-value pair of a snapshot. Keys and values are bytes.
struct Entry {
  std::string key;
  std::string value;
  Version version = 0;  ///< The commit that wrote it last.

  friend bool operator==(const Entry&, const Entry&) = default;
};

/// The keys from `begin` (inclusive) to `end` (exclusive), in byte order. An empty `end` means that the range
/// is not bounded above.
struct KeyRange {
  std::string begin;
  std::string end;

  bool contains(std::string_view key) const noexcept { return key >= begin && (end.empty() || key < end); }
  friend bool operator==(const KeyRange&, const KeyRange&) = default;
};

/// Returns the range of all keys that begin with `prefix`. Prefixes should end with '/' (see keys.hpp), so
/// that the scope dc1 does not include dc10.
EVENKEEL_API KeyRange prefix_range(std::string_view prefix);

/// One page of a scan. `next` is where the next page begins; empty if this is the last one.
struct ScanPage {
  std::vector<Entry> entries;
  std::string next;
};

/// Thrown by reads that the store did not answer; the counterpart of Unavailable for commits.
class EVENKEEL_API StoreUnavailable : public Error {
 public:
  using Error::Error;
};
/// Thrown by reads of a snapshot that the store no longer has (etcd's compaction, an expired continue token).
/// The caller takes a new snapshot.
class EVENKEEL_API SnapshotExpired : public Error {
 public:
  using Error::Error;
};

/// The contents of a store at one version. Lifetime: must not outlive its store.
/// Thread safety: one thread at a time.
class EVENKEEL_API StoreSnapshot {
 public:
  virtual ~StoreSnapshot() = default;
  virtual Version version() const = 0;
  /// Returns nullopt if the key is absent. Throws StoreUnavailable, SnapshotExpired; Cancelled on a stop.
  virtual std::optional<Entry> get(std::string_view key) = 0;
  /// Returns the entries of `range` in key order, at most `limit` of them (0: as many as fit one response of
  /// the store). If entries are left over, `next` says where they begin. Throws as get().
  virtual ScanPage scan(const KeyRange& range, std::size_t limit = 0) = 0;
  /// Returns all entries of `range`, reading page by page. Throws as get().
  std::vector<Entry> scan_all(const KeyRange& range);
};

/// The conditions and writes of a transaction. In normal form (see normalise()) each key has one operation
/// and no erased range contains a key that is put; stores accept any form and normalise it.
struct Commit {
  /// The version of the snapshot that the decision was made from.
  Version read_version = 0;
  /// A key that must still have the version that it had in the snapshot; 0 if it was absent.
  struct ReadKey {
    std::string key;
    Version version = 0;
  };
  std::vector<ReadKey> reads = {};
  /// Ranges in which no key may have been added, changed or erased since read_version. A store without
  /// Capabilities::range_conflict ignores them, or checks them before the commit rather than atomically with
  /// it.
  std::vector<KeyRange> read_ranges = {};

  struct Put {
    std::string key;
    std::string value;
  };
  std::vector<Put> puts = {};
  std::vector<std::string> erases = {};  ///< Erasing an absent key is not an error.
  std::vector<KeyRange> range_erases = {};

  bool writes() const noexcept { return !puts.empty() || !erases.empty() || !range_erases.empty(); }
};

/// Everything was applied, and is visible to snapshots taken from now on.
struct Committed {
  Version version = 0;
};
/// Nothing was applied: `key`, or a key in the read range that begins with `key`, has changed since it was
/// read.
struct Conflict {
  std::string key;
};
/// The answer was lost: the commit may have been applied, may still be applied, or never will be. Callers
/// must not treat it as a failure.
struct Unknown {
  std::string why;
};
/// Nothing was applied, and a retry would fail as well: the commit exceeds `limit`, a member of Limits.
struct TooLarge {
  std::string limit;
  std::size_t allowed = 0;
  std::size_t actual = 0;
};
/// Nothing was applied: the store could not be reached, or it refused the request.
struct Unavailable {
  std::string why;
};
using CommitResult = std::variant<Committed, Conflict, Unknown, TooLarge, Unavailable>;

/// The guarantees of a store. docs/coordination.md describes what coordination promises without each of them.
struct Capabilities {
  bool multi_key_atomic = true;  ///< A commit may write any keys. False: only keys of one shard.
  /// read_ranges are checked: always for added and changed keys; for an erased key, only if the commit that
  /// erased it also put a key of the range. (etcd cannot detect other erasures; memory and FoundationDB can.)
  /// Guard keys exist for this purpose.
  bool range_conflict = true;
  bool snapshot_scan = true;  ///< All reads of a snapshot are of one version.
  bool watch = true;          ///< watch() delivers hints.
};

/// Upper bounds for a commit. 0: no limit.
struct Limits {
  std::size_t operations = 0;    ///< Puts, erases and range erases of a commit.
  std::size_t conditions = 0;    ///< Reads and ranges of a commit.
  std::size_t commit_bytes = 0;  ///< Keys and values of a commit.
  std::size_t key_bytes = 0;
  std::size_t value_bytes = 0;
};

/// Returns the limit that `commit`, which must be in normal form, exceeds; nullopt if it fits. If it exceeds
/// several, returns the one that is last in Limits, because splitting the commit helps least against that
/// one.
EVENKEEL_API std::optional<TooLarge> broken_limit(const Limits& limits, const Commit& commit);

/// Describes a result for logs and conditions: "committed at 12", "conflict at /db/arbiter/lock", "unknown:
/// ...". Unprintable bytes of keys are escaped.
EVENKEEL_API std::string describe(const CommitResult& result);

/// A subscription to changes of a range. Its destructor ends it; on return the callback is not running and
/// will not be called again.
class EVENKEEL_API StoreWatch {
 public:
  virtual ~StoreWatch() = default;
};

/// A shared store.
/// Thread safety: all members may be called concurrently.
/// Blocks: until the store has answered or the backend's timeout (one of its options) has passed. A stop
/// makes a read throw Cancelled and a commit return Unknown or Unavailable.
class EVENKEEL_API Store {
 public:
  virtual ~Store() = default;
  /// Name for logs: "etcd http://127.0.0.1:2379", "memory".
  virtual std::string name() const = 0;
  virtual Capabilities capabilities() const = 0;
  virtual Limits limits() const = 0;

  /// Returns a snapshot of the latest version. Throws StoreUnavailable; Cancelled on a stop.
  virtual std::unique_ptr<StoreSnapshot> snapshot(std::stop_token stop = {}) = 0;
  /// Applies `commit`. Reports failures of the store in the result; throws std::invalid_argument only for a
  /// malformed commit (an empty key, or keys of two shards without Capabilities::multi_key_atomic).
  virtual CommitResult commit(const Commit& commit, std::stop_token stop = {}) = 0;
  /// Calls `hint` soon after a key in `range` may have changed. Hints may be lost, repeated or late, so
  /// callers must also poll. `hint` runs on a thread of the store and must neither block nor throw. Returns
  /// null if the store has no watches (Capabilities::watch).
  virtual std::unique_ptr<StoreWatch> watch(const KeyRange& range, std::function<void()> hint);
};

/// Returns an equivalent commit in normal form: one operation for each key (the last put wins; a put wins
/// over an erase and over an erased range, which is split around it), in key order; each read appears once.
/// Throws std::invalid_argument for an empty key and for a range that ends before it begins.
EVENKEEL_API Commit normalise(Commit commit);

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
