// SPDX-License-Identifier: Apache-2.0
// Use of a store by instances: agreeing on one action, and moving to another scope.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <evenkeel/coordination/claim.hpp>
#include <evenkeel/coordination/ledger.hpp>
#include <evenkeel/coordination/liveness.hpp>
#include <evenkeel/coordination/scope_migrator.hpp>

#include "store_suite.hpp"

namespace evenkeel::tests {

using coordination::ActionClaims;
using coordination::ActReport;
using coordination::Claim;
using coordination::CommitResult;
using coordination::DesiredState;
using coordination::Identity;
using coordination::Layout;
using coordination::Ledger;
using coordination::LedgerOptions;
using coordination::LivenessRegistry;
using coordination::Member;
using coordination::Migration;
using coordination::MigrationOutcome;
using coordination::Mode;
using coordination::OwnState;
using coordination::ScopeMigrator;
using coordination::StepReport;
using coordination::View;

namespace {

using namespace std::chrono_literals;

LedgerOptions options(const std::string& root, const std::string& scope, const std::string& instance) {
  LedgerOptions options;
  options.domain = {.root = root, .actions = {"restart"}};
  options.identity = {scope, instance, "run-1"};
  return options;
}

/// Units that need the restart, are ready for it, and have an address.
Ledger::Desire ready_for_restart(std::vector<std::string> units) {
  return [units = std::move(units)](const OwnState&) {
    DesiredState desired;
    for (const std::string& unit : units) {
      desired.add("pendingForRestart", unit, "log");
      desired.add("readyForRestart", unit, "log");
      desired.set_facts(unit, {"10.0.0.1:4501"});
    }
    return desired;
  };
}

std::vector<std::string> names(const std::vector<Member>& members) {
  std::vector<std::string> names;
  for (const Member& member : members) names.push_back(member.ref.scope + "/" + member.ref.unit);
  return names;
}
using Names = std::vector<std::string>;

/// This many scopes, each of one instance with one ready unit.
class ManyScopes {
 public:
  ManyScopes(coordination::Store& store, std::string root, std::size_t count)
      : store_(store), root_(std::move(root)) {
    for (std::size_t i = 0; i < count; ++i) {
      const LedgerOptions one = options(root_, scope(i), "uid-" + std::to_string(i));
      EXPECT_TRUE(Ledger(store_, one).publish(ready_for_restart({"log-1"})).done()) << i;
    }
  }
  static std::string scope(std::size_t index) { return "dc" + std::to_string(100 + index); }

  void retire(std::size_t index) { LivenessRegistry(store_, Layout(root_), identity(index)).retire(); }
  void work_alone(std::size_t index) {
    LivenessRegistry(store_, Layout(root_), identity(index)).renew(Mode::local);
  }
  void withdraw(std::size_t index) {
    const LedgerOptions one = options(root_, scope(index), "uid-" + std::to_string(index));
    EXPECT_TRUE(Ledger(store_, one).publish(ready_for_restart({})).done()) << index;
  }

 private:
  Identity identity(std::size_t index) const {
    return options(root_, scope(index), "uid-" + std::to_string(index)).identity;
  }

