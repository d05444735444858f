// SPDX-License-Identifier: Apache-2.0
// Explanations of a controller, on worker threads and step by step, with a manual clock.
#include <atomic>
#include <chrono>
#include <string>

#include <gtest/gtest.h>

#include <evenkeel/controller/explanation.hpp>
#include <evenkeel/metrics/text.hpp>
#include <evenkeel/testing/wait.hpp>

#include "controller_fixture.hpp"

namespace evenkeel {
namespace {

using namespace std::chrono_literals;

class Inspection : public ControllerTest {
 protected:
  // Runs without a thread: each step is one reconcile.
  void make_synced(ControllerSpec made) {
    make(std::move(made));
    for (const auto& handler : handlers) handler->on_synced();
    threadless = true;
    EXPECT_FALSE(controller->step())
        << "there is nothing to do, but the controller knows that its caches are synced";
  }
  ~Inspection() override {
    if (threadless) controller.reset();
  }
  Explanation web() { return controller->explain({.namespace_ = "ns", .name = "web"}); }

  bool threadless = false;
};

TEST_F(Inspection, SaysWhyAFailingKeyWaits) {
  make_synced(spec([](Context&) -> Result { throw Error("no disk left"); }));
  change("web");
  EXPECT_EQ(web().why, WhyIdle::queued);
  EXPECT_EQ(web().place, 1u);
  ASSERT_TRUE(controller->step());
  const Explanation answer = web();
  EXPECT_EQ(answer.why, WhyIdle::backing_off);
  EXPECT_EQ(answer.verdict,
            "demo ns/web: it waits for its retry until 2026-01-01T00:00:00.005000Z (in 5ms) after 1 failure; "
            "the last one, 0s ago: no disk left");
  EXPECT_EQ(answer.timeline.size(), 4u);
  const ControllerSummary summary = controller->summary();
  EXPECT_EQ(summary.verdict, "demo: it works, and keys fail; the latest is ns/web");
  EXPECT_EQ(summary.waiting, 1u);
  ASSERT_EQ(summary.failing.size(), 1u);
  EXPECT_EQ(summary.failing[0].error, "no disk left");
}

TEST_F(Inspection, SaysHowItEndedAndThatNothingHappenedSince) {
  make_synced(spec([](Context&) { return done(); }));
  change("web");
  ASSERT_TRUE(controller->step());
  clock->advance(3s);
  EXPECT_EQ(web().why, WhyIdle::done);
  EXPECT_EQ(
      web().verdict,
      "demo ns/web: there is nothing to do: its last run ended 3s ago with success, and nothing happened "
      "since");
  EXPECT_EQ(controller->summary().verdict, "demo: nothing is wrong");
}

TEST_F(Inspection, SaysWhatAPredicateRefused) {
  ControllerSpec made = spec([](Context&) { return done(); });
  made.watches[0].when = [](const ObjectEvent&) { return false; };
  make_synced(std::move(made));
  change("web");
  EXPECT_EQ(web().why, WhyIdle::refused);
}

TEST_F(Inspection, SaysThatItWaitsForALater) {
  make_synced(spec([](Context&) { return requeue_after(1min, "pods start"); }));
  change("web");
  ASSERT_TRUE(controller->step());
  EXPECT_EQ(web().why, WhyIdle::waiting);
  EXPECT_NE(web().verdict.find("as its last run requested: pods start"), std::string::npos) << web().verdict;
}

TEST_F(Inspection, SaysWhichWatchItWaitsFor) {
  make(spec([](Context&) { return done(); }));
  threadless = true;
  EXPECT_EQ(web().why, WhyIdle::not_synced);
  EXPECT_EQ(web().verdict, "demo ns/web: the controller waits for the first list of configmaps (v1)");
  EXPECT_EQ(controller->summary().verdict,
            "demo: the controller waits for the first list of configmaps (v1)");
  EXPECT_EQ(controller->explain({.namespace_ = "ns", .name = "web"}, "web-1 leads").verdict,
            "demo ns/web: nothing is reconciled here: web-1 leads");
}

TEST_F(Inspection, SaysOfAKeyThatTheProgramAddedWhoDid) {
  make_synced(spec([](Context&) { return done(); }));
  controller->enqueue({.namespace_ = "ns", .name = "web"});
  ASSERT_EQ(web().timeline.size(), 1u);
  EXPECT_EQ(web().timeline[0].text, "added by the program; added to the queue");
}

TEST_F(Inspection, WithoutARecorderStillKnowsTheQueue) {
  ControllerSpec made = spec([](Context&) -> Result { throw Error("no"); });
  made.options.flight_recorder_bytes = 0;
  make_synced(std::move(made));
  change("web");
  ASSERT_TRUE(controller->step());
  const Explanation answer = web();
  EXPECT_EQ(answer.why, WhyIdle::backing_off);
  EXPECT_FALSE(answer.recording);
  EXPECT_TRUE(answer.timeline.empty());
  EXPECT_NE(to_text(answer).find("The flight recorder is off"), std::string::npos);
}

// Keys are ready but not taken although no worker is busy: a wedged controller.
TEST_F(Inspection, NoticesReadyKeysThatNobodyTakes) {
  make_synced(spec([](Context&) { return done(); }));
  change("other");
  ASSERT_TRUE(controller->step());
  change("web");
  clock->advance(10min - 1s);
  EXPECT_EQ(controller->problem(), "");
  clock->advance(1s);
  EXPECT_EQ(
      controller->problem(),
      "ns/web is ready for 10m, and no worker takes it, though none is busy; the last run ended 10m ago");
  EXPECT_EQ(controller->summary().verdict, "demo: " + controller->problem());
  ASSERT_TRUE(controller->step());
  EXPECT_EQ(controller->problem(), "");
}

// A reconciler that blocks until released. Objects used by the workers outlive the controller.
class StuckConcurrency : public ControllerTest {
 protected:
  ~StuckConcurrency() override {
    release();
    finish_early();
  }

