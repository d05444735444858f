// SPDX-License-Identifier: Apache-2.0
// Exceptions as values.
#pragma once

#include <exception>
#include <string>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Returns the exception that `step` throws, or null. The caller holds the only reference; in a catch clause
/// that passes on std::current_exception(), the clause would hold another until its end.
template <class Step>
std::exception_ptr caught(Step&& step) noexcept {
  try {
    step();
  } catch (...) {
    return std::current_exception();
  }
  return nullptr;
}

/// Text of an exception that has no what().
inline constexpr const char* foreign_exception = "an exception that is not a std::exception was thrown";

/// Text of an exception whose what() is empty.
inline constexpr const char* silent_exception = "an exception with an empty text was thrown";

/// Returns what() of an exception, never an empty text; `error` is not null.
inline std::string error_text(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& known) {
    std::string text = known.what();
    return text.empty() ? silent_exception : text;
  } catch (...) {
    return foreign_exception;
  }
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
