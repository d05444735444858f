// SPDX-License-Identifier: Apache-2.0
// Runs, results, start and end of a controller.
#include <array>
#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/base/cond_var.hpp>
#include <evenkeel/base/mutex.hpp>
#include <evenkeel/base/stop.hpp>
#include <evenkeel/client/errors.hpp>
#include <evenkeel/controller/controller.hpp>
#include <evenkeel/ratelimit/exponential.hpp>

#include "controller_fixture.hpp"
#include "event_fixture.hpp"

namespace evenkeel {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST_F(ControllerTest, ReconcilesWhatIsEnqueued) {
  Tally runs;
  start_synced(spec([&](Context& context) {
    EXPECT_EQ(context.key(), (ObjectKey{"ns", "a"}));
    EXPECT_EQ(context.attempt(), 1U);
    EXPECT_FALSE(context.deadline());  // no timeout, no deadline
    runs.add();
    return done();
  }));
  change("a");
  runs.wait_for(1);
  clock->wait_for_waiters(1);
  EXPECT_EQ(controller->queue_size(), 0U);
  EXPECT_EQ(controller->counts(), (ReconcileCounts{.reconciles = 1, .success = 1}));
  EXPECT_EQ(controller->latency().count(), 1U);
}

// The complete sequence of retries: 14 runs, the last succeeds.
TEST_F(ControllerTest, AFailingKeyIsRetriedOnTheLadder) {
  std::vector<std::int64_t> starts;
  std::vector<std::uint64_t> attempts;
  Tally runs;
  start_synced(spec([&](Context& context) {
    starts.push_back(clock->now().time_since_epoch() / 1ms);
    attempts.push_back(context.attempt());
    runs.add();
    if (starts.size() < 14) throw std::runtime_error("dummy error");
    return done();
  }));
  change("a");
  for (int run = 1; run < 14; ++run) {
    runs.wait_for(run);
    clock->wait_for_waiters(1);
    clock->advance_to_next();
  }
  runs.wait_for(14);
  clock->wait_for_waiters(1);
  EXPECT_THAT(starts, ElementsAre(0, 5, 15, 35, 75, 155, 315, 635, 1275, 2555, 5115, 10235, 20475, 40955));
  EXPECT_THAT(attempts, ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14));
  EXPECT_EQ(controller->counts(),
            (ReconcileCounts{.reconciles = 14, .success = 1, .error = 13, .retries = 13}));
  EXPECT_EQ(lines->lines_with("reconcile failed").size(), 13U);
  EXPECT_THAT(lines->lines_with("reconcile failed")[3], HasSubstr("object=ns/a"));
  EXPECT_THAT(lines->lines_with("reconcile failed")[3],
              HasSubstr("attempt=4 next_try_in=40ms error=dummy error"));
  EXPECT_EQ(lines->lines_with("reconcile recovered").size(), 1U);
  // The success reset the failures: the next delay is 5 ms again.
  starts.clear();
  change("a");
  runs.wait_for(15);
  clock->wait_for_waiters(1);
  EXPECT_EQ(attempts.back(), 1U);
}

// A failing key does not delay the others.
TEST_F(ControllerTest, OtherKeysRunWhileOneBacksOff) {
  std::vector<std::string> order;
  Tally runs;
  start_synced(spec([&](Context& context) {
    order.push_back(context.key().name);
    runs.add();
    if (context.key().name == "x") throw std::runtime_error("dummy error");
    return done();
  }));
  change("x");
  runs.wait_for(1);
  clock->wait_for_waiters(1);
  change("y");
  runs.wait_for(2);
  EXPECT_EQ(clock->now().time_since_epoch(), 0ns);
  EXPECT_THAT(order, ElementsAre("x", "y"));
  clock->wait_for_waiters(1);
}

