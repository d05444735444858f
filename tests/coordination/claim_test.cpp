// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/coordination/claim.hpp>
#include <evenkeel/coordination/deny_list.hpp>
#include <evenkeel/coordination/lease_lock.hpp>
#include <evenkeel/coordination/memory_store.hpp>
#include <evenkeel/coordination/scope_migrator.hpp>
#include <evenkeel/testing/faulty_store.hpp>

#include "support.hpp"

namespace evenkeel::coordination {
namespace {

using namespace std::chrono_literals;
using testing::FaultyStore;
using testing::StoreFault;
using Kind = StepReport::Kind;

const Layout kLayout("/db");

ActionPolicy restart() {
  return {.action = "restart", .needs_lock = false};
}

/// An instance with its own way to the store and its own clock.
struct Node {
  Node(const std::shared_ptr<Store>& shared, std::string scope, std::string incarnation = "run-1")
      : store(shared),
        situation{.scope = scope},
        ledger(store, options(scope, incarnation)),
        claims(ledger, claim_options()) {}

  static ActionClaimsOptions claim_options() {
    ActionClaimsOptions options;
    options.transact.delay = 0s;
    return options;
  }
  LedgerOptions options(const std::string& scope, std::string incarnation) const {
    LedgerOptions options;
    options.domain = {.root = "/db", .actions = {"restart"}};
    options.identity = {scope, "uid-" + scope, std::move(incarnation)};
    options.transact.delay = 0s;
    options.clock = clock;
    return options;
  }
  void publish(const std::vector<std::string>& pending, const std::vector<std::string>& ready) {
    const Published published = ledger.publish([&](const OwnState&) {
      DesiredState desired;
      for (const std::string& unit : pending) desired.add("pendingForRestart", unit);
      for (const std::string& unit : ready) desired.add("readyForRestart", unit);
      return desired;
    });
    ASSERT_TRUE(published.done());
  }
  /// Callbacks that execute kills; `calls` has their arguments.
  ActionCallbacks callbacks() {
    return {.act =
                [this](const Claim& claim, std::stop_token) {
                  calls.push_back("kill " + std::to_string(claim.epoch) + ": " + names_of(claim.targets));
                  return done;
                },
            .observe =
                [this](const Claim& claim, std::stop_token) {
                  calls.push_back("look " + std::to_string(claim.epoch) + ": " + names_of(claim.targets));
                  return seen;
                }};
  }
  StepReport step(const ActionPolicy& policy = restart()) {
    return claims.step(policy, situation, callbacks());
  }
  std::optional<ClaimRecord> record() {
    const auto entry = store.snapshot()->get(kLayout.claim("restart"));
    return entry ? std::optional(decode_claim(*entry)) : std::nullopt;
  }

  FaultyStore store;
  const std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>();
  Situation situation;
  Ledger ledger;
  ActionClaims claims;
  ActReport done;
  ActReport seen;
  std::vector<std::string> calls;
};

using Calls = std::vector<std::string>;

/// Two instances with one ready unit each, both past the quiet window.
class ActionClaimsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    dc1.publish({"a-1"}, {"a-1"});
    dc2.publish({"b-1"}, {"b-1"});
    for (Node* node : {&dc1, &dc2}) {
      node->ledger.view("restart");
      node->clock->advance(30s);
    }
  }

  const std::shared_ptr<MemoryStore> shared = std::make_shared<MemoryStore>();
  Node dc1{shared, "dc1"};
  Node dc2{shared, "dc2"};
};

TEST_F(ActionClaimsTest, ActsOnceForAll) {
  const StepReport first = dc1.step();
  EXPECT_EQ(first.kind, Kind::acted) << first.why;
  EXPECT_EQ(dc1.calls, Calls{"kill 1: dc1/a-1 dc2/b-1"});
  EXPECT_EQ(dc1.record()->state, ClaimState::settled);
  const StepReport second = dc2.step();
  EXPECT_EQ(second.kind, Kind::nothing) << second.why;
  EXPECT_TRUE(dc2.calls.empty());
  const View view = dc2.ledger.view("restart");
  EXPECT_EQ(view.consumed.size(), 2U);
  EXPECT_TRUE(view.pending.empty());
  EXPECT_TRUE(dc2.ledger.own().contains("readyForRestart", "b-1")) << "nobody deletes what is another's";
}

