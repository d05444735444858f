// SPDX-License-Identifier: Apache-2.0
// Keys from channels, timers and functions; watches that are added and removed at run time.
#include <chrono>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/base/cond_var.hpp>
#include <evenkeel/base/mutex.hpp>
#include <evenkeel/base/stop.hpp>
#include <evenkeel/controller/source.hpp>

#include "controller_fixture.hpp"
#include "event_fixture.hpp"

namespace evenkeel {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Blocks until `stop` is triggered.
void wait_for_stop(const std::stop_token& stop) {
  Mutex mutex;
  CondVar changed;
  const StopWaker waker(stop, mutex, changed);
  MutexLock lock(mutex);
  while (!stop.stop_requested()) changed.wait(lock);
}

class SourceTest : public ControllerTest {
 protected:
  // Records the keys that run, and the times.
  ControllerSpec recording() {
    return spec([this](Context& context) {
      order.push_back(context.key().str() + " at " + std::to_string(clock->now().time_since_epoch() / 1ms));
      runs.add();
      return done();
    });
  }
  static SourceSpec channel_source(const KeyChannel& channel) {
    return {.name = "calls", .subscribe = [channel](KeySink sink) { return channel.subscribe(sink); }};
  }
  void step_all() {
    while (controller->step()) continue;
  }
  // In tests without threads there is no end to wait for.
  void drop() { controller.reset(); }

