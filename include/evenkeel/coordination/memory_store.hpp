// SPDX-License-Identifier: Apache-2.0
// A store in the memory of the process, for tests, simulations, and instances that share a process. Its
// options can restrict it to the capabilities and limits of any other store.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include <evenkeel/base/export.hpp>
#include <evenkeel/coordination/store.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination {

struct MemoryStoreOptions {
  /// Capabilities that are false here are really absent: read_ranges are not checked, each read sees the
  /// latest version, watch() returns null.
  Capabilities capabilities = {};
  Limits limits = {};
  std::size_t page_entries = 0;  ///< Maximum number of entries of one scan; 0: no maximum.
  /// Returns the shard of a key; required if multi_key_atomic is false.
  std::function<std::string(std::string_view key)> shard_of = {};
};

/// A store that keeps every version of every key until compact().
/// Thread safety: all members may be called concurrently. Commits are applied one after the other.
/// Lifetime: snapshots and watches may outlive it.
class EVENKEEL_API MemoryStore final : public Store {
 public:
  /// Throws std::invalid_argument if multi_key_atomic is false and shard_of is unset.
  explicit MemoryStore(MemoryStoreOptions options = {});
  ~MemoryStore() override;

  std::string name() const override { return "memory"; }
  Capabilities capabilities() const override;
  Limits limits() const override;
  std::unique_ptr<StoreSnapshot> snapshot(std::stop_token stop = {}) override;
  CommitResult commit(const Commit& commit, std::stop_token stop = {}) override;
  /// Hints run on the committing thread, after the commit, while no lock of the store is held. A hint must
  /// not destroy its own watch.
  std::unique_ptr<StoreWatch> watch(const KeyRange& range, std::function<void()> hint) override;

  /// Returns the version of the last applied commit.
  Version version() const;
  /// Returns the store as it was at `version`. Throws std::invalid_argument for a future version.
  std::unique_ptr<StoreSnapshot> snapshot_at(Version version) const;
  /// Discards the history before `version`: reads of older snapshots throw SnapshotExpired, and a commit
  /// whose ranges were read before `version` meets a conflict.
  void compact(Version version);

 private:
  class State;
  std::shared_ptr<State> state_;
};

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
