// SPDX-License-Identifier: Apache-2.0
// The Status documents that the shells answer with by themselves, before a core is asked.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include <evenkeel/http/message.hpp>

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// What the API machinery calls `code`: "Conflict" for 409; empty if it has no name.
std::string usual_reason(int code);

/// A Failure with its headers. An empty `reason` is the usual one.
http::Response status_answer(int code, const std::string& reason, const std::string& message,
                             std::optional<std::chrono::seconds> retry_after = {});

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