// Without a gate an event during the back-off runs at once, drops the waiting run, and continues the sequence
// of delays.
TEST_F(ControllerTest, WithoutGateAnEventDuringTheBackOffContinuesTheLadder) {
  std::vector<std::int64_t> starts;
  Tally runs;
  ControllerSpec made = spec([&](Context&) -> Result {
    starts.push_back(clock->now().time_since_epoch() / 1ms);
    runs.add();
    throw std::runtime_error("dummy error");
  });
  made.options.gate = EventGate::off;
  start_synced(std::move(made));
  change("a");
  runs.wait_for(1);
  clock->wait_for_waiters(1);
  clock->advance(3ms);
  const WireObject same = wire_object(R"({"namespace":"ns","name":"a"})");
  handlers[0]->on_event(updated(same, same));
  runs.wait_for(2);
  clock->wait_for_waiters(1);
  clock->advance(2ms);  // the run that was due at 5 ms is dropped
  clock->wait_for_waiters(1);
  EXPECT_EQ(runs.value(), 2);
  clock->advance_to_next();
  runs.wait_for(3);
  clock->wait_for_waiters(1);
  EXPECT_THAT(starts, ElementsAre(0, 3, 13));
}

TEST_F(ControllerTest, RequeueAfterForgetsTheFailures) {
  std::vector<std::int64_t> starts;
  std::vector<std::uint64_t> attempts;
  Tally runs;
  start_synced(spec([&](Context& context) {
    starts.push_back(clock->now().time_since_epoch() / 1ms);
    attempts.push_back(context.attempt());
    runs.add();
    if (starts.size() == 1 || starts.size() == 3) throw std::runtime_error("dummy error");
    return starts.size() == 2 ? requeue_after(100ms) : done();
  }));
  change("a");
  for (int run = 1; run < 4; ++run) {
    runs.wait_for(run);
    clock->wait_for_waiters(1);
    clock->advance_to_next();
  }
  runs.wait_for(4);
  clock->wait_for_waiters(1);
  EXPECT_THAT(starts, ElementsAre(0, 5, 105, 110));
  EXPECT_THAT(attempts, ElementsAre(1, 2, 1, 2));
}

TEST_F(ControllerTest, RequeueKeepsCounting) {
  std::vector<std::int64_t> starts;
  Tally runs;
  start_synced(spec([&](Context&) {
    starts.push_back(clock->now().time_since_epoch() / 1ms);
    runs.add();
    return starts.size() < 4 ? requeue("not there yet") : done();
  }));
  change("a");
  for (int run = 1; run < 4; ++run) {
    runs.wait_for(run);
    clock->wait_for_waiters(1);
    clock->advance_to_next();
  }
  runs.wait_for(4);
  clock->wait_for_waiters(1);
  EXPECT_THAT(starts, ElementsAre(0, 5, 15, 35));
  EXPECT_EQ(controller->counts(),
            (ReconcileCounts{.reconciles = 4, .success = 1, .requeue = 3, .retries = 3}));
}

TEST_F(ControllerTest, ATerminalErrorIsNotRetried) {
  Tally runs;
  start_synced(spec([&](Context&) -> Result {
    runs.add();
    throw TerminalError("bad spec");
  }));
  change("a");
  runs.wait_for(1);
  clock->wait_for_waiters(1);
  clock->advance(24h);
  EXPECT_EQ(runs.value(), 1);
  EXPECT_EQ(controller->queue_size(), 0U);
  EXPECT_EQ(controller->counts(), (ReconcileCounts{.reconciles = 1, .error = 1, .terminal_error = 1}));
  EXPECT_EQ(lines->lines_with("reconcile failed and is not retried").size(), 1U);
}

TEST_F(ControllerTest, AConflictIsRetriedQuietly) {
  Tally runs;
  start_synced(spec([&](Context&) {
    runs.add();
    if (runs.value() == 1) throw ApiError("patch Demo ns/a", Status{.code = 409, .reason = "Conflict"});
    return done();
  }));
  change("a");
  runs.wait_for(1);
  clock->wait_for_waiters(1);
  clock->advance_to_next();
  runs.wait_for(2);
  clock->wait_for_waiters(1);
  EXPECT_EQ(controller->counts(),
            (ReconcileCounts{.reconciles = 2, .success = 1, .conflict = 1, .retries = 1}));
  EXPECT_THAT(lines->lines_with("ERROR"), IsEmpty());
}

TEST_F(ControllerTest, WhateverIsThrownTheWorkerLivesOn) {
  Tally runs;
  start_synced(spec([&](Context& context) {
    runs.add();
    if (context.key().name == "int") throw 42;
    if (context.key().name == "logic") throw std::out_of_range("map::at");
    return done();
  }));
  change("int");
  change("logic");
  change("fine");
  runs.wait_for(3);
  clock->wait_for_waiters(1);
  const ReconcileCounts counts = controller->counts();
  EXPECT_EQ(counts.success, 1U);
  EXPECT_EQ(counts.panics, 2U);
  EXPECT_EQ(counts.retries, 2U);
}

