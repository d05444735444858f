// SPDX-License-Identifier: Apache-2.0
// The steps in a Pipeline, on a resource of their own.
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/api/fields.hpp>
#include <evenkeel/api/metadata.hpp>
#include <evenkeel/controller/builder.hpp>
#include <evenkeel/coordination/memory_store.hpp>
#include <evenkeel/coordination/process_groups/steps.hpp>
#include <evenkeel/testing/harness.hpp>

#include "world.hpp"

namespace evenkeel::coordination {
namespace {

using namespace tests;
using ::testing::Contains;
using ::testing::ElementsAre;

struct Ring {
  static constexpr ResourceInfo resource{
      .group = "test.evenkeel.dev", .version = "v1", .kind = "Ring", .plural = "rings"};
  struct Spec {
    Mode synchronization_mode = Mode::local;
    std::string process_group_id_prefix = "dc1";
  };
  struct Status {
    std::vector<ProcessGroup> process_groups = {};
    std::string connection_string = {};
  };
  ObjectMeta metadata = {};
  Spec spec = {};
  Status status = {};
};
EVENKEEL_FIELDS(Ring::Spec, synchronization_mode, process_group_id_prefix)
EVENKEEL_FIELDS(Ring::Status, process_groups, connection_string)
EVENKEEL_FIELDS(Ring, metadata, spec, status)

class ProcessGroupStepsTest : public ::testing::Test {
 protected:
  ProcessGroupStepsTest() {
    database.state = status_of(default_cluster());
    ProcessGroupAdapter<Ring> adapter;
    adapter.coordinator = [this](Context&, const Ring&) { return coordinator; };
    adapter.mode = [](const Ring& ring) { return ring.spec.synchronization_mode; };
    adapter.scope = [](const Ring& ring) { return ring.spec.process_group_id_prefix; };
    adapter.read = [](const Ring& ring) {
      ProcessCluster cluster = default_cluster();
      cluster.process_groups = ring.status.process_groups;
      cluster.connection_string = ring.status.connection_string;
      return cluster;
    };
    adapter.write = [](Context& context, const Ring& ring, const ProcessCluster& cluster) {
      context.patch_status(ring, [&](Ring::Status& status) {
        status.process_groups = cluster.process_groups;
        status.connection_string = cluster.connection_string;
      });
    };
    adapter.remove = [this](Context&, const Ring&, const ProcessGroup& group) {
      database.forget({group.id});
      return RemovalState::gone;
    };
    add_process_group_steps(steps, adapter);
    harness.add(controller_for<Ring>(steps));
    harness.create({Ring{.metadata = {.name = "ring", .namespace_ = "default"},
                         .spec = {.synchronization_mode = Mode::global},
                         .status = {.process_groups = default_cluster().process_groups}}});
    harness.client().patch_status(harness.get<Ring>(key), [](Ring::Status& status) {
      status.process_groups = default_cluster().process_groups;
    });
  }

  const ObjectKey key{"default", "ring"};
  testing::Harness harness;
  MemoryStore store;
  FakeDatabase database{harness.clock()};
  std::shared_ptr<ProcessGroupCoordinator> coordinator = std::make_shared<ProcessGroupCoordinator>(
      database, &store, options_of("dc1", Mode::global, harness.clock()));
  Pipeline<Ring> steps;
};

TEST_F(ProcessGroupStepsTest, ReplaceAGroupFromItsMarkToItsInclusion) {
  harness.run_for(1min);
  EXPECT_EQ(harness.get<Ring>(key)->status.connection_string, "first");
  EXPECT_EQ(harness.last().outcome.message, "operatorCoordination: renews its registry record");

  harness.client().patch_status(harness.get<Ring>(key), [&](Ring::Status& status) {
    status.process_groups[0].removal_timestamp = harness.clock()->wall_now();
  });
  harness.run_for(1s);
  EXPECT_THAT(harness.last().outcome.message,
              ::testing::HasSubstr("excludeProcesses: last pending process group"));
  harness.run_for(1min);
  EXPECT_THAT(database.names(), ElementsAre("coordinators", "exclude"));
  database.move_data();
  harness.run_for(11min);
  EXPECT_THAT(database.names(), ElementsAre("coordinators", "exclude", "include"));
  const auto ring = harness.get<Ring>(key);
  EXPECT_EQ(ring->status.process_groups.size(), 16U);
  EXPECT_EQ(ring->status.connection_string, database.state.connection_string);
  EXPECT_TRUE(database.state.exclusions.empty());
}

// The mode and the prefix belong to the resource: each pass reads them.
TEST_F(ProcessGroupStepsTest, FollowTheModeAndThePrefixOfTheResource) {
  harness.client().patch_status(harness.get<Ring>(key), [&](Ring::Status& status) {
    status.process_groups[0].removal_timestamp = harness.clock()->wall_now();
  });
  harness.run_for(1s);
  const auto pending = [&](const std::string& scope) {
    return store.snapshot()->scan_all(prefix_range("/db/pendingForExclusion/" + scope + "/")).size();
  };
  EXPECT_EQ(pending("dc1"), 1U);
  const auto change = [&](const auto& set) {
    harness.client().patch(harness.get<Ring>(key), [&](Ring& ring) { set(ring.spec); });
    harness.run_for(1s);
  };
  change([](Ring::Spec& spec) { spec.process_group_id_prefix = "unicorn"; });
  EXPECT_EQ(pending("dc1"), 0U);
  EXPECT_EQ(pending("unicorn"), 1U);
  std::vector<std::string> log;
  for (const auto& run : harness.runs()) log.insert(log.end(), run.log.begin(), run.log.end());
  EXPECT_THAT(log, Contains(::testing::HasSubstr("moved to another scope")));
  change([](Ring::Spec& spec) { spec.synchronization_mode = Mode::local; });
  EXPECT_EQ(pending("unicorn"), 0U);
  change([](Ring::Spec& spec) { spec.synchronization_mode = Mode::shadow; });
  harness.run_for(1min);
  EXPECT_THAT(database.names(), ElementsAre("coordinators", "exclude")) << "once, though in two modes";
}

TEST_F(ProcessGroupStepsTest, SayInWhichStepTheyFail) {
  database.is_down = true;
  EXPECT_THROW(harness.run_for(1s), testing::UnexpectedFailure);
  EXPECT_EQ(harness.runs()[0].outcome.message, "the database does not answer");
  EXPECT_THAT(harness.runs()[0].log, Contains(::testing::HasSubstr("step=updateStatus")));
}

}  // namespace
}  // namespace evenkeel::coordination
