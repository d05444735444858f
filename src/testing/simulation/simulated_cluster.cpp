// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <utility>

#include <evenkeel/base/clock.hpp>
#include <evenkeel/base/cond_var.hpp>
#include <evenkeel/base/error.hpp>
#include <evenkeel/base/mutex.hpp>
#include <evenkeel/testing/simulation.hpp>

#include "testing/simulation/simulation_random.hpp"

namespace evenkeel {
inline namespace v0 {
namespace testing {

using namespace std::chrono_literals;

SimulatedCluster::SimulatedCluster(Client client, std::uint64_t seed)
    : client_(std::move(client)), start_(client_.clock()->now()), random_(seed) {}

void SimulatedCluster::create(const Objects& objects) {
  create_objects(client_, objects);
}

void SimulatedCluster::settle() {
  detail::SimulationRandom random(random_);
  const bool soon = random.below(2) == 0;
  const Duration time = soon ? random.between(0ms, 1s) : random.between(1s, 40s);
  random_ = random.next();
  run_for(time);
}

void SimulatedCluster::run_for(Duration time) {
  const Clock& clock = *client_.clock();
  const TimePoint until = deadline_after(clock.now(), time);
  Mutex mutex;
  CondVar never;
  MutexLock lock(mutex);
  while (clock.now() < until) clock.wait_until(never, lock, until);
}

void SimulatedCluster::wait_until(const std::function<bool()>& condition, Duration limit) {
  const TimePoint until = deadline_after(client_.clock()->now(), limit);
  while (!condition()) {
    if (client_.clock()->now() >= until) throw Error("SimulatedCluster::wait_until: the time is over");
    run_for(500ms);
  }
}

Duration SimulatedCluster::elapsed() const {
  return client_.clock()->now() - start_;
}

}  // namespace testing
}  // namespace v0
}  // namespace evenkeel
