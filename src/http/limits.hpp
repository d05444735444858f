// SPDX-License-Identifier: Apache-2.0
// Bounds on what comes from outside, each with its name. Those that a program may choose are members of
// options instead, such as ReflectorOptions.
#pragma once

#include <chrono>
#include <cstddef>

#include <evenkeel/base/time.hpp>

namespace evenkeel {
inline namespace v0 {
namespace limits {

/// Size in bytes of a file that is read as a whole: kubeconfig, settings, token. CA and client certificate
/// files have no bound.
inline constexpr std::size_t file_bytes = 8UL << 20;

/// Longest Retry-After (header or details.retryAfterSeconds) that is believed at all. The deadline of a call
/// ends its waits earlier.
inline constexpr Duration retry_after = std::chrono::hours{24};

/// Longest Retry-After that a watch or a reflector obeys: a server, or a proxy before it, cannot keep a
/// program blind for longer than this by one answer.
inline constexpr Duration watch_retry_after = std::chrono::minutes{2};

/// Time in which the head of an answer to a watch must come. A server sends it at once, before any event.
inline constexpr Duration watch_head = std::chrono::seconds{30};

/// Pages of one list, and bytes of all its pages together. A server whose last page never comes must not take
/// all memory.
inline constexpr std::size_t list_pages = 100'000;
inline constexpr std::size_t list_bytes = 2UL << 30;

}  // namespace limits
}  // namespace v0
}  // namespace evenkeel
