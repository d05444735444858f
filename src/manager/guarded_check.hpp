// SPDX-License-Identifier: Apache-2.0
// Checks of the program, called so that one that blocks holds up no probe.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <evenkeel/base/clock.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Time that a probe waits for a check. The kubelet waits one second for the whole answer by default.
inline constexpr Duration check_time_limit = std::chrono::milliseconds{500};

/// Returns a check that calls `check` on a thread of its own and waits for it up to check_time_limit. A call
/// that takes longer makes the check fail with "has not answered for 12s", at once for those who ask while it
/// still runs, until it returns; it is not called again before. Callers that come while it runs within its
/// limit share its answer. `on_thread_start` may be null; it is called first on each such thread. Thread
/// safety: the returned check may be called concurrently. Lifetime: its end waits up to check_time_limit for
/// a call that runs; one that takes longer is left to end by itself, and uses what `check` has captured.
std::function<std::string()> guard_check(std::function<std::string()> check,
                                         std::shared_ptr<const Clock> clock,
                                         std::function<void(std::string_view)> on_thread_start = {});

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
