// SPDX-License-Identifier: Apache-2.0
// A directory for the files of one test.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

namespace evenkeel::tests {

/// A new, empty directory; the destructor removes it with its contents. The constructor throws
/// std::runtime_error if it cannot be made.
class TemporaryDirectory {
 public:
  TemporaryDirectory() = default;
  ~TemporaryDirectory() { std::filesystem::remove_all(path); }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  std::vector<std::filesystem::path> files() const {
    std::vector<std::filesystem::path> found;
    for (const auto& file : std::filesystem::directory_iterator(path)) found.push_back(file.path());
    return found;
  }

  const std::filesystem::path path = make();

 private:
  static std::filesystem::path make() {
    std::string name = (std::filesystem::temp_directory_path() / "evenkeel-test-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make " + name);
    return name;
  }
};

}  // namespace evenkeel::tests
