// SPDX-License-Identifier: Apache-2.0
// Shared parts of the tests with a real control plane: one environment for each program, and a separate
// namespace for each test.
#pragma once

#include <atomic>
#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/client/client.hpp>
#include <evenkeel/testing/environment.hpp>

namespace evenkeel::tests {

/// Started by the first test that needs it, with the controller manager.
inline testing::Environment& environment() {
  static testing::Environment shared({.controller_manager = true});
  return shared;
}

/// Creates a new namespace on any server.
inline std::string fresh_namespace(const Client& client) {
  return client.create(Namespace{.metadata = {.generate_name = "test-"}})->metadata.name;
}

/// Returns the code of the error that `call` throws; 0: none.
template <class Call>
int error_code(Call call) {
  try {
    call();
  } catch (const ApiError& error) {
    return error.code();
  }
  return 0;
}

}  // namespace evenkeel::tests
