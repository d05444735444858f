// SPDX-License-Identifier: Apache-2.0
// A file with a token, which a test replaces.
#pragma once

#include <cstdlib>
#include <fstream>
#include <string>
#include <unistd.h>

#include <gtest/gtest.h>

namespace evenkeel::tests {

/// A file that is removed by the destructor.
class TokenFile {
 public:
  explicit TokenFile(const std::string& token) : path_(::testing::TempDir() + "token-XXXXXX") {
    const int file = mkstemp(path_.data());
    EXPECT_GE(file, 0);
    close(file);
    write(token);
  }
  ~TokenFile() { unlink(path_.c_str()); }
  TokenFile(const TokenFile&) = delete;
  TokenFile& operator=(const TokenFile&) = delete;

  const std::string& path() const { return path_; }
  void write(const std::string& token) const { std::ofstream(path_) << token; }

 private:
  std::string path_;
};

}  // namespace evenkeel::tests
