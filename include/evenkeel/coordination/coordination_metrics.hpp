// SPDX-License-Identifier: Apache-2.0
// Metrics of an instance's coordination: pending units, verdicts of the gate, and the results of claims, of
// the lock and of store operations. docs/coordination.md lists their names.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include <evenkeel/base/export.hpp>
#include <evenkeel/base/metrics.hpp>
#include <evenkeel/base/mutex.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/coordination/claim.hpp>
#include <evenkeel/coordination/gate.hpp>
#include <evenkeel/coordination/lease_lock.hpp>
#include <evenkeel/coordination/ledger.hpp>
#include <evenkeel/coordination/store.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination {

/// Counts of the operations on a store and their results.
struct StoreFigures {
  std::uint64_t snapshots = 0;
  std::uint64_t reads = 0;          ///< Calls of get() and scan() of snapshots.
  std::uint64_t read_bytes = 0;     ///< Keys and values that were read.
  std::uint64_t failed_reads = 0;   ///< Snapshots and reads that threw: unavailable, or expired.
  std::uint64_t written_bytes = 0;  ///< Keys and values of puts that were committed.
  std::uint64_t committed = 0;
  std::uint64_t conflicts = 0;
  std::uint64_t unknowns = 0;
  std::uint64_t too_large = 0;
  std::uint64_t unavailable = 0;

  friend bool operator==(const StoreFigures&, const StoreFigures&) = default;
};

/// A store that forwards to another one and counts. Pass it to the ledger and the lock in place of the inner
/// store.
/// Thread safety: all members may be called concurrently. Lifetime: must outlive its snapshots.
class EVENKEEL_API MeteredStore final : public Store {
 public:
  /// Throws std::invalid_argument if `inner` is null.
  explicit MeteredStore(std::shared_ptr<Store> inner);

  std::string name() const override { return inner_->name(); }
  Capabilities capabilities() const override { return inner_->capabilities(); }
  Limits limits() const override { return inner_->limits(); }
  std::unique_ptr<StoreSnapshot> snapshot(std::stop_token stop = {}) override;
  CommitResult commit(const Commit& commit, std::stop_token stop = {}) override;
  std::unique_ptr<StoreWatch> watch(const KeyRange& range, std::function<void()> hint) override;

  StoreFigures figures() const EVENKEEL_EXCLUDES(mutex_);

 private:
  class Snapshot;
  void count(const std::function<void(StoreFigures&)>& change) EVENKEEL_EXCLUDES(mutex_);

  const std::shared_ptr<Store> inner_;
  mutable Mutex mutex_;
  StoreFigures figures_ EVENKEEL_GUARDED_BY(mutex_);
};

/// The units of one scope that are pending or ready for one action.
struct ScopeFigures {
  std::size_t pending = 0;
  std::size_t ready = 0;
  Duration oldest_pending = {};  ///< Time since this process first saw the oldest unit; 0: none.

  friend bool operator==(const ScopeFigures&, const ScopeFigures&) = default;
};

/// The state of one action in the last view, and its totals since the meter was constructed.
struct ActionFigures {
  std::map<std::string, ScopeFigures> scopes = {};     ///< From the last view.
  TimePoint seen = TimePoint::min();                   ///< The time of the last view.
  std::uint64_t epoch = 0;                             ///< Epoch of the newest claim in the last view.
  std::map<std::string, std::uint64_t> verdicts = {};  ///< By "nothing", "proceed", "wait", "blocked".
  std::map<std::string, std::uint64_t> steps = {};     ///< By the name of StepReport::Kind.
};

/// The metrics of one domain.
struct CoordinationFigures {
  std::string domain = {};  ///< The root of the keys, and the label of every series.
  std::map<std::string, ActionFigures> actions = {};
  /// Number of instances in the last view, by mode and presence.
  std::map<std::pair<std::string, std::string>, std::size_t> instances = {};
};

/// Collects the metrics of one domain from the ledgers and claims that have it as LedgerOptions::meter.
/// Thread safety: all members may be called concurrently.
class EVENKEEL_API CoordinationMeter {
 public:
  explicit CoordinationMeter(std::string domain) { figures_.domain = std::move(domain); }

  /// Records a view of Ledger::view().
  void on_view(const View& view, TimePoint now) EVENKEEL_EXCLUDES(mutex_);
  /// Records a verdict of the gate: for a claim, in shadow mode, or for people.
  void on_verdict(std::string_view action, const Verdict& verdict) EVENKEEL_EXCLUDES(mutex_);
  /// Records the result of a step of ActionClaims.
  void on_step(std::string_view action, StepReport::Kind kind) EVENKEEL_EXCLUDES(mutex_);
  /// Returns the time of the last view of `action`; TimePoint::min() if there was none.
  TimePoint last_seen(std::string_view action) const EVENKEEL_EXCLUDES(mutex_);

  CoordinationFigures figures() const EVENKEEL_EXCLUDES(mutex_);

 private:
  mutable Mutex mutex_;
  CoordinationFigures figures_ EVENKEEL_GUARDED_BY(mutex_);
};

/// Writes figures to a sink, as families evenkeel_coordination_* with the label `domain`.
EVENKEEL_API void collect(const CoordinationFigures& figures, MetricSink& sink);
EVENKEEL_API void collect(const StoreFigures& figures, std::string_view domain, MetricSink& sink);
/// `scope` is a label as well, since a process may have a lock for each of several scopes.
EVENKEEL_API void collect(const LockFigures& figures, std::string_view domain, std::string_view scope,
                          MetricSink& sink);

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
