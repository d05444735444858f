// SPDX-License-Identifier: Apache-2.0
// Common parts of the programs that scripts run beside each other: clock, flags, and results as lines of
// JSON.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <sys/resource.h>
#include <time.h>
#include <utility>
#include <variant>

#include <evenkeel/api/json.hpp>

namespace evenkeel::benchmarks {

/// Returns nanoseconds of CLOCK_MONOTONIC, which is the same for all processes of a machine.
inline std::int64_t now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

/// Sleeps until now() is `when`.
inline void sleep_until(std::int64_t when) {
  const timespec time{.tv_sec = when / 1'000'000'000, .tv_nsec = when % 1'000'000'000};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nullptr) != 0) {
  }
}

/// Returns the processor time of this process.
inline double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// Prints a line. Thread safety: may be called concurrently.
inline void say(const Json& what) {
  std::printf("%s\n", what.dump().c_str());
  std::fflush(stdout);
}

using FlagTarget = std::variant<std::string*, std::int64_t*>;

/// Reads "--name value" pairs. Throws std::invalid_argument naming an unknown flag.
inline void read_flags(int argc, char** argv,
                       std::initializer_list<std::pair<std::string_view, FlagTarget>> flags) {
  for (int at = 1; at + 1 < argc; at += 2) {
    const FlagTarget* target = nullptr;
    for (const auto& [name, one] : flags)
      if (name == argv[at]) target = &one;
    if (target == nullptr) throw std::invalid_argument("unknown flag " + std::string(argv[at]));
    if (std::string* const* text = std::get_if<std::string*>(target))
      **text = argv[at + 1];
    else
      *std::get<std::int64_t*>(*target) = std::strtoll(argv[at + 1], nullptr, 10);
  }
}

/// Returns the exit code of a program whose work is `run`: that which it returns, or EXIT_FAILURE after its
/// exception, which is written to standard error.
template <class Run>
int run_program(const char* name, Run run) {
  try {
    return run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", name, error.what());
    return EXIT_FAILURE;
  }
}

}  // namespace evenkeel::benchmarks