// Exactly the membership that was taken is consumed; a later one counts again.
TEST_F(ActionClaimsTest, CountsALaterMembershipAnew) {
  dc1.step();
  dc2.publish({}, {});
  dc2.publish({"b-1"}, {"b-1"});
  const View view = dc1.ledger.view("restart");
  ASSERT_EQ(view.pending.size(), 1U);
  EXPECT_EQ(view.pending[0].ref, (UnitRef{"dc2", "b-1"}));
  EXPECT_EQ(view.consumed.size(), 1U);
  dc1.clock->advance(30s);
  EXPECT_EQ(dc1.step().kind, Kind::acted);
  EXPECT_EQ(dc1.calls.back(), "kill 2: dc2/b-1") << "a-1 is still consumed by claim 1";
  EXPECT_EQ(dc1.ledger.view("restart").consumed.size(), 2U);
}

TEST_F(ActionClaimsTest, ForgetsWhatIsNoMore) {
  dc1.step();
  dc1.publish({}, {});
  dc2.publish({}, {});
  EXPECT_EQ(dc1.step().kind, Kind::nothing);
  EXPECT_TRUE(shared->snapshot()->scan_all(prefix_range(kLayout.targets_prefix("restart"))).empty());
  EXPECT_EQ(dc1.record()->epoch, 1U) << "epochs only grow";
}

// Targets that act() did not act upon have no owner, and are taken by the next claim.
TEST_F(ActionClaimsTest, GivesBackWhatWasNotDone) {
  dc1.done.not_done = {{"dc2", "b-1"}};
  dc1.step();
  dc1.done = {};
  EXPECT_EQ(dc1.record()->state, ClaimState::settled);
  EXPECT_EQ(dc2.step().kind, Kind::acted);
  EXPECT_EQ(dc2.calls, Calls{"kill 2: dc2/b-1"});
}

TEST_F(ActionClaimsTest, HasFailedIfNothingWasDone) {
  dc1.done.not_done = {{"dc1", "a-1"}, {"dc2", "b-1"}};
  dc1.step();
  EXPECT_EQ(dc1.record()->state, ClaimState::failed);
  EXPECT_EQ(dc2.step().kind, Kind::acted);
  EXPECT_EQ(dc2.calls, Calls{"kill 2: dc1/a-1 dc2/b-1"});
}

// 'one claim': of two instances that decide on the same snapshot one gets the claim.
TEST_F(ActionClaimsTest, HasOneWinner) {
  const auto first = dc1.claims.claim(restart(), dc1.situation);
  const auto second = dc2.claims.claim(restart(), dc2.situation);
  ASSERT_TRUE(std::holds_alternative<Claim>(first));
  ASSERT_TRUE(std::holds_alternative<StepReport>(second));
  EXPECT_EQ(std::get<StepReport>(second).why, "waits for another 2m0s: dc1 is executing claim 1");
}

/// Returns the result of plan_claim() for dc1 on the present store.
PlannedClaim plan(Node& node, Situation situation = {.scope = "dc1"}) {
  const View view = node.ledger.view("restart");
  auto planned = plan_claim(kLayout, view, restart(), situation, {.identity = node.ledger.options().identity},
                            node.clock->now());
  EXPECT_TRUE(std::holds_alternative<PlannedClaim>(planned));
  return std::get<PlannedClaim>(std::move(planned));
}

// 'current view': no change is missed between the snapshot and the claim; deletions are detected by the
// guards, despite etcd's gap.
TEST_F(ActionClaimsTest, RestsOnTheSetsAsTheyWere) {
  const PlannedClaim added = plan(dc1);
  dc2.publish({"b-1", "b-2"}, {"b-1"});
  EXPECT_TRUE(std::holds_alternative<Conflict>(shared->commit(added.commit)));
  dc2.publish({"b-1"}, {"b-1"});
  dc1.ledger.view("restart");
  dc1.clock->advance(30s);
  const PlannedClaim removed = plan(dc1);
  dc2.publish({}, {});
  EXPECT_TRUE(std::holds_alternative<Conflict>(shared->commit(removed.commit)));
}

// 'denied stays out': a denial between the decision and the commit.
TEST_F(ActionClaimsTest, RestsOnNotBeingDenied) {
  const PlannedClaim planned = plan(dc1);
  TransactOptions plain;
  plain.delay = 0s;
  DenyList(*shared, kLayout, "test", plain).apply({{.scope = "dc1"}});
  EXPECT_TRUE(std::holds_alternative<Conflict>(shared->commit(planned.commit)));
  const StepReport report = dc1.step();
  EXPECT_EQ(report.kind, Kind::waits);
  EXPECT_EQ(report.why, "blocked: dc1 is on the deny list");
  EXPECT_EQ(dc2.step().kind, Kind::acted);
}

