// SPDX-License-Identifier: Apache-2.0
// Uids and suffixes of generated names: pseudo-random, determined by a seed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

class Identity {
 public:
  explicit Identity(std::uint64_t seed) : state_(seed) {}

  /// Returns the seed of another sequence.
  std::uint64_t fork() { return next() | 1; }
  /// Returns a version 4 UUID.
  std::string uid();
  /// Returns `prefix`, cut to 58 characters, with five characters of an alphabet that spells no words.
  /// Source: apiserver storage/names/generate.go.
  std::string generated_name(std::string_view prefix);

 private:
  std::uint64_t next();
  std::uint64_t state_;
};

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
