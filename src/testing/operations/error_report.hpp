// SPDX-License-Identifier: Apache-2.0
// Reports of errors in the status of an object.
#pragma once

#include <evenkeel/api/json.hpp>

namespace evenkeel {
inline namespace v0 {
namespace testing::detail {

/// Returns true if a status has a condition that says that something is wrong, a member for errors that is
/// not empty, or a phase, reason or message with such a word.
bool shows_error(const Json& status);

/// Returns true if a condition, or a phase, reason, message or error, is not as before.
bool shows_change(const Json& before, const Json& after);

}  // namespace testing::detail
}  // namespace v0
}  // namespace evenkeel
