// SPDX-License-Identifier: Apache-2.0
// The lines of a run of a simulation, for people.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>

#include <evenkeel/base/time.hpp>

#include "base/fnv1a.hpp"

namespace evenkeel {
inline namespace v0 {
namespace testing::detail {

/// Keeps the last lines, or all of them, and the hash of all.
/// Thread safety: one thread at a time.
class SimulationTrace {
 public:
  /// `most`: number of lines that are kept; 0: all.
  explicit SimulationTrace(std::size_t most) : most_(most) {}

  /// Adds a line: time, the process or machine, and what it did.
  void add(Duration at, const std::string& who, const std::string& what);
  /// Keeps what str() returns as it is now: the lines before the first problem.
  void stop();
  /// Returns the lines that are kept.
  std::string str() const;
  std::uint64_t fingerprint() const { return hash_; }

 private:
  const std::size_t most_;
  std::deque<std::string> lines_;
  bool stopped_ = false;
  std::uint64_t hash_ = v0::detail::fnv1a("");
};

}  // namespace testing::detail
}  // namespace v0
}  // namespace evenkeel
