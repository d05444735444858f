// SPDX-License-Identifier: Apache-2.0
// A fixture with a controller, events made by hand, and a manual clock.
#pragma once

#include <chrono>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/apiserver/in_process_transport.hpp>
#include <evenkeel/base/clock.hpp>
#include <evenkeel/base/cond_var.hpp>
#include <evenkeel/base/mutex.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/controller/controller.hpp>
#include <evenkeel/testing/log_recorder.hpp>

#include "event_fixture.hpp"

namespace evenkeel {

// Counts up to a number in one thread and waits for it in another; throws if it is not reached in time.
class Tally {
 public:
  void add() {
    MutexLock lock(mutex_);
    ++count_;
    changed_.notify_all();
  }
  void wait_for(int count) {
    const TimePoint deadline = std::chrono::steady_clock::now() + std::chrono::seconds{45};
    MutexLock lock(mutex_);
    while (count_ < count) {
      if (std::chrono::steady_clock::now() >= deadline) {
        throw std::runtime_error("waited 45 s for " + std::to_string(count) + ", have " +
                                 std::to_string(count_));
      }
      changed_.wait_until(lock, deadline);
    }
  }
  int value() const {
    MutexLock lock(mutex_);
    return count_;
  }

 private:
  mutable Mutex mutex_;
  CondVar changed_;
  int count_ EVENKEEL_GUARDED_BY(mutex_) = 0;
};

class ControllerTest : public ::testing::Test {
 protected:
  // Only the controller uses the manual clock: its waiters are the workers.
  ControllerTest()
      : client(Config{.server = "http://test"},
               {.transport = std::make_shared<apiserver::InProcessTransport>()}),
        cache(client) {}
  ~ControllerTest() override {
    if (controller) finish();
  }

  ControllerSpec spec(ReconcileFunction reconcile) {
    ControllerSpec made;
    made.options.name = "demo";
    made.resource = ResourceId("", "v1", "ConfigMap", "configmaps");
    made.reconcile = std::move(reconcile);
    made.watches.push_back({.resource = made.resource,
                            .mapping = map_to_object(),
                            .primary = true,
                            .attach = [this](Cache&, std::shared_ptr<EventHandler> given) -> Attachment {
                              handlers.push_back(std::move(given));
                              return {};
                            }});
    return made;
  }
  void make(ControllerSpec made) {
    controller = std::make_unique<Controller>(
        std::move(made),
        ControllerEnvironment{
            .client = client, .cache = cache, .keys = keys, .log = Log(lines), .clock = clock});
    controller->attach();
  }
  void start() {
    controller->start([this](std::exception_ptr error) {
      end_error = std::move(error);
      ended.add();
    });
  }
  // Synced before it starts: so no worker waits for the first lists.
  void start_synced(ControllerSpec made) {
    make(std::move(made));
    for (const auto& handler : handlers) handler->on_synced();
    start();
    clock->wait_for_waiters(1);
  }
  // Simulates the creation of the object `name`.
  void change(const std::string& name) {
    const WireObject object = wire_object(R"({"namespace":"ns","name":")" + name + R"("})");
    handlers[0]->on_event(added(object));
  }
  void finish() {
    controller->stop();
    controller->cancel();
    ended.wait_for(1);
  }

  std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>();
  std::shared_ptr<testing::LogRecorder> lines = std::make_shared<testing::LogRecorder>();
  Client client;
  Cache cache;
  KeyTable keys;
  std::vector<std::shared_ptr<EventHandler>> handlers;
  Tally ended;
  std::exception_ptr end_error;
  std::unique_ptr<Controller> controller;
};

}  // namespace evenkeel
