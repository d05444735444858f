// SPDX-License-Identifier: Apache-2.0
// Log lines as text and as JSON. If a key occurs several times, it is written once, with its last value. A
// message or value of more than limits::shown_bytes is cut.
#pragma once

#include <string>
#include <string_view>

#include <evenkeel/base/export.hpp>
#include <evenkeel/base/log.hpp>
#include <evenkeel/base/time.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Returns "debug", "info", "warn", "error" or "off".
EVENKEEL_API std::string_view level_name(LogLevel level) noexcept;
/// Returns one line without its end:
/// 2026-01-02T03:04:05.678Z INFO  reconciling controller=demo object=default/web replicas=3
EVENKEEL_API std::string text_log_line(WallTime time, LogLevel level, std::string_view message,
                                       LogFields bound, LogFields fields);
/// Likewise: {"ts":"2026-01-02T03:04:05.678901Z","level":"info","msg":"reconciling","controller":"demo"}
EVENKEEL_API std::string json_log_line(WallTime time, LogLevel level, std::string_view message,
                                       LogFields bound, LogFields fields);

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
