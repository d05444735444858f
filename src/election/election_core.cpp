// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <election/election_core.hpp>
#include <utility>

#include <evenkeel/api/time.hpp>

namespace evenkeel::inline v0::detail {
namespace {

// A candidate that polls does so after 1 to 2.2 retry periods, as client-go's do.
constexpr double jitter = 1.2;
constexpr unsigned most_conflicts = 5;  // in a row, before a pause is made

}  // namespace

ElectionCore::ElectionCore(ElectionCoreOptions options)
    : options_(std::move(options)), random_(options_.seed | 1) {}

ElectionCore::Step ElectionCore::next(TimePoint now, WallTime wall) {
  if (term_ && now >= term_->valid_until) finish_campaign(End::not_renewed);
  if (end_) return {};
  const TimePoint free_again = deadline_after(last_sent_, options_.retry_period);
  Step step;
  if (pending_.empty() || now >= free_again) {
    step = term_ ? leader_step(now, wall) : candidate_step(now, wall);
  } else {
    step.wake = free_again;
  }
  if (term_) step.wake = std::min(step.wake, term_->valid_until);
  return step;
}

ElectionCore::Step ElectionCore::leader_step(TimePoint now, WallTime wall) {
  if (must_look_) return now >= look_at_ ? send(Purpose::look, now, wall) : Step{.wake = look_at_};
  if (now < write_at_) return {.wake = write_at_};
  return send(resigning_ ? Purpose::free : Purpose::claim, now, wall);
}

ElectionCore::Step ElectionCore::candidate_step(TimePoint now, WallTime wall) {
  const bool polls = must_look_ || !watching_;
  if (!must_look_ && is_free(now)) {
    if (now >= write_at_) return send(Purpose::claim, now, wall);
    return {.wake = polls ? std::min(write_at_, look_at_) : write_at_};
  }
  if (polls && now >= look_at_) return send(Purpose::look, now, wall);
  const TimePoint expires = must_look_ ? TimePoint::max() : known_ ? expiry() : held_until_;
  return {.wake = polls ? std::min(look_at_, expires) : expires};
}

bool ElectionCore::is_free(TimePoint now) const {
  if (!known_) return now >= held_until_;
  return known_->holder.empty() || known_->holder == options_.identity || now >= expiry();
}

ElectionCore::Step ElectionCore::send(Purpose purpose, TimePoint now, WallTime wall) {
  Request request{.id = ++last_id_, .deadline = deadline_after(now, options_.renew_deadline)};
  if (purpose != Purpose::look) {
    // Others see a renewal by its change, also if the calendar stands still or jumps back.
    last_written_ = wall = std::max(wall, last_written_ + std::chrono::microseconds{1});
    request.ask = known_ ? Ask::update : Ask::create;
    request.body = purpose == Purpose::free ? freed(wall) : claim(wall);
  }
  if (term_) request.deadline = term_->valid_until;
  pending_.emplace(request.id, Pending{.purpose = purpose, .sent = now, .base = base()});
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
  Json& spec = lease["spec"];
  if (!spec.is_object()) spec = Json::object();
  const std::string time = MicroTime(wall).str();
  if (!term_) {
    spec["leaseTransitions"] = last_transitions_ ? *last_transitions_ + 1 : 0;
    spec["acquireTime"] = time;
  } else if (!known_) {  // somebody deleted it under us
    spec["leaseTransitions"] = term_->number;
    spec["acquireTime"] = time;
  }
  spec["holderIdentity"] = options_.identity;
  spec["leaseDurationSeconds"] = std::chrono::ceil<std::chrono::seconds>(options_.lease_duration).count();
  spec["renewTime"] = time;
  return lease;
}

Json ElectionCore::freed(WallTime wall) const {
  Json lease = known_->document;
  const std::string time = MicroTime(wall).str();
  Json& spec = lease["spec"];
  spec["holderIdentity"] = "";
  spec["leaseDurationSeconds"] = 1;  // for those who do not take an empty holder for nobody
  spec["renewTime"] = time;
  spec["acquireTime"] = time;
  return lease;
}

std::optional<ElectionCore::Pending> ElectionCore::finish(std::uint64_t id) {
  auto found = pending_.extract(id);
  if (found.empty() || end_) return std::nullopt;
  return std::move(found.mapped());
}

void ElectionCore::answered(std::uint64_t id, Json lease, TimePoint now) {
  const auto request = finish(id);
  if (!request) return;
  LeaseRecord record = LeaseRecord::read(std::move(lease));
  if (request->purpose == Purpose::free) {
    holder_ = record.holder;
    return finish_campaign(End::released);
  }
  if (request->purpose == Purpose::look) {
    must_look_ = false;
    look_at_ = deadline_after(now, jittered(options_.retry_period));
  } else {
    conflicts_ = 0;
  }
  // Nothing was seen since it was sent, so it counts whatever its version: a restored server counts anew.
  if (request->base == base()) newest_.clear();
  take(record, now);
  if (request->purpose == Purpose::claim && !end_) claimed(*request, record, now);
}

void ElectionCore::claimed(const Pending& write, const LeaseRecord& record, TimePoint now) {
  const TimePoint valid_until = deadline_after(write.sent, options_.renew_deadline);
  if (!resigning_) write_at_ = std::max(write_at_, deadline_after(write.sent, options_.retry_period));
  if (record.holder != options_.identity) return;  // a server that answers something else than was written
  if (term_ && now < term_->valid_until) {
    term_->valid_until = std::max(term_->valid_until, valid_until);
  } else if (!term_ && now < valid_until && !resigning_) {
    term_ = Term{.number = static_cast<std::uint64_t>(record.transitions), .valid_until = valid_until};
  } else if (!term_) {
    write_at_ = now;  // the answer took so long that it is of no use: claim anew
  }
}

void ElectionCore::missing(std::uint64_t id, TimePoint now) {
  const auto request = finish(id);
  // Something newer may have been seen meanwhile.
  if (!request || request->base != base()) return;
  must_look_ = false;
  forget_lease();
  if (resigning_) return finish_campaign(End::released);
  // A create that is refused so, for want of its namespace, is not repeated at once.
  write_at_ = request->base.empty() && request->purpose == Purpose::claim
                  ? deadline_after(now, options_.retry_period)
                  : now;
  look_at_ = deadline_after(now, jittered(options_.retry_period));
}

void ElectionCore::conflicted(std::uint64_t id, TimePoint now) {
  const auto request = finish(id);
  if (!request || request->base != base()) return;
  must_look_ = true;
  // At once, but not for ever: a server may say so of every write.
  look_at_ = ++conflicts_ < most_conflicts ? now : deadline_after(now, options_.retry_period);
}

void ElectionCore::failed(std::uint64_t id, TimePoint now) {
  const auto request = finish(id);
  if (!request) return;
  const Duration pause = term_ ? options_.retry_period : jittered(options_.retry_period);
  const TimePoint again = std::max(now, deadline_after(request->sent, pause));
  if (request->purpose == Purpose::look) {
    look_at_ = again;
  } else {
    write_at_ = again;
  }
}

void ElectionCore::take(LeaseRecord record, TimePoint now) {
  if (end_ || !is_newer(record.version, newest_)) return;
  newest_ = record.version;
  last_transitions_ = record.transitions;
  if (!known_ || !record.claims_as(*known_)) observed_at_ = now;
  known_ = std::move(record);
  holder_ = known_->holder;
  if (term_ && holder_ != options_.identity) finish_campaign(End::taken);
}

void ElectionCore::seen_deleted(const Json& lease) {
  const std::string version = lease.at({"metadata", "resourceVersion"}).string_or("");
  if (end_ || !is_newer(version, newest_)) return;
  newest_ = version;
  forget_lease();
  if (term_) write_at_ = TimePoint::min();
}

// Who held it when it was deleted may still lead.
void ElectionCore::forget_lease() {
  if (known_ && !known_->holder.empty() && known_->holder != options_.identity) held_until_ = expiry();
  known_.reset();
  holder_.clear();
}

void ElectionCore::resign(TimePoint now) {
  if (end_ || resigning_) return;
  resigning_ = true;
  if (!term_ || !options_.release) return finish_campaign(End::resigned);
  if (!known_) return finish_campaign(End::released);
  write_at_ = now;
  // A renewal whose answer is awaited may have its effect before or after; its version tells.
  if (!pending_.empty()) last_sent_ = TimePoint::min();
}

void ElectionCore::finish_campaign(End end) {
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

}  // namespace evenkeel::inline v0::detail