  std::vector<std::string> order;
  Tally runs;
};

TEST_F(SourceTest, AChannelBringsKeysWithPriorityAndDelay) {
  const KeyChannel channel;
  ControllerSpec made = recording();
  made.sources.push_back(channel_source(channel));
  make(std::move(made));
  handlers[0]->on_synced();
  channel.push({"ns", "slow"}, {.priority = Lane::slow});
  channel.push({"ns", "late"}, {.priority = 5, .delay = 3s});
  channel.push({"ns", "plain"});
  step_all();
  EXPECT_THAT(order, ElementsAre("ns/plain at 0", "ns/slow at 0"));
  EXPECT_EQ(controller->next_due(), clock->now() + 3s);
  clock->advance(3s);
  step_all();
  EXPECT_EQ(order.back(), "ns/late at 3000");
  EXPECT_EQ(controller->latency().count(), 0U) << "only events count";
  drop();
}

// Each destination gets every key; keys pushed before there is any are buffered, without duplicates.
TEST_F(SourceTest, AChannelServesSeveralControllersAndKeepsWhatCameBeforeAny) {
  const KeyChannel channel;
  channel.push({"ns", "early"}, {.priority = Lane::slow, .delay = 1s});
  channel.push({"ns", "early"}, {.priority = 7, .delay = 2s});
  ControllerSpec made = recording();
  made.sources.push_back(channel_source(channel));
  make(made);
  const std::unique_ptr<Controller> first = std::move(controller);
  make(std::move(made));
  handlers[0]->on_synced();
  handlers[1]->on_synced();
  channel.push({"ns", "both"});
  clock->advance(1s);
  while (first->step()) continue;
  EXPECT_THAT(order, ElementsAre("ns/early at 1000", "ns/both at 1000")) << "the earliest and most urgent";
  step_all();
  EXPECT_THAT(order, ElementsAre("ns/early at 1000", "ns/both at 1000", "ns/both at 1000"));
  drop();
  channel.push({"ns", "one"});
  while (first->step()) continue;
  EXPECT_EQ(order.back(), "ns/one at 1000");
}

TEST_F(SourceTest, AChannelKeepsEqualKeysOfSeveralClusters) {
  class Recorder final : public KeySink::Receiver {
   public:
    void on_key(const ObjectKey& key, const KeyOptions& options) noexcept override {
      keys.push_back(options.cluster + ":" + key.str() + " " + std::to_string(options.priority.value));
    }
    void on_synced() noexcept override {}
    std::vector<std::string> keys;
  };
  const KeyChannel channel;
  for (const char* cluster : {"us", "eu", ""}) channel.push({"default", "web"}, {.cluster = cluster});
  channel.push({"default", "web"}, {.priority = 7, .cluster = "us"});
  const auto recorder = std::make_shared<Recorder>();
  const auto unsubscribe = channel.subscribe(KeySink(recorder));
  EXPECT_THAT(recorder->keys, ElementsAre(":default/web 0", "eu:default/web 0", "us:default/web 7"));
  unsubscribe();
}

TEST_F(SourceTest, PushesAfterTheEndDoNothing) {
  const KeyChannel channel;
  std::unique_ptr<KeySink> kept;
  ControllerSpec made = recording();
  made.sources.push_back({.name = "leaks", .subscribe = [&](KeySink sink) {
                            kept = std::make_unique<KeySink>(sink);
                            return [] {};
                          }});
  made.sources.push_back(channel_source(channel));
  make(std::move(made));
  drop();
  kept->add({"ns", "a"});
  kept->synced();
  channel.push({"ns", "a"});
  EXPECT_EQ(keys.size(), 0U);
}

TEST_F(SourceTest, ATimerAddsItsKeysInEachPeriodFromTheStart) {
  ControllerSpec made = recording();
  int calls = 0;
  made.timers.push_back({.name = "timer", .period = 10s, .keys = [&](Cache&) {
                           ++calls;
                           return std::vector<ObjectKey>{{"ns", "a"}, {"ns", "b"}};
                         }});
  make(std::move(made));
  handlers[0]->on_synced();
  EXPECT_FALSE(controller->step());
  EXPECT_EQ(controller->next_due(), clock->now() + 10s);
  clock->advance(10s);
  step_all();
  EXPECT_THAT(order, ElementsAre("ns/a at 10000", "ns/b at 10000"));
  clock->advance(35s);
  change("live");
  step_all();
  EXPECT_EQ(calls, 2) << "what is late comes once";
  EXPECT_THAT(order, ElementsAre("ns/a at 10000", "ns/b at 10000", "ns/live at 45000", "ns/a at 45000",
                                 "ns/b at 45000"))
      << "and after what is live";
  EXPECT_EQ(controller->next_due(), clock->now() + 5s);
  drop();
}

TEST_F(SourceTest, ATimerThatThrowsIsToldAndGoesOn) {
  ControllerSpec made = recording();
  bool fails = true;
  made.timers.push_back({.name = "timer", .period = 10s, .keys = [&](Cache&) -> std::vector<ObjectKey> {
                           if (std::exchange(fails, false)) throw std::runtime_error("no idea");
                           return {{"ns", "a"}};
                         }});
  start_synced(std::move(made));
  clock->wait_for_waiters(2);  // a worker and the timers' thread
  clock->advance(10s);
  EXPECT_THAT(lines->wait_for("a timer found no keys"), ElementsAre(HasSubstr("source=timer error=no idea")));
  clock->wait_for_waiters(2);
  clock->advance(10s);
  runs.wait_for(1);
  finish();
  EXPECT_THAT(order, ElementsAre("ns/a at 20000"));
  EXPECT_EQ(end_error, nullptr);
  drop();
}

// A function source with initial keys delays the start, uses the controller's queue, and is stopped with it.
TEST_F(SourceTest, AFunctionRunsOnItsThreadUntilTheStopAndIsWaitedFor) {
  Tally told;
  Tally may_sync;
  bool stopped = false;
  ControllerSpec made = recording();
  made.sources.push_back({.name = "dial",
                          .run =
                              [&](const KeySink& sink, const std::stop_token& stop) {
                                sink.add({"ns", "first"});
                                told.add();
                                may_sync.wait_for(1);
                                sink.synced();
                                wait_for_stop(stop);
                                stopped = true;
                              },
                          .options = {.initial = true}});
  make(std::move(made));
  start();
  handlers[0]->on_synced();
  told.wait_for(1);
  clock->wait_for_waiters(1);
  EXPECT_FALSE(controller->is_synced());
  EXPECT_EQ(runs.value(), 0);
  may_sync.add();
  runs.wait_for(1);
  EXPECT_TRUE(controller->is_synced());
  finish();
  EXPECT_TRUE(stopped);
  EXPECT_EQ(end_error, nullptr);
  drop();
}

// Upstream requires a Start() that does not block; here it may block, and is named if the start waits for it.
TEST_F(SourceTest, ASourceThatDoesNotTellIsNamedWhenTheTimeIsOver) {
  ControllerSpec made = recording();
  made.sources.push_back({.name = "silent",
                          .run = [](const KeySink&, const std::stop_token& stop) { wait_for_stop(stop); },
                          .options = {.initial = true}});
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
    EXPECT_STREQ(error.what(), "controller demo: not synced in time: configmaps (v1); source silent");
  }
  drop();
}

