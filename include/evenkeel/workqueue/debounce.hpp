// SPDX-License-Identifier: Apache-2.0
// How a queue gathers adds of one key.
#pragma once

#include <evenkeel/base/time.hpp>

namespace evenkeel {
inline namespace v0 {

/// Gathers adds of a key into one run: it becomes ready when nothing was added for `quiet`, but at the
/// latest `max_wait` after the first add. Off if quiet is zero.
struct Debounce {
  Duration quiet = Duration::zero();     ///< Not negative.
  Duration max_wait = Duration::zero();  ///< At least `quiet`; without a bound, a stream of adds starves.
};

}  // namespace v0
}  // namespace evenkeel
