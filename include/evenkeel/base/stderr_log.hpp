// SPDX-License-Identifier: Apache-2.0
// A log on standard error, for programs that use a part of the library and no runtime. The runtime's
// make_log() (manager/log.hpp) writes JSON and files as well.
#pragma once

#include <evenkeel/base/export.hpp>
#include <evenkeel/base/log.hpp>

namespace evenkeel {
inline namespace v0 {

/// Returns a log that writes messages of at least `level` to standard error, one line of text each:
/// 2026-01-02T03:04:05.678Z WARN  the Lease could not be read or written; retrying lease=apps/demo error=...
/// Times are UTC. The level can be changed later (Log::set_level). A line that cannot be written is dropped.
/// Thread safety: lines of several threads are not mixed. Lifetime: the sink lives as long as a copy of the
/// log. Compiled into evenkeel::client.
EVENKEEL_API Log stderr_log(LogLevel level = LogLevel::info);

}  // namespace v0
}  // namespace evenkeel
