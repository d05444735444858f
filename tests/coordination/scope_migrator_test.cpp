// SPDX-License-Identifier: Apache-2.0
// Renaming a scope, at once or in several commits: nothing is lost, nothing is acted upon twice.
#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/api/json.hpp>
#include <evenkeel/base/clock.hpp>
#include <evenkeel/coordination/deny_list.hpp>
#include <evenkeel/coordination/keys.hpp>
#include <evenkeel/coordination/lease_lock.hpp>
#include <evenkeel/coordination/memory_store.hpp>
#include <evenkeel/coordination/records.hpp>
#include <evenkeel/coordination/scope_migrator.hpp>
#include <evenkeel/testing/faulty_store.hpp>

namespace evenkeel::coordination::scope_migrator_tests {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const Layout layout("/db");
const Identity old_me{"kube-cluster-1", "uid-1", "run-1"};
const Identity new_me{"unicorn", "uid-1", "run-2"};

class ScopeMigratorTest : public ::testing::Test {
 protected:
  void use(const MemoryStoreOptions& options) {
    memory = std::make_shared<MemoryStore>(options);
    store = std::make_shared<testing::FaultyStore>(memory);
  }
  void put(const std::string& key, const std::string& value) {
    ASSERT_TRUE(std::holds_alternative<Committed>(memory->commit({.puts = {{key, value}}}))) << key;
  }
  std::optional<Entry> at(const std::string& key) { return memory->snapshot()->get(key); }
  std::vector<std::string> keys(const std::string& prefix) {
    std::vector<std::string> all;
    for (const Entry& entry : memory->snapshot()->scan_all(prefix_range(prefix))) all.push_back(entry.key);
    return all;
  }
  /// Keys of the scope, without registry record and tokens.
  std::vector<std::string> left_of(const std::string& scope) {
    std::vector<std::string> left;
    for (const std::string& key : keys("/db/")) {
      const std::vector<std::string> elements = elements_of("/db", key);
      const bool kept = elements[0] == "instances" || elements[0] == "tokens";
      if (!kept && std::ranges::find(elements, scope) != elements.end()) left.push_back(key);
    }
    return left;
  }
  /// Writes two entries, and everything else that an instance can have.
  void publish_example() {
    LivenessRegistry(*memory, layout, old_me, {}, transact()).renew(Mode::global);
    put("/db/pendingForExclusion/kube-cluster-1/kube-cluster-1-storage-1", R"({"at":1,"kind":"storage"})");
    put("/db/readyForExclusion/kube-cluster-1/kube-cluster-1-storage-1", "");
    put("/db/processAddresses/kube-cluster-1/kube-cluster-1-storage-1", R"(["192.168.0.2"])");
    put("/db/guard/pendingForExclusion/kube-cluster-1", "x");
    put("/db/guard/pendingForRestart/kube-cluster-1", "x");
    put("/db/arbiter/targets/exclusion/kube-cluster-1", R"({"3":{"a":7}})");
    // Neighbouring scopes, which are not moved.
    put("/db/pendingForExclusion/kube-cluster-10/kube-cluster-10-storage-1", "{}");
    put("/db/pendingForExclusion/dc2/dc2-storage-1", "{}");
  }
  TransactOptions transact() const { return {.delay = {}, .clock = clock}; }
  Migration migrate(const MigrationOptions& options = {}) {
    return ScopeMigrator(*store, layout, new_me, options, transact()).migrate("kube-cluster-1");
  }
  void expect_moved() {
    EXPECT_THAT(left_of("kube-cluster-1"), IsEmpty());
    EXPECT_THAT(keys("/db/pendingForExclusion/"),
                ElementsAre("/db/pendingForExclusion/dc2/dc2-storage-1",
                            "/db/pendingForExclusion/kube-cluster-10/kube-cluster-10-storage-1",
                            "/db/pendingForExclusion/unicorn/kube-cluster-1-storage-1"));
    EXPECT_THAT(keys("/db/readyForExclusion/"),
                ElementsAre("/db/readyForExclusion/unicorn/kube-cluster-1-storage-1"));
    EXPECT_EQ(at("/db/processAddresses/unicorn/kube-cluster-1-storage-1")->value, R"(["192.168.0.2"])");
    EXPECT_EQ(at("/db/arbiter/targets/exclusion/unicorn")->value, R"({"3":{"a":7}})");
    const InstanceRecord record = decode_instance(at("/db/instances/unicorn")->value);
    EXPECT_EQ(record.instance, "uid-1");
    EXPECT_EQ(record.incarnation, "run-2");
    EXPECT_EQ(record.mode, Mode::global);
    EXPECT_EQ(decode_instance(at("/db/instances/kube-cluster-1")->value).moved_to, "unicorn");
  }

