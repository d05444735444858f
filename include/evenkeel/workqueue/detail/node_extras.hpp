// SPDX-License-Identifier: Apache-2.0
// What a node carries only in a queue that was asked for it: a queue without metrics and pacing does not
// pay for either.
#pragma once

#include <evenkeel/workqueue/detail/pacing.hpp>
#include <evenkeel/workqueue/detail/queue_meter.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

struct NodeExtras {
  MeterRecord meter;
  PacingRecord pacing;
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