// An instance that was left out for its silence, and resumes before the commit.
TEST_F(ActionClaimsTest, RestsOnTheSilenceOfWhoIsLeftOut) {
  dc2.publish({"b-1", "b-2"}, {"b-1"});
  dc1.ledger.view("restart");
  dc1.clock->advance(61s);
  const PlannedClaim planned = plan(dc1);
  EXPECT_EQ(names_of(planned.claim.targets), "dc1/a-1");
  const auto record = shared->snapshot()->get(kLayout.instance("dc2"));
  shared->commit({.puts = {{record->key, record->value}}});
  EXPECT_TRUE(std::holds_alternative<Conflict>(shared->commit(planned.commit)));
}

/// Renames dc2 to unicorn; the mover dies after this many of the commits that a store of shards needs.
Migration move_dc2(Node& dc2, std::size_t pieces) {
  std::vector<StoreFault> faults(pieces, StoreFault::none);
  faults.push_back(StoreFault::unavailable);
  dc2.store.script(faults);
  TransactOptions plain;
  plain.delay = 0s;
  plain.clock = dc2.clock;
  Migration move =
      ScopeMigrator(dc2.store, kLayout, {"unicorn", "uid-dc2", "run-2"}, {}, plain).migrate("dc2");
  dc2.store.script({});
  return move;
}

std::shared_ptr<MemoryStore> store_of_shards() {
  MemoryStoreOptions options;
  options.capabilities.multi_key_atomic = false;
  options.shard_of = [](std::string_view key) { return kLayout.shard_of(key); };
  return std::make_shared<MemoryStore>(options);
}

// 'taken once': an action is not repeated on a unit because its scope is being moved, even if its mover died
// and the others no longer wait; and the records of the others survive until the move is complete.
TEST(ActionClaimsMove, ConsumedStaysConsumedWhereverAMoveEnds) {
  for (std::size_t pieces = 0; pieces <= 4; ++pieces) {
    const auto shared = store_of_shards();
    Node dc1{shared, "dc1"};
    Node dc2{shared, "dc2"};
    dc1.publish({"a-1"}, {"a-1"});
    dc2.publish({"b-1"}, {"b-1"});
    dc1.ledger.view("restart");
    dc1.clock->advance(30s);
    ASSERT_EQ(dc1.step().kind, Kind::acted);
    EXPECT_EQ(dc1.calls, (Calls{"kill 1: dc1/a-1 dc2/b-1"}));
    const bool died = move_dc2(dc2, pieces).outcome == MigrationOutcome::unavailable;
    const bool amid = died && pieces > 0;
    const StepReport waits = dc1.step();
    EXPECT_EQ(waits.kind, amid ? Kind::waits : Kind::nothing) << pieces;
    EXPECT_EQ(waits.why.find("blocked: dc2 is being moved to unicorn") == 0, amid) << pieces << waits.why;
    dc1.clock->advance(60s);
    ActionPolicy all = restart();
    all.silent = SilentMembers::take_if_ready;
    EXPECT_EQ(dc1.step(all).kind, Kind::nothing) << pieces;  // which also tidies up
    EXPECT_NE(move_dc2(dc2, 10).outcome, MigrationOutcome::unavailable);
    dc1.clock->advance(60s);
    dc1.ledger.view("restart");
    dc1.clock->advance(30s);
    EXPECT_EQ(dc1.step(all).kind, Kind::nothing) << pieces;
    EXPECT_EQ(dc1.calls.size(), 1U) << pieces;
  }
}

// If a scope is moved after that time, the others have their turn, and no commit of the move comes in
// between.
TEST(ActionClaimsMove, RestsOnTheMovesThatGoOn) {
  const auto shared = store_of_shards();
  Node dc1{shared, "dc1"};
  Node dc2{shared, "dc2"};
  dc1.publish({"a-1"}, {"a-1"});
  dc2.publish({"b-1"}, {"b-1"});
  ASSERT_EQ(move_dc2(dc2, 2).outcome, MigrationOutcome::unavailable);
  dc1.ledger.view("restart");
  dc1.clock->advance(60s);
  const PlannedClaim planned = plan(dc1);
  ASSERT_EQ(move_dc2(dc2, 10).outcome, MigrationOutcome::moved);
  EXPECT_TRUE(std::holds_alternative<Conflict>(shared->commit(planned.commit)));
}

