// SPDX-License-Identifier: Apache-2.0
// Exceptions as values.
#pragma once

#include <exception>

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

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
