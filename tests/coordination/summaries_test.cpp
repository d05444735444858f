// SPDX-License-Identifier: Apache-2.0
// Decisions from summaries: what they read, when members are read instead, and that the verdicts are those of
// the members.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <random>
#include <sstream>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/api/json.hpp>
#include <evenkeel/base/clock.hpp>
#include <evenkeel/coordination/claim.hpp>
#include <evenkeel/coordination/coordination_metrics.hpp>
#include <evenkeel/coordination/keys.hpp>
#include <evenkeel/coordination/memory_store.hpp>
#include <evenkeel/coordination/scope_migrator.hpp>
#include <evenkeel/testing/faulty_store.hpp>

#include "../support/sanitized.hpp"

namespace evenkeel::coordination {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using testing::FaultyStore;
using ::testing::HasSubstr;

const Layout kLayout("/db");
const Domain kDomain{.root = "/db", .actions = {"restart"}};
const std::string kPending = "pendingForRestart";
const std::string kReady = "readyForRestart";

ActionPolicy restart() {
  return {.action = "restart", .quiet_window = {}, .needs_lock = false};
}

/// A desired state of `count` units of the kind "log", of which the first `ready` are ready.
DesiredState units(std::size_t count, std::size_t ready) {
  DesiredState desired;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string unit = "log-" + std::to_string(1000 + i);
    desired.add(kPending, unit, "log");
    if (i < ready) desired.add(kReady, unit, "log");
  }
  return desired;
}

// --- Records ---

TEST(SummaryRecord, KeepsWhatItEncodes) {
  const SummaryRecord record{
      .at = 7,
      .kinds = {{.kind = "", .pending = 1, .added = 5, .oldest = 5, .first_pending = 5},
                {.kind = "log",
                 .pending = 9,
                 .ready = 4,
                 .missing = {"a/b", "\xff"},
                 .added = 1,
                 .readied = 2,
                 .oldest = 3,
                 .first_pending = 4}}};
  SummaryRecord decoded = decode_summary({"k", encode(record), 6});
  EXPECT_EQ(decoded.kinds.at(0).readied, 6U) << "the version of its own key";
  decoded.kinds.at(0).readied = 0;
  EXPECT_EQ(decoded, record);
}

