// SPDX-License-Identifier: Apache-2.0
// The decisions of a campaign: when to read and write the Lease, when it is ours, and when it is no longer.
// No thread, lock, clock or client; time is an argument. The shell is elector.cpp.
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
  Duration lease_duration = {};
  Duration renew_deadline = {};
  Duration retry_period = {};
  bool release = true;     ///< Whether a resigning leader frees the Lease.
  std::uint64_t seed = 1;  ///< Of the jitter between a candidate's reads.
};

/// One campaign, from the first read of the Lease until it was lost, released or given up.
///
/// A claim expires when its duration has passed since this instance saw it change: no two clocks are ever
/// compared. A leader counts its own time from before it sent the write, so it stops earlier than any other
/// can begin. Writes carry the resourceVersion that they were decided on; whoever comes second gets a
/// conflict. An answer that takes long does not keep the next try from being made: whichever comes first
/// counts.
///
/// Thread safety: one thread at a time.
/// Source: client-go tools/leaderelection. Deviations: candidates that see the Lease change need not poll;
/// tries overlap; the leader's time starts when a write is sent; a deleted Lease is
/// respected until its end by who knew it; each term raises leaseTransitions, also when
/// the same identity holds it anew.
class ElectionCore {
 public:
  enum class Ask : std::uint8_t { get, create, update };
  struct Request {
    std::uint64_t id = 0;
    Ask ask = Ask::get;
    Json body = {};
    TimePoint deadline = {};  ///< An answer after it is of no use.
  };
  struct Step {
    std::optional<Request> request = {};  ///< To be sent; then ask again.
    TimePoint wake = TimePoint::max();    ///< Without a request: when to ask again.
  };
  enum class End : std::uint8_t {
    not_renewed,  ///< The renew deadline passed.
    taken,        ///< Somebody else holds the Lease.
    released,     ///< It was freed.
    resigned,     ///< Given up without anything to free, or without freeing it.
  };
  struct Term {
    std::uint64_t number = 0;    ///< leaseTransitions
    TimePoint valid_until = {};  ///< The first moment that is not ours.
  };

  explicit ElectionCore(ElectionCoreOptions options);

  /// What to do now; `wall` is what the Lease says of the time, for people.
  Step next(TimePoint now, WallTime wall);

  // How request `id` ended. Unknown ids are ignored.
  void answered(std::uint64_t id, Json lease, TimePoint now);
  void missing(std::uint64_t id, TimePoint now);     ///< 404
  void conflicted(std::uint64_t id, TimePoint now);  ///< 409
  void failed(std::uint64_t id, TimePoint now);      ///< Whether it had its effect is not known.

  // What a watch of the Lease says.
  void watching(bool alive) { watching_ = alive; }
  void seen(Json lease, TimePoint now) { take(LeaseRecord::read(std::move(lease)), now); }
  /// The event carries the last state of the Lease, so it may tell of a holder that was never seen.
  void seen_deleted(Json lease, TimePoint now);

  /// Gives up: a leader frees the Lease, if it is to, a candidate ends.
  void resign(TimePoint now);

  const std::optional<Term>& term() const { return term_; }
  const std::optional<End>& end() const { return end_; }
  bool is_resigning() const { return resigning_; }
  /// Who holds the Lease, as far as is known; empty: nobody.
  const std::string& holder() const { return holder_; }
  /// The reason for which a free Lease is not claimed; empty: none.
  const std::string& problem() const { return problem_; }

 private:
  enum class Purpose : std::uint8_t { look, claim, free };
  struct Pending {
    Purpose purpose = Purpose::look;
    TimePoint sent = {};
    bool creates = false;
    std::uint64_t changes = 0;  // that were known when it was sent
  };

  Step leader_step(TimePoint now, WallTime wall);
  Step candidate_step(TimePoint now, WallTime wall);
  Step send(Purpose purpose, TimePoint now, WallTime wall);
  std::optional<Pending> finish(std::uint64_t id);
  Json claim(WallTime wall) const;
  Json freed(WallTime wall) const;
  void take(LeaseRecord record, TimePoint now);
  void forget_lease();
  void claimed(const Pending& write, const LeaseRecord& record, TimePoint now);
  void finish_campaign(End end);
  bool nothing_seen_since(const Pending& request) const { return request.changes == changes_; }
  bool awaits(Purpose purpose) const;
  bool awaits_creation() const;
  bool has_nothing_to_free() const;
  std::optional<std::int64_t> next_term() const;
  TimePoint expiry() const { return deadline_after(observed_at_, known_->duration); }
  bool is_free(TimePoint now) const;
  Duration jittered(Duration period);

  const ElectionCoreOptions options_;
  std::uint64_t random_;
  std::optional<LeaseRecord> known_;         // none: there is no Lease, or it was not read yet
  TimePoint held_until_ = TimePoint::min();  // a Lease that was deleted meanwhile, by somebody else
  std::string newest_;         // version of the newest Lease that was known, also after it was deleted
  std::uint64_t changes_ = 0;  // of what is known: Leases taken, deletions
  TimePoint observed_at_{};    // when the claim was first seen as it is
  std::optional<std::int64_t> last_transitions_;  // of any Lease that was known
  std::string holder_;
  std::string problem_;
  bool must_look_ = true;
  bool watching_ = false;
  bool resigning_ = false;
  TimePoint look_at_ = TimePoint::min();   // the next read, if there is to be one
  TimePoint write_at_ = TimePoint::min();  // no write before
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
