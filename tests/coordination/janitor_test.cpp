// SPDX-License-Identifier: Apache-2.0
// Entries of decommissioned scopes, and of an instance that went from global to local.
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/base/clock.hpp>
#include <evenkeel/coordination/janitor.hpp>
#include <evenkeel/coordination/memory_store.hpp>
#include <evenkeel/coordination/scope_migrator.hpp>
#include <evenkeel/testing/faulty_store.hpp>

namespace evenkeel::coordination {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

const Layout layout("/db");

class JanitorTest : public ::testing::Test {
 protected:
  JanitorTest() {
    registry.renew(Mode::global);
    for (const char* key :
         {"/db/pendingForRestart/dc1/dc1-log-1", "/db/readyForRestart/dc1/dc1-log-1",
          "/db/pendingForRestart/dc10/dc10-log-1", "/db/processAddresses/dc10/dc10-log-1"}) {
      memory->commit({.puts = {{key, "{}"}}});
    }
  }
  TransactOptions transact() const { return {.delay = {}, .clock = clock}; }
  std::vector<std::string> keys(const std::string& prefix) {
    std::vector<std::string> all;
    for (const Entry& entry : memory->snapshot()->scan_all(prefix_range(prefix))) all.push_back(entry.key);
    return all;
  }
  std::vector<std::string> orphans() {
    std::vector<std::string> scopes;
    for (const ScopeReport& one : janitor.report()) {
      if (one.orphan) scopes.push_back(one.instance.scope);
    }
    return scopes;
  }

  std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>();
  std::shared_ptr<MemoryStore> memory = std::make_shared<MemoryStore>();
  testing::FaultyStore store{memory};
  LivenessRegistry registry{*memory, layout, {"dc1", "uid-1", "run-1"}, {}, transact()};
  Janitor janitor{store, layout, "coordctl", {}, transact()};
};

TEST_F(JanitorTest, CountsTheEntriesOfEachScope) {
  const std::vector<ScopeReport> reports = janitor.report();
  ASSERT_EQ(reports.size(), 2U);
  EXPECT_EQ(reports[0].instance.scope, "dc1");
  EXPECT_EQ(reports[0].entries, 2U);
  EXPECT_EQ(reports[0].instance.presence, Presence::live);
  EXPECT_EQ(reports[1].instance.scope, "dc10");
  EXPECT_EQ(reports[1].entries, 2U);
  EXPECT_EQ(reports[1].instance.presence, Presence::absent);
}

TEST_F(JanitorTest, AnOrphanIsWhoIsAbsentOrSilentForLong) {
  EXPECT_THAT(orphans(), ElementsAre("dc10"));
  clock->advance(minutes{10});
  EXPECT_THAT(orphans(), ElementsAre("dc10")) << "exactly the time allowed";
  clock->advance(seconds{1});
  EXPECT_THAT(orphans(), ElementsAre("dc1", "dc10"));
  registry.renew(Mode::global);
  EXPECT_THAT(orphans(), ElementsAre("dc10"));
}

TEST_F(JanitorTest, SweepsAnOrphanAndNothingElse) {
  const Swept swept = janitor.sweep("dc10");
  EXPECT_TRUE(swept.removed);
  EXPECT_EQ(swept.entries, 2U);
  EXPECT_THAT(keys("/db/pendingForRestart/"), ElementsAre("/db/pendingForRestart/dc1/dc1-log-1"));
  EXPECT_THAT(keys("/db/processAddresses/"), IsEmpty());
  EXPECT_THAT(keys("/db/guard/pendingForRestart/"), ElementsAre("/db/guard/pendingForRestart/dc10"))
      << "so that who decides just now notices";
}

TEST_F(JanitorTest, LeavesTheLiving) {
  janitor.report();
  clock->advance(seconds{61});
  const Version before = memory->version();
  const Swept swept = janitor.sweep("dc1");
  EXPECT_FALSE(swept.removed);
  EXPECT_EQ(swept.why, "the instance uid-1 of dc1 is live, or has been silent for only 1m1s");
  EXPECT_EQ(memory->version(), before);
}

TEST_F(JanitorTest, SweepsTheRecordOfWhoWasSilentForLong) {
  janitor.report();
  clock->advance(minutes{11});
  EXPECT_TRUE(janitor.sweep("dc1").removed);
  EXPECT_THAT(keys("/db/instances/"), IsEmpty());
  EXPECT_THAT(keys("/db/readyForRestart/"), IsEmpty());
}

TEST_F(JanitorTest, DrainsAlsoTheLiving) {
  const Swept swept = janitor.drain("dc1");
  EXPECT_TRUE(swept.removed);
  EXPECT_EQ(swept.entries, 2U);
  EXPECT_THAT(keys("/db/readyForRestart/"), IsEmpty());
  EXPECT_THAT(keys("/db/instances/"), ElementsAre("/db/instances/dc1"));
  const Version before = memory->version();
  EXPECT_EQ(janitor.drain("dc1").entries, 0U);
  EXPECT_EQ(memory->version(), before) << "nothing to do, nothing written";
}

// An instance that comes back keeps its entries.
TEST_F(JanitorTest, LeavesWhoCameBack) {
  janitor.report();
  clock->advance(minutes{11});
  registry.renew(Mode::global);
  EXPECT_FALSE(janitor.sweep("dc1").removed);
  EXPECT_THAT(keys("/db/pendingForRestart/dc1/"), ElementsAre("/db/pendingForRestart/dc1/dc1-log-1"));
}

// A move whose mover is gone is reported, completed or reverted by a person, and then swept.
TEST_F(JanitorTest, NamesAMoveThatHasNotEnded) {
  memory->commit({.puts = {{layout.migrating("dc10"), R"({"to":"unicorn","instance":"uid-10"})"}}});
  const std::vector<ScopeReport> reports = janitor.report();
  ASSERT_EQ(reports.size(), 2U);
  EXPECT_EQ(reports[0].moving_to, "");
  EXPECT_EQ(reports[1].moving_to, "unicorn");
  for (const char* scope : {"dc10", "unicorn"}) {
    const Swept swept = janitor.sweep(scope);
    EXPECT_FALSE(swept.removed);
    EXPECT_EQ(swept.why, "dc10 is being moved to unicorn; complete that move first");
  }
  const auto move = [&](const char* from, const char* to) {
    ScopeMigrator person(*memory, layout, {to, "coordctl", "coordctl"}, {.any_owner = true}, transact());
    return person.migrate(from).outcome;
  };
  EXPECT_EQ(move("dc10", "unicorn"), MigrationOutcome::moved);
  EXPECT_EQ(janitor.report().back().moving_to, "");
  EXPECT_TRUE(janitor.sweep("unicorn").removed);
  EXPECT_THAT(keys("/db/processAddresses/"), IsEmpty());
}

TEST_F(JanitorTest, SaysWhenTheStoreDoesNot) {
  store.set_cut(true);
  EXPECT_THROW(janitor.report(), StoreUnavailable);
  EXPECT_THROW(janitor.drain("dc1"), StoreUnavailable);
}

}  // namespace
}  // namespace evenkeel::coordination