  coordination::Store& store_;
  const std::string root_;
};

/// A claim of the first of many for all of them. Returns the number of targets, and of what claims recorded
/// about them.
void act_for_many(coordination::Store& store, const std::string& root, std::size_t takes_part,
                  std::size_t* acted) {
  Ledger first(store, options(root, ManyScopes::scope(0), "uid-0"));
  ActionClaims claims(first);
  const coordination::ActionCallbacks callbacks{
      .act =
          [&](const Claim& claim, const std::stop_token&) {
            *acted = claim.targets.size();
            return ActReport{};
          },
      .observe = [](const Claim&, const std::stop_token&) { return ActReport{}; }};
  const coordination::ActionPolicy policy{.action = "restart", .quiet_window = 0s, .needs_lock = false};
  const StepReport report =
      claims.step(policy, {.scope = ManyScopes::scope(0), .mode = Mode::global}, callbacks);
  EXPECT_EQ(report.kind, StepReport::Kind::acted) << report.why;
  EXPECT_TRUE(report.why.empty()) << report.why;
  EXPECT_EQ(first.view("restart").targets.size(), takes_part);
}

/// The records of claims, after all participants have withdrawn and tidy() has run.
std::size_t remembered(coordination::Store& store, const std::string& root) {
  Ledger first(store, options(root, ManyScopes::scope(0), "uid-0"));
  const CommitResult tidied = ActionClaims(first).tidy("restart");
  EXPECT_TRUE(std::holds_alternative<coordination::Committed>(tidied)) << describe(tidied);
  return first.view("restart").targets.size();
}

}  // namespace

// Stores limit the conditions of a commit (etcd 96): a claim must not need one for each scope that takes part
// or is left out.
TEST_P(StoreSuite, AClaimIsForManyScopes) {
  const std::size_t all = GetParam().many_scopes;
  const std::size_t left_out = all * 3 / 5;
  ManyScopes scopes(*store_, root_, all);
  for (std::size_t i = all - left_out; i < all; ++i) {
    if (i % 2 == 0) {
      scopes.retire(i);
    } else {
      scopes.work_alone(i);
    }
  }
  std::size_t acted = 0;
  act_for_many(*store_, root_, all - left_out, &acted);
  EXPECT_EQ(acted, all - left_out);
  for (std::size_t i = 0; i < all - left_out; ++i) scopes.withdraw(i);
  EXPECT_EQ(remembered(*store_, root_), 0U);
}

// A claim writes one key for each scope, up to the limit of the store.
TEST_P(StoreSuite, AClaimTakesAllOfManyScopes) {
  const std::size_t operations = store_->limits().operations;
  const std::size_t all = std::min(GetParam().many_scopes, operations == 0 ? 1000 : operations - 28);
  ManyScopes scopes(*store_, root_, all);
  std::size_t acted = 0;
  act_for_many(*store_, root_, all, &acted);
  EXPECT_EQ(acted, all);
  for (std::size_t i = 0; i < all; ++i) scopes.withdraw(i);
  EXPECT_EQ(remembered(*store_, root_), 0U);
}

// The scope kube-cluster-1 becomes unicorn; its neighbour is not touched.
TEST_P(StoreSuite, AScopeMovesWithEverythingThatItOwns) {
  Ledger old(*store_, options(root_, "kube-cluster-1", "uid-1"));
  Ledger neighbour(*store_, options(root_, "kube-cluster-10", "uid-10"));
  ASSERT_TRUE(old.publish(ready_for_restart({"log-1", "log-2", "storage-1"})).done());
  ASSERT_TRUE(neighbour.publish(ready_for_restart({"log-1"})).done());

  ScopeMigrator migrator(*store_, Layout(root_), {"unicorn", "uid-1", "run-2"});
  const Migration moved = migrator.migrate_if_renamed();
  EXPECT_EQ(moved.outcome, MigrationOutcome::moved) << moved.why;
  EXPECT_EQ(moved.members, 9U);
  if (store_->capabilities().multi_key_atomic) {
    EXPECT_EQ(moved.transactions, 1U);
  }
  EXPECT_EQ(migrator.migrate_if_renamed().outcome, MigrationOutcome::nothing);

  const auto other = second_client();
  Ledger reader(*other, options(root_, "reader", "uid-2"));
  const View view = reader.view("restart");
  const Names all{"kube-cluster-10/log-1", "unicorn/log-1", "unicorn/log-2", "unicorn/storage-1"};
  EXPECT_EQ(names(view.pending), all);
  EXPECT_EQ(names(view.ready), all);
  EXPECT_EQ(view.facts.size(), 4U);
  EXPECT_TRUE(view.unreadable.empty());
}

// 'one claim', 'taken once': two instances, two clients, one restart of all units.
TEST_P(StoreSuite, TwoInstancesActOnceForBoth) {
  const auto other = second_client();
  Ledger first(*store_, options(root_, "dc1", "uid-1"));
  Ledger second(*other, options(root_, "dc2", "uid-2"));
  ASSERT_TRUE(first.publish(ready_for_restart({"log-1"})).done());
  ASSERT_TRUE(second.publish(ready_for_restart({"log-1", "log-2"})).done());

  std::vector<std::size_t> acts;
  const coordination::ActionCallbacks callbacks{
      .act =
          [&](const Claim& claim, const std::stop_token&) {
            acts.push_back(claim.targets.size());
            return ActReport{};
          },
      .observe = [](const Claim&, const std::stop_token&) { return ActReport{}; }};
  ActionClaims claims(first);
  ActionClaims others(second);
  const coordination::ActionPolicy policy{.action = "restart", .quiet_window = 0s, .needs_lock = false};

  for (int pass = 0; pass < 2; ++pass) {
    claims.step(policy, {.scope = "dc1", .mode = Mode::global}, callbacks);
    others.step(policy, {.scope = "dc2", .mode = Mode::global}, callbacks);
  }
  EXPECT_EQ(acts, (std::vector<std::size_t>{3}));
  const View view = second.view("restart");
  EXPECT_EQ(names(view.consumed), (Names{"dc1/log-1", "dc2/log-1", "dc2/log-2"}));
  EXPECT_TRUE(view.pending.empty());
}

}  // namespace evenkeel::tests
