// SPDX-License-Identifier: Apache-2.0
// Reconciles on fibers: ControllerOptions::in_flight.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/base/stop.hpp>
#include <evenkeel/client/wait.hpp>
#include <evenkeel/client/watch.hpp>
#include <evenkeel/controller/builder.hpp>
#include <evenkeel/controller/context.hpp>
#include <evenkeel/controller/controller.hpp>
#include <evenkeel/controller/explanation.hpp>
#include <evenkeel/metrics/text.hpp>
#include <evenkeel/testing/harness.hpp>

#include "../support/temporary_directory.hpp"
#include "controller_fixture.hpp"

namespace evenkeel {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class InFlight : public ControllerTest {
 protected:
  void start_on_fibers(ReconcileFunction reconcile, std::size_t in_flight, std::size_t workers = 1) {
    ControllerSpec made = spec(std::move(reconcile));
    made.options.workers = workers;
    made.options.in_flight = in_flight;
    start_synced(std::move(made));
  }
  void change_all(int count) {
    for (int i = 0; i < count; ++i) change(std::to_string(i));
  }
  std::string metrics() const {
    PrometheusText sink;
    controller->collect(sink);
    return sink.str();
  }
  std::string refusal(const std::function<void(ControllerOptions&)>& set) {
    ControllerSpec made = spec([](Context&) { return done(); });
    set(made.options);
    try {
      make(std::move(made));
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "";
  }

  Tally began;
  Tally over;
};

class InFlightConcurrency : public InFlight {};

ConfigMap config_map(const std::string& name) {
  ConfigMap made;
  made.metadata.namespace_ = "default";
  made.metadata.name = name;
  return made;
}

TEST_F(InFlight, OptionsThatCannotBeAreRefused) {
  EXPECT_EQ(refusal([](auto& options) { options.in_flight = 0; }),
            "controller demo: in_flight must be at least 1");
  EXPECT_EQ(refusal([](auto& options) { options.fiber_stack_bytes = 65535; }),
            "controller demo: fiber_stack_bytes must be at least 65536");
}

TEST_F(InFlightConcurrency, AThousandWaitOnTwoThreads) {
  start_on_fibers(
      [this](Context& context) {
        began.add();
        EXPECT_TRUE(sleep_until(*clock, clock->now() + 100ms, context.stop()));
        over.add();
        return done();
      },
      1000, 2);
  change_all(1000);
  began.wait_for(1000);
  EXPECT_EQ(over.value(), 0);
  clock->wait_for_waiters(1000);
  clock->advance(100ms);
  over.wait_for(1000);
  finish();
  EXPECT_EQ(controller->counts().success, 1000U);
  EXPECT_EQ(end_error, nullptr);
}

TEST_F(InFlightConcurrency, TheLimitHoldsAndIsReported) {
  std::atomic<int> now = 0;
  std::atomic<int> most = 0;
  start_on_fibers(
      [&](Context& context) {
        most = std::max(most.load(), ++now);
        began.add();
        sleep_until(*clock, clock->now() + 1s, context.stop());
        --now;
        over.add();
        return done();
      },
      7, 1);
  change_all(20);
  began.wait_for(7);
  clock->wait_for_waiters(7);
  EXPECT_THAT(metrics(), HasSubstr("controller_runtime_max_concurrent_reconciles{controller=\"demo\"} 7"));
  EXPECT_EQ(controller->summary(10, {}).workers, 7U);
  for (int done = 7; done < 20 + 7; done += 7) {
    clock->wait_for_waiters(static_cast<std::size_t>(std::min(7, 27 - done)));
    clock->advance(1s);
    over.wait_for(std::min(done, 20));
    began.wait_for(std::min(done + 7, 20));
  }
  EXPECT_EQ(most, 7);
}

TEST_F(InFlightConcurrency, AStopReachesEachAndAllEnd) {
  start_on_fibers(
      [this](Context& context) {
        began.add();
        sleep_until(*clock, TimePoint::max(), context.stop());
        context.check();
        return done();
      },
      2000, 2);
  change_all(2000);
  began.wait_for(2000);
  finish();
  EXPECT_EQ(controller->counts().cancelled, 2000U);
  EXPECT_EQ(end_error, nullptr);
}

TEST_F(InFlightConcurrency, ABugEndsTheControllerIfThatIsConfigured) {
  ControllerSpec made = spec([this](Context& context) -> Result {
    if (context.key().name == "7") {
      began.wait_for(20);
      throw std::logic_error("a bug");
    }
    began.add();
    sleep_until(*clock, TimePoint::max(), context.stop());
    return done();
  });
  made.options.in_flight = 100;
  made.options.on_panic = OnPanic::fail;
  start_synced(std::move(made));
  change_all(21);
  began.wait_for(20);
  controller->cancel();
  ended.wait_for(1);
  ASSERT_NE(end_error, nullptr);
  EXPECT_THROW(std::rethrow_exception(end_error), std::logic_error);
}

TEST_F(InFlightConcurrency, FailuresAreRetried) {
  std::atomic<int> attempts = 0;
  start_on_fibers(
      [&](Context& context) -> Result {
        if (++attempts == 1) {
          try {
            throw std::runtime_error("not yet");
          } catch (...) {
            sleep_until(*clock, clock->now() + 1s, context.stop());
            throw;
          }
        }
        over.add();
        return done();
      },
      10);
  change("a");
  clock->wait_for_deadline(clock->now() + 1s);
  clock->advance(1s);
  clock->wait_for_deadline(clock->now() + 1s);
  clock->advance(1s);
  over.wait_for(1);
  EXPECT_EQ(controller->counts().error, 1U);
}

/// Answers only when `wanted` requests wait for an answer.
class Reluctant final : public http::Transport {
 public:
  explicit Reluctant(std::size_t wanted) : wanted_(wanted) {}
  std::shared_ptr<http::Call> send(http::Request, http::Completion completion) override {
    std::vector<http::Completion> ready;
    {
      MutexLock lock(mutex_);
      waiting_.push_back(std::move(completion));
      if (waiting_.size() == wanted_) ready.swap(waiting_);
    }
    for (const auto& answer : ready) {
      answer(http::Response{.status = 200,
                            .body = R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a",)"
                                    R"("namespace":"default","uid":"1","resourceVersion":"1"}})"});
    }
    return std::make_shared<Nothing>();
  }
  std::shared_ptr<http::Call> stream(http::Request, std::shared_ptr<http::StreamHandler>) override {
    throw std::logic_error("not used");
  }

