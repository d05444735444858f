// SPDX-License-Identifier: Apache-2.0
// What can go wrong between an instance and the store that it shares with others, by script or by seed: for
// tests of whoever builds on coordination/store.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include <evenkeel/base/export.hpp>
#include <evenkeel/coordination/store.hpp>

namespace evenkeel {
inline namespace v0 {
namespace testing {

/// What becomes of one commit.
enum class StoreFault : std::uint8_t {
  none,
  conflict,         ///< Conflict, although there may be none; nothing is applied.
  unknown_applied,  ///< Applied if it can be; the answer is Unknown.
  unknown_lost,     ///< Never applied; the answer is Unknown.
  unknown_late,     ///< The answer is Unknown; deliver() applies it, if it still can be applied then.
  unavailable,      ///< Unavailable; nothing is applied.
};

/// Shares of all calls, 0 to 1; those of the commits together at most 1.
struct StoreFaultRates {
  double conflict = 0;
  double unknown_applied = 0;
  double unknown_lost = 0;
  double unknown_late = 0;
  double unavailable = 0;
  double snapshot_unavailable = 0;  ///< Of snapshots and of the reads from them.
  double snapshot_expired = 0;      ///< Of the reads from snapshots.
  /// Before each call: the oldest commit that is late arrives.
  double delivery = 0.5;
};

/// What was asked of the store, and what it answered.
struct StoreCounts {
  std::size_t snapshots = 0;
  std::size_t reads = 0;  ///< get() and scan() of snapshots.
  std::size_t commits = 0;
  std::size_t committed = 0;
  std::size_t conflicts = 0;
  std::size_t unknowns = 0;
  std::size_t unavailable = 0;  ///< Commits and reads.
  std::size_t late_applied = 0;
  std::size_t read_bytes = 0;     ///< Keys and values of entries that were read.
  std::size_t written_bytes = 0;  ///< Keys and values of the puts that were sent.
};

/// A way to another store that loses, delays and refuses. Instances that share one store get one of these
/// each. Without script, rates and cut it only counts. Thread safety: all members may be called concurrently;
/// then a seed decides nothing about their order.
class EVENKEEL_API FaultyStore final : public coordination::Store {
 public:
  /// Throws std::invalid_argument if `inner` is null.
  explicit FaultyStore(std::shared_ptr<coordination::Store> inner);
  ~FaultyStore() override;

  std::string name() const override;
  coordination::Capabilities capabilities() const override;
  coordination::Limits limits() const override;
  std::unique_ptr<coordination::StoreSnapshot> snapshot(std::stop_token stop = {}) override;
  coordination::CommitResult commit(const coordination::Commit& commit, std::stop_token stop = {}) override;
  std::unique_ptr<coordination::StoreWatch> watch(const coordination::KeyRange& range,
                                                  std::function<void()> hint) override;

  /// The next commits meet these, one each, instead of what the rates say.
  void script(std::vector<StoreFault> faults);
  /// From now on, decided by `seed`. Throws std::invalid_argument for shares that are none.
  void set_rates(const StoreFaultRates& rates, std::uint64_t seed);
  /// Cut off: snapshots and reads throw StoreUnavailable, commits are Unavailable; until it is false again.
  void set_cut(bool cut);
  /// Applies all commits that are late, in the order in which they were sent; returns how many were applied
  /// and did not meet a conflict. Works while cut off, too.
  std::size_t deliver();
  /// Commits that are late.
  std::size_t undelivered() const;
  StoreCounts counts() const;

 private:
  class State;
  std::shared_ptr<State> state_;
};

}  // namespace testing
}  // namespace v0
}  // namespace evenkeel
