// SPDX-License-Identifier: Apache-2.0
// Late kinds while threads ask for one, handlers come and go, and its definition is made and removed.
#include "controller/dependents/late_kinds.hpp"

#include <atomic>
#include <chrono>
#include <memory>
#include <stop_token>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/apiserver/in_process_transport.hpp>
#include <evenkeel/cache/cache.hpp>
#include <evenkeel/client/errors.hpp>
#include <evenkeel/client/resource_client.hpp>
#include <evenkeel/controller/builder.hpp>
#include <evenkeel/testing/object.hpp>

#include "../support/await.hpp"
#include "controller_fixture.hpp"
#include "dependents_fixture.hpp"

namespace evenkeel::dependents_test {
namespace {

using namespace std::chrono_literals;
using detail::LateState;

class CountingHandler final : public EventHandler {
 public:
  void on_event(const ObjectEvent&) noexcept override { events.add(); }
  void on_synced() noexcept override { ++lists; }

  Tally events;
  std::atomic<int> lists = 0;
};

class LateKindsConcurrency : public ::testing::Test {
 protected:
  LateKindsConcurrency()
      : client(Config{.server = "http://test"},
               {.transport = std::make_shared<apiserver::InProcessTransport>()}),
        cache(client),
        time_([this](const std::stop_token& stop) {
          while (!stop.stop_requested()) {
            clock->advance(10ms);
            std::this_thread::yield();
          }
        }) {
    cache.start();
  }

  Attachment add(const std::shared_ptr<CountingHandler>& handler) {
    const WatchSpec watch = detail::watch_of(monitors, map_to_object(), {}, detail::scope_of(monitors, {}));
    return late->add(cache, monitors, watch.attach, handler);
  }
  LateState::Kind look() {
    Context context({.client = client, .cache = &cache, .clock = clock});
    return late->look(context, monitors).kind;
  }
  void look_until(LateState::Kind kind) {
    tests::await("a state of the kind", [&] { return look() == kind; });
  }
  void define() {
    tests::await("the end of the definition", [&] {
      try {
        testing::create_objects(client, {monitor_definition});
        return true;
      } catch (const ApiError&) {
        return false;
      }
    });
  }
  void remove_definition() {
    const ResourceId definitions{"apiextensions.k8s.io", "v1", "CustomResourceDefinition",
                                 "customresourcedefinitions", Scope::cluster};
    client.resource(definitions).remove({"", "monitors.monitoring.example.com"});
  }

  std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>();
  Client client;
  Cache cache;
  std::shared_ptr<detail::LateKinds> late = std::make_shared<detail::LateKinds>();

 private:
  std::jthread time_;
};

TEST_F(LateKindsConcurrency, WatchesFollowTheDefinition) {
  const auto lasting = std::make_shared<CountingHandler>();
  const Attachment attachment = add(lasting);
  {
    std::atomic<int> working = 4;
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 3; ++thread) {
      threads.emplace_back([&] {
        for (int round = 0; round < 100; ++round) look();
        --working;
      });
    }
    threads.emplace_back([&] {
      for (int round = 0; round < 100; ++round) add(std::make_shared<CountingHandler>()).remove();
      --working;
    });
    while (working > 0) {
      define();
      look();
      remove_definition();
    }
  }
  define();
  look_until(LateState::Kind::served);
  client.resource(monitors).create(DynamicObject(monitors, "default", "web"));
  lasting->events.wait_for(1);
  EXPECT_EQ(lasting->lists, 1) << "it was told of the end of the first list when it was added";

  remove_definition();
  look_until(LateState::Kind::not_served);
  define();
  look_until(LateState::Kind::served);
  attachment.remove();
  const int events = lasting->events.value();
  client.resource(monitors).create(DynamicObject(monitors, "default", "late"));
  const auto next = std::make_shared<CountingHandler>();
  const Attachment other = add(next);
  look_until(LateState::Kind::served);
  next->events.wait_for(1);
  EXPECT_EQ(lasting->events.value(), events);
  other.remove();
}

}  // namespace
}  // namespace evenkeel::dependents_test
