// SPDX-License-Identifier: Apache-2.0
// Wraps checks of the program, so that one that blocks does not block a probe.
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

/// Time limit of a check. The kubelet waits one second for the whole response by default.
inline constexpr Duration check_time_limit = std::chrono::milliseconds{500};

/// Returns a check that calls `check` on a dedicated thread and waits up to check_time_limit. If a call takes
/// longer, the check fails with "has not answered for 12s", immediately for further callers, until the call
/// returns; `check` is not called again before. Callers that arrive within the time limit of a running call
/// share its result. `on_thread_start` may be null; it is called first on each such thread.
/// Thread safety: the returned check may be called concurrently.
/// Lifetime: destruction waits up to check_time_limit for a running call; one that takes longer is left to
/// end by itself, and uses the captures of `check`.
std::function<std::string()> guard_check(std::function<std::string()> check,
                                         std::shared_ptr<const Clock> clock,
                                         std::function<void(std::string_view)> on_thread_start = {});

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
