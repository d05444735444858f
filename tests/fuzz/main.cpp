// SPDX-License-Identifier: Apache-2.0
// All targets as one libFuzzer program; EVENKEEL_FUZZ_TARGET selects the one to run.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "targets.hpp"

namespace {
void (*chosen)(std::string_view) = nullptr;
}

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  const char* const name = std::getenv("EVENKEEL_FUZZ_TARGET");
  for (const auto& target : evenkeel::fuzz::targets) {
    if (name != nullptr && target.name == name) chosen = target.run;
  }
  if (chosen != nullptr) return 0;
  std::fprintf(stderr, "EVENKEEL_FUZZ_TARGET must be one of:\n");
  for (const auto& target : evenkeel::fuzz::targets)
    std::fprintf(stderr, "%.*s\n", static_cast<int>(target.name.size()), target.name.data());
  std::exit(2);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  chosen(std::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}