  std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>();
  std::shared_ptr<MemoryStore> memory = std::make_shared<MemoryStore>();
  std::shared_ptr<testing::FaultyStore> store = std::make_shared<testing::FaultyStore>(memory);
};

TEST_F(ScopeMigratorTest, MovesEverythingInOneTransaction) {
  publish_example();
  const Version before = memory->version();
  const Migration migration = migrate();
  EXPECT_EQ(migration.outcome, MigrationOutcome::moved) << migration.why;
  EXPECT_EQ(migration.members, 3U);
  EXPECT_EQ(migration.transactions, 1U);
  EXPECT_EQ(memory->version(), before + 1);
  expect_moved();
  EXPECT_THAT(keys("/db/guard/"),
              ElementsAre("/db/guard/pendingForExclusion/unicorn", "/db/guard/pendingForRestart/unicorn",
                          "/db/guard/processAddresses/unicorn", "/db/guard/readyForExclusion/unicorn"));
}

// Members keep the version since when they are members; a second move keeps the first one's.
TEST_F(ScopeMigratorTest, KeepsSinceWhenAMemberIsOne) {
  publish_example();
  const Version since = at("/db/pendingForExclusion/kube-cluster-1/kube-cluster-1-storage-1")->version;
  const Version ready = at("/db/readyForExclusion/kube-cluster-1/kube-cluster-1-storage-1")->version;
  migrate();
  const std::string moved = R"({"at":1,"kind":"storage","since":)" + std::to_string(since) + "}";
  EXPECT_EQ(at("/db/pendingForExclusion/unicorn/kube-cluster-1-storage-1")->value, moved);
  EXPECT_EQ(at("/db/readyForExclusion/unicorn/kube-cluster-1-storage-1")->value,
            R"({"since":)" + std::to_string(ready) + "}");
  const Identity back{"kube-cluster-1", "uid-1", "run-3"};
  const Migration again = ScopeMigrator(*store, layout, back, {}, transact()).migrate("unicorn");
  EXPECT_EQ(again.outcome, MigrationOutcome::moved) << again.why;
  EXPECT_EQ(at("/db/pendingForExclusion/kube-cluster-1/kube-cluster-1-storage-1")->value, moved);
  EXPECT_EQ(decode_instance(at("/db/instances/kube-cluster-1")->value).moved_to, "");
}

TEST_F(ScopeMigratorTest, FindsTheFormerScopeInTheRegistry) {
  publish_example();
  ScopeMigrator migrator(*store, layout, new_me, {}, transact());
  EXPECT_EQ(migrator.migrate_if_renamed().outcome, MigrationOutcome::moved);
  expect_moved();
  const Version before = memory->version();
  EXPECT_EQ(migrator.migrate_if_renamed().outcome, MigrationOutcome::nothing);
  EXPECT_EQ(migrator.migrate("kube-cluster-1").outcome, MigrationOutcome::nothing);
  EXPECT_EQ(memory->version(), before);
}

TEST_F(ScopeMigratorTest, TakesLockAndDenialAlong) {
  publish_example();
  LeaseLock lock(*memory, layout, old_me, {}, transact());
  ASSERT_TRUE(lock.take().is_held());
  DenyList(*memory, layout, "coordctl", transact()).apply({{"kube-cluster-1"}});
  migrate();
  EXPECT_EQ(decode_lock(at("/db/arbiter/lock")->value).owner, "unicorn");
  EXPECT_EQ(decode_lock(at("/db/arbiter/lock")->value).epoch, 1U);
  EXPECT_THAT(keys("/db/arbiter/denyList/"), ElementsAre("/db/arbiter/denyList/unicorn"));
  EXPECT_EQ(LeaseLock(*memory, layout, new_me, {}, transact()).take().outcome, LockOutcome::denied)
      << "a new name is no way off the list";
}

// A rename with a crash: the earlier run was paused during the whole move.
TEST_F(ScopeMigratorTest, ARunThatSleptThroughItStops) {
  LivenessRegistry sleeper(*memory, layout, old_me, {}, transact());
  sleeper.renew(Mode::global);
  LeaseLock lock(*memory, layout, old_me, {}, transact());
  ASSERT_TRUE(lock.take().is_held());
  migrate();
  EXPECT_THROW(sleeper.renew(Mode::global), ScopeTaken);
  EXPECT_EQ(lock.take().outcome, LockOutcome::denied);
}

// 'own scope', and the other refusals.
TEST_F(ScopeMigratorTest, IsRefusedWithTheReason) {
  publish_example();
  const auto why = [&](const Identity& me, const std::string& from, const MigrationOptions& options = {}) {
    const Version before = memory->version();
    const Migration migration = ScopeMigrator(*store, layout, me, options, transact()).migrate(from);
    EXPECT_EQ(migration.outcome, MigrationOutcome::refused);
    EXPECT_EQ(memory->version(), before);
    return migration.why;
  };
  EXPECT_EQ(why({"unicorn", "uid-2", "run-1"}, "kube-cluster-1"),
            "kube-cluster-1 belongs to the instance uid-1");
  EXPECT_EQ(why(new_me, "dc2"), "dc2 has no owner");
  EXPECT_EQ(why({"dc2", "uid-1", "run-2"}, "kube-cluster-1"), "dc2 already has 1 entries");
  LivenessRegistry(*memory, layout, {"dc3", "uid-3", "run-1"}, {}, transact()).renew(Mode::global);
  EXPECT_EQ(why({"dc3", "uid-1", "run-2"}, "kube-cluster-1"), "dc3 belongs to the instance uid-3");
  put("/db/arbiter/claims/exclusion",
      encode(
          ClaimRecord{.epoch = 7, .owner = {"dc2", "uid-2", "run-1"}, .timeout = std::chrono::minutes{2}}));
  EXPECT_EQ(why(new_me, "kube-cluster-1"), "dc2 is acting for claim 7");
}

// Entries of a decommissioned instance, moved by a person.
TEST_F(ScopeMigratorTest, APersonMovesAlsoWhatIsNobodys) {
  const Identity person{"dc7", "coordctl", "run-1"};
  put("/db/pendingForRestart/dc2/dc2-log-1", "{}");
  const Migration migration =
      ScopeMigrator(*store, layout, person, {.any_owner = true}, transact()).migrate("dc2");
  EXPECT_EQ(migration.outcome, MigrationOutcome::moved) << migration.why;
  EXPECT_THAT(keys("/db/pendingForRestart/"), ElementsAre("/db/pendingForRestart/dc7/dc2-log-1"));
  EXPECT_EQ(at("/db/instances/dc7"), std::nullopt) << "its instance has yet to register";
}

TEST_F(ScopeMigratorTest, DoesNotMissWhatIsPublishedMeanwhile) {
  publish_example();
  // The first commit meets a conflict; before the second one the owner publishes once more.
  store->script({testing::StoreFault::conflict});
  put("/db/pendingForRestart/kube-cluster-1/kube-cluster-1-log-9", "{}");
  EXPECT_EQ(migrate().outcome, MigrationOutcome::moved);
  EXPECT_THAT(keys("/db/pendingForRestart/"),
              ElementsAre("/db/pendingForRestart/unicorn/kube-cluster-1-log-9"));
}

// Every writer below a scope reads and writes its token: a publish from before the move cannot be applied
// after it.
TEST_F(ScopeMigratorTest, RestsUponTheTokenOfTheOldScope) {
  publish_example();
  const auto snapshot = memory->snapshot();
  const MigrationReads reads = read_migration(*snapshot, layout, "kube-cluster-1", "unicorn");
  Commit commit = plan_migration(layout, reads, new_me, clock->wall_now());
  commit.read_version = snapshot->version();
  put("/db/tokens/kube-cluster-1", "a publish");
  const CommitResult result = memory->commit(commit);
  ASSERT_TRUE(std::holds_alternative<Conflict>(result)) << describe(result);
  EXPECT_EQ(std::get<Conflict>(result).key, "/db/tokens/kube-cluster-1");
}

// 'applied once'
TEST_F(ScopeMigratorTest, IsDoneOnceWhenTheAnswerIsLost) {
  for (const auto fault : {testing::StoreFault::unknown_applied, testing::StoreFault::unknown_lost,
                           testing::StoreFault::unknown_late}) {
    use({});
    publish_example();
    store->script({fault});
    EXPECT_EQ(migrate().outcome, MigrationOutcome::moved);
    EXPECT_EQ(store->deliver(), 0U);
    expect_moved();
  }
}

TEST_F(ScopeMigratorTest, ChangesNothingWhereTheStoreSaysNothing) {
  publish_example();
  const Version before = memory->version();
  store->set_cut(true);
  EXPECT_EQ(migrate().outcome, MigrationOutcome::unavailable);
  EXPECT_EQ(ScopeMigrator(*store, layout, new_me, {}, transact()).migrate_if_renamed().outcome,
            MigrationOutcome::unavailable);
  EXPECT_EQ(memory->version(), before);
}

/// A store of shards, or one whose commits are small.
class InPieces : public ScopeMigratorTest {
 protected:
  static MemoryStoreOptions shards() {
    MemoryStoreOptions options;
    options.capabilities.multi_key_atomic = false;
    options.shard_of = [](std::string_view key) { return layout.shard_of(key); };
    return options;
  }
  static MemoryStoreOptions small() {
    MemoryStoreOptions options;
    options.limits.operations = 12;
    return options;
  }
  void publish_units(int count) {
    LivenessRegistry(*memory, layout, old_me, {}, transact()).renew(Mode::global);
    for (int unit = 0; unit < count; ++unit) {
      const std::string name = "log-" + std::to_string(unit);
      put("/db/pendingForRestart/kube-cluster-1/" + name, "{}");
      put("/db/readyForRestart/kube-cluster-1/" + name, "{}");
      put("/db/processAddresses/kube-cluster-1/" + name, "[]");
    }
  }
  /// Returns the units of a set as a reader sees them: a unit of the old scope that the new one also has
  /// counts once.
  std::multiset<std::string> units_of(StoreSnapshot& snapshot, const std::string& set) {
    std::multiset<std::string> units;
    const auto of = [&](const std::string& scope) {
      std::set<std::string> names;
      for (const Entry& entry : snapshot.scan_all(prefix_range(layout.scope_prefix(set, scope)))) {
        names.insert(elements_of("/db", entry.key).back());
      }
      return names;
    };
    const std::set<std::string> moved = of("unicorn");
    units.insert(moved.begin(), moved.end());
    const bool moving = snapshot.get(layout.migrating("kube-cluster-1")).has_value();
    for (const std::string& unit : of("kube-cluster-1")) {
      if (!moving || !moved.contains(unit)) units.insert(unit);
    }
    return units;
  }
};

TEST_F(InPieces, MovesFromShardToShard) {
  use(shards());
  publish_example();
  const Migration migration = migrate();
  EXPECT_EQ(migration.outcome, MigrationOutcome::moved) << migration.why;
  EXPECT_EQ(migration.members, 3U);
  EXPECT_EQ(migration.transactions, 4U) << "the marker, the new scope, the old scope, the rest";
  EXPECT_THAT(keys("/db/pendingForExclusion/unicorn/"), ::testing::SizeIs(1));
  EXPECT_THAT(keys("/db/pendingForExclusion/kube-cluster-1/"), IsEmpty());
  EXPECT_THAT(keys("/db/processAddresses/kube-cluster-1/"), IsEmpty());
  EXPECT_THAT(keys("/db/arbiter/migrating/"), IsEmpty());
  EXPECT_EQ(at("/db/arbiter/targets/exclusion/unicorn")->value, R"({"3":{"a":7}})");
  EXPECT_EQ(at("/db/arbiter/targets/exclusion/kube-cluster-1"), std::nullopt);
  EXPECT_EQ(migrate().outcome, MigrationOutcome::nothing);
}

// At no version is a unit present twice, absent, or ready without being pending.
TEST_F(InPieces, EveryMomentShowsEachUnitOnce) {
  use(small());
  publish_units(10);
  const Version before = memory->version();
  const Migration migration = migrate();
  EXPECT_EQ(migration.outcome, MigrationOutcome::moved) << migration.why;
  EXPECT_EQ(migration.members, 30U);
  EXPECT_GT(migration.transactions, 4U);
  for (Version version = before; version <= memory->version(); ++version) {
    const auto snapshot = memory->snapshot_at(version);
    const auto pending = units_of(*snapshot, "pendingForRestart");
    EXPECT_EQ(pending.size(), 10U) << version;
    EXPECT_EQ(std::set<std::string>(pending.begin(), pending.end()).size(), 10U) << version;
    EXPECT_EQ(units_of(*snapshot, "readyForRestart"), pending) << version;
  }
  EXPECT_THAT(left_of("kube-cluster-1"), ::testing::Each(HasSubstr("/guard/")));
}

// The mover dies after each of its pieces in turn; the next run continues.
TEST_F(InPieces, GoesOnWhereARunBeforeEnded) {
  for (const bool in_shards : {true, false}) {
    std::size_t pieces = 1;
    for (std::size_t dies_after = 0; dies_after < pieces; ++dies_after) {
      use(in_shards ? shards() : small());
      publish_units(6);
      std::vector<testing::StoreFault> faults(dies_after, testing::StoreFault::none);
      faults.push_back(testing::StoreFault::unavailable);
      store->script(faults);
      EXPECT_EQ(migrate().outcome, MigrationOutcome::unavailable) << dies_after;
      const Migration rest = migrate();
      EXPECT_EQ(rest.outcome, MigrationOutcome::moved) << rest.why;
      pieces = dies_after + rest.transactions;
      EXPECT_THAT(keys("/db/pendingForRestart/unicorn/"), ::testing::SizeIs(6));
      EXPECT_THAT(keys("/db/pendingForRestart/kube-cluster-1/"), IsEmpty());
      EXPECT_THAT(keys("/db/arbiter/migrating/"), IsEmpty());
    }
    EXPECT_GE(pieces, 4U);
  }
}

TEST_F(InPieces, AnotherGoalIsRefusedUntilItIsThere) {
  use(shards());
  publish_units(2);
  store->script({testing::StoreFault::none, testing::StoreFault::unavailable});
  EXPECT_EQ(migrate().outcome, MigrationOutcome::unavailable);
  const Identity other{"pegasus", "uid-1", "run-3"};
  const Migration migration = ScopeMigrator(*store, layout, other, {}, transact()).migrate("kube-cluster-1");
  EXPECT_EQ(migration.outcome, MigrationOutcome::refused);
  EXPECT_EQ(migration.why, "kube-cluster-1 is being moved to unicorn");
}

/// The contents of the store when a move dies after `pieces` pieces.
std::vector<testing::StoreFault> dies_after(std::size_t pieces) {
  std::vector<testing::StoreFault> faults(pieces, testing::StoreFault::none);
  faults.push_back(testing::StoreFault::unavailable);
  return faults;
}

// The next run of the instance determines what to do, wherever the earlier one died; also if only the marker
// is left.
TEST_F(InPieces, TheNextRunEndsWhatOneBeforeBegan) {
  for (std::size_t pieces = 0;; ++pieces) {
    use(shards());
    publish_units(2);
    put("/db/arbiter/targets/restart/kube-cluster-1", R"({"3":{"log-0":4}})");
    store->script(dies_after(pieces));
    const bool died = migrate().outcome == MigrationOutcome::unavailable;
    ScopeMigrator(*store, layout, new_me, {}, transact()).migrate_if_renamed();
    EXPECT_THAT(keys("/db/arbiter/migrating/"), IsEmpty()) << pieces;
    EXPECT_THAT(keys("/db/pendingForRestart/unicorn/"), ::testing::SizeIs(2)) << pieces;
    EXPECT_THAT(keys("/db/pendingForRestart/kube-cluster-1/"), IsEmpty()) << pieces;
    EXPECT_EQ(at("/db/arbiter/targets/restart/unicorn")->value, R"({"3":{"log-0":4}})") << pieces;
    if (died) continue;
    EXPECT_EQ(pieces, 4U);
    break;
  }
}

// The rename is reverted during the move: everything is as before, including since-versions, lock and denial.
TEST_F(InPieces, GoesBackWhereverItIs) {
  for (std::size_t pieces = 0; pieces < 4; ++pieces) {
    use(shards());
    publish_units(3);
    put("/db/arbiter/targets/restart/kube-cluster-1", R"({"3":{"log-0":4}})");
    put("/db/arbiter/denyList/kube-cluster-1", "{}");
    const Version since = at("/db/pendingForRestart/kube-cluster-1/log-1")->version;
    store->script(dies_after(pieces));
    ASSERT_EQ(migrate().outcome, MigrationOutcome::unavailable);
    const Identity again{"kube-cluster-1", "uid-1", "run-3"};
    const Migration back = ScopeMigrator(*store, layout, again, {}, transact()).migrate_if_renamed();
    EXPECT_EQ(back.outcome, pieces == 0 ? MigrationOutcome::nothing : MigrationOutcome::moved) << back.why;
    EXPECT_THAT(left_of("unicorn"), ::testing::Each(HasSubstr("/guard/"))) << pieces;
    EXPECT_THAT(keys("/db/arbiter/migrating/"), IsEmpty()) << pieces;
    EXPECT_EQ(keys("/db/arbiter/denyList/"), std::vector<std::string>{"/db/arbiter/denyList/kube-cluster-1"});
    EXPECT_EQ(keys("/db/arbiter/targets/restart/"),
              std::vector<std::string>{"/db/arbiter/targets/restart/kube-cluster-1"});
    EXPECT_THAT(keys("/db/readyForRestart/kube-cluster-1/"), ::testing::SizeIs(3)) << pieces;
    const auto member = at("/db/pendingForRestart/kube-cluster-1/log-1");
    ASSERT_TRUE(member.has_value()) << pieces;
    const Version copied = decode_member(*member).since;
    EXPECT_EQ(copied == 0 ? member->version : copied, since) << pieces;
    LivenessRegistry(*memory, layout, again, {}, transact()).renew(Mode::global);
  }
}

// The instance gets a third name during the move to the second one.
TEST_F(InPieces, EndsTheFirstMoveBeforeTheNextOne) {
  for (std::size_t pieces = 1; pieces < 4; ++pieces) {
    use(shards());
    publish_units(2);
    store->script(dies_after(pieces));
    ASSERT_EQ(migrate().outcome, MigrationOutcome::unavailable);
    const Identity other{"pegasus", "uid-1", "run-3"};
    const Migration moved = ScopeMigrator(*store, layout, other, {}, transact()).migrate_if_renamed();
    EXPECT_EQ(moved.outcome, MigrationOutcome::moved) << moved.why;
    EXPECT_THAT(keys("/db/arbiter/migrating/"), IsEmpty()) << pieces;
    EXPECT_THAT(keys("/db/pendingForRestart/"),
                ElementsAre("/db/pendingForRestart/pegasus/log-0", "/db/pendingForRestart/pegasus/log-1"));
  }
}

// Another instance claims between two pieces, because the mover was dead for long: the move has to wait, and
// reports that.
TEST_F(InPieces, IsNotDoneWhileSomebodyActs) {
  use(shards());
  publish_units(2);
  store->script(dies_after(2));
  ASSERT_EQ(migrate().outcome, MigrationOutcome::unavailable);
  const ClaimRecord claim{.epoch = 4, .owner = {"dc2", "uid-2", "run-1"}, .timeout = std::chrono::minutes{1}};
  put(layout.claim("restart"), encode(claim));
  const Migration waits = ScopeMigrator(*store, layout, new_me, {}, transact()).migrate_if_renamed();
  EXPECT_EQ(waits.outcome, MigrationOutcome::refused);
  EXPECT_EQ(waits.why, "dc2 is acting for claim 4");
}

TEST_F(InPieces, AUnitThatFitsNoCommitIsNoMove) {
  MemoryStoreOptions options;
  options.limits.operations = 4;
  use(options);
  publish_units(1);
  EXPECT_THROW(migrate(), std::length_error);
}

TEST(ReadMigration, TwoScopesAreNeeded) {
  MemoryStore store;
  EXPECT_THROW(read_migration(*store.snapshot(), layout, "dc1", "dc1"), std::invalid_argument);
  EXPECT_THROW(read_migration(*store.snapshot(), layout, "", "dc1"), std::invalid_argument);
}

}  // namespace
}  // namespace evenkeel::coordination::scope_migrator_tests