// A run that was paused during the start of its successor claims nothing, with or without the lock.
TEST_F(ActionClaimsTest, AreNotMadeByARunThatWasSucceeded) {
  Node again(shared, "dc1", "run-2");
  again.publish({"a-1", "a-2"}, {"a-1"});
  dc1.ledger.view("restart");
  dc1.clock->advance(90s);
  const StepReport report = dc1.step();
  EXPECT_EQ(report.kind, Kind::waits);
  EXPECT_EQ(report.why, "blocked: another run of dc1 is registered");
  EXPECT_TRUE(dc1.calls.empty());
}

// ... and takes nothing over, be it after a rename.
TEST_F(ActionClaimsTest, AreNotTakenOverByARunThatWasSucceeded) {
  ASSERT_TRUE(std::holds_alternative<Claim>(dc2.claims.claim(restart(), dc2.situation)));
  EXPECT_FALSE(dc1.claims.take_over(restart())) << "not overdue yet";
  dc1.clock->advance(120s);
  const InstanceRecord later{.instance = "uid-dc1", .incarnation = "run-2", .mode = Mode::global};
  const InstanceRecord renamed{
      .instance = "uid-dc1", .incarnation = "run-1", .mode = Mode::global, .moved_to = "unicorn"};
  for (const InstanceRecord& record : {later, renamed}) {
    shared->commit({.puts = {{kLayout.instance("dc1"), encode(record)}}});
    EXPECT_FALSE(dc1.claims.take_over(restart())) << record.moved_to;
  }
  const InstanceRecord own{.instance = "uid-dc1", .incarnation = "run-1", .mode = Mode::global};
  shared->commit({.puts = {{kLayout.instance("dc1"), encode(own)}}});
  EXPECT_TRUE(dc1.claims.take_over(restart()));
}

/// Returns the conditions of `plan` besides the lock, on a store that checks ranges, and on one that does
/// not.
Claimant claimant_of(const Node& node, bool range_conflict) {
  return {.identity = node.ledger.options().identity, .range_conflict = range_conflict};
}

// Another instance is denied, or allowed, between the decision and the commit.
TEST_F(ActionClaimsTest, RestsOnWhoIsDenied) {
  TransactOptions plain;
  plain.delay = 0s;
  DenyList list(*shared, kLayout, "test", plain);
  for (const bool range_conflict : {true, false}) {
    const auto planned = [&] {
      return std::get<PlannedClaim>(plan_claim(kLayout, dc1.ledger.view("restart"), restart(), dc1.situation,
                                               claimant_of(dc1, range_conflict), dc1.clock->now()));
    };
    const PlannedClaim both = planned();
    EXPECT_EQ(names_of(both.claim.targets), "dc1/a-1 dc2/b-1");
    list.apply({{.scope = "dc2"}});
    EXPECT_TRUE(std::holds_alternative<Conflict>(shared->commit(both.commit))) << range_conflict;
    const PlannedClaim one = planned();
    EXPECT_EQ(names_of(one.claim.targets), "dc1/a-1");
    list.apply({{.scope = "dc2", .allow = true}});
    EXPECT_TRUE(std::holds_alternative<Conflict>(shared->commit(one.commit))) << range_conflict;
  }
}

TEST_F(ActionClaimsTest, NeedsTheLock) {
  ActionPolicy locked = restart();
  locked.needs_lock = true;
  TransactOptions plain;
  plain.delay = 0s;
  plain.clock = dc1.clock;
  LeaseLock lock(dc1.store, kLayout, dc1.ledger.options().identity, {}, plain);
  EXPECT_TRUE(dc1.step(locked).lock_missing);
  EXPECT_TRUE(dc1.calls.empty());
  ASSERT_TRUE(lock.take().is_held());
  const auto view = dc1.ledger.view("restart");
  auto planned =
      plan_claim(kLayout, view, locked, dc1.situation,
                 {.identity = dc1.ledger.options().identity, .holds_lock = true}, dc1.clock->now());
  ASSERT_TRUE(lock.release());
  EXPECT_TRUE(std::holds_alternative<Conflict>(shared->commit(std::get<PlannedClaim>(planned).commit)))
      << "the lock went between the decision and the commit";
  const auto take = [&](const std::stop_token& stop) { return lock.take(stop).is_held(); };
  EXPECT_EQ(dc1.claims.step(locked, dc1.situation, dc1.callbacks(), take).kind, Kind::acted);
  EXPECT_EQ(dc1.calls.size(), 1U);
}