TEST_F(ControllerTest, APanicEndsTheControllerIfToldTo) {
  ControllerSpec made = spec([](Context&) -> Result { throw std::out_of_range("map::at"); });
  made.options.on_panic = OnPanic::fail;
  make(std::move(made));
  start();
  handlers[0]->on_synced();
  change("a");
  ended.wait_for(1);
  EXPECT_THROW(std::rethrow_exception(end_error), std::out_of_range);
  EXPECT_EQ(controller->counts().panics, 1U);
}

TEST_F(ControllerTest, TheTimeoutIsADeadlineAndCountedOnlyIfItWasTheCause) {
  Tally runs;
  ControllerSpec made = spec([&](Context& context) -> Result {
    EXPECT_EQ(context.deadline(), clock->now() + 10s);
    context.check();
    runs.add();
    if (context.key().name == "early") return done();
    if (context.key().name == "own") throw Cancelled("own shorter deadline");
    clock->advance(10s);  // the reconciler exceeds its timeout
    context.check();
    return done();
  });
  made.options.reconcile_timeout = 10s;
  start_synced(std::move(made));
  change("early");
  runs.wait_for(1);
  clock->wait_for_waiters(1);
  EXPECT_EQ(controller->counts().timeouts, 0U);
  change("own");
  runs.wait_for(2);
  clock->wait_for_waiters(1);
  EXPECT_EQ(controller->counts().timeouts, 0U);
  EXPECT_EQ(controller->counts().error, 1U);
  change("late");
  runs.wait_for(3);
  clock->wait_for_waiters(1);
  EXPECT_GE(controller->counts().timeouts, 1U);
  EXPECT_FALSE(lines->lines_with("reconcile failed: it timed out").empty());
}

TEST_F(ControllerTest, ATimeoutOfZeroIsNone) {
  Tally runs;
  ControllerSpec made = spec([&](Context& context) {
    EXPECT_EQ(context.deadline(), std::nullopt);
    clock->advance(1h);
    EXPECT_NO_THROW(context.check());
    runs.add();
    return done();
  });
  made.options.reconcile_timeout = 0s;
  start_synced(std::move(made));
  change("a");
  runs.wait_for(1);
  clock->wait_for_waiters(1);
  EXPECT_EQ(controller->counts().success, 1U);
  EXPECT_THAT(lines->lines_with("ended only after its timeout"), ::testing::IsEmpty());
  const Context alone(ContextOptions{.client = client, .timeout = 0s, .clock = clock});
  EXPECT_EQ(alone.deadline(), std::nullopt);
}

TEST_F(ControllerTest, NothingRunsBeforeEveryWatchHasSynced) {
  Tally runs;
  ControllerSpec made = spec([&](Context&) {
    runs.add();
    return done();
  });
  made.watches.push_back(made.watches[0]);
  make(std::move(made));
  start();
  for (int i = 0; i < 20; ++i) change("object-" + std::to_string(i));
  handlers[0]->on_synced();
  clock->wait_for_waiters(1);
  EXPECT_EQ(runs.value(), 0);
  EXPECT_FALSE(controller->is_synced());
  EXPECT_EQ(controller->queue_size(), 20U);
  handlers[1]->on_synced();
  runs.wait_for(20);
  EXPECT_TRUE(controller->is_synced());
}

TEST_F(ControllerTest, ASyncTimeoutIsToldOnceAndWaitedOn) {
  Tally runs;
  ControllerSpec made = spec([&](Context&) {
    runs.add();
    return done();
  });
  made.options.sync_timeout = 1s;
  make(std::move(made));
  start();
  change("a");
  for (int times = 1; times <= 2; ++times) {
    clock->wait_for_waiters(1);
    clock->advance(1s);
    clock->wait_for_waiters(1);
    EXPECT_EQ(lines->lines_with("still waiting for the first lists").size(), 1U);
  }
  EXPECT_THAT(lines->lines_with("still waiting")[0], HasSubstr("missing=configmaps (v1)"));
  handlers[0]->on_synced();
  runs.wait_for(1);
}

