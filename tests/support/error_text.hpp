// SPDX-License-Identifier: Apache-2.0
// Errors as text.
#pragma once

#include <exception>
#include <string>

namespace evenkeel::tests {

/// Returns the text of the exception that `run` throws, or "no error".
template <class Run>
std::string error_of(const Run& run) {
  try {
    run();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace evenkeel::tests