// Crash between claim and act, and between act and settle: the successor asks what was done.
TEST_F(ActionClaimsTest, AreTakenOverWhenTheirOwnerDied) {
  auto lost = dc1.claims.claim(restart(), dc1.situation);
  ASSERT_TRUE(std::holds_alternative<Claim>(lost));
  dc2.step();
  EXPECT_TRUE(dc2.calls.empty()) << "not overdue yet";
  dc2.clock->advance(120s);
  dc2.seen.not_done = {{"dc1", "a-1"}, {"dc2", "b-1"}};
  EXPECT_EQ(dc2.step().kind, Kind::taken_over);
  EXPECT_EQ(dc2.calls, Calls{"look 2: dc1/a-1 dc2/b-1"});
  EXPECT_EQ(dc2.record()->state, ClaimState::failed);
  const auto late = dc1.claims.settle(std::get<Claim>(lost), {});
  EXPECT_TRUE(std::holds_alternative<Conflict>(late)) << "superseded";
  dc1.publish({"a-1"}, {"a-1"});  // alive: was silent to dc2
  EXPECT_EQ(dc2.step().kind, Kind::acted);
  EXPECT_EQ(dc2.calls.back().substr(0, 6), "kill 3");
}

TEST_F(ActionClaimsTest, ConsumeWhatADeadOwnerHadDone) {
  ASSERT_TRUE(std::holds_alternative<Claim>(dc1.claims.claim(restart(), dc1.situation)));
  dc2.step();
  dc2.clock->advance(120s);
  EXPECT_EQ(dc2.step().kind, Kind::taken_over);
  EXPECT_EQ(dc2.record()->state, ClaimState::settled);
  EXPECT_EQ(dc2.record()->epoch, 2U);
  EXPECT_EQ(dc2.step().kind, Kind::nothing) << "nothing is done twice";
}

// A denied instance does not take over.
TEST_F(ActionClaimsTest, AreNotTakenOverByTheDenied) {
  ASSERT_TRUE(std::holds_alternative<Claim>(dc1.claims.claim(restart(), dc1.situation)));
  TransactOptions plain;
  plain.delay = 0s;
  DenyList(*shared, kLayout, "test", plain).apply({{.scope = "dc2"}});
  dc2.step();
  dc2.clock->advance(500s);
  EXPECT_EQ(dc2.step().kind, Kind::waits);
  EXPECT_TRUE(dc2.calls.empty());
}

// The process knows that it is not acting, so it need not wait for the timeout of its own claim.
TEST_F(ActionClaimsTest, AreClearedUpByTheirOwnerAtOnce) {
  const ActionCallbacks broken{
      .act = [](const Claim&, std::stop_token) -> ActReport { throw std::runtime_error("connection reset"); },
      .observe = dc1.callbacks().observe};
  const StepReport report = dc1.claims.step(restart(), dc1.situation, broken);
  EXPECT_EQ(report.kind, Kind::acted);
  EXPECT_EQ(report.why, "not settled yet: connection reset");
  EXPECT_EQ(dc1.step().kind, Kind::taken_over);
  EXPECT_EQ(dc1.calls, Calls{"look 2: dc1/a-1 dc2/b-1"});
}

// An instance that is cut off only from the shared system does not keep the others from acting.
TEST_F(ActionClaimsTest, AreLeftToOthersByWhoFailsTwice) {
  const auto fail = [](const Claim&, std::stop_token) -> ActReport { throw std::runtime_error("no route"); };
  const ActionCallbacks broken{.act = fail, .observe = fail};
  EXPECT_EQ(dc1.claims.step(restart(), dc1.situation, broken).kind, Kind::acted);
  EXPECT_EQ(dc1.claims.step(restart(), dc1.situation, broken).kind, Kind::taken_over);
  const StepReport rest = dc1.claims.step(restart(), dc1.situation, broken);
  EXPECT_EQ(rest.kind, Kind::waits);
  EXPECT_EQ(rest.why, "callbacks failed 2 times in a row; leaving the action to other instances for 4m0s");
  dc2.step();
  dc2.clock->advance(120s);
  dc2.seen.not_done = {{"dc1", "a-1"}, {"dc2", "b-1"}};
  EXPECT_EQ(dc2.step().kind, Kind::taken_over);
  EXPECT_EQ(dc2.step().kind, Kind::acted);
  EXPECT_EQ(dc2.calls.back(), "kill 4: dc2/b-1") << "without dc1, which was silent meanwhile";
  dc1.clock->advance(240s);
  EXPECT_EQ(dc1.step().kind, Kind::acted);
  EXPECT_EQ(dc1.calls, Calls{"kill 5: dc1/a-1"});
}

