// SPDX-License-Identifier: Apache-2.0
// Normalization of messages that contain running times, so that the log gets one line per change instead of
// one per attempt. Shared with floors above.
#pragma once

#include <string>
#include <string_view>

#include <evenkeel/base/export.hpp>

namespace evenkeel {
inline namespace v0 {
namespace http::detail {

/// Returns `message` without parts that change over time: " (since ...)" is removed up to its closing
/// parenthesis, and every duration ("1.6s", "1h2m") becomes "_". Pure.
EVENKEEL_API std::string stable_text(std::string_view message);

}  // namespace http::detail
}  // namespace v0
}  // namespace evenkeel
