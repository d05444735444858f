// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <evenkeel/base/duration_text.hpp>
#include <evenkeel/coordination/gate.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination {
namespace {

std::string rounded(Duration duration) {
  return format_duration(std::chrono::round<std::chrono::milliseconds>(duration));
}

/// Returns true if `scope` is denied under any of its names.
bool is_denied(const View& view, const std::string& scope) {
  const auto listed = [&](const std::string& name) { return std::ranges::binary_search(view.denied, name); };
  return listed(scope) || std::ranges::any_of(view.other_names(scope), listed);
}

/// The counting members of one partition.
struct Part {
  std::vector<const Member*> pending = {};
  std::vector<const Member*> ready = {};
  std::vector<Tally> tallies = {};  ///< In the order of scopes.

  std::size_t count_pending() const {
    return std::accumulate(tallies.begin(), tallies.end(), pending.size(),
                           [](std::size_t sum, const Tally& one) { return sum + one.pending; });
  }
  std::size_t count_ready() const {
    return std::accumulate(tallies.begin(), tallies.end(), ready.size(),
                           [](std::size_t sum, const Tally& one) { return sum + one.ready; });
  }
};

/// The decision about one partition.
struct PartVerdict {
  std::vector<const Member*> go = {};
  std::size_t units = 0;  ///< Those that go, including those that are only counted.
  bool partial = false;
  std::optional<WaitUntil> wait = {};
  std::optional<Blocked> blocked = {};
};

/// Determines which scopes count, and why others do not.
class Participants {
 public:
  Participants(const View& view, const ActionPolicy& policy, const Situation& situation)
      : view_(view), policy_(policy), situation_(situation) {}

  /// Returns true if members of `scope` count, or, if `ready` is set, if its ready members do.
  bool counts(const std::string& scope, bool ready) {
    const std::string& why = reason(scope);
    if (why.empty()) return true;
    return ready && acts_if_ready_.contains(scope);
  }
  void note_other_modes() {
    for (const Instance& one : view_.instances) {
      if (one.presence == Presence::live && one.record.mode != situation_.mode) reason(one.scope);
    }
  }
  std::vector<LeftOut> left_out() const {
    std::vector<LeftOut> out;
    for (const auto& [scope, why] : reasons_) {
      if (!why.empty()) out.push_back({scope, why});
    }
    return out;
  }

 private:
  const std::string& reason(const std::string& scope) {
    const auto [found, fresh] = reasons_.try_emplace(scope);
    if (fresh) found->second = find_reason(scope);
    return found->second;
  }

  std::string find_reason(const std::string& scope) {
    const Instance* one = view_.instance(scope);
    if (scope == situation_.scope) return {};
    if (one != nullptr && one->presence != Presence::absent) {
      const Mode mode = one->record.mode;
      const bool together = mode == Mode::global || (mode == Mode::shadow && situation_.mode == Mode::shadow);
      if (!together) return "works in mode " + std::string(text_of(mode));
    }
    std::string why = silence_of(one);
    bool taken = why.empty() || policy_.silent == SilentMembers::take_if_ready;
    if (policy_.denied != DeniedMembers::block && is_denied(view_, scope)) {
      why = "on the deny list";
      taken = taken && policy_.denied == DeniedMembers::take_if_ready;
    }
    if (taken) acts_if_ready_.insert(scope);
    return why;
  }

  /// Returns why `one` is left out for its silence; empty if it is not.
  std::string silence_of(const Instance* one) const {
    const Presence presence = one == nullptr ? Presence::absent : one->presence;
    if (presence == Presence::live || policy_.silent == SilentMembers::block) return {};
    return presence == Presence::silent ? "silent for " + rounded(one->unchanged) : "not registered";
  }

