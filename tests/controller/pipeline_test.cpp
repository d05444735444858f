// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/controller/builder.hpp>
#include <evenkeel/controller/pipeline.hpp>
#include <evenkeel/testing/harness.hpp>

namespace evenkeel {
namespace {
namespace pipeline_test {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// ---- Combination of steps

Result summary(const std::vector<std::pair<std::string, Step>>& steps, std::size_t expected_steps) {
  detail::StepSummary summary;
  std::size_t run = 0;
  for (const auto& [name, step] : steps) {
    ++run;
    if (!summary.add(name, step)) break;
  }
  EXPECT_EQ(run, expected_steps);
  return summary.result();
}

TEST(StepSummary, IsDoneIfAllGoOn) {
  EXPECT_EQ(summary({{"a", go_on()}, {"b", done()}}, 2), done());
  EXPECT_EQ(summary({}, 0), done());
}

TEST(StepSummary, EndsWhereAStepStops) {
  EXPECT_EQ(summary({{"a", go_on()}, {"b", requeue("waits")}, {"c", go_on()}}, 2), requeue("b: waits"));
  EXPECT_EQ(summary({{"a", requeue_after(5s, "soon")}, {"b", go_on()}}, 1), requeue_after(5s, "a: soon"));
  EXPECT_EQ(summary({{"a", stop_here()}, {"b", requeue()}}, 1), done());
  EXPECT_EQ(summary({{"a", stop_here(requeue_after(1s))}, {"b", requeue()}}, 1), requeue_after(1s, "a"));
}

TEST(StepSummary, GoesOnAfterADelayAndTakesTheShortest) {
  EXPECT_EQ(summary({{"a", later(30s, "no leader")}, {"b", later(10s, "two pods")}, {"c", go_on()}}, 3),
            requeue_after(10s, "a: no leader; b: two pods"));
  EXPECT_EQ(summary({{"a", later(30s, "x")}, {"b", requeue_after(60s, "y")}, {"c", go_on()}}, 2),
            requeue_after(30s, "a: x; b: y"));
  EXPECT_EQ(summary({{"a", later(30s, "x")}, {"b", stop_here()}}, 2), requeue_after(30s, "a: x"))
      << "a run that ends does not forget that it was to be looked at again";
}

TEST(StepSummary, ARequeueUnderTheLimiterWinsOverDelays) {
  EXPECT_EQ(summary({{"a", later(1s, "x")}, {"b", requeue("y")}}, 2), requeue("a: x; b: y"));
}

TEST(StepSummary, ATimeThatHasPassedIsNotDone) {
  for (const Duration passed : {Duration(0s), Duration(-1s)}) {
    EXPECT_EQ(summary({{"a", requeue_after(passed, "waits")}, {"b", go_on()}}, 1), requeue("a: waits"));
    EXPECT_EQ(summary({{"a", later(passed, "waits")}, {"b", later(1s, "x")}}, 2), requeue("a: waits; b: x"));
    EXPECT_EQ(summary({{"a", stop_here(requeue_after(passed))}, {"b", go_on()}}, 1), requeue("a"));
  }
}

TEST(StepSummary, KeepsThePriorityThatWasSetLast) {
  const Result result =
      summary({{"a", Step(Step::Kind::later, requeue_after(1s).with_priority(5))}, {"b", later(2s)}}, 2);
  EXPECT_EQ(result.priority()->value, 5);
}

// ---- Pipelines in a controller

struct Job {
  static constexpr ResourceInfo resource{
      .group = "test.evenkeel.dev", .version = "v1", .kind = "Job", .plural = "jobs"};
  struct Status {
    int phase = 0;
  };
  ObjectMeta metadata;
  Status status;
};
EVENKEEL_FIELDS(Job::Status, phase)
EVENKEEL_FIELDS(Job, metadata, status)

class PipelineTest : public ::testing::Test {
 protected:
  static Job job(const std::string& name) {
    return {.metadata = {.name = name, .namespace_ = "default"}, .status = {}};
  }
  testing::Harness harness;
};

TEST_F(PipelineTest, LaterStepsRunAndSeeWhatEarlierOnesWrote) {
  std::vector<std::string> story;
  Pipeline<Job> steps;
  steps
      .step("first",
            [&](Context& context, const Job& job) {
              story.push_back("first sees " + std::to_string(job.status.phase));
              const Job changed = *context.patch_status(job, [](Job::Status& status) { status.phase += 1; });
              return changed.status.phase < 2 ? later(10s, "not two yet") : go_on();
            })
      .step("second", [&](Context& context, const Job& job) {
        story.push_back("second sees " + std::to_string(job.status.phase));
        context.patch_status(job, [](Job::Status& status) { status.phase += 10; });
      });
  harness.add(controller_for<Job>(steps, {.when = generation_changed()}));
  harness.create({job("a")});
  EXPECT_TRUE(harness.settle());
  EXPECT_THAT(story, ElementsAre("first sees 0", "second sees 1", "first sees 11", "second sees 12"));
  EXPECT_EQ(harness.runs()[0].outcome.kind, OutcomeKind::requeue_after);
  EXPECT_EQ(harness.runs()[0].outcome.message, "first: not two yet");
  EXPECT_EQ(harness.runs()[1].at, 10s);
  EXPECT_EQ(harness.runs()[1].outcome.kind, OutcomeKind::success);
  EXPECT_EQ((harness.get<Job>({"default", "a"})->status.phase), 22);
}

TEST_F(PipelineTest, AStepThatThrowsEndsTheRunAndIsNamed) {
  int later_steps = 0;
  bool fails = true;
  harness = testing::Harness({.expect_failures = true});
  Pipeline<Job> steps;
  steps
      .step("breaks",
            [&](Context&, const Job&) -> Step {
              if (std::exchange(fails, false)) throw std::runtime_error("no luck");
              return go_on();
            })
      .step("after", [&](Context&, const Job&) { ++later_steps; });
  harness.add(controller_for<Job>(steps));
  harness.create({job("a")});
  EXPECT_TRUE(harness.settle());
  ASSERT_EQ(harness.runs().size(), 2U);
  EXPECT_EQ(harness.runs()[0].outcome.kind, OutcomeKind::error);
  EXPECT_EQ(harness.runs()[0].outcome.message, "no luck");
  EXPECT_THAT(harness.runs()[0].log, Contains(HasSubstr("a step failed controller=job")));
  EXPECT_THAT(harness.runs()[0].log, Contains(HasSubstr("step=breaks")));
  EXPECT_EQ(later_steps, 1);
}

TEST_F(PipelineTest, AStepThatStopsKeepsLaterOnesFromRunning) {
  int later_steps = 0;
  Pipeline<Job> steps;
  steps.step("paused", [](Context&, const Job&) { return stop_here(); })
      .step("after", [&](Context&, const Job&) { ++later_steps; });
  harness.add(controller_for<Job>(steps));
  harness.create({job("a")});
  EXPECT_TRUE(harness.settle());
  EXPECT_EQ(harness.last().outcome.kind, OutcomeKind::success);
  EXPECT_EQ(later_steps, 0);
}

}  // namespace pipeline_test
}  // namespace
}  // namespace evenkeel
