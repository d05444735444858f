// SPDX-License-Identifier: Apache-2.0
#include "testing/simulation/network_core.hpp"

#include <algorithm>
#include <array>
#include <chrono>

namespace evenkeel {
inline namespace v0 {
namespace testing::detail {

using namespace std::chrono_literals;
using Loss = RequestFate::Loss;
using Crash = RequestFate::Crash;

NetworkCore::NetworkCore(const NetworkOptions& options)
    : rates_(options.rates),
      random_(options.seed),
      least_(options.least_latency),
      most_(options.most_latency),
      slowest_(options.slowest),
      until_(options.machines) {
  if (most_ > Duration::zero()) return;
  least_ = Duration(100us) * (std::int64_t{1} << random_.below(6));
  most_ = least_ * (2 + static_cast<std::int64_t>(random_.below(10)));
}

Duration NetworkCore::latency(bool may_be_slow) {
  if (!may_be_slow || !random_.hits(rates_.slow)) return random_.between(least_, most_);
  counts_.add(SimulatedFault::slow);
  return random_.between(most_, std::max(slowest_, most_));
}

RequestFate NetworkCore::on_request(std::size_t machine, bool writes, Duration now) {
  const bool disturbed = is_disturbed(machine);
  RequestFate fate{.there = latency(disturbed), .back = latency(disturbed)};
  if (!disturbed) return fate;
  if (is_cut_off(machine, now)) {
    fate.loss = Loss::request;
    return fate;
  }
  if (writes && random_.hits(rates_.crash_at_write)) {
    counts_.add(SimulatedFault::crash_at_write);
    fate.crash = random_.below(2) == 0 ? Crash::before : Crash::after;
    return fate;
  }
  if (writes && random_.hits(rates_.pause_at_write)) {
    counts_.add(SimulatedFault::pause_at_write);
    fate.pause = true;
    return fate;
  }
  if (random_.hits(rates_.lose_request)) {
    counts_.add(SimulatedFault::lose_request);
    fate.loss = Loss::request;
  } else if (random_.hits(rates_.lose_answer)) {
    counts_.add(SimulatedFault::lose_answer);
    fate.loss = Loss::answer;
  } else if (random_.hits(rates_.refuse)) {
    counts_.add(SimulatedFault::refuse);
    constexpr std::array statuses{429, 500, 503};
    fate.refused = statuses[random_.below(statuses.size())];
  }
  fate.broken = fate.loss != Loss::none && random_.below(2) == 0;
  return fate;
}

bool NetworkCore::on_answer(std::size_t machine, Duration now) {
  return !is_cut_off(machine, now);
}

// In a partition the sender repeats a piece until it is over, if the connection lives as long.
PieceFate NetworkCore::on_piece(std::size_t machine, std::size_t bytes, Duration now) {
  const bool disturbed = is_disturbed(machine);
  PieceFate fate{.delay = latency(disturbed)};
  if (!disturbed) return fate;
  if (is_cut_off(machine, now)) fate.delay += until_[machine] - now;
  if (random_.hits(rates_.cut)) {
    counts_.add(SimulatedFault::cut);
    fate.cut_at = random_.below(bytes + 1);
  } else if (random_.hits(rates_.silence)) {
    counts_.add(SimulatedFault::silence);
    fate.silent = true;
  }
  return fate;
}

void NetworkCore::cut_off(std::size_t machine, Duration until) {
  counts_.add(SimulatedFault::partitions);
  until_.at(machine) = std::max(until_.at(machine), until);
}

void NetworkCore::calm() {
  calm_ = true;
}

}  // namespace testing::detail
}  // namespace v0
}  // namespace evenkeel
