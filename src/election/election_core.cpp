// SPDX-License-Identifier: Apache-2.0
#include "election/election_core.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include <evenkeel/api/time.hpp>
#include <evenkeel/base/duration_text.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

// A candidate that polls does so after 1 to 2.2 retry periods, as in client-go.
constexpr double jitter = 1.2;
constexpr unsigned most_conflicts = 5;  // in a row, before a pause
// If the wall clock is set back by more than this, its time is used; otherwise renewals continue from the
// last one's time.
constexpr auto longest_step_back = std::chrono::hours{1};
// leaseTransitions is an int32 in the API server, which rejects a Lease with a larger one.
constexpr std::int64_t most_transitions = INT32_MAX;

std::string counter_is_full(const ElectionCoreOptions& options) {
  return "Lease " + options.namespace_ + "/" + options.name + ": spec.leaseTransitions is " +
         std::to_string(most_transitions) +
         ", the largest that the API server takes, so no further term can be counted; set it to a smaller "
         "number or delete the Lease";
}

// A claim that lasts longer than this without a renewal needs a person if its holder does not run.
Duration longest_claim(const ElectionCoreOptions& options) {
  constexpr Duration least = std::chrono::minutes{5};
  return std::max(4 * options.lease_duration, least);
}

std::string claim_is_long(const ElectionCoreOptions& options, const LeaseRecord& known) {
  return "Lease " + options.namespace_ + "/" + options.name + ": " + known.holder + " holds it for " +
         format_duration(known.duration) +
         " without a renewal (spec.leaseDurationSeconds), and no other candidate leads before; delete the "
         "Lease if " +
         known.holder + " does not run";
}

}  // namespace

ElectionCore::ElectionCore(ElectionCoreOptions options)
    : options_(std::move(options)), random_(options_.seed | 1) {}

ElectionCore::Step ElectionCore::next_step(TimePoint now, WallTime wall) {
  if (term_ && now >= term_->valid_until) finish_candidacy(End::not_renewed);
  if (is_withdrawing() && now >= withdraw_until_) finish_candidacy(End::resigned);
  if (!end_ && has_nothing_to_free()) finish_candidacy(term_ ? End::released : End::resigned);
  if (end_) return {};
  const TimePoint free_again = deadline_after(last_sent_, options_.retry_period);
  Step step;
  if (pending_.empty() || now >= free_again) {
    step = term_              ? leader_step(now, wall)
           : is_withdrawing() ? withdrawal_step(now, wall)
                              : candidate_step(now, wall);
  } else {
    step.next_due = free_again;
  }
  if (term_) step.next_due = std::min(step.next_due, term_->valid_until);
  if (is_withdrawing()) step.next_due = std::min(step.next_due, withdraw_until_);
  return step;
}

ElectionCore::Step ElectionCore::leader_step(TimePoint now, WallTime wall) {
  if (must_look_) return now >= look_at_ ? send(Purpose::look, now, wall) : Step{.next_due = look_at_};
  // A creation that is in flight may leave a Lease that has to be released.
  if (resigning_ && !known_) return {.next_due = term_->valid_until};
  if (now < write_at_) return {.next_due = write_at_};
  return send(resigning_ ? Purpose::free : Purpose::claim, now, wall);
}

// The claim that was in flight may have its effect: then the Lease has to be released.
ElectionCore::Step ElectionCore::withdrawal_step(TimePoint now, WallTime wall) {
  if (!must_look_ && known_ && known_->holder == options_.identity) {
    return now >= write_at_ ? send(Purpose::free, now, wall) : Step{.next_due = write_at_};
  }
  if (awaits(Purpose::claim)) return {};
  if (must_look_) return now >= look_at_ ? send(Purpose::look, now, wall) : Step{.next_due = look_at_};
  finish_candidacy(End::resigned);
  return {};
}

ElectionCore::Step ElectionCore::candidate_step(TimePoint now, WallTime wall) {
  const bool polls = must_look_ || !watching_;
  const bool is_claimable = !must_look_ && is_free(now);
  problem_ = is_claimable && !next_term() ? counter_is_full(options_) : std::string();
  if (!must_look_ && !is_claimable && known_ && known_->duration > longest_claim(options_))
    problem_ = claim_is_long(options_, *known_);
  if (is_claimable && !problem_.empty()) {
    return polls && now >= look_at_ ? send(Purpose::look, now, wall)
                                    : Step{.next_due = polls ? look_at_ : TimePoint::max()};
  }
  if (is_claimable && now >= write_at_) return send(Purpose::claim, now, wall);
  // Also while a claim has to wait: otherwise the wake-up would be at a time in the past.
  if (polls && now >= look_at_) return send(Purpose::look, now, wall);
  const TimePoint expires = must_look_     ? TimePoint::max()
                            : is_claimable ? write_at_
                            : known_       ? expiry()
                                           : held_until_;
  return {.next_due = polls ? std::min(look_at_, expires) : expires};
}

