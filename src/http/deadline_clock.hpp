// SPDX-License-Identifier: Apache-2.0
// The clock of the curl transport, which has real sockets and so real time.
#pragma once

#include <chrono>

#include <evenkeel/base/time.hpp>

namespace evenkeel {
inline namespace v0 {
namespace http::detail {

/// Returns the time to which deadlines of requests refer.
inline TimePoint now() {
  return std::chrono::steady_clock::now();
}

}  // namespace http::detail
}  // namespace v0
}  // namespace evenkeel