  const View& view_;
  const ActionPolicy& policy_;
  const Situation& situation_;
  std::map<std::string, std::string> reasons_;
  std::set<std::string> acts_if_ready_;  ///< Scopes with a reason whose ready members are targets anyway.
};

Tally only_ready(Tally tally) {
  tally.pending = tally.ready;
  tally.added = tally.readied;
  tally.missing.clear();
  return tally;
}

std::map<std::string, Part> parts_of(const View& view, const ActionPolicy& policy, Participants& who) {
  std::map<std::string, Part> parts;
  const auto name = [&](const Member& member) {
    return policy.partition == Partition::by_kind ? member.kind : std::string();
  };
  // A ready member belongs to the partition of its pending one, whose kind counts.
  std::map<UnitRef, std::string> part_of_unit;
  std::set<UnitRef> ready;
  for (const Member& member : view.ready) ready.insert(member.ref);
  for (const Member& member : view.pending) {
    if (!who.counts(member.ref.scope, ready.contains(member.ref))) continue;
    part_of_unit[member.ref] = name(member);
    parts[name(member)].pending.push_back(&member);
  }
  for (const Member& member : view.ready) {
    if (!who.counts(member.ref.scope, true)) continue;
    const auto found = part_of_unit.find(member.ref);
    parts[found == part_of_unit.end() ? name(member) : found->second].ready.push_back(&member);
  }
  for (const Tally& tally : view.tallies) {
    const bool counts = who.counts(tally.scope, false);
    const bool acts = tally.ready > 0 && who.counts(tally.scope, true);
    if (!counts && !acts) continue;
    auto& tallies = parts[policy.partition == Partition::by_kind ? tally.kind : std::string()].tallies;
    tallies.push_back(counts ? tally : only_ready(tally));
  }
  return parts;
}

const Member* find(const std::vector<const Member*>& members, const UnitRef& ref) {
  const auto found = std::ranges::lower_bound(members, ref, {}, [](const Member* one) { return one->ref; });
  return found != members.end() && (*found)->ref == ref ? *found : nullptr;
}

/// Returns when the last member was added, to pending or to the ready members of pending.
TimePoint last_added(const Part& part) {
  TimePoint last = TimePoint::min();
  for (const Member* member : part.pending) {
    last = std::max(last, member->seen);
    if (const Member* ready = find(part.ready, member->ref)) last = std::max(last, ready->seen);
  }
  for (const Tally& tally : part.tallies) last = std::max(last, tally.added);
  return last;
}

/// Units that are not ready: the first names of each scope, and how many there are.
class Missing {
 public:
  void add(const UnitRef& ref) { add(ref.scope, {ref.unit}, 1); }
  /// Adds `count` units, of which `names` are the first.
  void add(const std::string& scope, const std::vector<std::string>& names, std::size_t count) {
    if (count == 0) return;
    counts_[scope] += count;
    auto& first = names_[scope];
    first.insert(first.end(), names.begin(), names.end());
    std::ranges::sort(first);
    if (first.size() > most_missing_names) first.resize(most_missing_names);
  }
  bool empty() const { return counts_.empty(); }

  Blocked blocked() const {
    constexpr std::size_t most_names = 10;
    Blocked blocked{.who = {}, .why = "not all processes are ready: ", .until = {}, .not_ready = counts_};
    std::size_t more = 0;
    for (const auto& [scope, count] : counts_) more += count;
    for (const auto& [scope, names] : names_) {
      for (const std::string& unit : names) {
        blocked.who.push_back({scope, unit});
        if (blocked.who.size() > most_names) continue;
        blocked.why += (blocked.who.size() == 1 ? "" : ",") + unit;
        --more;
      }
    }
    if (more > 0) blocked.why += " and " + std::to_string(more) + " more";
    return blocked;
  }

