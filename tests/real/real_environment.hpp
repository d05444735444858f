// SPDX-License-Identifier: Apache-2.0
// What the tests against a real control plane share: one environment for each program, and namespaces that no
// two tests share.
#pragma once

#include <atomic>
#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/client/client.hpp>
#include <evenkeel/testing/environment.hpp>

namespace evenkeel::tests {

/// Started by the first test that asks, with the controller manager.
inline testing::Environment& environment() {
  static testing::Environment shared({.controller_manager = true});
  return shared;
}

/// A namespace of its own on any server.
inline std::string fresh_namespace(const Client& client) {
  return client.create(Namespace{.metadata = {.generate_name = "test-"}})->metadata.name;
}

/// The code of the error that `call` throws; 0: none.
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
