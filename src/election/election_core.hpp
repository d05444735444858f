// SPDX-License-Identifier: Apache-2.0
// The decisions of leader election: when to read and write the Lease, and when this instance is the leader.
// No thread, lock, clock or client; time is an argument. The driver is elector.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include <evenkeel/api/json.hpp>
#include <evenkeel/base/time.hpp>

#include "election/lease_record.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {

struct ElectionCoreOptions {
  std::string namespace_ = {};
  std::string name = {};
  std::string identity = {};
  std::map<std::string, std::string> labels = {};  ///< Labels of the Lease, when it is created.
  Duration lease_duration = {};
  Duration renew_deadline = {};
  Duration retry_period = {};
  bool release = true;     ///< A resigning leader releases the Lease.
  std::uint64_t seed = 1;  ///< Seed of the jitter between a candidate's reads.
};

/// One candidacy, from the first read of the Lease until leadership is lost, released or given up.
///
/// A claim expires when its duration has passed since this instance saw it change: clocks are never compared.
/// A leader's own time starts before it sends the write, so it stops earlier than any other candidate can
/// begin. Writes carry the resourceVersion that they were decided on; the later of two gets a conflict. A
/// slow response does not delay the next attempt: the first of them to complete counts.
///
/// Driver:
///  1. calls next_step(), sends its request if it has one, and calls it again until it has none;
///  2. calls it again at Step::next_due, and after each call of 3 to 5;
///  3. calls on_answered(), on_missing(), on_conflict() or on_failure() for each request;
///  4. calls on_watching() when a watch of the Lease starts or ends, and on_event() or on_deleted() for its
///     events;
///  5. calls resign() when it is asked to stop;
///  6. ends when end() is set, and stops leading at Term::valid_until by its own clock.
/// Thread safety: one thread at a time.
/// Source: client-go tools/leaderelection. Deviations: candidates that see the Lease change need not poll;
/// attempts overlap; the leader's time starts when a write is sent; candidates that have seen a Lease respect
/// it until its expiry even if it is deleted, but no claim for longer than 5 minutes or four times their own
/// duration then; each term increments leaseTransitions, also when the same
/// identity holds it again.
class ElectionCore {
 public:
  enum class Ask : std::uint8_t { get, create, update };
  struct Request {
    std::uint64_t id = 0;
    Ask ask = Ask::get;
    Json body = {};
    TimePoint deadline = {};  ///< A response after it is useless.
  };
  struct Step {
    std::optional<Request> request = {};    ///< Request to send; then call next_step() again.
    TimePoint next_due = TimePoint::max();  ///< Without a request: time of the next call.
  };
  enum class End : std::uint8_t {
    not_renewed,  ///< The renew deadline passed.
    taken,        ///< Another candidate holds the Lease.
    released,     ///< The Lease was released.
    resigned,     ///< Ended without a Lease to release, or without releasing it.
  };
  struct Term {
    std::uint64_t number = 0;    ///< leaseTransitions
    TimePoint valid_until = {};  ///< First moment after the end of leadership.
  };

  explicit ElectionCore(ElectionCoreOptions options);

  /// Returns the next step; `wall` is the time written into the Lease, for people.
  Step next_step(TimePoint now, WallTime wall);

  // Results of request `id`. Unknown ids are ignored.
  void on_answered(std::uint64_t id, Json lease, TimePoint now);
  void on_missing(std::uint64_t id, TimePoint now);   ///< 404
  void on_conflict(std::uint64_t id, TimePoint now);  ///< 409
  void on_failure(std::uint64_t id, TimePoint now);   ///< It is unknown if it had its effect.

  // Observations of a watch of the Lease.
  void on_watching(bool alive) { watching_ = alive; }
  void on_event(Json lease, TimePoint now) { take(LeaseRecord::read(std::move(lease)), now); }
  /// The event carries the last state of the Lease, which may name a holder that was never seen.
  void on_deleted(Json lease, TimePoint now);

  /// Ends the candidacy. If `release` is set, a leader releases the Lease, as does a candidate whose claim is
  /// in flight and succeeds; it waits for that for at most the renew deadline.
  void resign(TimePoint now);

  const std::optional<Term>& term() const { return term_; }
  const std::optional<End>& end() const { return end_; }
  bool is_resigning() const { return resigning_; }
  /// Returns the last known holder of the Lease; empty: none.
  const std::string& holder() const { return holder_; }
  /// Returns the reason why a free Lease is not claimed, or why one that is held may not become free; empty:
  /// none.
  const std::string& problem() const { return problem_; }

 private:
  enum class Purpose : std::uint8_t { look, claim, free };
  struct Pending {
    Purpose purpose = Purpose::look;
    TimePoint sent = {};
    bool creates = false;
    std::uint64_t changes = 0;  // value of changes_ at the time of sending
  };

  Step leader_step(TimePoint now, WallTime wall);
  Step withdrawal_step(TimePoint now, WallTime wall);
  Step candidate_step(TimePoint now, WallTime wall);
  Step send(Purpose purpose, TimePoint now, WallTime wall);
  std::optional<Pending> finish(std::uint64_t id);
  Json claim(WallTime wall) const;
  Json freed(WallTime wall) const;
  void take(LeaseRecord record, TimePoint now);
  void on_failed_withdrawal(const Pending& request, TimePoint now);
  void forget_lease(TimePoint now);
  void claimed(const Pending& write, const LeaseRecord& record, TimePoint now);
  void finish_candidacy(End end);
  bool nothing_seen_since(const Pending& request) const { return request.changes == changes_; }
  bool awaits(Purpose purpose) const;
  bool awaits_creation() const;
  bool has_nothing_to_free() const;
  /// Returns true if this candidate has resigned while a claim was in flight.
  bool is_withdrawing() const { return resigning_ && !term_ && !end_; }
  std::optional<std::int64_t> next_term() const;
  TimePoint expiry() const { return deadline_after(observed_at_, known_->duration); }
  bool is_free(TimePoint now) const;
  Duration jittered(Duration period);

  const ElectionCoreOptions options_;
  std::uint64_t random_;
  std::optional<LeaseRecord> known_;         // empty: there is no Lease, or it was not read yet
  TimePoint held_until_ = TimePoint::min();  // expiry of a Lease that another client deleted
  std::string newest_;                       // version of the newest known Lease, kept after a deletion
  std::uint64_t changes_ = 0;                // number of changes of known_: Leases read, deletions
  TimePoint observed_at_{};                  // first time at which the claim was seen in its present form
  std::optional<std::int64_t> last_transitions_;  // of any known Lease
  std::string holder_;
  std::string problem_;
  bool must_look_ = true;
  bool watching_ = false;
  bool resigning_ = false;
  TimePoint look_at_ = TimePoint::min();         // time of the next read, if any
  TimePoint write_at_ = TimePoint::min();        // earliest time of the next write
  TimePoint withdraw_until_ = TimePoint::max();  // end of a candidate that has resigned
  TimePoint last_sent_ = TimePoint::min();
  WallTime last_written_{};  // the time in the last write
  std::uint64_t last_id_ = 0;
  unsigned conflicts_ = 0;  // in a row
  std::map<std::uint64_t, Pending> pending_;
  std::optional<Term> term_;
  std::optional<End> end_;
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