 private:
  std::map<std::string, std::size_t> counts_;
  std::map<std::string, std::vector<std::string>> names_;
};

/// Ready members without a pending one, which only a foreign program can have written.
Missing strays(const Part& part) {
  Missing out;
  for (const Member* member : part.ready) {
    if (find(part.pending, member->ref) == nullptr) out.add(member->ref);
  }
  return out;
}

Missing not_ready(const Part& part) {
  Missing out;
  for (const Member* member : part.pending) {
    if (find(part.ready, member->ref) == nullptr) out.add(member->ref);
  }
  for (const Tally& tally : part.tallies) out.add(tally.scope, tally.missing, tally.pending - tally.ready);
  return out;
}

PartVerdict judge(const Part& part, const ActionPolicy& policy, TimePoint now) {
  const TimePoint last = last_added(part);
  if (part.count_pending() > 0 && now < deadline_after(last, policy.quiet_window)) {
    return {.wait =
                WaitUntil{deadline_after(last, policy.quiet_window),
                          "last pending process group was added: " + rounded(now - last) +
                              " ago, wait time for pending additions is: " + rounded(policy.quiet_window)}};
  }
  if (policy.barrier == Barrier::none) return {.go = part.pending, .units = part.count_pending()};
  if (const Missing extra = strays(part); !extra.empty()) return {.blocked = extra.blocked()};
  const Missing missing = not_ready(part);
  if (missing.empty()) return {.go = part.ready, .units = part.count_ready()};
  PartVerdict answer{.blocked = missing.blocked()};
  if (policy.barrier != Barrier::ready_subset) return answer;
  const TimePoint alone = deadline_after(last, std::max(policy.straggler_timeout, 5 * policy.quiet_window));
  if (now < alone) {
    answer.blocked->until = alone;
  } else if (part.count_ready() > 0) {
    return {.go = part.ready, .units = part.count_ready(), .partial = true};
  }
  return answer;
}

Proceed proceed_with(std::size_t units, bool partial, const ActionPolicy& policy) {
  const bool limited = policy.batch_limit != 0 && units > policy.batch_limit;
  return {.targets = {}, .partial = partial || limited, .units = limited ? policy.batch_limit : units};
}

void add_targets(const View& view, std::vector<const Member*> members, Proceed& go) {
  std::ranges::sort(members, {}, [](const Member* one) { return one->ref; });
  members.resize(go.units);
  for (const Member* member : members) {
    const auto facts = view.facts.find(member->ref);
    go.targets.push_back({.ref = member->ref,
                          .kind = member->kind,
                          .since = member->since,
                          .facts = facts == view.facts.end() ? std::vector<std::string>() : facts->second});
  }
}

/// Replaces targets by their ready membership, if they have one: with Barrier::none they may be pending only.
std::vector<const Member*> by_membership(const Part& part, std::vector<const Member*> go) {
  for (const Member*& member : go) {
    if (const Member* ready = find(part.ready, member->ref)) member = ready;
  }
  return go;
}

std::optional<WaitUntil> spacing(const View& view, const ActionPolicy& policy, const Situation& situation,
                                 TimePoint now) {
  std::optional<TimePoint> last = situation.last_disruption;
  if (!last && view.claim && view.claim->record.state == ClaimState::settled) last = view.claim->seen;
  if (!last || now >= deadline_after(*last, policy.minimum_spacing)) return std::nullopt;
  return WaitUntil{deadline_after(*last, policy.minimum_spacing),
                   "last disruption was " + rounded(now - *last) + " ago, at least " +
                       rounded(policy.minimum_spacing) + " are required"};
}

/// Waits for a scope that is being moved in several commits, for at most the silence time: after that its
/// mover has died, and the entries count as they are.
std::optional<Verdict> blocked_by_move(const View& view, TimePoint now) {
  for (const ScopeMove& move : view.moves) {
    const TimePoint end = deadline_after(move.seen, view.silence);
    if (now >= end) continue;
    return Verdict{.outcome = Blocked{{{move.from, {}}}, move.from + " is being moved to " + move.to, end}};
  }
  return std::nullopt;
}

/// Returns the verdict of the checks that precede those of members.
std::optional<Verdict> precheck(const View& view, const Situation& situation, TimePoint now) {
  if (is_denied(view, situation.scope)) {
    return Verdict{
        .outcome = Blocked{{{situation.scope, {}}}, situation.scope + " is on the deny list", std::nullopt}};
  }
  if (!view.unreadable.empty()) {
    return Verdict{.outcome = Blocked{{}, "cannot be read: " + view.unreadable.front(), std::nullopt}};
  }
  if (!view.claim || view.claim->record.state != ClaimState::executing) return blocked_by_move(view, now);
  const ClaimRecord& record = view.claim->record;
  const TimePoint due = deadline_after(view.claim->seen, record.timeout);
  const std::string what = record.owner.scope + " is executing claim " + std::to_string(record.epoch);
  if (now < due) return Verdict{.outcome = WaitUntil{due, what}};
  return Verdict{.outcome = Blocked{{{record.owner.scope, {}}}, what + ", which is overdue", now}};
}

/// Returns when the first blocking instance becomes silent, unless its record changes.
std::optional<TimePoint> silence_of(const View& view, const Blocked& blocked, const ActionPolicy& policy,
                                    TimePoint now) {
  if (policy.silent == SilentMembers::block) return std::nullopt;
  std::optional<TimePoint> first;
  for (const UnitRef& ref : blocked.who) {
    const Instance* one = view.instance(ref.scope);
    if (one == nullptr || one->presence != Presence::live) continue;
    const TimePoint silent = deadline_after(now, view.silence - one->unchanged);
    if (!first || silent < *first) first = silent;
  }
  return first;
}

}  // namespace

