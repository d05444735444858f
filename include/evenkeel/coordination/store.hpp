// SPDX-License-Identifier: Apache-2.0
// What operator instances share: a small ordered key-value store with transactions. Backends stand beside
// this (memory_store.hpp, etcd_store.hpp, kubernetes_store.hpp); everything else of the coordination speaks
// only this.
//
// A transaction is optimistic. A snapshot is read; what is to be written goes into a Commit, together with
// the keys and ranges that the decision rests upon; the store applies all of it, or nothing if one of those
// has changed since.
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

/// A moment in the life of one store: grows with each commit that it applies. 0 is before the first one.
/// Those of two stores mean nothing to each other, and where Capabilities::snapshot_scan is false neither do
/// those of two shards.
using Version = std::uint64_t;

/// One key as a snapshot has it. Keys and values are bytes.
struct Entry {
  std::string key;
  std::string value;
  Version version = 0;  ///< Of the commit that wrote it last.

  friend bool operator==(const Entry&, const Entry&) = default;
};

/// The keys from `begin` (included) to `end` (excluded), in byte order. An empty `end` means: to the last
/// key.
struct KeyRange {
  std::string begin;
  std::string end;

  bool contains(std::string_view key) const noexcept { return key >= begin && (end.empty() || key < end); }
  friend bool operator==(const KeyRange&, const KeyRange&) = default;
};

/// All keys that begin with `prefix`. That the scope dc1 does not also name dc10 is the caller's duty:
/// prefixes end with '/' (see keys.hpp).
EVENKEEL_API KeyRange prefix_range(std::string_view prefix);

/// A part of a scan. `next` is where the rest begins; empty: there is none.
struct ScanPage {
  std::vector<Entry> entries;
  std::string next;
};

/// The store did not answer a read. The same as a Commit's Unavailable: nothing was changed.
class EVENKEEL_API StoreUnavailable : public Error {
 public:
  using Error::Error;
};
/// A snapshot is so old that the store has forgotten it (etcd's compaction, an expired continue token). Take
/// a new one.
class EVENKEEL_API SnapshotExpired : public Error {
 public:
  using Error::Error;
};

/// The store as it was at one version. Lifetime: not longer than its store.
/// Thread safety: one thread at a time.
class EVENKEEL_API StoreSnapshot {
 public:
  virtual ~StoreSnapshot() = default;
  virtual Version version() const = 0;
  /// Nothing if the key is absent. Throws StoreUnavailable, SnapshotExpired; Cancelled on a stop.
  virtual std::optional<Entry> get(std::string_view key) = 0;
  /// The entries of `range` in the order of their keys, at most `limit` (0: as many as fit one answer of the
  /// store). Never ends early without saying so in `next`. Throws as get().
  virtual ScanPage scan(const KeyRange& range, std::size_t limit = 0) = 0;
  /// All of `range`, page by page.
  std::vector<Entry> scan_all(const KeyRange& range);
};

/// What a transaction wants. In normal form (see normalise()) there is one operation for each key and no
/// removed range contains a key that is put; stores take any form and bring it into that one.
struct Commit {
  /// The snapshot that the decision rests upon.
  Version read_version = 0;
  /// Keys that must be as they were: their version then, 0 for absent.
  struct ReadKey {
    std::string key;
    Version version = 0;
  };
  std::vector<ReadKey> reads = {};
  /// Ranges in which nothing may have come, changed or gone since read_version. A store without
  /// Capabilities::range_conflict does not look, or looks before it commits and not while it does.
  std::vector<KeyRange> read_ranges = {};

  struct Put {
    std::string key;
    std::string value;
  };
  std::vector<Put> puts = {};
  std::vector<std::string> erases = {};  ///< Erasing what is absent is no error.
  std::vector<KeyRange> range_erases = {};

  bool writes() const noexcept { return !puts.empty() || !erases.empty() || !range_erases.empty(); }
};

