// SPDX-License-Identifier: Apache-2.0
// Named limits on external input. Limits that a program may choose are members of options instead, such as
// ReflectorOptions.
#pragma once

#include <chrono>
#include <cstddef>

#include <evenkeel/base/time.hpp>

namespace evenkeel {
inline namespace v0 {
namespace limits {

/// Maximum size in bytes of a file read as a whole: kubeconfig, settings, token, certificates.
inline constexpr std::size_t file_bytes = 8UL << 20;

/// Maximum size in bytes of one text in what people read, before escapes: a message or value of a log line, a
/// line of an explanation, an error on a terminal. The rest is replaced by "... (N bytes)".
inline constexpr std::size_t shown_bytes = 16UL << 10;

/// Likewise for the reason and the message of a Status in the text of an ApiError.
inline constexpr std::size_t status_bytes = 4UL << 10;

/// Maximum Retry-After (header or details.retryAfterSeconds); larger values are clamped. The deadline of a
/// call ends its waits earlier.
inline constexpr Duration retry_after = std::chrono::hours{24};

/// Maximum Retry-After that a watch or a reflector obeys, so that one response of a server or proxy cannot
/// delay updates for longer.
inline constexpr Duration watch_retry_after = std::chrono::minutes{2};

/// Timeout for the head of the response to a watch, which a server sends immediately, before any event.
inline constexpr Duration watch_head = std::chrono::seconds{30};

/// Maximum time between the first and the last byte of one object in a list or a watch. A gap in which
/// nothing arrives counts up to 10 s; if it is longer, the idle timeout of the transport ends it.
inline constexpr Duration stream_object = std::chrono::minutes{2};

/// Maximum number of pages of one list, and of bytes of all its pages together, so that a server that never
/// sends a last page cannot exhaust memory.
inline constexpr std::size_t list_pages = 100'000;
inline constexpr std::size_t list_bytes = 2UL << 30;

/// Maximum bytes of all request bodies that a server of the operator has received and not answered. Bodies of
/// up to `uncounted_body` bytes do not count: requests of ordinary size are served while others are refused.
/// After a larger review free memory is returned to the system; threads keep that of smaller ones for the
/// next.
inline constexpr std::size_t server_bodies = 64UL << 20;
inline constexpr std::size_t uncounted_body = 64UL << 10;

/// Maximum number of values in a review, names of members not counted. The bytes of a review alone do not
/// limit the memory of its values. A conversion has the objects of a whole list, of which managedFields have
/// most values: one for each twelve bytes.
inline constexpr std::size_t admission_values = 200'000;
inline constexpr std::size_t conversion_values = 600'000;

/// Maximum size of an answer of a trace collector, of a member of an etcd cluster (a page of
/// EtcdStoreOptions::page_entries, or a frame of a watch), and of an operator to `evenkeel explain`.
inline constexpr std::size_t collector_answer = 64UL << 10;
inline constexpr std::size_t etcd_answer = 16UL << 20;
inline constexpr std::size_t explain_answer = 16UL << 20;

}  // namespace limits
}  // namespace v0
}  // namespace evenkeel
