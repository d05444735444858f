// SPDX-License-Identifier: Apache-2.0
// Regular expressions as Go writes them (RE2 syntax), matched in linear time: patterns come from CRDs and
// texts from anybody, so neither may cost more than their size.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace evenkeel::inline v0::testing {

/// A compiled expression. Syntax: literals, ., classes with ranges, escapes and [:names:], \d \w \s \b \A \z
/// and their opposites, groups (also named, also with flags i, s, m, U), alternatives, * + ? {n,m} and their
/// lazy forms. Works on code points of UTF-8. Thread safety: const members may be called concurrently.
class RegularExpression {
 public:
  /// Throws std::invalid_argument, saying what is wrong, if it is no expression.
  explicit RegularExpression(std::string_view expression);

  /// Whether some part of `text` matches.
  bool found_in(std::string_view text) const;

 private:
  friend class RegularExpressionParser;

  enum class Op : std::uint8_t {
    letter,
    split,
    jump,
    line_start,
    line_end,
    text_start,
    text_end,
    edge,
    no_edge,
    done
  };
  struct Range {
    char32_t first = 0;
    char32_t last = 0;
  };
  struct Step {
    Op op = Op::done;
    std::vector<Range> ranges = {};  ///< letter: sorted or not, small.
    bool negated = false;
    std::size_t next = 0;
    std::size_t other = 0;  ///< split.
  };

  void follow(std::vector<std::size_t>& list, std::vector<char>& seen, std::size_t step, std::size_t place,
              const std::u32string& text) const;
  bool holds(Op op, std::size_t place, const std::u32string& text) const;
  static bool takes(const Step& step, char32_t letter);

  std::vector<Step> steps_;
};

}  // namespace evenkeel::inline v0::testing