TEST_F(ControllerTest, ASyncTimeoutOfZeroIsNone) {
  Tally runs;
  ControllerSpec made = spec([&](Context&) {
    runs.add();
    return done();
  });
  made.options.sync_timeout = 0s;
  made.options.on_sync_timeout = OnSyncTimeout::fail;
  make(std::move(made));
  start();
  change("a");
  clock->wait_for_waiters(1);
  clock->advance(1h);
  handlers[0]->on_synced();
  runs.wait_for(1);
  EXPECT_THAT(lines->lines_with("still waiting"), ::testing::IsEmpty());
}

TEST_F(ControllerTest, ASyncTimeoutEndsTheControllerIfToldTo) {
  ControllerSpec made = spec([](Context&) { return done(); });
  made.options.sync_timeout = 1s;
  made.options.on_sync_timeout = OnSyncTimeout::fail;
  make(std::move(made));
  start();
  clock->wait_for_waiters(1);
  clock->advance(1s);
  ended.wait_for(1);
  try {
    std::rethrow_exception(end_error);
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "controller demo: not synced in time: configmaps (v1)");
  }
}

TEST_F(ControllerTest, StoppingDuringTheSyncIsNoError) {
  make(spec([](Context&) { return done(); }));
  start();
  clock->wait_for_waiters(1);
  controller->stop();
  ended.wait_for(1);
  EXPECT_EQ(end_error, nullptr);
}

TEST_F(ControllerTest, LiveChangesGoBeforeTheFirstList) {
  std::vector<std::string> order;
  Tally runs;
  make(spec([&](Context& context) {
    order.push_back(context.key().name);
    runs.add();
    return done();
  }));
  start();
  const auto list = [&](const std::string& name) {
    const WireObject object = wire_object(R"({"namespace":"ns","name":")" + name + R"("})");
    ObjectEvent event = added(object);
    event.initial = true;
    handlers[0]->on_event(event);
  };
  list("old-1");
  list("old-2");
  list("old-3");
  change("new");
  change("old-3");
  handlers[0]->on_synced();
  runs.wait_for(4);
  EXPECT_THAT(order, ElementsAre("new", "old-3", "old-1", "old-2"));
}

TEST_F(ControllerTest, APredicateHidesEventsAndOneThatThrowsDoesNot) {
  Tally runs;
  ControllerSpec made = spec([&](Context&) {
    runs.add();
    return done();
  });
  made.watches[0].when = [](const ObjectEvent& event) {
    if (event.object->name() == "throws") throw std::runtime_error("no idea");
    if (event.object->name() == "throws-int") throw 42;
    return event.object->name() != "hidden";
  };
  start_synced(std::move(made));
  change("hidden");
  change("throws");
  change("throws-int");
  runs.wait_for(2);
  clock->wait_for_waiters(1);
  EXPECT_EQ(runs.value(), 2);
  EXPECT_EQ(lines->lines_with("a predicate failed").size(), 2U);
}

TEST_F(ControllerTest, AMappingThatThrowsIsTold) {
  ControllerSpec made = spec([](Context&) { return done(); });
  made.watches[0].mapping = [](const WireObject&, std::vector<ObjectKey>&) {
    throw std::runtime_error("no idea");
  };
  start_synced(std::move(made));
  change("a");
  ASSERT_EQ(lines->lines_with("could not be mapped").size(), 1U);
  EXPECT_THAT(lines->lines_with("could not be mapped")[0],
              HasSubstr("object=ns/a next_try_in=1s error=no idea"));
}

// Both states of the update are mapped again: the owner that lost the object must be reconciled.
TEST_F(ControllerTest, AMappingThatThrowsIsAskedAgain) {
  std::atomic<int> failures = 2;
  std::vector<std::string> seen;
  Tally runs;
  ControllerSpec made = spec([&](Context&) {
    runs.add();
    return done();
  });
  made.watches[0].mapping = [&](const WireObject& object, std::vector<ObjectKey>& found) {
    if (failures-- > 0) throw std::runtime_error("no idea");
    found.push_back(object.key());
  };
  start_synced(std::move(made));
  change("a");
  for (const auto at : {1s, 3s}) {
    clock->wait_for_waiters(2);  // the worker, and the thread that maps again
    EXPECT_EQ(runs.value(), 0);
    clock->advance_to_next();
    EXPECT_EQ(clock->now().time_since_epoch(), at);
  }
  runs.wait_for(1);
  clock->wait_for_waiters(2);
  EXPECT_EQ(lines->lines_with("could not be mapped").size(), 2U);
  EXPECT_EQ(controller->counts().success, 1U);
}

