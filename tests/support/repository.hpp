// SPDX-License-Identifier: Apache-2.0
// Files of the repository that tests compare with.
#pragma once

#include <string>

namespace evenkeel::tests {

/// Returns the contents of a file, whose path is relative to the root of the repository. Throws
/// std::runtime_error if it cannot be read.
std::string read_repository_file(const std::string& path);

}  // namespace evenkeel::tests
