// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <exception>
#include <utility>

#include <evenkeel/base/duration_text.hpp>
#include <evenkeel/coordination/claim.hpp>
#include <evenkeel/coordination/coordination_metrics.hpp>
#include <evenkeel/coordination/lease_lock.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination {
namespace {

/// Describes why a transaction was not committed.
StepReport failure(const Transacted& transacted) {
  StepReport report;
  const bool lost = std::holds_alternative<Unknown>(transacted.outcome);
  report.kind = lost ? StepReport::Kind::unknown : StepReport::Kind::unavailable;
  report.why = describe(transacted.outcome);
  report.transacted = transacted;
  return report;
}

/// Returns true if there may be something to take over, without reading the whole view.
bool executing(StoreSnapshot& snapshot, const std::string& claim_key) {
  const auto entry = snapshot.get(claim_key);
  return entry && decode_claim(*entry).state == ClaimState::executing;
}

/// Reads what plan_settle() needs.
ViewEntries read_settlement(StoreSnapshot& snapshot, const Layout& layout, const std::string& action,
                            bool with_targets) {
  ViewEntries entries{.action = action, .version = snapshot.version()};
  entries.claim = snapshot.get(layout.claim(action));
  entries.taken = snapshot.get(layout.taken(action));
  if (with_targets) entries.targets = snapshot.scan_all(prefix_range(layout.targets_prefix(action)));
  return entries;
}

StepReport refusal(NotClaimed no, const View& view, TimePoint now) {
  StepReport report;
  report.kind = no.verdict.nothing() ? StepReport::Kind::nothing : StepReport::Kind::waits;
  report.lock_missing = no.lock_missing;
  report.executing = view.claim && view.claim->record.state == ClaimState::executing;
  report.why = no.lock_missing ? "the lock is needed" : describe(no.verdict, view, now);
  if (const WaitUntil* wait = no.verdict.wait()) report.again = wait->until;
  if (const Blocked* blocked = no.verdict.blocked()) report.again = blocked->until;
  report.verdict = std::move(no.verdict);
  return report;
}

}  // namespace

ActionClaims::ActionClaims(Ledger& ledger, ActionClaimsOptions options)
    : ledger_(ledger), options_(std::move(options)) {}

Transacted ActionClaims::transact_arbiter(const TransactBody& body, const std::stop_token& stop) {
  TransactOptions options = options_.transact;
  // Not that of the lock and the deny list, whose transactions may run in between: to settle, unlike to take
  // a lock, is refused the second time.
  options.token_key = ledger_.layout().arbiter_token(ledger_.options().identity.instance + "/claims");
  options.token.clear();
  options.clock = ledger_.options().clock;
  return transact(ledger_.store(), body, options, stop);
}

Claimant ActionClaims::claimant(const View& view) {
  const LedgerOptions& options = ledger_.options();
  MutexLock lock(mutex_);
  return {.identity = options.identity,
          .holds_lock = lock_held_by(view.lock, options.identity).has_value(),
          .registry_in_reads = ledger_.store().capabilities().multi_key_atomic,
          .range_conflict = ledger_.store().capabilities().range_conflict,
          .acting = acting_.contains(view.action),
          .value_bytes = ledger_.store().limits().value_bytes,
          .wall = options.clock->wall_now()};
}

std::variant<Claim, StepReport> ActionClaims::claim(const ActionPolicy& policy, const Situation& situation,
                                                    std::stop_token stop) {
  check(policy);
  MutexLock lock(transacting_);
  std::vector<std::variant<Claim, StepReport>> runs;
  const auto body = [&](StoreSnapshot& snapshot) {
    runs.emplace_back();  // one per run, even if the run ends early
    View view = ledger_.view(ledger_.read_summaries(snapshot, policy.action));
    TimePoint now = ledger_.options().clock->now();
    if (auto no = refuse_claim(view, policy, situation, claimant(view), now)) {
      runs.back() = refusal(*std::move(no), view, now);
      return Commit{};
    }
    if (!view.whole) {
      view = ledger_.view(ledger_.read(snapshot, policy.action));
      now = ledger_.options().clock->now();
    }
    auto planned = plan_claim(ledger_.layout(), view, policy, situation, claimant(view), now);
    if (auto* no = std::get_if<NotClaimed>(&planned)) {
      runs.back() = refusal(std::move(*no), view, now);
      return Commit{};
    }
    auto& plan = std::get<PlannedClaim>(planned);
    runs.back() = std::move(plan.claim);
    return std::move(plan.commit);
  };
  const Transacted transacted = transact_arbiter(body, stop);
  if (!transacted.committed()) return failure(transacted);
  std::variant<Claim, StepReport> result = std::move(runs.at(transacted.run));
  const auto& meter = ledger_.options().meter;
  if (auto* report = std::get_if<StepReport>(&result)) {
    report->transacted = transacted;
    if (meter) meter->on_verdict(policy.action, report->verdict);
  } else {
    begin(std::get<Claim>(result));
    if (meter) meter->on_verdict(policy.action, {.outcome = Proceed{}});
  }
  return result;
}

