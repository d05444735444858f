// SPDX-License-Identifier: Apache-2.0
// The operator: `health-monitor --print-crds | kubectl apply -f -` installs the kind.
#include <evenkeel/evenkeel.hpp>

#include "health_monitor.hpp"

namespace {

// Stands for a request to the application: it takes 10 ms, and the answer is good while a replica is
// available.
bool is_available(ek::Context& context, const HealthMonitor& /*monitor*/) {
  ek::sleep_until(context.clock(), context.clock().now() + std::chrono::milliseconds{10}, context.stop());
  const auto deployment = context.find<ek::Deployment>(context.key());
  return deployment && deployment->status.available_replicas.value_or(0) > 0;
}

}  // namespace

int main(int argc, char** argv) {
  return ek::run(argc, argv, {.name = "health-monitor"},
                 [](ek::Manager& manager) { manager.add(two_lane_controller(is_available)); });
}