TEST_F(ControllerTest, AMappingThatThrowsOtherThingsIsAskedAgain) {
  std::atomic<bool> fails = true;
  Tally runs;
  ControllerSpec made = spec([&](Context&) {
    runs.add();
    return done();
  });
  made.watches[0].mapping = [&](const WireObject& object, std::vector<ObjectKey>& found) {
    if (fails.exchange(false)) throw 42;
    found.push_back(object.key());
  };
  start_synced(std::move(made));
  change("a");
  clock->wait_for_waiters(2);
  clock->advance_to_next();
  runs.wait_for(1);
  EXPECT_THAT(lines->lines_with("could not be mapped")[0],
              HasSubstr("error=an exception that is not a std::exception"));
}

TEST_F(ControllerTest, StopsWhileAMappingWaitsToBeAskedAgain) {
  ControllerSpec made = spec([](Context&) { return done(); });
  made.watches[0].mapping = [](const WireObject&, std::vector<ObjectKey>&) {
    throw std::runtime_error("no idea");
  };
  start_synced(std::move(made));
  change("a");
  clock->wait_for_waiters(2);
  controller->stop();
  ended.wait_for(1);
  EXPECT_EQ(end_error, nullptr);
}

TEST_F(ControllerTest, RefusesKeysWithoutAName) {
  Tally runs;
  ControllerSpec made = spec([&](Context&) {
    runs.add();
    return done();
  });
  made.watches[0].mapping = [](const WireObject& object, std::vector<ObjectKey>& found) {
    found.push_back({"ns", ""});
    if (object.name() == "last") found.push_back(object.key());
  };
  KeyChannel channel;
  made.sources.push_back(
      {.name = "calls", .subscribe = [channel](KeySink sink) { return channel.subscribe(sink); }});
  start_synced(std::move(made));
  channel.push({"ns", ""});
  try {
    controller->enqueue({"ns", ""});
    FAIL() << "a key without a name was taken";
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), "controller demo: the key has no name");
  }
  change("a");
  change("last");
  runs.wait_for(1);
  clock->wait_for_waiters(1);
  EXPECT_EQ(runs.value(), 1);
  const auto told = lines->lines_with("a mapping returned a key without a name; it is refused");
  ASSERT_EQ(told.size(), 2U);
  EXPECT_THAT(told[0], HasSubstr("ERROR"));
  EXPECT_THAT(told[0], HasSubstr("object=ns/a"));
  EXPECT_THAT(told[1], HasSubstr("DEBUG"));
  ASSERT_EQ(lines->lines_with("a source added a key without a name").size(), 1U);
  EXPECT_THAT(lines->lines_with("a source added a key without a name")[0],
              HasSubstr("source=calls namespace=ns"));
}

TEST_F(ControllerTest, StopLetsARunningReconcileFinishAndDropsTheRest) {
  Tally begun;
  Tally may_end;
  std::atomic<bool> was_cancelled = false;
  start_synced(spec([&](Context& context) {
    begun.add();
    may_end.wait_for(1);
    was_cancelled = context.stop().stop_requested();
    return done();
  }));
  change("a");
  begun.wait_for(1);
  change("b");
  controller->stop();
  controller->stop();
  change("c");
  may_end.add();
  ended.wait_for(1);
  EXPECT_FALSE(was_cancelled) << "stop() does not cancel";
  EXPECT_EQ(begun.value(), 1) << "what was queued is dropped";
  EXPECT_EQ(controller->counts().success, 1U);
  EXPECT_EQ(end_error, nullptr);
}

TEST_F(ControllerTest, CancelTriggersTheStopTokenAndIsNoFailure) {
  Tally begun;
  start_synced(spec([&](Context& context) -> Result {
    begun.add();
    Mutex mutex;
    CondVar changed;
    const StopWaker waker(context.stop(), mutex, changed);
    MutexLock lock(mutex);
    while (!context.stop().stop_requested()) changed.wait(lock);
    lock.unlock();
    context.check();
    return done();
  }));
  change("a");
  begun.wait_for(1);
  controller->stop();
  controller->cancel();
  ended.wait_for(1);
  EXPECT_EQ(controller->counts(), (ReconcileCounts{.reconciles = 1, .cancelled = 1}));
  EXPECT_THAT(lines->lines_with("ERROR"), IsEmpty());
}

