// SPDX-License-Identifier: Apache-2.0
// Optional parts of a node: a queue without metrics and pacing does not pay for them.
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