void check(const ActionPolicy& policy) {
  const auto need = [](bool holds, const char* what) {
    if (!holds) throw std::invalid_argument(std::string("ActionPolicy: ") + what);
  };
  need(!policy.action.empty(), "action must have a name");
  need(policy.quiet_window >= Duration::zero(), "quiet_window must be >= 0");
  need(policy.straggler_timeout >= Duration::zero(), "straggler_timeout must be >= 0");
  need(policy.minimum_spacing >= Duration::zero(), "minimum_spacing must be >= 0");
  need(policy.claim_timeout > Duration::zero(), "claim_timeout must be > 0");
}

Verdict evaluate(const View& view, const ActionPolicy& policy, const Situation& situation, TimePoint now) {
  if (auto stop = precheck(view, situation, now)) return std::move(*stop);
  Participants who(view, policy, situation);
  std::vector<const Member*> go;
  std::optional<WaitUntil> wait;
  std::optional<Blocked> blocked;
  bool partial = false;
  std::size_t units = 0;
  for (const auto& [kind, part] : parts_of(view, policy, who)) {
    PartVerdict answer = judge(part, policy, now);
    partial = partial || answer.partial || answer.wait || answer.blocked;
    units += answer.units;
    std::ranges::copy(by_membership(part, std::move(answer.go)), std::back_inserter(go));
    if (answer.wait && (!wait || answer.wait->until < wait->until)) wait = std::move(answer.wait);
    if (answer.blocked && !blocked) blocked = std::move(answer.blocked);
  }
  who.note_other_modes();
  Verdict verdict{.left_out = who.left_out()};
  if (units > 0) {
    wait = spacing(view, policy, situation, now);
    if (!wait) {
      Proceed proceed = proceed_with(units, partial, policy);
      if (view.whole) add_targets(view, std::move(go), proceed);
      verdict.outcome = std::move(proceed);
      return verdict;
    }
  }
  if (wait) {
    verdict.outcome = std::move(*wait);
  } else if (blocked) {
    if (const auto silent = silence_of(view, *blocked, policy, now)) {
      blocked->until = blocked->until ? std::min(*blocked->until, *silent) : *silent;
    }
    verdict.outcome = std::move(*blocked);
  }
  return verdict;
}

std::string describe(const Verdict& verdict, const View& view, TimePoint now) {
  std::string text = "nothing to do";
  if (const Proceed* go = verdict.proceed()) {
    text = "proceeds with " + std::to_string(go->units) + (go->partial ? ", not all of them" : "");
  } else if (const WaitUntil* wait = verdict.wait()) {
    text = "waits for another " + rounded(std::max(wait->until - now, Duration::zero())) + ": " + wait->why;
  } else if (const Blocked* blocked = verdict.blocked()) {
    text = "blocked: " + blocked->why;
    std::set<std::string> scopes;
    for (const UnitRef& ref : blocked->who) {
      if (!ref.unit.empty()) scopes.insert(ref.scope);
    }
    for (const std::string& scope : scopes) {
      const Instance* one = view.instance(scope);
      if (one != nullptr) text += "; " + scope + " silent for " + rounded(one->unchanged);
    }
  }
  for (const LeftOut& out : verdict.left_out) text += "; without " + out.scope + ": " + out.why;
  return text;
}

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
