// SPDX-License-Identifier: Apache-2.0
// What becomes of a thread whose owner is destroyed on that very thread.
#pragma once

#include <thread>

#include <evenkeel/base/export.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Joins `thread`, unless the caller is that thread: a callback may hold the last handle on what owns it.
/// Then it goes on by itself, must keep alive what it uses, and is joined by the next one that is left so, or
/// when the program (or the shared library) ends: a detached thread would meet destroyed globals there.
/// Thread safety: may be called concurrently.
EVENKEEL_API void join_or_leave(std::thread thread) noexcept;

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