// Its exception ends the controller.
TEST_F(SourceTest, AFunctionThatThrowsEndsTheController) {
  ControllerSpec made = recording();
  made.sources.push_back({.name = "dial", .run = [](const KeySink&, const std::stop_token&) {
                            throw std::runtime_error("no line");
                          }});
  make(std::move(made));
  start();
  ended.wait_for(1);
  try {
    std::rethrow_exception(end_error);
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "source dial: no line");
  }
  drop();
}

TEST_F(SourceTest, AFunctionMayEndByItself) {
  ControllerSpec made = recording();
  made.sources.push_back({.name = "once", .run = [](const KeySink& sink, const std::stop_token&) {
                            sink.add({"ns", "a"});
                          }});
  start_synced(std::move(made));
  runs.wait_for(1);
  clock->wait_for_waiters(1);
  EXPECT_EQ(controller->counts().success, 1U);
  finish();
  EXPECT_EQ(end_error, nullptr);
  drop();
}

// ---- Watches with priority and delay, and at run time

TEST_F(SourceTest, AWatchMayHaveAPriorityAndADelayOfItsOwn) {
  ControllerSpec made = recording();
  WatchSpec later = made.watches[0];
  later.primary = false;
  later.priority = 50;
  later.delay = 2s;
  made.watches.push_back(later);
  make(std::move(made));
  for (const auto& handler : handlers) handler->on_synced();
  const WireObject object = wire_object(R"({"namespace":"ns","name":"late"})");
  ObjectEvent event = added(object);
  event.initial = true;
  handlers[1]->on_event(event);
  change("now");
  step_all();
  EXPECT_THAT(order, ElementsAre("ns/now at 0"));
  clock->advance(2s);
  change("other");
  step_all();
  EXPECT_THAT(order, ElementsAre("ns/now at 0", "ns/late at 2000", "ns/other at 2000"))
      << "priority 50 before 0, although it is of a first list";
  handlers[1]->on_event(added(object));
  change("late");
  step_all();
  EXPECT_EQ(order.back(), "ns/late at 2000") << "a sooner reason wins";
  drop();
}

// The gate takes the delay into account: an event without a change waits for the retry of a key in back-off,
// a later one for its own due time.
TEST_F(SourceTest, ADelayedEventWithoutAChangeDoesNotCutTheBackOffShort) {
  const WireObject object =
      wire_object(R"({"namespace":"ns","name":"a","uid":"1","resourceVersion":"1","generation":1})");
  int failures = 1;
  ControllerSpec made = spec([&](Context& context) -> Result {
    order.push_back(context.key().str() + " at " + std::to_string(clock->now().time_since_epoch() / 1ms));
    if (failures-- > 0) throw std::runtime_error("once");
    return done();
  });
  made.watches[0].delay = 1ms;
  make(std::move(made));
  handlers[0]->on_synced();
  handlers[0]->on_event(added(object));
  clock->advance(1ms);
  step_all();
  handlers[0]->on_event(updated(object, object));
  clock->advance(1ms);
  EXPECT_FALSE(controller->step()) << "the retry is due at 6 ms";
  clock->advance(4ms);
  step_all();
  EXPECT_THAT(order, ElementsAre("ns/a at 1", "ns/a at 6"));
  handlers[0]->on_event(updated(object, object));
  clock->advance(1ms);
  step_all();
  EXPECT_EQ(order.back(), "ns/a at 7") << "no back-off any more";
  drop();
}