CommitResult ActionClaims::settle(const Claim& claim, const ActReport& report, std::stop_token stop) {
  MutexLock lock(transacting_);
  std::vector<bool> mine;
  const auto body = [&](StoreSnapshot& snapshot) {
    mine.push_back(false);
    const ViewEntries entries =
        read_settlement(snapshot, ledger_.layout(), claim.action, !report.not_done.empty());
    const LedgerOptions& options = ledger_.options();
    auto commit =
        plan_settle(ledger_.layout(), entries, claim, options.identity, report, options.clock->wall_now());
    mine.back() = commit.has_value();
    return commit ? std::move(*commit) : Commit{};
  };
  const Transacted transacted = transact_arbiter(body, stop);
  if (transacted.committed()) abandon(claim);
  if (transacted.committed() && !mine.at(transacted.run))
    return Conflict{ledger_.layout().claim(claim.action)};
  return transacted.outcome;
}

void ActionClaims::begin(const Claim& claim) {
  MutexLock lock(mutex_);
  acting_[claim.action] = claim.epoch;
}

void ActionClaims::abandon(const Claim& claim) {
  MutexLock lock(mutex_);
  const auto found = acting_.find(claim.action);
  if (found != acting_.end() && found->second == claim.epoch) acting_.erase(found);
}

std::optional<Claim> ActionClaims::take_over(const ActionPolicy& policy, std::stop_token stop) {
  std::optional<Claim> claim;
  static_cast<void>(take_over(policy, claim, stop));
  return claim;
}

Transacted ActionClaims::take_over(const ActionPolicy& policy, std::optional<Claim>& claim,
                                   const std::stop_token& stop) {
  MutexLock lock(transacting_);
  std::vector<std::optional<Claim>> runs;
  const auto body = [&](StoreSnapshot& snapshot) {
    runs.emplace_back();
    if (!executing(snapshot, ledger_.layout().claim(policy.action))) return Commit{};
    View view = ledger_.view(ledger_.read_summaries(snapshot, policy.action));
    const TimePoint now = ledger_.options().clock->now();
    const auto due = take_over_at(view, claimant(view));
    if (!due || now < *due) return Commit{};
    if (!view.whole) view = ledger_.view(ledger_.read(snapshot, policy.action));
    auto plan = plan_take_over(ledger_.layout(), view, claimant(view), now);
    if (plan) runs.back() = std::move(plan->claim);
    return plan ? std::move(plan->commit) : Commit{};
  };
  const Transacted transacted = transact_arbiter(body, stop);
  if (transacted.committed()) claim = std::move(runs.at(transacted.run));
  if (claim) begin(*claim);
  return transacted;
}

CommitResult ActionClaims::tidy(std::string_view action, std::stop_token stop) {
  MutexLock lock(transacting_);
  const auto body = [&](StoreSnapshot& snapshot) {
    View view = ledger_.view(ledger_.read_summaries(snapshot, action));
    if (!may_need_tidying(view)) return Commit{};
    if (!view.whole) view = ledger_.view(ledger_.read(snapshot, action));
    return plan_tidy(ledger_.layout(), view, ledger_.store().limits().value_bytes);
  };
  return transact_arbiter(body, stop).outcome;
}

