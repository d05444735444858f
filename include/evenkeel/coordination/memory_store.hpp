// SPDX-License-Identifier: Apache-2.0
// A store in the memory of the process: for tests, for simulations, and for instances that live in one
// process. It can be as weak as any other: with limits, without conflicts on ranges, in shards.
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
  /// What is false here is really not kept: read_ranges are not looked at, each read sees what is latest,
  /// watch() is null. server_ttl has no effect.
  Capabilities capabilities = {};
  Limits limits = {};
  std::size_t page_entries = 0;  ///< Of one answer to a scan; 0: all.
  /// The shard that a key lives in; needed where multi_key_atomic is false.
  std::function<std::string(std::string_view key)> shard_of = {};
};

/// Keeps every version of every key until compact().
/// Thread safety: all members may be called concurrently. Commits are applied one after the other.
/// Lifetime: snapshots and watches may outlive it.
class EVENKEEL_API MemoryStore final : public Store {
 public:
  /// Throws std::invalid_argument if shards are wanted without shard_of.
  explicit MemoryStore(MemoryStoreOptions options = {});
  ~MemoryStore() override;

  std::string name() const override { return "memory"; }
  Capabilities capabilities() const override;
  Limits limits() const override;
  std::unique_ptr<StoreSnapshot> snapshot(std::stop_token stop = {}) override;
  CommitResult commit(const Commit& commit, std::stop_token stop = {}) override;
  /// Hints run on the thread that commits, after the commit and under no lock of the store. A watch must not
  /// be destroyed by its own hint.
  std::unique_ptr<StoreWatch> watch(const KeyRange& range, std::function<void()> hint) override;

  /// Of the last commit that was applied.
  Version version() const;
  /// The store as it was then. Throws std::invalid_argument for a version that is yet to come.
  std::unique_ptr<StoreSnapshot> snapshot_at(Version version) const;
  /// Forgets what was before `version`: reads of older snapshots throw SnapshotExpired, and a commit whose
  /// ranges were read before it meets a conflict.
  void compact(Version version);

 private:
  class State;
  std::shared_ptr<State> state_;
};

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
