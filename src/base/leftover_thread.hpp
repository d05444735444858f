// SPDX-License-Identifier: Apache-2.0
// Handling of a thread whose owner is destroyed on that very thread.
#pragma once

#include <thread>

#include <evenkeel/base/export.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Joins `thread`, unless the caller runs on it: a callback may hold the last handle to the thread's owner.
/// In that case the thread keeps running, must keep the objects it uses alive, and is joined by the next call
/// of this kind or when the program (or the shared library) ends: a detached thread could use globals after
/// their destruction. A thread that leaves itself later than that is detached.
/// Thread safety: may be called concurrently.
EVENKEEL_API void join_or_leave(std::thread thread) noexcept;

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
