// SPDX-License-Identifier: Apache-2.0
// An object that is deleted and created again is another object: nothing that is remembered of a key concerns
// it.
#include <chrono>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/controller/builder.hpp>
#include <evenkeel/testing/harness.hpp>
#include <evenkeel/testing/run.hpp>

namespace evenkeel {
namespace {
namespace key_memory_test {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

struct TaskSpec {
  std::string image = {};
};
EVENKEEL_FIELDS(TaskSpec, image)
struct Task {
  static constexpr ResourceInfo resource{
      .group = "test.evenkeel.dev", .version = "v1", .kind = "Task", .plural = "tasks"};
  ObjectMeta metadata = {};
  TaskSpec spec = {};
};
EVENKEEL_FIELDS(Task, metadata, spec)

const ObjectKey a{"default", "a"};

Task task(const std::string& image) {
  return {.metadata = {.name = "a", .namespace_ = "default"}, .spec = {.image = image}};
}

class RememberedOfAKey : public ::testing::Test {
 protected:
  std::vector<std::string> runs_since(std::size_t first) const {
    std::vector<std::string> texts;
    for (std::size_t i = first; i < harness.runs().size(); ++i) {
      const auto& run = harness.runs()[i];
      texts.push_back(
          std::to_string(std::chrono::duration_cast<std::chrono::seconds>(run.at - begun).count()) +
          " s, attempt " + std::to_string(run.attempt));
    }
    return texts;
  }
  void replace() {
    before = harness.runs().size();
    begun = harness.elapsed();
    harness.remove<Task>(a);
    harness.create({task("new")});
  }

  testing::Harness harness = testing::Harness({.expect_failures = true});
  std::size_t before = 0;
  Duration begun{};
};

TEST_F(RememberedOfAKey, ABackOffEndsWithItsObject) {
  harness.add(controller_for<Task>([](Context&, const Task&) { throw std::runtime_error("not yet"); }));
  harness.create({task("old")});
  harness.run_for(10min);
  replace();
  harness.run_for(30ms);
  EXPECT_THAT(runs_since(before), ElementsAre("0 s, attempt 1", "0 s, attempt 2", "0 s, attempt 3"));
}

TEST_F(RememberedOfAKey, ABackOffEndsWithoutAGateToo) {
  harness.add(controller_for<Task>([](Context&, const Task&) {
                throw std::runtime_error("not yet");
              }).with({.gate = EventGate::off}));
  harness.create({task("old")});
  harness.run_for(10min);
  replace();
  harness.run_for(30ms);
  EXPECT_THAT(runs_since(before), ElementsAre("0 s, attempt 1", "0 s, attempt 2", "0 s, attempt 3"));
}

TEST_F(RememberedOfAKey, ARunOfTheFormerObjectDoesNotCountForTheNextOne) {
  int failures = 0;
  harness.add(controller_for<Task>([&](Context&, const Task& it) {
    if (it.spec.image == "new") return;
    if (++failures == 3) {
      harness.client().remove<Task>(a);
      harness.client().create(task("new"));
    }
    throw std::runtime_error("not yet");
  }));
  harness.create({task("old")});
  harness.run_for(1min);
  ASSERT_EQ(harness.runs().size(), 4U);
  EXPECT_EQ(harness.runs()[3].attempt, 1U);
  EXPECT_EQ(harness.runs()[3].at, harness.runs()[2].at) << "at once, and not after a back-off";
}

TEST_F(RememberedOfAKey, AMinimumIntervalConcernsOneObject) {
  harness.add(controller_for<Task>([](Context&, const Task&) {}).with({.min_interval = 10min}));
  harness.create({task("old")});
  harness.run_for(1min);
  replace();
  harness.run_for(1s);
  EXPECT_THAT(runs_since(before), ElementsAre("0 s, attempt 1"));
  harness.edit<Task>(a, [](Task& it) { it.spec.image = "newer"; });
  harness.run_for(1h);
  EXPECT_THAT(runs_since(before), ElementsAre("0 s, attempt 1", "600 s, attempt 1"));
}

TEST_F(RememberedOfAKey, ATimerConcernsOneObject) {
  harness.add(controller_for<Task>(
      [](Context&, const Task& it) { return it.spec.image == "old" ? requeue_after(10min) : done(); }));
  harness.create({task("old")});
  harness.run_for(1min);
  replace();
  harness.run_for(1h);
  EXPECT_THAT(runs_since(before), ElementsAre("0 s, attempt 1"));
}

TEST_F(RememberedOfAKey, APredicateDoesNotHideTheNewObjectFromTheBackOff) {
  harness.add(controller_for<Task>([](Context&, const Task&) {
                throw std::runtime_error("not yet");
              }).filter(events_of({EventType::updated})));
  harness.create({task("old")});
  harness.edit<Task>(a, [](Task& it) { it.spec.image = "older"; });
  harness.run_for(10min);
  replace();
  harness.edit<Task>(a, [](Task& it) { it.spec.image = "newer"; });
  harness.run_for(30ms);
  EXPECT_THAT(runs_since(before), ElementsAre("0 s, attempt 1", "0 s, attempt 2", "0 s, attempt 3"));
}

}  // namespace key_memory_test
}  // namespace
}  // namespace evenkeel