/// Everything was applied, and is what snapshots from now on show.
struct Committed {
  Version version = 0;
};
/// Nothing was applied: `key`, or something in the range that begins with it, is not as it was read.
struct Conflict {
  std::string key;
};
/// It may have been applied, may be applied yet, or never: the answer was lost. Never to be taken for a
/// failure.
struct Unknown {
  std::string why;
};
/// Nothing was applied, and nothing would be if it were sent again: `limit` names what it breaks (see
/// Limits).
struct TooLarge {
  std::string limit;
  std::size_t allowed = 0;
  std::size_t actual = 0;
};
/// Nothing was applied: the store could not be reached, or refused.
struct Unavailable {
  std::string why;
};
using CommitResult = std::variant<Committed, Conflict, Unknown, TooLarge, Unavailable>;

/// What a store can promise. docs/coordination.md says what is left of the guarantees without each.
struct Capabilities {
  bool multi_key_atomic = true;  ///< A commit may write any keys. False: only such as live in one shard.
  /// read_ranges are looked at: for keys that came or changed, always; for one that went, if the commit that
  /// erased it also put a key of the range. (etcd sees no other erasure; memory and FoundationDB do.) Guard
  /// keys are put for that.
  bool range_conflict = true;
  bool snapshot_scan = true;  ///< All reads of a snapshot are of one moment.
  bool watch = true;          ///< watch() gives hints.
  bool server_ttl = false;    ///< Keys can end by the store's own clock.
};

/// 0: no limit.
struct Limits {
  std::size_t operations = 0;    ///< Puts, erases and range erases of a commit.
  std::size_t conditions = 0;    ///< Reads and ranges of a commit.
  std::size_t commit_bytes = 0;  ///< Keys and values of a commit.
  std::size_t key_bytes = 0;
  std::size_t value_bytes = 0;
};

/// What of `commit`, which is in normal form, is more than `limits` allow; nothing if it fits. Of several the
/// one that stands first in Limits' reverse order: what no splitting cures comes first.
EVENKEEL_API std::optional<TooLarge> broken_limit(const Limits& limits, const Commit& commit);

/// "committed at 12", "conflict at /db/arbiter/lock", "unknown: ...": for logs and conditions. Bytes of keys
/// that are not printable are escaped.
EVENKEEL_API std::string describe(const CommitResult& result);

/// Ends the hints when it is destroyed; after that the callback runs no more.
class EVENKEEL_API StoreWatch {
 public:
  virtual ~StoreWatch() = default;
};

/// Thread safety: all members may be called concurrently. Members block until the store has answered or its
/// timeout (an option of each backend) has passed; a stop ends a read with Cancelled and a commit with
/// Unknown or Unavailable.
class EVENKEEL_API Store {
 public:
  virtual ~Store() = default;
  /// For logs: "etcd http://127.0.0.1:2379", "memory".
  virtual std::string name() const = 0;
  virtual Capabilities capabilities() const = 0;
  virtual Limits limits() const = 0;

  /// Throws StoreUnavailable; Cancelled.
  virtual std::unique_ptr<StoreSnapshot> snapshot(std::stop_token stop = {}) = 0;
  /// Never throws for what the store does; std::invalid_argument for a commit that has no sense (an empty
  /// key, or keys of two shards without Capabilities::multi_key_atomic).
  virtual CommitResult commit(const Commit& commit, std::stop_token stop = {}) = 0;
  /// Calls `hint` soon after something in `range` may have changed: a hint may be lost, doubled or late, so
  /// whoever relies on it also looks from time to time. On a thread of the store; must neither block nor
  /// throw. Null if the store cannot (Capabilities::watch).
  virtual std::unique_ptr<StoreWatch> watch(const KeyRange& range, std::function<void()> hint);
};

/// The same commit with one final operation for each key (the last put wins over an earlier put; a put wins
/// over an erase and over a removed range, which is split around it), in the order of keys; reads once each.
/// Throws std::invalid_argument for an empty key and for a range that ends before it begins.
EVENKEEL_API Commit normalise(Commit commit);

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