TEST_F(ControllerTest, LatencyLeavesOutTheTimeAsStandby) {
  Tally runs;
  make(spec([&](Context&) {
    runs.add();
    return done();
  }));
  change("a");
  clock->advance(15s);
  start();
  handlers[0]->on_synced();
  runs.wait_for(1);
  clock->wait_for_waiters(1);
  EXPECT_EQ(controller->latency().count(), 1U);
  EXPECT_LT(controller->latency().quantile(1), 1ms);
}

TEST_F(ControllerTest, ARunThatIgnoresItsTimeoutIsAWarning) {
  Tally runs;
  ControllerSpec slow = spec([&](Context&) {
    clock->advance(8s);
    runs.add();
    return done();
  });
  slow.options.reconcile_timeout = 1s;
  start_synced(std::move(slow));
  change("a");
  runs.wait_for(1);
  clock->wait_for_waiters(1);
  EXPECT_THAT(lines->lines_with("WARN"),
              ElementsAre(AllOf(HasSubstr("reconcile ended only after its timeout"),
                                HasSubstr(" timeout=1s took=8s"), HasSubstr("object=ns/a"))));
  EXPECT_EQ(controller->counts().error, 0U);
}

TEST_F(ControllerTest, LatencyIsTheTimeFromTheEventToTheRun) {
  Tally runs;
  make(spec([&](Context&) {
    runs.add();
    return done();
  }));
  start();
  change("a");
  clock->wait_for_waiters(1);
  clock->advance(100ms);
  handlers[0]->on_synced();
  runs.wait_for(1);
  clock->wait_for_waiters(1);
  EXPECT_GE(controller->latency().quantile(0.5), 100ms);
  EXPECT_LE(controller->latency().quantile(0.5), 107ms);
  controller->enqueue({"ns", "b"});
  runs.wait_for(2);
  clock->wait_for_waiters(1);
  EXPECT_EQ(controller->latency().count(), 1U) << "only events count";
}

TEST_F(ControllerTest, RefusesASpecThatCannotRun) {
  const auto refused = [&](ControllerSpec made) {
    EXPECT_THROW(make(std::move(made)), std::invalid_argument);
  };
  refused(spec(nullptr));
  ControllerSpec nameless = spec([](Context&) { return done(); });
  nameless.options.name.clear();
  refused(std::move(nameless));
  ControllerSpec blind = spec([](Context&) { return done(); });
  blind.watches.clear();
  refused(std::move(blind));
  ControllerSpec lazy = spec([](Context&) { return done(); });
  lazy.options.workers = 0;
  refused(std::move(lazy));
  ControllerSpec hasty = spec([](Context&) { return done(); });
  hasty.options.stuck_after = 0s;  // the manager would look for stuck runs without a pause
  refused(std::move(hasty));
}