  ReconcileFunction hanging() {
    return [this](Context&) {
      running.add();
      MutexLock lock(mutex);
      while (!released) changed.wait(lock);
      return done();
    };
  }
  void make_watched(ControllerSpec made) {
    controller = std::make_unique<Controller>(
        std::move(made), ControllerEnvironment{.client = client,
                                               .cache = cache,
                                               .keys = keys,
                                               .log = Log(lines),
                                               .clock = clock,
                                               .seed = 1,
                                               .schedule_stuck_check = [this](TimePoint when) {
                                                 MutexLock lock(mutex);
                                                 looks.push_back(when);
                                               }});
    controller->attach();
    start();
    for (const auto& handler : handlers) handler->on_synced();
    clock->wait_for_waiters(1);
  }
  void release() {
    MutexLock lock(mutex);
    released = true;
    changed.notify_all();
  }
  void finish_early() {
    if (!controller) return;
    finish();
    controller.reset();
  }
  std::vector<TimePoint> asked_for_looks() {
    MutexLock lock(mutex);
    return looks;
  }
  std::string metrics() {
    PrometheusText sink;
    controller->collect(sink);
    return sink.str();
  }

  Mutex mutex;
  CondVar changed;
  bool released = false;
  std::vector<TimePoint> looks;
  Tally running;
};

// It is reported in log, metrics and the liveness probe.
TEST_F(StuckConcurrency, IsNamedInLogMetricsAndProbe) {
  make_watched(spec(hanging()));
  const TimePoint start = clock->now();
  change("web");
  running.wait_for(1);
  EXPECT_EQ(asked_for_looks(), std::vector<TimePoint>{start + 10min});
  clock->advance(10min - 1s);
  EXPECT_EQ(controller->problem(), "");
  EXPECT_EQ(controller->explain({.namespace_ = "ns", .name = "web"}).why, WhyIdle::running);
  EXPECT_EQ(controller->look_for_stuck(), start + 10min);
  EXPECT_TRUE(lines->lines_with("a reconcile is stuck").empty());
  EXPECT_NE(metrics().find("evenkeel_controller_stuck_reconciles{controller=\"demo\"} 0"), std::string::npos);

  clock->advance(1s);
  EXPECT_EQ(controller->look_for_stuck(), start + 20min);
  const auto told = lines->lines_with("a reconcile is stuck");
  ASSERT_EQ(told.size(), 1u);
  const std::string id = controller->explain({.namespace_ = "ns", .name = "web"}).run->reconcile_id;
  EXPECT_EQ(told[0],
            "ERROR a reconcile is stuck controller=demo object=ns/web for=10m limit=10m thread=demo/0 "
            "reconcile_id=" +
                id + " attempt=1 started_by=configmaps (v1): created");
  EXPECT_EQ(controller->problem(),
            "ns/web has been reconciled for 10m, longer than 10m, on thread demo/0, reconcile_id " + id +
                ", started by: configmaps (v1): created");
  EXPECT_EQ(controller->explain({.namespace_ = "ns", .name = "web"}).why, WhyIdle::stuck);
  EXPECT_NE(metrics().find("evenkeel_controller_stuck_reconciles{controller=\"demo\"} 1"), std::string::npos)
      << metrics();
  EXPECT_NE(metrics().find("evenkeel_controller_longest_running_seconds{controller=\"demo\"} 600"),
            std::string::npos)
      << metrics();

  clock->advance(9min);
  EXPECT_EQ(controller->look_for_stuck(), start + 20min);
  clock->advance(1min);
  EXPECT_EQ(controller->look_for_stuck(), start + 30min)
      << "no later than a run that begins now could be stuck";
  EXPECT_EQ(lines->lines_with("a reconcile is stuck").size(), 2u);

  release();
  clock->wait_for_waiters(1);
  EXPECT_EQ(controller->problem(), "");
  EXPECT_EQ(controller->look_for_stuck(), std::nullopt);
}

TEST_F(StuckConcurrency, IsLookedForOnlyWhileSomethingRuns) {
  release();
  make_watched(spec(hanging()));
  for (int i = 1; i <= 3; ++i) {
    change("web");
    running.wait_for(i);
    clock->wait_for_waiters(1);
  }
  EXPECT_EQ(asked_for_looks().size(), 1u) << "one timer for all runs";
  EXPECT_EQ(controller->look_for_stuck(), std::nullopt);
  change("web");
  running.wait_for(4);
  EXPECT_EQ(asked_for_looks().size(), 2u);
}

TEST_F(StuckConcurrency, OptionsSetTheLimitAndSpareTheProbe) {
  ControllerSpec made = spec(hanging());
  made.options.stuck_after = 5s;
  made.options.on_stuck = OnStuck::report;
  make_watched(std::move(made));
  change("web");
  running.wait_for(1);
  clock->advance(5s);
  static_cast<void>(controller->look_for_stuck());
  EXPECT_EQ(lines->lines_with("a reconcile is stuck").size(), 1u);
  EXPECT_EQ(controller->problem(), "");
}

}  // namespace
}  // namespace evenkeel