bool ElectionCore::is_free(TimePoint now) const {
  if (!known_) return now >= held_until_;
  return known_->holder.empty() || known_->holder == options_.identity || now >= expiry();
}

ElectionCore::Step ElectionCore::send(Purpose purpose, TimePoint now, WallTime wall) {
  Request request{.id = ++last_id_, .deadline = deadline_after(now, options_.renew_deadline)};
  if (purpose != Purpose::look) {
    // Candidates detect a renewal by its change, so the time increases even if the clock stands still or is
    // set back a little.
    if (last_written_ - wall <= longest_step_back) {
      wall = std::max(wall, last_written_ + std::chrono::microseconds{1});
    }
    last_written_ = wall;
    request.ask = known_ ? Ask::update : Ask::create;
    request.body = purpose == Purpose::free ? freed(wall) : claim(wall);
  }
  if (term_) request.deadline = term_->valid_until;
  pending_.emplace(
      request.id,
      Pending{.purpose = purpose, .sent = now, .creates = request.ask == Ask::create, .changes = changes_});
  last_sent_ = now;
  return {.request = std::move(request)};
}

Json ElectionCore::claim(WallTime wall) const {
  Json lease =
      known_ ? known_->document
             : Json::object({{"apiVersion", "coordination.k8s.io/v1"},
                             {"kind", "Lease"},
                             {"metadata",
                              Json::object({{"name", options_.name}, {"namespace", options_.namespace_}})}});
  if (!known_) {
    for (const auto& [name, value] : options_.labels) lease["metadata"]["labels"][name] = value;
  }
  Json& spec = lease["spec"];
  if (!spec.is_object()) spec = Json::object();
  const std::string time = MicroTime(wall).str();
  if (!term_) {
    spec["leaseTransitions"] = next_term().value();
    spec["acquireTime"] = time;
  } else if (!known_) {  // another client deleted it
    spec["leaseTransitions"] =
        std::max(static_cast<std::int64_t>(term_->number), last_transitions_.value_or(0));
    spec["acquireTime"] = time;
  }
  spec["holderIdentity"] = options_.identity;
  spec["leaseDurationSeconds"] = std::chrono::ceil<std::chrono::seconds>(options_.lease_duration).count();
  spec["renewTime"] = time;
  return lease;
}

// std::nullopt: the counter is at its maximum. A Lease that is then created counts from 0.
std::optional<std::int64_t> ElectionCore::next_term() const {
  if (!last_transitions_) return 0;
  if (*last_transitions_ < most_transitions) return *last_transitions_ + 1;
  return known_ ? std::nullopt : std::optional<std::int64_t>(0);
}

Json ElectionCore::freed(WallTime wall) const {
  Json lease = known_->document;
  const std::string time = MicroTime(wall).str();
  Json& spec = lease["spec"];
  spec["holderIdentity"] = "";
  spec["leaseDurationSeconds"] = 1;  // for clients that do not treat an empty holder as free
  spec["renewTime"] = time;
  spec["acquireTime"] = time;
  return lease;
}

std::optional<ElectionCore::Pending> ElectionCore::finish(std::uint64_t id) {
  auto found = pending_.extract(id);
  if (found.empty() || end_) return std::nullopt;
  return found.mapped();
}

void ElectionCore::on_answered(std::uint64_t id, Json lease, TimePoint now) {
  const auto request = finish(id);
  if (!request) return;
  LeaseRecord record = LeaseRecord::read(std::move(lease));
  if (request->purpose == Purpose::free) {
    holder_ = record.holder;
    return finish_candidacy(End::released);
  }
  if (request->purpose == Purpose::look) {
    must_look_ = false;
    look_at_ = deadline_after(now, jittered(options_.retry_period));
  } else {
    conflicts_ = 0;
  }
  // Nothing was observed since it was sent, so it is used whatever its version: a restored server counts from
  // a lower version.
  if (nothing_seen_since(*request)) newest_.clear();
  take(record, now);
  if (request->purpose == Purpose::claim && !end_) claimed(*request, record, now);
}

void ElectionCore::claimed(const Pending& write, const LeaseRecord& record, TimePoint now) {
  const TimePoint valid_until = deadline_after(write.sent, options_.renew_deadline);
  if (!resigning_) write_at_ = std::max(write_at_, deadline_after(write.sent, options_.retry_period));
  if (record.holder != options_.identity) return;  // the server returned something else than was written
  // The watch may have been faster and have delivered a later change.
  const bool holds = known_ && known_->holder == options_.identity;
  if (term_) {
    if (!holds) {
      write_at_ = now;  // deleted since: create it again at once
    } else if (now < term_->valid_until) {
      term_->valid_until = std::max(term_->valid_until, valid_until);
    }
  } else if (!resigning_ && holds && known_->claims_as(record) && now < valid_until) {
    term_ = Term{.number = static_cast<std::uint64_t>(record.transitions), .valid_until = valid_until};
  } else {
    write_at_ = now;  // the response took too long to be useful: claim again if the Lease is free
  }
}