TEST_F(ActionClaimsTest, AreNotClearedUpWhileTheirOwnerActs) {
  StepReport inner;
  const ActionCallbacks nested{.act =
                                   [&](const Claim&, std::stop_token) {
                                     inner = dc1.step();
                                     return ActReport{};
                                   },
                               .observe = dc1.callbacks().observe};
  EXPECT_EQ(dc1.claims.step(restart(), dc1.situation, nested).kind, Kind::acted);
  EXPECT_EQ(inner.kind, Kind::waits) << inner.why;
  EXPECT_TRUE(dc1.calls.empty());
}

// A thread that was paused during an earlier claim resumes while another one acts.
TEST_F(ActionClaimsTest, AreNotClearedUpWhenAnEarlierOneEnds) {
  const auto early = dc1.claims.claim(restart(), dc1.situation);
  ASSERT_TRUE(std::holds_alternative<Claim>(early));
  dc2.step();
  dc2.clock->advance(120s);
  dc2.seen.not_done = {{"dc1", "a-1"}, {"dc2", "b-1"}};
  ASSERT_EQ(dc2.step().kind, Kind::taken_over);
  const auto present = dc1.claims.claim(restart(), dc1.situation);
  ASSERT_TRUE(std::holds_alternative<Claim>(present));
  EXPECT_TRUE(std::holds_alternative<Conflict>(dc1.claims.settle(std::get<Claim>(early), {})));
  EXPECT_EQ(dc1.step().kind, Kind::waits);
  EXPECT_TRUE(dc1.calls.empty()) << "one thread acts, and another one looks whether it has";
  dc1.claims.abandon(std::get<Claim>(present));
  EXPECT_EQ(dc1.step().kind, Kind::taken_over);
}

struct UnknownCase {
  StoreFault fault;
  const char* name;
};
class ActionClaimsUnknown : public ActionClaimsTest, public ::testing::WithParamInterface<UnknownCase> {};

// 'applied once': a claim whose answer is lost is made once; likewise when settling.
TEST_P(ActionClaimsUnknown, ClaimAndSettleOnce) {
  dc1.store.script({GetParam().fault, StoreFault::none, StoreFault::none, GetParam().fault});
  StepReport report = dc1.step();
  EXPECT_EQ(report.kind, Kind::acted) << report.why;
  dc1.store.deliver();
  EXPECT_EQ(dc1.calls.size(), 1U);
  EXPECT_EQ(dc1.record()->epoch, 1U);
  EXPECT_EQ(dc1.record()->state, ClaimState::settled);
}

INSTANTIATE_TEST_SUITE_P(Faults, ActionClaimsUnknown,
                         ::testing::Values(UnknownCase{StoreFault::unknown_applied, "Applied"},
                                           UnknownCase{StoreFault::unknown_lost, "Lost"},
                                           UnknownCase{StoreFault::unknown_late, "Late"}),
                         [](const auto& one) { return one.param.name; });

// 'no answer, no action': a missing answer is not an agreement, and is reported.
TEST_F(ActionClaimsTest, DoNothingWithoutTheStore) {
  dc1.store.set_cut(true);
  const StepReport report = dc1.step();
  EXPECT_EQ(report.kind, Kind::unavailable);
  EXPECT_FALSE(report.why.empty());
  EXPECT_TRUE(dc1.calls.empty());
  dc1.store.set_cut(false);
  EXPECT_EQ(dc1.step().kind, Kind::acted);
}

