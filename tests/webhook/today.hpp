// SPDX-License-Identifier: Apache-2.0
// The lifetime of certificates of tests.
#pragma once

#include <chrono>

#include <evenkeel/base/clock.hpp>

#include "webhook/x509.hpp"

namespace evenkeel::tests {

/// Returns a lifetime of 25 hours that began an hour ago.
inline detail::Lifetime today() {
  const WallTime now = real_clock()->wall_now();
  return {now - std::chrono::hours(1), now + std::chrono::hours(24)};
}

}  // namespace evenkeel::tests
