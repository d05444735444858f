// SPDX-License-Identifier: Apache-2.0
// Regular expressions as Go writes them (RE2 syntax), matched in linear time: patterns come from CRDs and
// texts from anybody, so neither may cost more than their size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// A compiled expression. Syntax: literals, ., classes with ranges, escapes and [:names:], \d \w \s \b \A \z
/// and their opposites, groups (also named, also with flags i, s, m, U), alternatives, * + ? {n,m} and their
/// lazy forms. Works on code points of UTF-8. Thread safety: const members may be called concurrently.
class RegularExpression {
 public:
  /// Throws std::invalid_argument, saying what is wrong, if it is no expression.
  explicit RegularExpression(std::string_view expression);

  /// Whether some part of `text` matches.
  bool found_in(std::string_view text) const;

  /// The bytes of a match.
  struct Match {
    std::size_t place = 0;
    std::size_t size = 0;
    std::size_t read = 0;  ///< bytes that were looked at for it
  };
  /// Passes the matches to `take`, from the left, until it returns false: of alternatives the first is
  /// preferred, of repetitions the longest or, if lazy, the shortest; an empty match not right behind
  /// another. As Go's Regexp.FindAllStringIndex. Each match may take the time of found_in.
  void each_match(std::string_view text, const std::function<bool(const Match&)>& take) const;

  /// The number of states; found_in takes at most this much time per letter.
  std::size_t size() const { return steps_.size(); }

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
    std::shared_ptr<const std::vector<Range>> ranges = {};  ///< letter: sorted, without overlaps.
    bool negated = false;
    std::size_t next = 0;
    std::size_t other = 0;  ///< split.
  };

  struct Found {
    std::size_t first = 0;  ///< letter
    std::size_t last = 0;   ///< behind it
    std::size_t read = 0;   ///< letter behind the last one that was looked at
  };
  std::optional<Found> find(const std::u32string& text, std::size_t from) const;
  void follow(std::vector<std::size_t>& list, std::vector<char>& seen, std::size_t step, std::size_t place,
              const std::u32string& text) const;
  bool holds(Op op, std::size_t place, const std::u32string& text) const;
  static bool takes(const Step& step, char32_t letter);

  std::vector<Step> steps_;
};

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
