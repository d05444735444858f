// SPDX-License-Identifier: Apache-2.0
// Helpers of the fuzz targets: checks that end the process, and numbers and texts cut from an input.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace evenkeel::fuzz {

/// Ends the process with a message unless `holds`; libFuzzer and the replay test report that as a finding.
inline void check(bool holds, const char* expectation) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", expectation);
  std::abort();
}

/// Splits an input into parts, from the front. At the end of the input it returns zeros and empty texts.
class Reader {
 public:
  explicit Reader(std::string_view input) : rest_(input) {}

  bool done() const { return rest_.empty(); }
  std::uint8_t byte() {
    if (rest_.empty()) return 0;
    const auto value = static_cast<std::uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    return value;
  }
  /// Returns a number below `end`.
  std::size_t below(std::size_t end) { return byte() % end; }
  std::string_view take(std::size_t size) {
    const std::string_view part = rest_.substr(0, size);
    rest_.remove_prefix(part.size());
    return part;
  }
  /// Returns the text up to the next `end`, which is skipped, or to the end of the input.
  std::string_view until(char end) {
    const std::string_view part = take(rest_.find(end));
    if (!rest_.empty()) rest_.remove_prefix(1);
    return part;
  }
  std::string_view rest() { return take(rest_.size()); }

 private:
  std::string_view rest_;
};

}  // namespace evenkeel::fuzz
