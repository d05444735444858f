// SPDX-License-Identifier: Apache-2.0
// A write as far as its request tells.
#pragma once

#include <string>

#include <evenkeel/api/json.hpp>
#include <evenkeel/http/message.hpp>
#include <evenkeel/testing/harness.hpp>

namespace evenkeel {
inline namespace v0 {
namespace testing::detail {

/// Returns the value of a body: null if it is empty, the text itself if it is not JSON.
Json body_value(const std::string& text);
/// Returns verb, resource, key and body of a mutating request; the verb of server-side apply is "apply".
Write begun_write(const http::Request& request);

}  // namespace testing::detail
}  // namespace v0
}  // namespace evenkeel