TEST(SummaryRecord, RefusesWhatMakesNoSense) {
  const auto error_of = [](const std::string& kinds) {
    try {
      decode_summary({"/db/s", R"({"kinds":)" + kinds + "}", 1});
    } catch (const DecodeError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(error_of("[]"), "");
  EXPECT_THAT(error_of("7"), HasSubstr("/db/s: "));
  EXPECT_EQ(error_of(R"([{"pending":1,"ready":2}])"), "/db/s: ready: more units than are pending");
  EXPECT_EQ(error_of(R"([{"pending":-1,"ready":0}])"), "/db/s: pending: -1 is negative");
}

TEST(TakenRecord, KeepsWhatItEncodes) {
  const TakenRecord record{.epoch = 3,
                           .scopes = {{"dc/1",
                                       {.as_of = 9,
                                        .kinds = {{"", TakenKind::none},
                                                  {"a/b", TakenKind::earlier},
                                                  {"log", TakenKind::newest},
                                                  {"storage", TakenKind::mixed}}}},
                                      {"dc2", {}}}};
  EXPECT_EQ(decode_taken({"k", encode(record), 1}), record);
}

TEST(VersionHistories, AnswerSinceWhenAVersionIsThere) {
  const TimePoint start{1h};
  VersionHistories seen;
  EXPECT_EQ(seen.since("dc1", 1), std::nullopt);
  seen.see_all({{"dc1", 5}}, start);
  seen.see_all({{"dc1", 9}}, start + 1s);
  seen.see_all({{"dc1", 9}}, start + 2s);
  EXPECT_EQ(seen.since("dc1", 3), start);
  EXPECT_EQ(seen.since("dc1", 5), start);
  EXPECT_EQ(seen.since("dc1", 6), start + 1s);
  EXPECT_EQ(seen.since("dc1", 10), std::nullopt);
  EXPECT_EQ(seen.since("dc2", 1), std::nullopt);
  seen.see_all({{"dc1", 4}}, start + 3s);
  EXPECT_EQ(seen.since("dc1", 3), start + 3s) << "a store that was restored";
  seen.see_all({{"dc2", 1}}, start + 4s);
  EXPECT_EQ(seen.since("dc1", 3), std::nullopt);
}

TEST(VersionHistories, DropTheVersionsThatMatterLeast) {
  const TimePoint start{1h};
  VersionHistories seen;
  seen.see_all({{"dc1", 1}}, start);
  for (Version version = 2; version <= 200; ++version)
    seen.see_all({{"dc1", version}}, start + 1h + version * 1ms);
  EXPECT_EQ(seen.since("dc1", 1), start) << "an hour before the next one";
  EXPECT_EQ(seen.since("dc1", 200), start + 1h + 200ms);
  for (Version version = 2; version < 200; ++version) {
    EXPECT_GE(seen.since("dc1", version), start + 1h + version * 1ms) << "never too early";
    EXPECT_LE(seen.since("dc1", version), start + 1h + version * 1ms + 16ms);
  }
}

// --- Ledgers ---

/// An instance, and what it reads.
struct Node {
  Node(const std::shared_ptr<Store>& shared, std::string scope, std::shared_ptr<ManualClock> time)
      : store(shared),
        clock(std::move(time)),
        situation{.scope = scope},
        ledger(store, options(scope)),
        claims(ledger, claim_options()) {}

  static ActionClaimsOptions claim_options() {
    ActionClaimsOptions options;
    options.transact.delay = 0s;
    return options;
  }
  LedgerOptions options(const std::string& scope) const {
    LedgerOptions options;
    options.domain = kDomain;
    options.identity = {scope, "uid-" + scope, "run-1"};
    options.transact.delay = 0s;
    options.clock = clock;
    return options;
  }
  void publish(const DesiredState& desired) {
    ASSERT_TRUE(ledger.publish([&](const OwnState&) { return desired; }).done());
  }
  StepReport step(const ActionPolicy& policy = restart()) {
    const auto act = [this](const Claim& claim, std::stop_token) {
      acted += claim.targets.size();
      return report;
    };
    return claims.step(policy, situation, {.act = act, .observe = act}, {});
  }
  std::size_t read_bytes() const { return store.counts().read_bytes; }

  FaultyStore store;
  const std::shared_ptr<ManualClock> clock;
  Situation situation;
  Ledger ledger;
  ActionClaims claims;
  ActReport report;
  std::size_t acted = 0;
};

class SummariesTest : public ::testing::Test {
 protected:
  SummaryRecord summary(const std::string& scope) {
    const auto entry = shared->snapshot()->get(kLayout.summary("restart", scope));
    return entry ? decode_summary(*entry) : SummaryRecord{.at = -1};
  }
  Version version_of(const std::string& key) { return shared->snapshot()->get(key).value().version; }
  /// Publishes as a program that does not write summaries.
  void publish_without_summary(const std::string& scope, const DesiredState& desired) {
    const auto snapshot = shared->snapshot();
    const OwnEntries entries = read_own(*snapshot, kLayout, kDomain, scope);
    Commit commit =
        plan_publish(kLayout, kDomain, scope, own_state(kLayout, entries), desired, WallTime()).commit;
    std::erase_if(commit.puts,
                  [&](const Commit::Put& put) { return put.key == kLayout.summary("restart", scope); });
    commit.puts.push_back(
        {kLayout.instance(scope), encode(InstanceRecord{"uid-" + scope, "run-1", Mode::global})});
    ASSERT_TRUE(std::holds_alternative<Committed>(shared->commit(commit)));
  }

  const std::shared_ptr<MemoryStore> shared = std::make_shared<MemoryStore>();
  const std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>();
  Node dc1{shared, "dc1", clock};
  Node dc2{shared, "dc2", clock};
};

TEST_F(SummariesTest, ComeWithEveryPublish) {
  dc1.publish(units(7, 0));
  const Version pending = version_of(kLayout.guard(kPending, "dc1"));
  EXPECT_THAT(summary("dc1").kinds,
              ElementsAre(KindSummary{.kind = "log",
                                      .pending = 7,
                                      .missing = {"log-1000", "log-1001", "log-1002", "log-1003", "log-1004"},
                                      .added = pending,
                                      .readied = pending,
                                      .oldest = pending,
                                      .first_pending = pending}));
  dc1.publish(units(7, 6));
  const Version ready = version_of(kLayout.guard(kReady, "dc1"));
  EXPECT_GT(ready, version_of(kLayout.guard(kPending, "dc1"))) << "only the other set has changed";
  EXPECT_THAT(summary("dc1").kinds, ElementsAre(KindSummary{.kind = "log",
                                                            .pending = 7,
                                                            .ready = 6,
                                                            .missing = {"log-1006"},
                                                            .added = pending,
                                                            .readied = ready,
                                                            .oldest = pending,
                                                            .first_pending = pending}));
  dc1.publish({});
  EXPECT_EQ(summary("dc1").kinds.size(), 0U);
}

TEST_F(SummariesTest, AreLeftOutForTooManyKinds) {
  DesiredState desired;
  for (std::size_t i = 0; i <= most_summary_kinds; ++i) {
    desired.add(kPending, "unit-" + std::to_string(i), "kind-" + std::to_string(i));
  }
  dc1.publish(desired);
  EXPECT_EQ(summary("dc1").at, -1) << "there is none";
  EXPECT_EQ(dc2.ledger.summary("restart").pending.size(), most_summary_kinds + 1) << "the members are read";
}

// After an upgrade, or beside an instance of an earlier version.
TEST_F(SummariesTest, AreNotUsedAfterAProgramThatWritesNone) {
  dc1.publish(units(3, 1));
  EXPECT_EQ(dc2.ledger.summary("restart").tallies.size(), 1U);
  publish_without_summary("dc1", units(3, 3));
  const View view = dc2.ledger.summary("restart");
  EXPECT_FALSE(view.whole);
  EXPECT_TRUE(view.tallies.empty()) << "the summary is older than the guard";
  EXPECT_EQ(view.ready.size(), 3U);
  EXPECT_EQ(dc2.step().kind, StepReport::Kind::acted);
  dc1.publish(units(4, 3));
  EXPECT_EQ(dc2.ledger.summary("restart").pending.size(), 1U) << "three of four are consumed: members";
}

TEST_F(SummariesTest, AreNotUsedForMembersThatAMigrationCopied) {
  dc1.publish(units(3, 1));
  ScopeMigrator migrator(*shared, kLayout, {"unicorn", "uid-dc1", "run-1"});
  ASSERT_EQ(migrator.migrate("dc1").outcome, MigrationOutcome::moved);
  Node unicorn(shared, "unicorn", clock);
  EXPECT_EQ(dc2.ledger.summary("restart").pending.size(), 3U);
  EXPECT_FALSE(shared->snapshot()->get(kLayout.summary("restart", "dc1")));
  Node renamed(shared, "unicorn", clock);
  renamed.situation.scope = "unicorn";
  const auto publish = [&](std::size_t count) {
    const auto snapshot = shared->snapshot();
    const OwnState present = own_state(kLayout, read_own(*snapshot, kLayout, kDomain, "unicorn"));
    const Commit commit = plan_publish(kLayout, kDomain, "unicorn", present, units(count, 0), {}).commit;
    ASSERT_TRUE(std::holds_alternative<Committed>(shared->commit(commit)));
  };
  publish(4);
  EXPECT_EQ(dc2.ledger.summary("restart").pending.size(), 4U) << "three of them are copies";
  publish(0);
  publish(2);
  EXPECT_EQ(dc2.ledger.summary("restart").tallies.size(), 1U);
}

TEST_F(SummariesTest, AreNotUsedAfterAClaimOfAProgramThatNotesNothing) {
  dc1.publish(units(3, 3));
  dc2.publish(units(2, 2));
  ASSERT_EQ(dc2.step().kind, StepReport::Kind::acted);
  EXPECT_TRUE(dc1.ledger.summary("restart").pending.empty());
  EXPECT_FALSE(dc1.ledger.summary("restart").whole);
  shared->commit({.erases = {kLayout.taken("restart")}});
  EXPECT_TRUE(dc1.ledger.summary("restart").whole) << "all members and targets are read";
  EXPECT_EQ(dc1.step().kind, StepReport::Kind::nothing);
  EXPECT_FALSE(dc1.ledger.summary("restart").whole) << "tidying has noted it";
}

// The claim took members below the new name, and the targets come back with the old one.
TEST_F(SummariesTest, AreNotUsedAfterAClaimDuringAMoveThatIsReverted) {
  dc1.publish(units(2, 2));
  const auto move = [&](const std::string& from, const std::string& to, int pieces) {
    for (int i = 0; i < pieces; ++i) {
      const auto snapshot = shared->snapshot();
      const MigrationReads reads = read_migration(*snapshot, kLayout, from, to);
      MigrationPiece piece = plan_piece(kLayout, reads, {to, "uid-dc1", "run-1"}, {}, WallTime());
      piece.commit.read_version = snapshot->version();
      ASSERT_TRUE(std::holds_alternative<Committed>(shared->commit(piece.commit)));
      if (piece.last) return;
    }
  };
  move("dc1", "unicorn", 2);
  EXPECT_EQ(dc2.step().kind, StepReport::Kind::waits) << "it is being moved";
  clock->advance(59s);
  ActionPolicy policy = restart();
  policy.silent = SilentMembers::block;
  dc2.step(policy);
  clock->advance(2s);
  ASSERT_EQ(dc2.step(policy).kind, StepReport::Kind::acted);
  EXPECT_EQ(dc2.acted, 2U);
  move("unicorn", "dc1", 10);
  EXPECT_FALSE(shared->snapshot()->get(kLayout.migrating("dc1")));
  EXPECT_FALSE(shared->snapshot()->get(kLayout.migrating("unicorn")));
  EXPECT_EQ(dc2.ledger.view("restart").consumed.size(), 2U);
  EXPECT_EQ(dc2.ledger.summary("restart").consumed.size(), 2U);
  EXPECT_EQ(dc2.step(policy).kind, StepReport::Kind::nothing);
}

// A pending unit is taken, becomes ready, and is pending alone again after the claim was taken over.
TEST_F(SummariesTest, AreNotUsedForAKindWhoseTargetHasBecomeReady) {
  dc1.publish(units(2, 0));
  ActionPolicy policy = restart();
  policy.barrier = Barrier::none;
  ASSERT_TRUE(std::holds_alternative<Claim>(dc2.claims.claim(policy, dc2.situation)));
  dc1.publish(units(2, 2));
  dc1.ledger.summary("restart");
  clock->advance(policy.claim_timeout);
  ASSERT_EQ(dc1.step(policy).kind, StepReport::Kind::taken_over);
  EXPECT_EQ(dc2.ledger.view("restart").consumed.size(), 0U) << "another membership";
  EXPECT_EQ(dc2.ledger.summary("restart").ready.size(), 2U);
  dc1.publish(units(2, 1));
  EXPECT_EQ(dc2.ledger.view("restart").consumed.size(), 1U);
  EXPECT_EQ(dc2.ledger.summary("restart").consumed.size(), 1U);
}

TEST_F(SummariesTest, DoWithoutTheNoteIfTheStoreCannotHoldIt) {
  MemoryStoreOptions small;
  small.limits.value_bytes = 140;
  const auto store = std::make_shared<MemoryStore>(small);
  Node first(store, "dc1", clock);
  first.publish(units(1, 1));
  Node second(store, "dc2", clock);
  second.publish(units(1, 1));
  Node third(store, "dc3", clock);
  third.publish(units(1, 1));
  const StepReport report = first.step();
  EXPECT_EQ(report.kind, StepReport::Kind::acted) << report.why;
  EXPECT_EQ(first.acted, 3U);
  EXPECT_FALSE(store->snapshot()->get(kLayout.taken("restart")));
  EXPECT_EQ(second.step().kind, StepReport::Kind::nothing);
}

// The window is measured from when the members were there, not from when they were read.
TEST_F(SummariesTest, MeasureTheQuietWindowWithoutMembers) {
  dc1.publish(units(2, 2));
  ActionPolicy policy = restart();
  policy.quiet_window = 30s;
  EXPECT_EQ(dc2.step(policy).again, clock->now() + 30s);
  clock->advance(30s);
  EXPECT_EQ(dc2.step(policy).kind, StepReport::Kind::acted);
  EXPECT_EQ(dc2.acted, 2U);
}

TEST_F(SummariesTest, NameTheFirstUnitsThatAreNotReadyAndCountTheRest) {
  dc1.publish(units(40, 2));
  dc2.publish(units(3, 1));
  EXPECT_EQ(dc2.step().why,
            "blocked: not all processes are ready: "
            "log-1002,log-1003,log-1004,log-1005,log-1006,log-1001,log-1002 and 33 more; dc1 silent for 0s; "
            "dc2 silent for 0s");
}

TEST_F(SummariesTest, AreInTheMetrics) {
  const auto meter = std::make_shared<CoordinationMeter>("/db");
  dc1.publish(units(4, 1));
  LedgerOptions options = dc2.options("dc2");
  options.meter = meter;
  Ledger metered(*shared, options);
  metered.summary("restart");
  clock->advance(7s);
  dc1.publish(units(5, 2));
  EXPECT_FALSE(metered.summary("restart").whole);
  const auto scopes = meter->figures().actions.at("restart").scopes;
  EXPECT_EQ(scopes.at("dc1"), (ScopeFigures{.pending = 5, .ready = 2, .oldest_pending = 7s}));
}

/// Returns the bytes that a late instance reads for decisions while five instances with `count` members each
/// go through a rollout; one number for each decision.
std::vector<std::size_t> bytes_of_decisions(std::size_t count) {
  const auto shared = std::make_shared<MemoryStore>();
  const auto clock = std::make_shared<ManualClock>();
  std::vector<std::unique_ptr<Node>> nodes;
  for (int i = 0; i < 5; ++i) {
    nodes.push_back(std::make_unique<Node>(shared, "dc" + std::to_string(i), clock));
  }
  ActionPolicy policy = restart();
  policy.needs_lock = true;
  Node late(shared, "late", clock);
  std::vector<std::size_t> bytes;
  const auto decide = [&](StepReport::Kind expected) {
    const std::size_t before = late.read_bytes();
    const StepReport report = late.step(policy);
    EXPECT_EQ(report.kind, expected) << report.why;
    bytes.push_back(late.read_bytes() - before);
  };
  for (const auto& node : nodes) node->publish(units(count, count / 2));
  decide(StepReport::Kind::waits);  // blocked
  for (const auto& node : nodes) node->publish(units(count, count));
  decide(StepReport::Kind::waits);  // open, but the lock is not held
  EXPECT_EQ(nodes.front()->step().kind, StepReport::Kind::acted);
  EXPECT_EQ(nodes.front()->acted, 5 * count);
  decide(StepReport::Kind::nothing);  // all are consumed
  nodes.back()->publish(units(count - 1, count - 1));
  decide(StepReport::Kind::nothing);  // and removed one after the other
  for (const auto& node : nodes) node->publish({});
  decide(StepReport::Kind::nothing);  // reads all once, to remove what the claim recorded
  decide(StepReport::Kind::nothing);
  for (const auto& node : nodes) node->publish(units(count, 0));
  decide(StepReport::Kind::waits);  // the next rollout
  return bytes;
}

TEST(SummariesCost, DoesNotGrowWithTheMembers) {
  const std::vector<std::size_t> few = bytes_of_decisions(10);
  const std::vector<std::size_t> many = bytes_of_decisions(400);
  ASSERT_EQ(few.size(), many.size());
  for (std::size_t i = 0; i < few.size(); ++i) {
    // The targets of the claim are read by the one that removes them, as many as were written.
    if (i == 4) continue;
    EXPECT_LE(many[i], few[i] * 11 / 10) << "decision " << i << ": " << few[i] << " bytes, then " << many[i];
  }
}

// A step of the steps of process groups: which of the own members are consumed.
TEST_F(SummariesTest, CanIncludeTheMembersOfOneScope) {
  dc1.publish(units(3, 3));
  dc2.publish(units(2, 2));
  ASSERT_EQ(dc1.step().kind, StepReport::Kind::acted);
  const View view = dc2.ledger.summary("restart", "dc2");
  EXPECT_FALSE(view.whole);
  EXPECT_EQ(view.consumed.size(), 2U);
  EXPECT_THAT(view.consumed_scopes, ElementsAre("dc1"));
}

TEST_F(SummariesTest, AreNotEnoughForAClaim) {
  dc1.publish(units(3, 3));
  const View view = dc2.ledger.summary("restart");
  EXPECT_THROW(plan_claim(kLayout, view, restart(), dc2.situation, {}, clock->now()), std::invalid_argument);
  EXPECT_THROW(plan_tidy(kLayout, view), std::invalid_argument);
  const Verdict verdict = dc2.claims.evaluate(restart(), dc2.situation);
  EXPECT_EQ(verdict.proceed()->targets.size(), 3U) << "reads the members, too";
}

// --- Random histories ---

/// A store with random writers of all versions, and an observer that evaluates the gate from members and from
/// summaries.
class History {
 public:
  explicit History(unsigned seed) : random_(seed) {}

  void run(int steps) {
    for (int i = 0; i < steps && !::testing::Test::HasFailure(); ++i) {
      act();
      compare();
    }
  }

  struct Counts {
    std::size_t verdicts = 0, proceeds = 0, blocked = 0, waits = 0, tallies = 0, consumed = 0, whole = 0,
                members = 0;
  };
  Counts counts;

 private:
  std::size_t below(std::size_t bound) {
    return std::uniform_int_distribution<std::size_t>(0, bound - 1)(random_);
  }
  bool chance(std::size_t percent) { return below(100) < percent; }
  const std::string& scope() { return scopes_[below(scopes_.size())]; }

  void note(const std::string& what) { log_ += what + "\n"; }

  void act() {
    switch (below(16)) {
      case 0:
      case 1:
      case 2:
      case 3:
      case 4:
        return publish(scope());
      case 5:
      case 6:
      case 7:
        return clock_.advance(std::chrono::seconds{below(40)});
      case 8:
      case 9:
        return renew();
      case 10:
      case 11:
        return claim(chance(20));
      case 12:
        return settle();
      case 13:
        return chance(50) ? tidy() : take_over();
      case 14:
        return move();
      default:
        return chance(50) ? deny() : drain();
    }
  }

  void commit(Commit commit) {
    commit.read_version = 0;  // one writer after the other
    commit.reads.clear();
    commit.read_ranges.clear();
    ASSERT_TRUE(std::holds_alternative<Committed>(store_.commit(commit)));
  }

  void publish(const std::string& scope) {
    const bool without_summary = chance(15);
    const auto snapshot = store_.snapshot();
    const OwnState state = own_state(kLayout, read_own(*snapshot, kLayout, kDomain, scope));
    DesiredState desired = state.desired();
    for (std::size_t changes = 1 + below(6); changes > 0; --changes) change(state, desired);
    if (chance(10)) desired = {};
    Commit planned = plan_publish(kLayout, kDomain, scope, state, desired, WallTime()).commit;
    if (without_summary) {
      std::erase_if(planned.puts,
                    [&](const Commit::Put& put) { return put.key == kLayout.summary("restart", scope); });
    }
    note("publish " + scope + (without_summary ? " without summary" : ""));
    commit(std::move(planned));
  }

  void change(const OwnState& state, DesiredState& desired) {
    const std::string unit = "u" + std::to_string(below(9));
    switch (below(8)) {
      case 0:
        desired.remove(kReady, unit);
        desired.remove(kPending, unit);
        return;
      case 1:
        desired.remove(kReady, unit);
        return;
      case 2: {
        const std::string& set = chance(50) ? kPending : kReady;
        const OwnMember* member = state.find(set, unit);
        if (member != nullptr && desired.contains(set, unit)) {
          desired.renew(set, unit, member->since, chance(30) ? kinds_[below(kinds_.size())] : "");
        }
        return;
      }
      case 3:
      case 4:
        desired.add(kPending, unit, kinds_[below(kinds_.size())]);
        return;
      default:
        desired.add(kPending, unit, kinds_[below(kinds_.size())]);
        desired.add(kReady, unit, chance(50) ? "other" : "");
    }
  }

  void renew() {
    for (const std::string& scope : scopes_) {
      if (chance(40)) continue;
      const Mode mode = scope == "dc4" ? Mode::shadow : Mode::global;
      commit({.puts = {{kLayout.instance(scope), encode(InstanceRecord{.instance = "uid-" + scope,
                                                                       .incarnation = "run-1",
                                                                       .mode = mode,
                                                                       .renewals = ++renewals_})}}});
    }
  }

  ActionPolicy policy() {
    ActionPolicy policy = restart();
    policy.barrier = static_cast<Barrier>(below(3));
    policy.partition = static_cast<Partition>(below(2));
    policy.silent = static_cast<SilentMembers>(below(3));
    policy.denied = static_cast<DeniedMembers>(below(3));
    policy.quiet_window = std::chrono::seconds{below(3) * 20};
    policy.straggler_timeout = std::chrono::seconds{below(2) * 60};
    policy.minimum_spacing = std::chrono::seconds{chance(20) ? 30 : 0};
    policy.batch_limit = chance(30) ? 1 + below(6) : 0;
    return policy;
  }

  View actor_view() {
    return actor_.view(read_view(*store_.snapshot(), kLayout, "restart", actor_cache_), clock_.now());
  }
  static void forget_note(Commit& commit) {
    std::erase_if(commit.puts, [](const Commit::Put& put) { return put.key == kLayout.taken("restart"); });
  }

  void claim(bool without_note) {
    const View view = actor_view();
    ActionPolicy open = policy();
    open.quiet_window = {};
    open.minimum_spacing = {};
    const Claimant me{.identity = {"dc0", "uid-dc0", "run-1"}};
    auto planned = plan_claim(kLayout, view, open, {.scope = "dc0"}, me, clock_.now());
    auto* plan = std::get_if<PlannedClaim>(&planned);
    if (plan == nullptr) return;
    if (without_note) forget_note(plan->commit);
    note("claim " + std::to_string(plan->claim.targets.size()) + (without_note ? " without note" : ""));
    commit(plan->commit);
    claim_ = plan->claim;
    if (chance(70)) settle();
  }

  void settle() {
    if (!claim_) return;
    ActReport report;
    const std::size_t fate = below(4);
    for (const Target& target : claim_->targets) {
      if (fate == 0 || (fate == 1 && chance(30))) report.not_done.push_back(target.ref);
    }
    const auto entries = read_view(*store_.snapshot(), kLayout, "restart", actor_cache_);
    const auto planned =
        plan_settle(kLayout, entries, *claim_, {"dc0", "uid-dc0", "run-1"}, report, WallTime());
    note("settle, " + std::to_string(report.not_done.size()) + " not done");
    if (planned) commit(*planned);
    claim_.reset();
  }

  void take_over() {
    const View view = actor_view();
    const auto plan = plan_take_over(kLayout, view, {.identity = {"dc0", "uid-dc0", "run-1"}}, clock_.now());
    if (!plan) return;
    note("take over");
    commit(plan->commit);
    claim_ = plan->claim;
  }

  void tidy() {
    Commit planned = plan_tidy(kLayout, actor_view());
    if (chance(20)) forget_note(planned);
    note("tidy");
    if (planned.writes()) commit(std::move(planned));
  }

  /// One transaction, or one piece, of a move between dc1 and unicorn.
  void move() {
    const auto snapshot = store_.snapshot();
    const bool back = chance(40);
    const MigrationReads reads =
        read_migration(*snapshot, kLayout, back ? "unicorn" : "dc1", back ? "dc1" : "unicorn");
    const Identity me{reads.to, "uid-dc1", "run-1"};
    if (!refusal(reads, me, {.any_owner = true}).empty()) return;
    const bool pieces = chance(60) || reads.marker || reads.reverse_marker;
    note(std::string(pieces ? "piece of a move from " : "move from ") + reads.from);
    if (!pieces) return commit(plan_migration(kLayout, reads, me, WallTime()));
    for (std::size_t count = 1 + below(5); count > 0; --count) {
      const auto now = store_.snapshot();
      const MigrationReads more = read_migration(*now, kLayout, reads.from, reads.to);
      const MigrationPiece piece = plan_piece(kLayout, more, me, {.operations = 12}, WallTime());
      commit(piece.commit);
      if (piece.last) return;
    }
  }

  void deny() {
    const std::string key = kLayout.denied(scope());
    note("deny or allow " + key);
    if (store_.snapshot()->get(key))
      commit({.erases = {key}});
    else
      commit({.puts = {{key, "{}"}}});
  }

  /// The commit of a janitor.
  void drain() {
    const std::string& one = scope();
    note("drain " + one);
    Commit planned;
    for (const std::string& set : {kPending, kReady}) {
      planned.range_erases.push_back(prefix_range(kLayout.scope_prefix(set, one)));
      planned.puts.push_back({kLayout.guard(set, one), "drained"});
    }
    commit(std::move(planned));
  }

  static std::string text_of(const View& view, const Verdict& verdict, TimePoint now) {
    std::ostringstream text;
    text << describe(verdict, view, now);
    if (const Proceed* go = verdict.proceed()) text << "; " << go->units << " units";
    if (const WaitUntil* wait = verdict.wait()) text << "; until " << wait->until.time_since_epoch().count();
    if (const Blocked* blocked = verdict.blocked()) {
      for (const UnitRef& ref : blocked->who) text << "; " << ref.scope << "/" << ref.unit;
      for (const auto& [scope, count] : blocked->not_ready) text << "; " << scope << ": " << count;
      if (blocked->until) text << "; until " << blocked->until->time_since_epoch().count();
    }
    for (const LeftOut& out : verdict.left_out) text << "; without " << out.scope << ": " << out.why;
    return text.str();
  }

  void compare() {
    if (chance(30)) return;  // an observer does not see every version
    const auto snapshot = store_.snapshot();
    const TimePoint now = clock_.now();
    const View members = by_members_.view(read_view(*snapshot, kLayout, "restart", members_cache_), now);
    const View summaries =
        by_summaries_.view(read_summaries(*snapshot, kLayout, "restart", summaries_cache_), now);
    ++(summaries.whole ? counts.whole : counts.verdicts);
    counts.tallies += summaries.tallies.size();
    counts.consumed += summaries.consumed_scopes.size();
    counts.members += summaries.pending.size() + summaries.consumed.size();
    for (int i = 0; i < 6; ++i) {
      const ActionPolicy rules = policy();
      const Situation situation{.scope = scope(), .mode = chance(20) ? Mode::shadow : Mode::global};
      const Verdict expected = evaluate(members, rules, situation, now);
      const Verdict verdict = evaluate(summaries, rules, situation, now);
      counts.proceeds += expected.proceed() != nullptr ? 1 : 0;
      counts.blocked += expected.blocked() != nullptr ? 1 : 0;
      counts.waits += expected.wait() != nullptr ? 1 : 0;
      ASSERT_EQ(text_of(summaries, verdict, now), text_of(members, expected, now)) << log_;
    }
    CoordinationMeter meter("/db");
    meter.on_view(members, now);
    const auto by_members = meter.figures();
    meter.on_view(summaries, now);
    ASSERT_EQ(meter.figures().actions.at("restart").scopes, by_members.actions.at("restart").scopes) << log_;
    // Nothing is to be removed that may_need_tidying() misses, except parts of what is consumed.
    if (!may_need_tidying(summaries)) {
      const View none_consumed = members;
      if (none_consumed.consumed.empty() && summaries.moves.empty()) {
        ASSERT_TRUE(plan_tidy(kLayout, members).erases.empty()) << log_;
      }
    }
  }

  std::mt19937 random_;
  ManualClock clock_;
  MemoryStore store_;
  const std::vector<std::string> scopes_{"dc0", "dc1", "dc2", "dc4", "unicorn"};
  const std::vector<std::string> kinds_{"log", "storage", ""};
  std::uint64_t renewals_ = 0;
  std::optional<Claim> claim_;
  Viewer actor_{kLayout};
  ViewCache actor_cache_;
  Viewer by_members_{kLayout};
  ViewCache members_cache_;
  Viewer by_summaries_{kLayout};
  ViewCache summaries_cache_;
  std::string log_;
};

TEST(SummariesHistories, HaveTheVerdictsOfTheMembers) {
  History::Counts sum;
  constexpr unsigned histories = tests::sanitized ? 10 : 40;
  for (unsigned seed = 1; seed <= histories; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    History history(seed);
    history.run(150);
    if (HasFailure()) return;
    sum.verdicts += history.counts.verdicts;
    sum.whole += history.counts.whole;
    sum.tallies += history.counts.tallies;
    sum.consumed += history.counts.consumed;
    sum.members += history.counts.members;
    sum.proceeds += history.counts.proceeds;
    sum.blocked += history.counts.blocked;
    sum.waits += history.counts.waits;
  }
  std::printf(
      "%zu views from summaries (%zu tallies, %zu consumed scopes, %zu members), %zu from members; %zu open, "
      "%zu blocked, %zu waiting\n",
      sum.verdicts, sum.tallies, sum.consumed, sum.members, sum.whole, sum.proceeds, sum.blocked, sum.waits);
  EXPECT_GT(sum.verdicts, sum.whole);
  EXPECT_GT(sum.tallies, 25 * histories);
  EXPECT_GT(sum.consumed, 2 * histories);
  EXPECT_GT(sum.members, 25 * histories);
  EXPECT_GT(sum.proceeds, 12 * histories);
  EXPECT_GT(sum.blocked, 12 * histories);
  EXPECT_GT(sum.waits, 12 * histories);
}

}  // namespace
}  // namespace evenkeel::coordination
