// SPDX-License-Identifier: Apache-2.0
// Faults between an instance and the store that it shares with others, scripted or random: for tests of code
// that uses coordination/store.hpp.
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

/// The fault of one commit.
enum class StoreFault : std::uint8_t {
  none,
  conflict,         ///< Conflict, even if there is none; nothing is applied.
  unknown_applied,  ///< Applied if possible; the result is Unknown.
  unknown_lost,     ///< Not applied; the result is Unknown.
  unknown_late,     ///< The result is Unknown; applied by deliver(), if still possible then.
  unavailable,      ///< Unavailable; nothing is applied.
};

/// Probabilities of faults, 0 to 1; the sum of those of commits is at most 1.
struct StoreFaultRates {
  double conflict = 0;
  double unknown_applied = 0;
  double unknown_lost = 0;
  double unknown_late = 0;
  double unavailable = 0;
  double snapshot_unavailable = 0;  ///< For snapshots and reads from them.
  double snapshot_expired = 0;      ///< For reads from snapshots.
  /// Probability that the oldest delayed commit is delivered before a call.
  double delivery = 0.5;
};

/// Counters of the calls and their results.
struct StoreCounts {
  std::size_t snapshots = 0;
  std::size_t reads = 0;  ///< get() and scan() of snapshots.
  std::size_t commits = 0;
  std::size_t committed = 0;
  std::size_t conflicts = 0;
  std::size_t unknowns = 0;
  std::size_t unavailable = 0;  ///< Commits and reads.
  std::size_t late_applied = 0;
  std::size_t read_bytes = 0;     ///< Keys and values of the entries read.
  std::size_t written_bytes = 0;  ///< Keys and values of the puts sent.
};

/// A decorator of a store that loses, delays and rejects calls. Each of the instances that share a store gets
/// its own one. Without script, rates and cut it only counts.
/// Thread safety: all members may be called concurrently; the seed then does not determine the order of
/// calls.
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

  /// Sets the faults of the next commits, one each, which take precedence over the rates.
  void script(std::vector<StoreFault> faults);
  /// Sets rates and seed of random faults. Throws std::invalid_argument for values out of range.
  void set_rates(const StoreFaultRates& rates, std::uint64_t seed);
  /// Cuts the connection: until it is set to false, snapshots and reads throw StoreUnavailable and commits
  /// return Unavailable.
  void set_cut(bool cut);
  /// Applies all delayed commits, in the order in which they were sent; returns how many were applied without
  /// a conflict. Works while cut off, too.
  std::size_t deliver();
  /// Returns the number of delayed commits.
  std::size_t undelivered() const;
  StoreCounts counts() const;

 private:
  class State;
  std::shared_ptr<State> state_;
};

}  // namespace testing
}  // namespace v0
}  // namespace evenkeel
