// SPDX-License-Identifier: Apache-2.0
// Memory and CPU usage of this process, as Linux reports it.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>
#include <sys/resource.h>

#include <evenkeel/base/time.hpp>

namespace evenkeel::benchmarks {

struct ProcessMemory {
  std::int64_t resident_kb = 0;  ///< Resident pages of this process.
  std::int64_t kernel_kb = 0;    ///< Its page tables, and the kernel stacks of the whole system.
};

/// Returns the number after `label` in a file with lines such as "VmRSS:   1234 kB"; 0 if there is none.
inline std::int64_t number_in(const char* file, std::string_view label) {
  std::ifstream lines(file);
  for (std::string word; lines >> word;) {
    std::int64_t value = 0;
    if (word == label && lines >> value) return value;
  }
  return 0;
}

inline ProcessMemory process_memory() {
  return {.resident_kb = number_in("/proc/self/status", "VmRSS:"),
          .kernel_kb = number_in("/proc/self/status", "VmPTE:") + number_in("/proc/meminfo", "KernelStack:")};
}

/// Returns the user and system time of this process.
inline Duration process_cpu() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto time_of = [](const timeval& time) {
    return std::chrono::seconds{time.tv_sec} + std::chrono::microseconds{time.tv_usec};
  };
  return time_of(used.ru_utime) + time_of(used.ru_stime);
}

}  // namespace evenkeel::benchmarks
