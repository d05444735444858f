// SPDX-License-Identifier: Apache-2.0
// Regular expressions in Go's syntax, matched in linear time: patterns come from CRDs and texts from any
// client, so neither may cost more than its size.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>

namespace re2 {
class RE2;
}

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// A compiled expression. The syntax is that of RE2, which Go's package regexp shares. Works on code points
/// of UTF-8. Thread safety: const members may be called concurrently. Copies share the program.
class RegularExpression {
 public:
  /// Throws std::invalid_argument with the reason and the offending part if `expression` is malformed or its
  /// program is too large.
  explicit RegularExpression(std::string_view expression);

  /// True if some part of `text` matches.
  bool found_in(std::string_view text) const;

  /// The bytes of a match.
  struct Match {
    std::size_t place = 0;
    std::size_t size = 0;
    std::size_t searched = 0;  ///< bytes from the start of the search to the end of the text
  };
  /// Passes the matches to `take`, from the left, until it returns false: of alternatives the first is
  /// preferred, of repetitions the longest or, if lazy, the shortest; an empty match does not directly follow
  /// another match. Each match may take the time of found_in. Source: Go Regexp.FindAllStringIndex.
  void each_match(std::string_view text, const std::function<bool(const Match&)>& take) const;

  /// Number of instructions of the program; found_in takes at most this much time per byte.
  std::size_t size() const;

 private:
  std::shared_ptr<const re2::RE2> program_;
};

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