// For instance because the role may only read, or because a value has become too large.
TEST_F(ActionClaimsTest, SayWhyTheyCannotBeTakenOver) {
  ASSERT_TRUE(std::holds_alternative<Claim>(dc1.claims.claim(restart(), dc1.situation)));
  dc2.step();
  dc2.clock->advance(120s);
  dc2.store.script({StoreFault::unavailable});
  const StepReport report = dc2.step();
  EXPECT_EQ(report.kind, Kind::unavailable);
  EXPECT_EQ(report.why, describe(report.transacted.outcome));
  EXPECT_TRUE(std::holds_alternative<Unavailable>(report.transacted.outcome));
  EXPECT_TRUE(dc2.calls.empty());
  EXPECT_EQ(dc2.step().kind, Kind::taken_over);
}

/// A store that becomes unavailable after a commit whose answer it has lost.
class GoneAfterCommit final : public Store {
 public:
  explicit GoneAfterCommit(FaultyStore& inner) : inner_(inner) {}
  std::string name() const override { return "gone"; }
  Capabilities capabilities() const override { return inner_.capabilities(); }
  Limits limits() const override { return inner_.limits(); }
  std::unique_ptr<StoreSnapshot> snapshot(std::stop_token stop) override { return inner_.snapshot(stop); }
  CommitResult commit(const Commit& commit, std::stop_token stop) override {
    CommitResult result = inner_.commit(commit, stop);
    inner_.set_cut(true);
    return result;
  }

 private:
  FaultyStore& inner_;
};

/// A store that calls a function after each commit.
class CallsAfterCommit final : public Store {
 public:
  CallsAfterCommit(Store& inner, std::function<void()> after) : inner_(inner), after_(std::move(after)) {}
  std::string name() const override { return "calls"; }
  Capabilities capabilities() const override { return inner_.capabilities(); }
  Limits limits() const override { return inner_.limits(); }
  std::unique_ptr<StoreSnapshot> snapshot(std::stop_token stop) override { return inner_.snapshot(stop); }
  CommitResult commit(const Commit& commit, std::stop_token stop) override {
    CommitResult result = inner_.commit(commit, stop);
    after_();
    return result;
  }

 private:
  Store& inner_;
  const std::function<void()> after_;
};

// 'applied once': another thread takes the lock before the lost answer is looked up.
TEST_F(ActionClaimsTest, AreSettledOnceWhileTheLockIsTaken) {
  TransactOptions plain;
  plain.delay = 0s;
  plain.clock = dc1.clock;
  LeaseLock lock(*shared, kLayout, dc1.ledger.options().identity, {}, plain);
  bool takes_lock = false;
  CallsAfterCommit store(dc1.store, [&] {
    if (!std::exchange(takes_lock, false)) return;
    EXPECT_TRUE(lock.take().is_held());
  });
  Ledger ledger(store, dc1.ledger.options());
  ActionClaims claims(ledger, Node::claim_options());
  ledger.view("restart");
  dc1.clock->advance(30s);
  const auto claimed = claims.claim(restart(), dc1.situation);
  ASSERT_TRUE(std::holds_alternative<Claim>(claimed));
  dc1.store.script({StoreFault::unknown_applied});
  takes_lock = true;
  EXPECT_TRUE(std::holds_alternative<Committed>(claims.settle(std::get<Claim>(claimed), {})));
  EXPECT_FALSE(takes_lock);
  EXPECT_EQ(dc1.record()->state, ClaimState::settled);
}

// A claim whose outcome stays unknown is resolved later, and never acted upon blindly.
TEST_F(ActionClaimsTest, DoNotActOnAClaimThatTheyDoNotKnowOf) {
  GoneAfterCommit gone(dc1.store);
  Ledger ledger(gone, dc1.ledger.options());
  ActionClaims claims(ledger, Node::claim_options());
  ledger.view("restart");
  dc1.clock->advance(30s);
  dc1.store.script({StoreFault::unknown_applied});
  EXPECT_EQ(claims.step(restart(), dc1.situation, dc1.callbacks()).kind, Kind::unknown);
  EXPECT_TRUE(dc1.calls.empty());
  dc1.store.set_cut(false);
  EXPECT_EQ(dc1.record()->state, ClaimState::executing) << "it was applied";
  dc1.seen.not_done = {{"dc1", "a-1"}, {"dc2", "b-1"}};
  EXPECT_EQ(dc1.step().kind, Kind::taken_over);
  EXPECT_EQ(dc1.step().kind, Kind::acted);
  EXPECT_EQ(dc1.calls, (Calls{"look 2: dc1/a-1 dc2/b-1", "kill 3: dc1/a-1 dc2/b-1"}));
}

}  // namespace
}  // namespace evenkeel::coordination
