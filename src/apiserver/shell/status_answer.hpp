// SPDX-License-Identifier: Apache-2.0
// Status documents for responses that the shells send without asking a core. Shared with floors above.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include <evenkeel/http/message.hpp>

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// Returns the reason for `code`: "Conflict" for 409; empty if there is none.
std::string usual_reason(int code);

/// Returns a Failure with its headers. An empty `reason` means usual_reason().
http::Response status_answer(int code, const std::string& reason, const std::string& message,
                             std::optional<std::chrono::seconds> retry_after = {});

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
