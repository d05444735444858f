// SPDX-License-Identifier: Apache-2.0
// The operator on the test harness, in virtual time: ten thousand monitors, one worker, checks of 10 ms,
// first with one list of keys, then with two lanes. Exits with 1 if a check does not start when it should.
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <evenkeel/base/duration_text.hpp>
#include <evenkeel/testing/harness.hpp>

#include "health_monitor.hpp"

using namespace std::chrono_literals;

namespace {

constexpr int applications = 10'000;
constexpr ek::Duration check_takes = 10ms;

ek::ObjectKey application(int number) {
  return {"default", "app-" + std::to_string(number)};
}

HealthMonitor monitor_of(const ek::ObjectKey& key) {
  return {.metadata = {.name = key.name, .namespace_ = key.namespace_}};
}

ek::Deployment deployment_of(const ek::ObjectKey& key) {
  const std::map<std::string, std::string> labels = {{"app", key.name}};
  ek::Deployment deployment{.metadata = {.name = key.name, .namespace_ = key.namespace_}};
  deployment.spec.selector = ek::LabelSelector{.match_labels = labels};
  deployment.spec.template_.metadata.labels = labels;
  deployment.spec.template_.spec.containers = {{.name = "web", .image = "web:1"}};
  return deployment;
}

// Reports what the deployment controller reports at the end of a rollout.
void finish_rollout(ek::testing::Harness& cluster, const ek::ObjectKey& key) {
  const auto deployment = cluster.get<ek::Deployment>(key);
  cluster.edit_status<ek::Deployment>(key, [&](ek::apps_v1::DeploymentStatus& status) {
    status.observed_generation = deployment->metadata.generation;
    status.replicas = status.updated_replicas = status.available_replicas = 1;
  });
}

enum class Queue { one_list, two_lanes };

// A cluster with 10,000 monitors and their operator.
class World {
 public:
  World(Queue queue, ek::ObjectKey watched)
      : watched_(std::move(watched)), cluster_({.max_runs = 50'000, .log_level = ek::LogLevel::warn}) {
    const HealthCheck check = [this](ek::Context& context, const HealthMonitor&) {
      if (context.key() == watched_) checks_.push_back(cluster_.elapsed());
      ek::sleep_until(context.clock(), context.clock().now() + check_takes, context.stop());
      return true;
    };
    if (queue == Queue::two_lanes) {
      cluster_.add(two_lane_controller(check));
    } else {
      cluster_.add(health_controller(check, std::make_shared<Rollouts>()).with({.store = [] {
        return ek::FifoStore();
      }}));
    }
    for (int i = 0; i < applications; ++i) cluster_.client().create(monitor_of(application(i)));
  }

  ek::testing::Harness& cluster() { return cluster_; }
  /// Runs until the watched application has been checked `count` times since `since`; returns the start of
  /// the last of these checks.
  ek::Duration check(std::size_t count, ek::Duration since = {}) {
    for (;;) {
      std::size_t seen = 0;
      for (const ek::Duration at : checks_) {
        if (at >= since && ++seen == count) return at;
      }
      cluster_.run_for(1s);
    }
  }

 private:
  const ek::ObjectKey watched_;
  std::vector<ek::Duration> checks_;
  ek::testing::Harness cluster_;
};

bool as_promised = true;

void compare(const char* what, ek::Duration one_list, ek::Duration two_lanes, bool holds) {
  std::printf("  %-58s %9s %9s%s\n", what, ek::format_duration(one_list).c_str(),
              ek::format_duration(two_lanes).c_str(), holds ? "" : "  NOT AS PROMISED");
  as_promised = as_promised && holds;
}

// The start of the first check of an application that is created, and rolled out, 5 ms after the operator.
ek::Duration first_check_of_newcomer(Queue queue) {
  const ek::ObjectKey app{"default", "app-new"};
  World world(queue, app);
  world.cluster().after(5ms, [&] { world.cluster().create({deployment_of(app), monitor_of(app)}); });
  return world.check(1);
}

// The start of the first check of the last application in the list, whose rollout begins 5 ms after the
// operator.
ek::Duration first_check_of_last(Queue queue) {
  const ek::ObjectKey app = application(applications - 1);
  World world(queue, app);
  world.cluster().create({deployment_of(app)});
  finish_rollout(world.cluster(), app);
  world.cluster().after(5ms, [&] {
    world.cluster().edit<ek::Deployment>(app, [](ek::Deployment& deployment) {
      deployment.spec.template_.spec.containers.at(0).image = "web:2";
    });
  });
  return world.check(1);
}

}  // namespace

int main() {
  std::printf("One worker, 10,000 monitors, checks of 10 ms                one list two lanes\n");
  {
    const ek::Duration list = first_check_of_newcomer(Queue::one_list);
    const ek::Duration lanes = first_check_of_newcomer(Queue::two_lanes);
    // After 10,000 checks, or after the one that is running.
    compare("at start-up: the first check of a new application", list, lanes, list == 100s && lanes == 10ms);
  }
  {
    const ek::Duration list = first_check_of_last(Queue::one_list);
    const ek::Duration lanes = first_check_of_last(Queue::two_lanes);
    compare("the same of the last one in the list, now rolled out", list, lanes,
            list == 99'990ms && lanes == 10ms);
  }
  return as_promised ? 0 : 1;
}
