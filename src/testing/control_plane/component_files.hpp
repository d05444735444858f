// SPDX-License-Identifier: Apache-2.0
// Locates the programs of a control plane.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <evenkeel/testing/environment.hpp>

namespace evenkeel {
inline namespace v0 {
namespace testing {

/// Access to the machine for the search; tests replace it.
struct FileSearch {
  std::function<std::optional<std::string>(const std::string&)> environment = {};
  std::function<bool(const std::string&)> executable = {};

  /// Returns access to the process's environment and the file system.
  static FileSearch of_this_machine();
};

/// The files of the components that an environment needs.
struct ComponentFiles {
  std::string etcd = {};
  std::string api_server = {};
  std::string controller_manager = {};  ///< Empty if not needed.
  /// Missing programs and the places searched, as one text; empty: none.
  std::string problem = {};
};

/// Returns each program from the first place that has it, in the order given at EnvironmentOptions::binaries.
ComponentFiles find_components(const EnvironmentOptions& options, const FileSearch& search);

}  // namespace testing
}  // namespace v0
}  // namespace evenkeel
