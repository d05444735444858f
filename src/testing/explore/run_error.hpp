// SPDX-License-Identifier: Apache-2.0
// Exceptions of reconciles: their texts, and those that count.
#pragma once

#include <exception>
#include <string>

namespace evenkeel {
inline namespace v0 {
namespace testing::detail {

std::string first_line(const std::string& text);
/// Returns the first line of what() for an exception that counts; empty for one that a request caused, also
/// indirectly: reconciles are retried after it.
std::string text_of_error(const std::exception_ptr& error);

}  // namespace testing::detail
}  // namespace v0
}  // namespace evenkeel
