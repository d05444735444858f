// SPDX-License-Identifier: Apache-2.0
// Reads the counters of a controller for the console.
#pragma once

#include <evenkeel/controller/controller.hpp>

#include "manager/console_history.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Thread safety: may be called concurrently.
ControllerSample sample_of(const Controller& controller);

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
