// SPDX-License-Identifier: Apache-2.0
// The resident memory of this process, for tests of what strangers may make it take.
#pragma once

#include <cstddef>
#include <fstream>
#include <stdexcept>
#include <unistd.h>

#include "sanitized.hpp"

namespace evenkeel::tests {

inline std::size_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::size_t all = 0;
  std::size_t resident = 0;
  if (!(file >> all >> resident)) throw std::runtime_error("/proc/self/statm cannot be read");
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

/// Growth of the resident memory since construction.
class ResidentGrowth {
 public:
  /// 0 with a sanitizer, which keeps freed memory.
  std::size_t mebibytes() const {
    if (sanitized) return 0;
    const std::size_t now = resident_bytes();
    return now > before_ ? (now - before_) >> 20 : 0;
  }

 private:
  const std::size_t before_ = resident_bytes();
};

}  // namespace evenkeel::tests
