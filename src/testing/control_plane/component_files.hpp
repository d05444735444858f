// SPDX-License-Identifier: Apache-2.0
// Where the programs of a control plane are.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <evenkeel/testing/environment.hpp>

namespace evenkeel {
inline namespace v0 {
namespace testing {

/// What the search asks of the machine.
struct FileSearch {
  std::function<std::optional<std::string>(const std::string&)> environment = {};
  std::function<bool(const std::string&)> executable = {};

  /// The process's environment and the file system.
  static FileSearch of_this_machine();
};

/// The files of the components that an environment needs.
struct ComponentFiles {
  std::string etcd = {};
  std::string api_server = {};
  std::string controller_manager = {};  ///< Empty if it was not asked for.
  /// What is missing and where it was looked for, as one text; empty: nothing.
  std::string problem = {};
};

/// Each program at the first place that has it, in the order that EnvironmentOptions::binaries gives.
ComponentFiles find_components(const EnvironmentOptions& options, const FileSearch& search);

}  // namespace testing
}  // namespace v0
}  // namespace evenkeel
