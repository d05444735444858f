// SPDX-License-Identifier: Apache-2.0
// A program in this process that prints and ends, and what it printed.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/manager/run.hpp>

namespace evenkeel {

struct Printed {
  int code = -1;
  std::string out = {};
  std::string err = {};
};

inline Printed run_to_print(const std::vector<std::string>& args, const RunOptions& options,
                            const std::function<void(Manager&)>& setup) {
  std::vector<const char*> argv = {options.name.c_str()};
  for (const std::string& arg : args) argv.push_back(arg.c_str());
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  const int code = run(static_cast<int>(argv.size()), argv.data(), options, setup);
  return {code, ::testing::internal::GetCapturedStdout(), ::testing::internal::GetCapturedStderr()};
}

}  // namespace evenkeel