 private:
  struct Nothing final : http::Call {
    void cancel() noexcept override {}
  };
  const std::size_t wanted_;
  Mutex mutex_;
  std::vector<http::Completion> waiting_ EVENKEEL_GUARDED_BY(mutex_);
};

TEST_F(InFlightConcurrency, BlockingCallsLeaveTheThreadToOthers) {
  const Client slow({.server = "http://slow"}, {.transport = std::make_shared<Reluctant>(100)});
  start_on_fibers(
      [&](Context&) {
        EXPECT_EQ(slow.get<ConfigMap>({"default", "a"})->metadata.name, "a");
        over.add();
        return done();
      },
      100);
  change_all(100);
  over.wait_for(100);
}

TEST_F(InFlightConcurrency, RawFetchesOfATransportLeaveTheThreadToOthers) {
  const auto transport = std::make_shared<Reluctant>(50);
  start_on_fibers(
      [&](Context& context) {
        EXPECT_EQ(transport->fetch({.target = "/a"}, context.stop()).status, 200);
        over.add();
        return done();
      },
      50);
  change_all(50);
  over.wait_for(50);
}

TEST_F(InFlightConcurrency, WritesListsAndWatchesWaitForEachOther) {
  start_on_fibers(
      [this](Context& context) {
        const std::string own = "own-" + context.key().name;
        const std::string next = "own-" + std::to_string((std::stoi(context.key().name) + 1) % 20);
        context.client().create(config_map(own));
        const auto found = wait_until<ConfigMap>(
            context.client(), {"default", next}, [](const Snapshot<ConfigMap>& map) { return bool(map); },
            context.stop());
        EXPECT_EQ((*found)->metadata.name, next);
        EXPECT_GE(context.client().list<ConfigMap>({.namespace_ = "default", .limit = 1000}).items.size(),
                  2U);
        over.add();
        return done();
      },
      20);
  change_all(20);
  over.wait_for(20);
  EXPECT_EQ(client.list<ConfigMap>({.namespace_ = "default"}).items.size(), 20U);
}

TEST_F(InFlightConcurrency, ATokenIsFetchedBesideTheFibers) {
  const tests::TemporaryDirectory folder;
  const std::string file = folder.path / "token";
  std::ofstream(file) << "secret";
  const Client tokened({.server = "https://test", .token_file = file}, {.transport = client.transport()});
  client.create(config_map("a"));
  start_on_fibers(
      [&](Context& context) {
        const Client own = tokened.with({.stop = context.stop()});
        Watch<ConfigMap> watch(own, {.namespace_ = "default", .resource_version = "0"});
        EXPECT_EQ(watch.next(context.stop())->object->metadata.name, "a");
        EXPECT_EQ(own.get<ConfigMap>({"default", "a"})->metadata.name, "a");
        over.add();
        return done();
      },
      2);
  change("x");
  over.wait_for(1);
}

TEST(InFlightInVirtualTime, TheHarnessRunsOneReconcileAtATime) {
  testing::Harness harness;
  int now = 0;
  harness.add(controller_for<ConfigMap>([&](Context& context, const ConfigMap&) {
                EXPECT_EQ(++now, 1);
                context.client().get<ConfigMap>(context.key());
                sleep_until(context.clock(), context.clock().now() + 1s, context.stop());
                --now;
              }).with({.in_flight = 10}));
  harness.client().create(config_map("a"));
  harness.client().create(config_map("b"));
  EXPECT_TRUE(harness.settle());
  EXPECT_EQ(harness.runs().size(), 2U);
  EXPECT_GE(harness.elapsed(), 2s);
}

TEST_F(InFlightConcurrency, AStopEndsACallWithTheErrorOfAThread) {
  const Client slow({.server = "http://slow"}, {.transport = std::make_shared<Reluctant>(2)});
  std::string on_fiber;
  const auto message = [&](const std::stop_token& stop) -> std::string {
    try {
      slow.with({.stop = stop}).get<ConfigMap>({"default", "a"});
    } catch (const Cancelled& error) {
      return error.what();
    }
    return "";
  };
  start_on_fibers(
      [&](Context&) {
        std::stop_source stop;
        stop.request_stop();
        on_fiber = message(stop.get_token());
        over.add();
        return done();
      },
      2);
  change("a");
  over.wait_for(1);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(on_fiber, message(stop.get_token()));
}

}  // namespace
}  // namespace evenkeel
