// SPDX-License-Identifier: Apache-2.0
// The figures of an instance's coordination: what is pending where, what the gate said, what became of
// claims, of the lock and of the store. docs/coordination.md has the names.
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

/// What was asked of a store, and how it ended.
struct StoreFigures {
  std::uint64_t snapshots = 0;
  std::uint64_t reads = 0;          ///< get() and scan() of snapshots.
  std::uint64_t read_bytes = 0;     ///< Keys and values that were read.
  std::uint64_t failed_reads = 0;   ///< Snapshots and reads that threw: no answer, or expired.
  std::uint64_t written_bytes = 0;  ///< Keys and values of puts that were committed.
  std::uint64_t committed = 0;
  std::uint64_t conflicts = 0;
  std::uint64_t unknowns = 0;
  std::uint64_t too_large = 0;
  std::uint64_t unavailable = 0;

  friend bool operator==(const StoreFigures&, const StoreFigures&) = default;
};

/// A way to another store that counts. Whoever wants figures gives this one to the ledger and the lock.
/// Thread safety: all members may be called concurrently. Lifetime: its snapshots must not outlive it.
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

/// What one scope has of one action.
struct ScopeFigures {
  std::size_t pending = 0;
  std::size_t ready = 0;
  Duration oldest_pending = {};  ///< Since this process first saw it; 0 without any.

  friend bool operator==(const ScopeFigures&, const ScopeFigures&) = default;
};

/// What one action has come to since the meter was made, and how it stands.
struct ActionFigures {
  std::map<std::string, ScopeFigures> scopes = {};     ///< Of the last view.
  TimePoint seen = TimePoint::min();                   ///< When that was.
  std::uint64_t epoch = 0;                             ///< Of the newest claim in the last view.
  std::map<std::string, std::uint64_t> verdicts = {};  ///< By "nothing", "proceed", "wait", "blocked".
  std::map<std::string, std::uint64_t> steps = {};     ///< By the name of StepReport::Kind.
};

struct CoordinationFigures {
  std::string domain = {};  ///< The root of the keys; the label of every series.
  std::map<std::string, ActionFigures> actions = {};
  /// Of the last view: how many instances, by mode and presence.
  std::map<std::pair<std::string, std::string>, std::size_t> instances = {};
};

/// Counts, for one domain, what ledgers and claims tell that have it as LedgerOptions::meter.
/// Thread safety: all members may be called concurrently.
class EVENKEEL_API CoordinationMeter {
 public:
  explicit CoordinationMeter(std::string domain) { figures_.domain = std::move(domain); }

  /// What all have said, as Ledger::view() gives it.
  void seen(const View& view, TimePoint now) EVENKEEL_EXCLUDES(mutex_);
  /// What the gate said: to a claim, in shadow mode, or for people.
  void judged(std::string_view action, const Verdict& verdict) EVENKEEL_EXCLUDES(mutex_);
  /// How a step of ActionClaims ended.
  void stepped(std::string_view action, StepReport::Kind kind) EVENKEEL_EXCLUDES(mutex_);
  /// When the last view of `action` was; TimePoint::min() if there was none.
  TimePoint last_seen(std::string_view action) const EVENKEEL_EXCLUDES(mutex_);

  CoordinationFigures figures() const EVENKEEL_EXCLUDES(mutex_);

 private:
  mutable Mutex mutex_;
  CoordinationFigures figures_ EVENKEEL_GUARDED_BY(mutex_);
};

/// Give figures to a sink, as families evenkeel_coordination_*; `domain` is their label.
EVENKEEL_API void collect(const CoordinationFigures& figures, MetricSink& sink);
EVENKEEL_API void collect(const StoreFigures& figures, std::string_view domain, MetricSink& sink);
/// A process may have a lock for each of several scopes; `scope` is a label, too.
EVENKEEL_API void collect(const LockFigures& figures, std::string_view domain, std::string_view scope,
                          MetricSink& sink);

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
