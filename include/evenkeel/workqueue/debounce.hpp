// SPDX-License-Identifier: Apache-2.0
// Debouncing of the adds of a key.
#pragma once

#include <evenkeel/base/time.hpp>

namespace evenkeel {
inline namespace v0 {

/// Gathers adds of a key into one run: the key becomes ready once nothing was added for `quiet`, but at the
/// latest `max_wait` after the first add. Disabled if quiet is zero.
struct Debounce {
  Duration quiet = Duration::zero();  ///< Not negative.
  /// At least `quiet`; bounds the delay under a steady stream of adds.
  Duration max_wait = Duration::zero();
};

}  // namespace v0
}  // namespace evenkeel
