// SPDX-License-Identifier: Apache-2.0
// Options of a work queue.
#pragma once

#include <memory>
#include <string>
#include <type_traits>

#include <evenkeel/base/clock.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/ratelimit/any_limiter.hpp>
#include <evenkeel/ratelimit/default_limiter.hpp>
#include <evenkeel/workqueue/debounce.hpp>
#include <evenkeel/workqueue/detail/schedule.hpp>
#include <evenkeel/workqueue/fifo_store.hpp>

namespace evenkeel {
inline namespace v0 {

namespace detail {
template <class Key, class L>
L default_of() {
  if constexpr (std::is_same_v<L, AnyLimiter<Key>>) {
    return default_limiter<Key>();
  } else {
    return L();
  }
}
}  // namespace detail

template <class Key, class Store = FifoStore, class L = AnyLimiter<Key>>
struct WorkQueueOptions {
  std::string name = {};                     ///< Name of the queue in metrics; without one there are none.
  Store store = Store();                     ///< Order in which keys are handed out.
  L limiter = detail::default_of<Key, L>();  ///< Used by add_rate_limited; see default_limiter().
  Readd readd = Readd::at_back;              ///< Position of a key added while it is processed.
  bool charge_waiting = true;  ///< If true, add_rate_limited also charges a key that already waits.
  Debounce debounce = {};      ///< Gathers adds that come close together; off by default.
  /// Minimum time between the starts of two runs of a key; zero: none.
  Duration min_interval = Duration::zero();
  std::shared_ptr<const Clock> clock = nullptr;  ///< real_clock() if null.
};

}  // namespace v0
}  // namespace evenkeel
