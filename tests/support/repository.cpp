// SPDX-License-Identifier: Apache-2.0
#include "repository.hpp"

#include <fstream>
#include <iterator>
#include <stdexcept>

namespace evenkeel::tests {

std::string read_repository_file(const std::string& path) {
  std::ifstream file(std::string(EVENKEEL_SOURCE_DIR) + "/" + path);
  if (!file) throw std::runtime_error(path + " cannot be read");
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace evenkeel::tests
