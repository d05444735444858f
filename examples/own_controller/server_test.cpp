// SPDX-License-Identifier: Apache-2.0
// The controller that is joined by hand, on the embedded API server.
#include <cstddef>
#include <cstdint>
#include <latch>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/apiserver/api_server.hpp>
#include <evenkeel/testing/wait.hpp>

#include "count_entries.hpp"
#include "own_controller.hpp"

namespace {

ek::ConfigMap map_of(const std::string& name) {
  return {.metadata = {.name = name, .namespace_ = "default"}, .data = {{"a", "1"}, {"b", "2"}}};
}

void wait_for_entries(const ek::Client& client, const std::string& name, const std::string& entries) {
  ek::testing::wait_for<ek::ConfigMap>(
      client, {"default", name}, "the number of entries", [&](const ek::ConfigMap& map) {
        const auto found = map.metadata.annotations.find("example.com/entries");
        return found != map.metadata.annotations.end() && found->second == entries;
      });
}

// Blocks until `key` is in this lane of the queue.
void wait_for_lane(OwnController& controller, const ek::ObjectKey& key, const std::string& lane) {
  while (controller.queue().inspect(key).lane != lane) std::this_thread::yield();
}

TEST(OwnControllerConcurrency, ReconcilesWhatExistsAndWhatChanges) {
  const ek::apiserver::ApiServer server;
  const ek::Client client(server.config());
  const auto before = client.create(map_of("before"));
  const OwnController controller(client, count_entries_with(client));
  wait_for_entries(client, "before", "2");
  client.create(map_of("after"));
  wait_for_entries(client, "after", "2");
  client.patch(before, [](ek::ConfigMap& map) { map.data["c"] = "3"; });
  wait_for_entries(client, "before", "3");
}

// The workers are busy with four objects of the first list while another one changes.
TEST(OwnControllerConcurrency, ALiveChangeOvertakesTheFirstList) {
  const ek::apiserver::ApiServer server;
  const ek::Client client(server.config());
  for (int i = 0; i < 50; ++i) client.create(map_of("listed-" + std::to_string(i)));
  std::latch busy(4);
  std::latch changed(1);
  std::latch done(51);
  std::mutex mutex;
  std::vector<std::string> order;
  OwnController controller(client, [&](const ek::Cache&, const ek::ObjectKey& key) {
    if (key.namespace_ != "default") return;
    std::size_t at = 0;
    {
      const std::lock_guard lock(mutex);
      order.push_back(key.name);
      at = order.size();
    }
    if (at <= 4) {
      busy.count_down();
      changed.wait();
    }
    if (at <= 51) done.count_down();
  });
  busy.wait();
  client.create(map_of("live"));
  wait_for_lane(controller, {"default", "live"}, "fast");
  changed.count_down();
  done.wait();
  const std::lock_guard lock(mutex);
  EXPECT_EQ(order.at(4), "live") << "the first key that a worker gets after these four";
}

TEST(OwnControllerConcurrency, AFailingObjectIsRetriedByTheLimiter) {
  const ek::apiserver::ApiServer server;
  const ek::Client client(server.config());
  const ek::ObjectKey sick{"default", "sick"};
  std::vector<std::uint64_t> failures;
  OwnController* running = nullptr;
  std::latch known(1);
  std::latch healthy(1);
  OwnController controller(client, [&](const ek::Cache&, const ek::ObjectKey& key) {
    if (key != sick) return;
    known.wait();
    failures.push_back(running->queue().retries(key));  // one worker at a time
    if (failures.size() < 4) throw std::runtime_error("not yet");
    healthy.count_down();
  });
  running = &controller;
  known.count_down();
  client.create(map_of("sick"));
  healthy.wait();
  EXPECT_EQ(failures, (std::vector<std::uint64_t>{0, 1, 2, 3}));
}

TEST(OwnControllerConcurrency, FourWorkersHoldFourObjects) {
  const ek::apiserver::ApiServer server;
  const ek::Client client(server.config());
  for (int i = 0; i < 4; ++i) client.create(map_of("map-" + std::to_string(i)));
  std::latch together(4);
  std::latch done(4);
  const OwnController controller(client, [&](const ek::Cache&, const ek::ObjectKey& key) {
    if (key.namespace_ != "default") return;
    together.arrive_and_wait();  // never, with fewer workers or with a key in two hands
    done.count_down();
  });
  done.wait();
}

}  // namespace
