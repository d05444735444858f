// SPDX-License-Identifier: Apache-2.0
// Formats durations for people: "0.005s", "30s". Shared with floors above.
#pragma once

#include <array>
#include <chrono>
#include <cstdio>
#include <string>

#include <evenkeel/base/time.hpp>

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

inline std::string seconds_text(Duration duration) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%.9gs", std::chrono::duration<double>(duration).count());
  return text.data();
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