/// Calls `ask` to learn what was done, and settles.
StepReport ActionClaims::finish(StepReport report,
                                const std::function<ActReport(const Claim&, std::stop_token)>& ask,
                                Duration timeout, const std::stop_token& stop) {
  try {
    const ActReport done = ask(*report.claim, stop);
    if (report.kind == StepReport::Kind::acted) note_success(report.claim->action);
    const CommitResult settled = settle(*report.claim, done, stop);
    if (std::holds_alternative<Conflict>(settled)) {
      report.kind = StepReport::Kind::superseded;
      report.why = "another instance took over claim " + std::to_string(report.claim->epoch);
    } else if (!std::holds_alternative<Committed>(settled)) {
      report.why = "not settled yet: " + describe(settled);
    }
  } catch (const std::exception& error) {
    report.why = std::string("not settled yet: ") + error.what();
    note_failure(report.claim->action, timeout);
  }
  abandon(*report.claim);
  return report;
}

void ActionClaims::note_success(const std::string& action) {
  MutexLock lock(mutex_);
  failures_.erase(action);
}

void ActionClaims::note_failure(const std::string& action, Duration timeout) {
  const TimePoint now = ledger_.options().clock->now();
  MutexLock lock(mutex_);
  Failures& failures = failures_[action];
  if (++failures.count >= 2) failures.rest_until = deadline_after(now, 2 * timeout);
}

/// Returns a report if this instance leaves the action to others for now, because its callbacks keep failing.
std::optional<StepReport> ActionClaims::resting(const std::string& action) {
  const TimePoint now = ledger_.options().clock->now();
  MutexLock lock(mutex_);
  const auto found = failures_.find(action);
  if (found == failures_.end() || now >= found->second.rest_until) return std::nullopt;
  StepReport report{.kind = StepReport::Kind::waits, .again = found->second.rest_until};
  report.why = "callbacks failed " + std::to_string(found->second.count) +
               " times in a row; leaving the action to other instances for " +
               format_duration(std::chrono::round<std::chrono::milliseconds>(found->second.rest_until - now));
  return report;
}

StepReport ActionClaims::step(const ActionPolicy& policy, const Situation& situation,
                              const ActionCallbacks& callbacks,
                              const std::function<bool(std::stop_token)>& take_lock, std::stop_token stop) {
  StepReport report = attempt(policy, situation, callbacks, take_lock, stop);
  if (const auto& meter = ledger_.options().meter) meter->on_step(policy.action, report.kind);
  return report;
}

StepReport ActionClaims::attempt(const ActionPolicy& policy, const Situation& situation,
                                 const ActionCallbacks& callbacks,
                                 const std::function<bool(std::stop_token)>& take_lock,
                                 const std::stop_token& stop) {
  if (auto report = resting(policy.action)) return std::move(*report);
  std::optional<Claim> orphan;
  const Transacted looked = take_over(policy, orphan, stop);
  if (!looked.committed()) return failure(looked);
  if (orphan) {
    return finish({.kind = StepReport::Kind::taken_over, .claim = std::move(orphan)}, callbacks.observe,
                  policy.claim_timeout, stop);
  }
  auto claimed = claim(policy, situation, stop);
  if (const auto* report = std::get_if<StepReport>(&claimed)) {
    if (report->executing && policy.needs_lock && take_lock) static_cast<void>(take_lock(stop));
    if (!report->lock_missing || !take_lock || !take_lock(stop)) {
      if (report->kind == StepReport::Kind::nothing) static_cast<void>(tidy(policy.action, stop));
      return std::move(std::get<StepReport>(claimed));
    }
    claimed = claim(policy, situation, stop);
  }
  if (auto* report = std::get_if<StepReport>(&claimed)) return std::move(*report);
  return finish({.kind = StepReport::Kind::acted, .claim = std::move(std::get<Claim>(claimed))},
                callbacks.act, policy.claim_timeout, stop);
}

Verdict ActionClaims::evaluate(const ActionPolicy& policy, const Situation& situation, std::stop_token stop) {
  check(policy);
  const auto now = [this] { return ledger_.options().clock->now(); };
  const View view = ledger_.summary(policy.action, {}, stop);
  Verdict verdict = coordination::evaluate(view, policy, situation, now());
  if (!view.whole && verdict.proceed() != nullptr) {
    verdict = coordination::evaluate(ledger_.view(policy.action, stop), policy, situation, now());
  }
  if (const auto& meter = ledger_.options().meter) meter->on_verdict(policy.action, verdict);
  return verdict;
}

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
