// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/coordination/gate.hpp>

#include "support.hpp"

namespace evenkeel::coordination {
namespace {

using namespace std::chrono_literals;

const Situation kMe{.scope = "dc1"};

ActionPolicy policy(Barrier barrier = Barrier::all_ready) {
  return {.action = "restart", .barrier = barrier};
}

/// "nothing", "go 2", "go 2 partial", "wait: ...", "blocked: ...".
std::string verdict_text(const Verdict& verdict) {
  if (const Proceed* go = verdict.proceed()) {
    return "go " + std::to_string(go->targets.size()) + (go->partial ? " partial" : "");
  }
  if (const WaitUntil* wait = verdict.wait()) return "wait: " + wait->why;
  if (const Blocked* blocked = verdict.blocked()) return "blocked: " + blocked->why;
  return "nothing";
}

std::string verdict_text(const View& view, const ActionPolicy& policy, const Situation& me = kMe) {
  return verdict_text(evaluate(view, policy, me, kNow));
}

struct ReadyCase {
  const char* name;
  std::vector<Aged> pending;
  std::vector<Aged> ready;
  const char* all_ready;     // AllProcessesReady
  const char* ready_subset;  // AllProcessesReadyForExclusion
};

// fdb-kubernetes-operator internal/coordination/coordination_test.go "validating if all processes are
// ready" and "... for exclusion". "ok" with nothing pending is Nothing here.
const ReadyCase kReadyCases[] = {
    {"no processes provided", {}, {}, "nothing", "nothing"},
    {"only pending processes provided",
     {{"dc1/storage-1"}},
     {},
     "blocked: not all processes are ready: storage-1",
     "blocked: not all processes are ready: storage-1"},
    {"pending and ready processes are matching", {{"dc1/storage-1"}}, {{"dc1/storage-1"}}, "go 1", "go 1"},
    {"pending and ready processes are matching but where added recently",
     {{"dc1/storage-1"}},
     {{"dc1/storage-1", 0s}},
     "wait: last pending process group was added: 0s ago, wait time for pending additions is: 30s",
     "wait: last pending process group was added: 0s ago, wait time for pending additions is: 30s"},
    {"two pending and one ready processes are provided",
     {{"dc1/storage-1"}, {"dc1/storage-2"}},
     {{"dc1/storage-1"}},
     "blocked: not all processes are ready: storage-2",
     "blocked: not all processes are ready: storage-2"},
    {"more processes are ready than pending",
     {{"dc1/storage-1"}},
     {{"dc1/storage-1"}, {"dc1/storage-2"}},
     "blocked: not all processes are ready: storage-2",
     "blocked: not all processes are ready: storage-2"},
    {"two pending and one ready processes are provided and is ready for at least 5 minutes",
     {{"dc1/storage-1", 10min}, {"dc1/storage-2", 10min}},
     {{"dc1/storage-1", 10min}},
     "blocked: not all processes are ready: storage-2",
     "go 1 partial"},
};

TEST(ActionGate, AnswersAsUpstreamsTables) {
  for (const ReadyCase& one : kReadyCases) {
    const View view = view_of(one.pending, one.ready);
    EXPECT_EQ(verdict_text(view, policy()), one.all_ready) << one.name;
    EXPECT_EQ(verdict_text(view, policy(Barrier::ready_subset)), one.ready_subset) << one.name;
  }
}

// The window is checked before the barrier, and counts from the latest member of any scope.
TEST(ActionGate, WaitsForTheQuietWindowToTheMoment) {
  const View view = view_of({{"dc1/a-1", 29s}, {"dc2/b-1", 5min}}, {{"dc1/a-1", 12s}});
  const Verdict verdict = evaluate(view, policy(), kMe, kNow);
  ASSERT_NE(verdict.wait(), nullptr) << verdict_text(verdict);
  EXPECT_EQ(verdict.wait()->until, kNow + 18s);
  EXPECT_EQ(verdict_text(view_of({{"dc1/a-1", 30s}}, {{"dc1/a-1", 30s}}), policy()), "go 1");
}

// The longer of five windows and 5 min, counted from the latest member.
TEST(ActionGate, LeavesStragglersBehindAfterTheLongerOfFiveWindowsAndTheTimeout) {
  ActionPolicy slow = policy(Barrier::ready_subset);
  const View view = view_of({{"dc1/a-1", 10min}, {"dc2/b-1", 10min}}, {{"dc1/a-1", 299s}});
  const Verdict verdict = evaluate(view, slow, kMe, kNow);
  ASSERT_NE(verdict.blocked(), nullptr) << verdict_text(verdict);
  EXPECT_EQ(verdict.blocked()->who, (std::vector<UnitRef>{{"dc2", "b-1"}}));
  EXPECT_EQ(verdict.blocked()->until, kNow + 1s);
  EXPECT_EQ(verdict_text(view_of({{"dc1/a-1", 10min}, {"dc2/b-1", 10min}}, {{"dc1/a-1", 300s}}), slow),
            "go 1 partial");
  slow.quiet_window = 100s;
  EXPECT_EQ(verdict_text(view_of({{"dc1/a-1", 10min}, {"dc2/b-1", 10min}}, {{"dc1/a-1", 300s}}), slow),
            "blocked: not all processes are ready: b-1");
}

// None of their units is ready, so there is no ready subset.
TEST(ActionGate, HasNoSubsetOfNothing) {
  EXPECT_EQ(verdict_text(view_of({{"dc2/b-1", 10min}}, {}), policy(Barrier::ready_subset)),
            "blocked: not all processes are ready: b-1");
}

TEST(ActionGate, WithoutBarrierTakesWhatIsPending) {
  const View view = view_of({{"dc1/a-1", 1min, 3}, {"dc2/b-1"}}, {{"dc1/a-1", 1min, 4}});
  const Verdict verdict = evaluate(view, policy(Barrier::none), kMe, kNow);
  ASSERT_NE(verdict.proceed(), nullptr) << verdict_text(verdict);
  EXPECT_EQ(names_of(verdict.proceed()->targets), "dc1/a-1 dc2/b-1");
  EXPECT_EQ(verdict.proceed()->targets[0].since, 4U) << "known by its ready membership";
}

// "this check should be done on a process class basis".
TEST(ActionGate, LooksAtEachKindOnItsOwn) {
  ActionPolicy by_kind = policy();
  by_kind.partition = Partition::by_kind;
  const View view = view_of({{"dc1/log-1"}, {"dc2/log-1"}, {"dc1/storage-1"}, {"dc2/storage-1"}},
                            {{"dc1/log-1"}, {"dc2/log-1"}, {"dc1/storage-1"}});
  const Verdict verdict = evaluate(view, by_kind, kMe, kNow);
  ASSERT_NE(verdict.proceed(), nullptr) << verdict_text(verdict);
  EXPECT_EQ(names_of(verdict.proceed()->targets), "dc1/log-1 dc2/log-1");
  EXPECT_TRUE(verdict.proceed()->partial);
  EXPECT_EQ(verdict_text(view, policy()), "blocked: not all processes are ready: storage-1");
}

TEST(ActionGate, TakesTwoUnitsOfOneNameForTwo) {
  EXPECT_EQ(verdict_text(view_of({{"dc1/log-1"}, {"dc2/log-1"}}, {{"dc1/log-1"}}), policy()),
            "blocked: not all processes are ready: log-1");
  EXPECT_EQ(verdict_text(view_of({{"dc1/log-1"}, {"dc2/log-1"}}, {{"dc1/log-1"}, {"dc2/log-1"}}), policy()),
            "go 2");
}

// A dead instance blocks nobody for longer than its silence limit.
TEST(ActionGate, LeavesOutWhoIsSilent) {
  View view = view_of({{"dc1/a-1"}, {"dc2/b-1"}, {"dc2/b-2"}}, {{"dc1/a-1"}, {"dc2/b-1"}});
  view.instances[1] = instance_of("dc2", Mode::global, Presence::live, 41s);
  Verdict verdict = evaluate(view, policy(), kMe, kNow);
  ASSERT_NE(verdict.blocked(), nullptr) << verdict_text(verdict);
  EXPECT_EQ(verdict.blocked()->until, kNow + 19s) << "when dc2 is silent";
  EXPECT_EQ(describe(verdict, view, kNow), "blocked: not all processes are ready: b-2; dc2 silent for 41s");

  view.instances[1] = instance_of("dc2", Mode::global, Presence::silent, 61s);
  verdict = evaluate(view, policy(), kMe, kNow);
  ASSERT_NE(verdict.proceed(), nullptr) << verdict_text(verdict);
  EXPECT_EQ(names_of(verdict.proceed()->targets), "dc1/a-1");
  EXPECT_EQ(verdict.left_out, (std::vector<LeftOut>{{"dc2", "silent for 1m1s"}}));

  ActionPolicy other = policy();
  other.silent = SilentMembers::take_if_ready;
  EXPECT_EQ(names_of(evaluate(view, other, kMe, kNow).proceed()->targets), "dc1/a-1 dc2/b-1");
  other.silent = SilentMembers::block;
  verdict = evaluate(view, other, kMe, kNow);
  ASSERT_NE(verdict.blocked(), nullptr) << verdict_text(verdict);
  EXPECT_EQ(verdict.blocked()->until, std::nullopt) << "time alone changes nothing";
}

// Members of a scope without an owner.
TEST(ActionGate, LeavesOutWhoIsNotRegistered) {
  const View view = view_of({{"dc1/a-1"}, {"old/b-1"}}, {{"dc1/a-1"}});
  const Verdict verdict = evaluate(view, policy(), kMe, kNow);
  EXPECT_EQ(verdict_text(verdict), "go 1");
  EXPECT_EQ(verdict.left_out, (std::vector<LeftOut>{{"old", "not registered"}}));
}

// Instances in another mode are left out, and named.
TEST(ActionGate, SeesOtherModes) {
  View view = view_of({{"dc1/a-1"}, {"dc2/b-1"}, {"dc3/c-1"}}, {{"dc1/a-1"}});
  view.instances[1] = instance_of("dc2", Mode::local);
  view.instances[2] = instance_of("dc3", Mode::shadow);
  Verdict verdict = evaluate(view, policy(), kMe, kNow);
  EXPECT_EQ(verdict_text(verdict), "go 1");
  EXPECT_EQ(verdict.left_out,
            (std::vector<LeftOut>{{"dc2", "works in mode local"}, {"dc3", "works in mode shadow"}}));
  verdict = evaluate(view, policy(), {.scope = "dc3", .mode = Mode::shadow}, kNow);
  EXPECT_EQ(verdict_text(verdict), "blocked: not all processes are ready: c-1")
      << "a shadow counts shadow and global";
  EXPECT_EQ(evaluate(view_of({}, {}), policy(), {.scope = "dc1", .mode = Mode::shadow}, kNow).left_out.size(),
            0U)
      << "global ones take part in what a shadow looks at";
}

// Spacing since the last disruption by any instance (uptime of the shared system).
TEST(ActionGate, KeepsTheSpacing) {
  ActionPolicy spaced = policy();
  spaced.minimum_spacing = 600s;
  View view = view_of({{"dc1/a-1"}}, {{"dc1/a-1"}});
  EXPECT_EQ(verdict_text(view, spaced), "go 1");
  EXPECT_EQ(verdict_text(view, spaced, {.scope = "dc1", .last_disruption = kNow - 600s}), "go 1");
  EXPECT_EQ(verdict_text(view, spaced, {.scope = "dc1", .last_disruption = kNow - 599s}),
            "wait: last disruption was 9m59s ago, at least 10m0s are required");
  view.claim = ClaimView{{.epoch = 4, .state = ClaimState::settled}, 9, kNow - 400s};
  const Verdict verdict = evaluate(view, spaced, kMe, kNow);
  ASSERT_NE(verdict.wait(), nullptr);
  EXPECT_EQ(verdict.wait()->until, kNow + 200s);
}

TEST(ActionGate, LimitsABatch) {
  ActionPolicy limited = policy();
  limited.batch_limit = 2;
  const View view = view_of({{"dc1/a-1"}, {"dc1/a-2"}, {"dc2/b-1"}}, {{"dc1/a-1"}, {"dc1/a-2"}, {"dc2/b-1"}});
  const Verdict verdict = evaluate(view, limited, kMe, kNow);
  EXPECT_EQ(verdict_text(verdict), "go 2 partial");
  EXPECT_EQ(names_of(verdict.proceed()->targets), "dc1/a-1 dc1/a-2");
}

TEST(ActionGate, WaitsForAClaimThatIsBeingExecuted) {
  View view = view_of({{"dc1/a-1"}}, {{"dc1/a-1"}});
  view.claim = ClaimView{
      {.epoch = 7, .owner = {"dc2", "uid-dc2", "run-1"}, .state = ClaimState::executing, .timeout = 120s},
      9,
      kNow - 20s};
  Verdict verdict = evaluate(view, policy(), kMe, kNow);
  ASSERT_NE(verdict.wait(), nullptr) << verdict_text(verdict);
  EXPECT_EQ(verdict.wait()->until, kNow + 100s);
  EXPECT_EQ(verdict.wait()->why, "dc2 is executing claim 7");
  view.claim->seen = kNow - 120s;
  EXPECT_EQ(verdict_text(view, policy()), "blocked: dc2 is executing claim 7, which is overdue");
}

// 'denied stays out', whatever the lock says.
TEST(ActionGate, RefusesWhoIsDenied) {
  View view = view_of({{"dc1/a-1"}}, {{"dc1/a-1"}});
  view.denied = {"dc1"};
  EXPECT_EQ(verdict_text(view, policy()), "blocked: dc1 is on the deny list");
  view.denied = {"dc2"};
  EXPECT_EQ(verdict_text(view, policy()), "go 1");
}

// Its units block nobody and are not acted upon, although its instance is live.
TEST(ActionGate, LeavesOutWhoIsDenied) {
  View view = view_of({{"dc1/a-1"}, {"dc2/b-1"}, {"dc2/b-2"}}, {{"dc1/a-1"}, {"dc2/b-1"}});
  EXPECT_EQ(verdict_text(view, policy()), "blocked: not all processes are ready: b-2");
  view.denied = {"dc2"};
  const Verdict verdict = evaluate(view, policy(), kMe, kNow);
  ASSERT_NE(verdict.proceed(), nullptr) << verdict_text(verdict);
  EXPECT_EQ(names_of(verdict.proceed()->targets), "dc1/a-1");
  EXPECT_EQ(verdict.left_out, (std::vector<LeftOut>{{"dc2", "on the deny list"}}));
  EXPECT_EQ(describe(verdict, view, kNow), "proceeds with 1; without dc2: on the deny list");
}

// The gate waits for a move for at most the silence time.
TEST(ActionGate, WaitsForAScopeThatIsBeingMoved) {
  View view = view_of({{"dc1/a-1"}, {"unicorn/b-1"}}, {{"dc1/a-1"}, {"unicorn/b-1"}});
  view.instances.push_back(instance_of("unicorn"));
  view.moves = {{.from = "dc2", .to = "unicorn", .version = 7, .seen = kNow - 59s}};
  const Verdict verdict = evaluate(view, policy(), kMe, kNow);
  ASSERT_NE(verdict.blocked(), nullptr) << verdict_text(verdict);
  EXPECT_EQ(describe(verdict, view, kNow), "blocked: dc2 is being moved to unicorn");
  EXPECT_EQ(verdict.blocked()->who, (std::vector<UnitRef>{{"dc2", ""}}));
  EXPECT_EQ(verdict.blocked()->until, kNow + 1s);
  view.moves[0].seen = kNow - 60s;
  EXPECT_EQ(verdict_text(view, policy()), "go 2");
}

// Renaming a scope does not remove it from the deny list, in either direction.
TEST(ActionGate, KnowsWhoIsDeniedByBothNames) {
  View view = view_of({{"dc1/a-1"}, {"dc2/b-1"}}, {{"dc1/a-1"}, {"dc2/b-1"}});
  view.moves = {{.from = "dc2", .to = "unicorn", .version = 7, .seen = kNow - 60s}};
  view.denied = {"unicorn"};
  EXPECT_EQ(evaluate(view, policy(), kMe, kNow).left_out,
            (std::vector<LeftOut>{{"dc2", "on the deny list"}}));
  EXPECT_EQ(verdict_text(view, policy(), {.scope = "dc2"}), "blocked: dc2 is on the deny list");
}

struct DeniedCase {
  DeniedMembers denied;
  SilentMembers silent;
  Presence presence;
  const char* go;  // empty: blocked
};

TEST(ActionGate, TreatsWhoIsDeniedAsThePolicySays) {
  const DeniedCase cases[] = {
      {DeniedMembers::leave_out, SilentMembers::leave_out, Presence::live, "dc1/a-1"},
      {DeniedMembers::leave_out, SilentMembers::take_if_ready, Presence::silent, "dc1/a-1"},
      {DeniedMembers::leave_out, SilentMembers::block, Presence::silent, "dc1/a-1"},
      {DeniedMembers::take_if_ready, SilentMembers::leave_out, Presence::live, "dc1/a-1 dc2/b-1"},
      {DeniedMembers::take_if_ready, SilentMembers::leave_out, Presence::silent, "dc1/a-1"},
      {DeniedMembers::take_if_ready, SilentMembers::take_if_ready, Presence::silent, "dc1/a-1 dc2/b-1"},
      {DeniedMembers::block, SilentMembers::leave_out, Presence::live, ""},
      {DeniedMembers::block, SilentMembers::leave_out, Presence::silent, "dc1/a-1"},
  };
  View view = view_of({{"dc1/a-1"}, {"dc2/b-1"}, {"dc2/b-2"}}, {{"dc1/a-1"}, {"dc2/b-1"}});
  view.denied = {"dc2"};
  for (const DeniedCase& one : cases) {
    view.instances[1] = instance_of("dc2", Mode::global, one.presence, 61s);
    ActionPolicy by_case = policy();
    by_case.denied = one.denied;
    by_case.silent = one.silent;
    const Verdict verdict = evaluate(view, by_case, kMe, kNow);
    const Proceed* go = verdict.proceed();
    EXPECT_EQ(go == nullptr ? "" : names_of(go->targets), one.go) << &one - cases;
  }
}

// The reason "works in another mode" precedes "on the deny list".
TEST(ActionGate, TakesNobodyAlongWhoIsDeniedAndInAnotherMode) {
  View view = view_of({{"dc1/a-1"}, {"dc2/b-1"}}, {{"dc1/a-1"}, {"dc2/b-1"}});
  view.denied = {"dc2"};
  view.instances[1] = instance_of("dc2", Mode::local);
  ActionPolicy taking = policy();
  taking.denied = DeniedMembers::take_if_ready;
  const Verdict verdict = evaluate(view, taking, kMe, kNow);
  EXPECT_EQ(verdict_text(verdict), "go 1");
  EXPECT_EQ(verdict.left_out, (std::vector<LeftOut>{{"dc2", "works in mode local"}}));
}

TEST(ActionGate, DecidesNothingOnWhatItCannotRead) {
  View view = view_of({{"dc1/a-1"}}, {{"dc1/a-1"}});
  view.unreadable = {"/db/pendingForRestart/dc2/b: no JSON"};
  EXPECT_EQ(verdict_text(view, policy()), "blocked: cannot be read: /db/pendingForRestart/dc2/b: no JSON");
}

TEST(ActionGate, HandsTheFactsToTheTargets) {
  View view = view_of({{"dc1/a-1"}}, {{"dc1/a-1"}});
  view.facts[{"dc1", "a-1"}] = {"10.1.0.2:4501"};
  EXPECT_EQ(evaluate(view, policy(), kMe, kNow).proceed()->targets[0].facts,
            std::vector<std::string>{"10.1.0.2:4501"});
}

TEST(ActionPolicy, IsChecked) {
  EXPECT_THROW(check(ActionPolicy{}), std::invalid_argument);
  EXPECT_THROW(check(ActionPolicy{.action = "restart", .quiet_window = -1s}), std::invalid_argument);
  EXPECT_THROW(check(ActionPolicy{.action = "restart", .claim_timeout = 0s}), std::invalid_argument);
  EXPECT_NO_THROW(check(policy()));
}

}  // namespace
}  // namespace evenkeel::coordination