TEST_F(ControllerTest, RefusesANameThatWouldBreakLogsAndMetrics) {
  const auto problem = [&](std::string name) -> std::string {
    ControllerSpec made = spec([](Context&) { return done(); });
    made.options.name = std::move(name);
    try {
      make(std::move(made));
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "none";
  };
  const std::string rule =
      " must be up to 63 letters, digits, '-', '_' and '.', the first and the last a letter or digit";
  EXPECT_EQ(problem("Bad Name!\n"), "Controller: the name \"Bad Name!\\n\"" + rule);
  EXPECT_EQ(problem("-a"), "Controller: the name \"-a\"" + rule);
  EXPECT_EQ(problem("a."), "Controller: the name \"a.\"" + rule);
  EXPECT_EQ(problem(std::string(64, 'a')), "Controller: the name \"" + std::string(64, 'a') + "\"" + rule);
  EXPECT_EQ(problem(std::string(63, 'a')), "none");
  EXPECT_EQ(problem("My_web-1.a"), "none");
  controller.reset();  // it never ran
}

// A reconcile that dereferences the result of find() fails like any other; the operator continues.
TEST_F(ControllerTest, AnEmptySnapshotThatIsDereferencedFailsTheReconcile) {
  Tally runs;
  start_synced(spec([&](Context& context) {
    runs.add();
    const Snapshot<ConfigMap> nothing;
    if (context.attempt() == 1) static_cast<void>(nothing->data.size());
    return done();
  }));
  change("a");
  runs.wait_for(1);
  clock->wait_for_waiters(1);
  clock->advance_to_next();
  runs.wait_for(2);
  clock->wait_for_waiters(1);
  EXPECT_THAT(lines->lines_with("reconcile failed"),
              ElementsAre(HasSubstr("error=an empty Snapshot<core_v1::ConfigMap> was dereferenced")));
  EXPECT_EQ(controller->counts(),
            (ReconcileCounts{.reconciles = 2, .success = 1, .error = 1, .panics = 1, .retries = 1}));
}

TEST_F(ControllerTest, EventsAfterItsStopLeaveNothingBehind) {
  Tally runs;
  start_synced(spec([&](Context&) {
    runs.add();
    return done();
  }));
  finish();
  change("a");
  EXPECT_EQ(controller->queue_size(), 0U);
  EXPECT_EQ(keys.size(), 0U) << "neither the queue nor the gate nor a latency remembers the key";
  EXPECT_EQ(runs.value(), 0);
}

// The cache may hold a handler longer than its controller lives. Later events must not reach the spec, which
// is destroyed, including the mapping that counts here.
TEST_F(ControllerTest, EventsAfterItsEndAskNothingOfIt) {
  int asked = 0;
  ControllerSpec made = spec([](Context&) { return done(); });
  made.watches[0].mapping = [&](const WireObject&, std::vector<ObjectKey>&) { ++asked; };
  start_synced(std::move(made));
  change("a");
  EXPECT_EQ(asked, 1);
  finish();
  controller.reset();
  change("a");
  handlers[0]->on_synced();
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(handlers[0].use_count(), 1) << "nobody but the cache holds it";
}

TEST_F(ControllerTest, StepsOnTheCallersThreadWithoutAnyOfItsOwn) {
  std::vector<std::thread::id> callers;
  bool fails = true;
  make(spec([&](Context&) {
    callers.push_back(std::this_thread::get_id());
    if (std::exchange(fails, false)) throw std::runtime_error("once");
    return requeue_after(10s);
  }));
  change("a");
  EXPECT_FALSE(controller->step()) << "the first lists have not been read";
  handlers[0]->on_synced();
  EXPECT_EQ(controller->next_due(), clock->now());
  EXPECT_TRUE(controller->step());
  EXPECT_FALSE(controller->step());
  EXPECT_EQ(controller->next_due(), clock->now() + 5ms) << "the back-off";
  clock->advance(5ms);
  EXPECT_TRUE(controller->step());
  EXPECT_EQ(controller->next_due(), clock->now() + 10s);
  EXPECT_THAT(callers, ::testing::ElementsAre(std::this_thread::get_id(), std::this_thread::get_id()));
  controller.reset();  // it was never started, so there is no end to wait for
}

class ControllerConcurrency : public ControllerTest {};

TEST_F(ControllerConcurrency, OneKeyIsNeverInTwoHandsAndNoChangeIsLost) {
  clock->advance(1s);
  constexpr std::size_t keys_count = 16;
  struct Key {
    std::atomic<int> holders = 0;
    std::atomic<int> wanted = 0;
    std::atomic<int> seen = 0;
  };
  std::array<Key, keys_count> all;
  std::atomic<int> overlaps = 0;
  Mutex mutex;
  CondVar ran;
  ControllerSpec made = spec([&](Context& context) {
    Key& key = all[static_cast<std::size_t>(std::stoi(context.key().name))];
    if (key.holders.fetch_add(1) != 0) ++overlaps;
    const int wanted = key.wanted.load();
    key.holders.fetch_sub(1);
    MutexLock lock(mutex);
    key.seen = wanted;
    ran.notify_all();
    return done();
  });
  made.options.workers = 4;
  make(std::move(made));
  start();
  handlers[0]->on_synced();
  {
    std::vector<std::jthread> writers;
    for (std::size_t writer = 0; writer < 3; ++writer) {
      writers.emplace_back([&, writer] {
        for (std::size_t i = 0; i < 2000; ++i) {
          const std::size_t index = (i * 7 + writer) % keys_count;
          ++all[index].wanted;
          change(std::to_string(index));
        }
      });
    }
  }
  // If a change is lost, this waits until the test's time limit.
  for (Key& key : all) {
    MutexLock lock(mutex);
    while (key.seen != key.wanted) ran.wait(lock);
  }
  controller.reset();  // before the objects that its workers use
  EXPECT_EQ(overlaps, 0);
}

}  // namespace
}  // namespace evenkeel