void ElectionCore::on_missing(std::uint64_t id, TimePoint now) {
  const auto request = finish(id);
  if (!request || !nothing_seen_since(*request)) return;
  ++changes_;
  must_look_ = false;
  forget_lease(now);
  // A create that fails this way, because its namespace is missing, is not repeated at once.
  write_at_ = request->creates ? deadline_after(now, options_.retry_period) : now;
  look_at_ = deadline_after(now, jittered(options_.retry_period));
}

void ElectionCore::on_conflict(std::uint64_t id, TimePoint now) {
  const auto request = finish(id);
  if (!request || !nothing_seen_since(*request)) return;
  must_look_ = true;
  // Immediately, but a limited number of times: a server may return this for every write.
  look_at_ = ++conflicts_ < most_conflicts ? now : deadline_after(now, options_.retry_period);
}

void ElectionCore::on_failure(std::uint64_t id, TimePoint now) {
  const auto request = finish(id);
  if (!request) return;
  if (is_withdrawing()) return on_failed_withdrawal(*request, now);
  const Duration pause = term_ ? options_.retry_period : jittered(options_.retry_period);
  const TimePoint again = std::max(now, deadline_after(request->sent, pause));
  if (request->purpose == Purpose::look) {
    look_at_ = again;
  } else {
    write_at_ = again;
  }
  if (resigning_ && request->creates) {  // only a read shows whether there is anything to release
    must_look_ = true;
    look_at_ = again;
  }
}

// One read shows whether a claim that failed had its effect; a server that does not answer it either is not
// waited for.
void ElectionCore::on_failed_withdrawal(const Pending& request, TimePoint now) {
  if (request.purpose == Purpose::free) {
    write_at_ = deadline_after(now, options_.retry_period);
  } else if (request.purpose == Purpose::claim) {
    must_look_ = true;
    look_at_ = now;
  } else if (!awaits(Purpose::claim)) {
    finish_candidacy(End::resigned);
  }
}

void ElectionCore::take(LeaseRecord record, TimePoint now) {
  if (end_ || !is_newer(record.version, newest_)) return;
  ++changes_;
  newest_ = record.version;
  last_transitions_ = record.transitions;
  if (!known_ || !record.claims_as(*known_)) observed_at_ = now;
  known_ = std::move(record);
  holder_ = known_->holder;
  if (!term_ || holder_ == options_.identity) return;
  // The watch may deliver the release, and the next holder, before the response to the release.
  const bool released = resigning_ && (holder_.empty() || awaits(Purpose::free));
  finish_candidacy(released ? End::released : End::taken);
}

void ElectionCore::on_deleted(Json lease, TimePoint now) {
  LeaseRecord last = LeaseRecord::read(std::move(lease));
  if (end_ || !is_newer(last.version, newest_)) return;
  take(std::move(last), now);
  if (end_) return;
  forget_lease(now);
  if (term_) write_at_ = TimePoint::min();
}

// The holder at the time of the deletion may still be leading. If it runs, it creates the Lease again when it
// renews it, so that the longest claims need not be waited for.
void ElectionCore::forget_lease(TimePoint now) {
  if (known_ && !known_->holder.empty() && known_->holder != options_.identity)
    held_until_ = std::min(expiry(), deadline_after(now, longest_claim(options_)));
  known_.reset();
  holder_.clear();
}

void ElectionCore::resign(TimePoint now) {
  if (end_ || resigning_) return;
  resigning_ = true;
  const bool may_hold = term_ || awaits(Purpose::claim);
  if (!may_hold || !options_.release) return finish_candidacy(End::resigned);
  if (has_nothing_to_free()) return finish_candidacy(End::released);
  write_at_ = now;
  withdraw_until_ = deadline_after(now, options_.renew_deadline);
  // A renewal that is in flight may have its effect before or after; its version shows which.
  if (!pending_.empty()) last_sent_ = TimePoint::min();
}

bool ElectionCore::awaits(Purpose purpose) const {
  return std::any_of(pending_.begin(), pending_.end(),
                     [&](const auto& each) { return each.second.purpose == purpose; });
}

bool ElectionCore::awaits_creation() const {
  return std::any_of(pending_.begin(), pending_.end(), [](const auto& each) { return each.second.creates; });
}

bool ElectionCore::has_nothing_to_free() const {
  return resigning_ && !known_ && !must_look_ && !awaits_creation();
}

void ElectionCore::finish_candidacy(End end) {
  end_ = end;
  term_.reset();
  pending_.clear();
}

Duration ElectionCore::jittered(Duration period) {
  random_ ^= random_ << 13U;
  random_ ^= random_ >> 7U;
  random_ ^= random_ << 17U;
  const double part = static_cast<double>(random_ >> 11U) / 9007199254740992.0;
  return period + std::chrono::duration_cast<Duration>(period * (jitter * part));
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
