// SPDX-License-Identifier: Apache-2.0
#include "testing/simulation/simulation_trace.hpp"

#include <array>
#include <chrono>
#include <cstdio>
#include <utility>

namespace evenkeel {
inline namespace v0 {
namespace testing::detail {

void SimulationTrace::add(Duration at, const std::string& who, const std::string& what) {
  std::array<char, 64> head{};
  std::snprintf(head.data(), head.size(), "%10.4fs  %-12s ", std::chrono::duration<double>(at).count(),
                who.c_str());
  std::string line = head.data() + what;
  hash_ = v0::detail::fnv1a(line, hash_);
  if (stopped_) return;
  lines_.push_back(std::move(line));
  if (most_ > 0 && lines_.size() > most_) lines_.pop_front();
}

// A whole trace goes on.
void SimulationTrace::stop() {
  stopped_ = most_ > 0;
}

std::string SimulationTrace::str() const {
  std::string text;
  for (const std::string& line : lines_) text += line + "\n";
  return text;
}

}  // namespace testing::detail
}  // namespace v0
}  // namespace evenkeel
