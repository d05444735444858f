// SPDX-License-Identifier: Apache-2.0
// The complete operator, with threads and sockets, on the embedded API server: an application whose rollout
// begins is checked while ten thousand monitors wait.
#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include <evenkeel/apiserver/api_server.hpp>
#include <evenkeel/apiserver/in_process_transport.hpp>
#include <evenkeel/controller/explanation.hpp>
#include <evenkeel/testing/object.hpp>
#include <evenkeel/testing/running_manager.hpp>
#include <evenkeel/testing/wait.hpp>

#include "health_monitor.hpp"

namespace {

constexpr int applications = 10'000;

HealthMonitor monitor_of(const std::string& name) {
  return {.metadata = {.name = name, .namespace_ = "default"}};
}

ek::Deployment deployment_of(const std::string& name) {
  ek::Deployment deployment{.metadata = {.name = name, .namespace_ = "default"}};
  deployment.spec.selector = ek::LabelSelector{.match_labels = {{"app", name}}};
  deployment.spec.template_.metadata.labels = {{"app", name}};
  deployment.spec.template_.spec.containers = {{.name = "web", .image = "web:1"}};
  return deployment;
}

}  // namespace

TEST(HealthMonitorConcurrency, ARolloutDoesNotWaitForTenThousandChecks) {
  const ek::apiserver::ApiServer server;
  const ek::Client client(server.config());
  // Directly into the server's core, to save ten thousand round trips.
  const ek::Client setup(ek::Config{},
                         {.transport = std::make_shared<ek::apiserver::InProcessTransport>(server.core())});
  ek::testing::create_objects(setup, {monitor_of("urgent")});
  for (int i = 0; i < applications; ++i) setup.create(monitor_of("app-" + std::to_string(i)));

  // The rollout begins during the first check, which ends when the queue has moved the monitor to the fast
  // lane.
  const ek::ObjectKey urgent{"default", "urgent"};
  ek::Controller* controller = nullptr;
  std::atomic<int> checks_before = 0;
  std::atomic<bool> urgent_checked = false;
  const HealthCheck check = [&](ek::Context& context, const HealthMonitor&) {
    if (context.key() == urgent) urgent_checked = true;
    if (!urgent_checked && ++checks_before == 1) {
      client.create(deployment_of("urgent"));
      while (controller->explain(urgent).lane != "fast") {
        context.check();
        std::this_thread::yield();
      }
    }
    return true;
  };
  ek::Manager manager(ek::Client(server.config()), {.name = "health-monitor"});
  controller = &manager.add(two_lane_controller(check));
  ek::testing::RunningManager running(manager);
  ek::testing::wait_for<HealthMonitor>(client, urgent, ek::Json::parse(R"({"status": {"healthy": true}})"));
  running.stop();
  EXPECT_EQ(checks_before, 1) << "of " << applications;
}