// Running workers do not wait for a new watch; its errors are thrown by the call.
TEST_F(SourceTest, AWatchIsAddedAndRemovedAtRunTime) {
  start_synced(recording());
  int removed = 0;
  std::shared_ptr<EventHandler> handler;
  const WatchSpec more{.resource = ResourceId("", "v1", "Secret", "secrets"),
                       .mapping = map_to_object(),
                       .attach = [&](Cache&, std::shared_ptr<EventHandler> given) -> Attachment {
                         handler = std::move(given);
                         return {.remove = [&] { ++removed; }};
                       }};
  const WatchId id = controller->watch(more);
  change("a");
  runs.wait_for(1);  // the new watch has not synced
  const WireObject object = wire_object(R"({"namespace":"ns","name":"secret"})", "Secret");
  handler->on_event(added(object));
  runs.wait_for(2);
  handler->on_synced();
  controller->unwatch(id);
  EXPECT_EQ(removed, 1);
  handler->on_event(added(object));
  controller->unwatch(id);
  change("b");
  runs.wait_for(3);
  EXPECT_THROW(controller->watch({.attach = [](Cache&, std::shared_ptr<EventHandler>) -> Attachment {
    throw std::runtime_error("no such kind");
  }}),
               std::runtime_error);
  finish();
  EXPECT_THAT(order, ElementsAre("ns/a at 0", "ns/secret at 0", "ns/b at 0"));
  EXPECT_EQ(removed, 1);
  drop();
}

TEST_F(SourceTest, WorkersWaitForAWatchThatWasAddedBeforeTheyStarted) {
  make(recording());
  start();
  std::shared_ptr<EventHandler> handler;
  const auto attach = [&](Cache&, std::shared_ptr<EventHandler> given) -> Attachment {
    handler = std::move(given);
    return {};
  };
  const WatchId first = controller->watch(
      {.resource = ResourceId("", "v1", "Secret", "secrets"), .mapping = map_to_object(), .attach = attach});
  handlers[0]->on_synced();
  change("a");
  clock->wait_for_waiters(1);
  EXPECT_FALSE(controller->is_synced());
  controller->unwatch(first);  // so that it does not block the start any more
  runs.wait_for(1);
  finish();
  drop();
}

class SourceConcurrency : public SourceTest {};

TEST_F(SourceConcurrency, NoKeyIsLostWhilePushersAndWatchesComeAndGo) {
  const KeyChannel channel;
  constexpr int pushers = 3;
  constexpr int pushes = 500;
  Mutex mutex;
  CondVar changed;
  std::vector<std::string> seen;
  ControllerSpec made = spec([&](Context& context) {
    MutexLock lock(mutex);
    seen.push_back(context.key().name);
    changed.notify_all();
    return done();
  });
  made.options.workers = 2;
  made.sources.push_back(channel_source(channel));
  make(std::move(made));
  start();
  handlers[0]->on_synced();
  {
    std::vector<std::jthread> threads;
    for (int pusher = 0; pusher < pushers; ++pusher) {
      threads.emplace_back([&, pusher] {
        for (int i = 0; i < pushes; ++i)
          channel.push({"ns", std::to_string(pusher) + "-" + std::to_string(i)});
      });
    }
    threads.emplace_back([&] {
      for (int i = 0; i < 100; ++i) {
        controller->unwatch(
            controller->watch({.resource = ResourceId("", "v1", "Secret", "secrets"),
                               .mapping = map_to_object(),
                               .attach = [](Cache&, std::shared_ptr<EventHandler> handler) -> Attachment {
                                 handler->on_synced();
                                 return {};
                               }}));
      }
    });
  }
  {
    MutexLock lock(mutex);
    while (seen.size() < pushers * pushes) changed.wait(lock);
  }
  finish();
  EXPECT_EQ(seen.size(), static_cast<std::size_t>(pushers * pushes)) << "each key was pushed once";
  drop();
}

// Also in a simulation without clusters, so that it is found there.
TEST_F(SourceTest, AControllerOfEngagedClustersRefusesObjectsWithoutACluster) {
  ControllerSpec made = recording();
  made.options.runs_in = RunsIn::engaged_clusters;
  made.watches.push_back(made.watches.front());
  made.watches.back().from_server = false;
  try {
    make(std::move(made));
    ADD_FAILURE();
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(
        error.what(),
        "controller demo: the objects of an EventChannel belong to no engaged cluster; push keys with "
        "KeyOptions::cluster into a KeyChannel");
  }
}

}  // namespace
}  // namespace evenkeel
