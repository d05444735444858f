// SPDX-License-Identifier: Apache-2.0
#include "apiserver/text/regular_expression.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <utility>

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

namespace {

constexpr char32_t last_code_point = 0x10FFFF;
constexpr std::size_t max_steps = 50000;
constexpr int max_repeat = 1000;
constexpr int max_depth = 200;

/// Code points of UTF-8; bytes that are no UTF-8 stand for themselves, far above everything.
/// `places`, if given, gets the byte at which each starts, and the end.
std::u32string decoded(std::string_view text, std::vector<std::size_t>* places = nullptr) {
  std::u32string result;
  for (std::size_t i = 0; i < text.size();) {
    const auto head = static_cast<unsigned char>(text[i]);
    const std::size_t length = head < 0x80       ? 1
                               : head >> 5 == 6  ? 2
                               : head >> 4 == 14 ? 3
                               : head >> 3 == 30 ? 4
                                                 : 0;
    if (places != nullptr) places->push_back(i);
    if (length == 0 || i + length > text.size()) {
      result += last_code_point;
      ++i;
      continue;
    }
    char32_t letter = length == 1 ? head : head & (0x7FU >> length);
    for (std::size_t j = 1; j < length; ++j)
      letter = letter << 6 | (static_cast<unsigned char>(text[i + j]) & 0x3FU);
    result += letter;
    i += length;
  }
  if (places != nullptr) places->push_back(text.size());
  return result;
}

bool is_word(char32_t letter) {
  return (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'z') ||
         (letter >= 'A' && letter <= 'Z') || letter == '_';
}

struct Flags {
  bool ignore_case = false;
  bool dot_takes_newline = false;
  bool lines = false;
};

}  // namespace

/// Recursive descent straight into steps; fragments are ranges of steps whose last one falls through.
class RegularExpressionParser {
 public:
  using Op = RegularExpression::Op;
  using Range = RegularExpression::Range;
  using Step = RegularExpression::Step;
  using Fragment = std::vector<Step>;  // jumps relative to its start; falls through at its end

  explicit RegularExpressionParser(std::string_view expression)
      : whole_(expression), text_(decoded(expression)) {}

  std::vector<Step> parse() {
    Fragment result = alternatives(0);
    if (at_ < text_.size()) fail("unexpected )");
    result.push_back({.op = Op::done});
    return result;
  }

 private:
  [[noreturn]] void fail(const std::string& problem) const {
    throw std::invalid_argument("error parsing regexp: " + problem + ": `" + std::string(whole_) + "`");
  }
  bool more() const { return at_ < text_.size(); }
  bool next_is(char32_t letter) const { return more() && text_[at_] == letter; }
  bool take(char32_t letter) {
    if (!next_is(letter)) return false;
    ++at_;
    return true;
  }

  /// As in Perl, a** is no double star. Source: Go regexp/syntax/parse.go parser.repeat.
  [[noreturn]] void fail_stacked(std::size_t from) const {
    std::string operators;
    for (const char32_t letter : text_.substr(from, at_ - from)) operators += static_cast<char>(letter);
    throw std::invalid_argument("error parsing regexp: invalid nested repetition operator: `" + operators +
                                "`");
  }

  void append(Fragment& to, Fragment other) const {
    const std::size_t offset = to.size();
    for (Step& step : other) {
      step.next += offset;
      step.other += offset;
      to.push_back(std::move(step));
    }
    if (to.size() > max_steps) fail("expression too large");
  }
  static Step step(Op op, std::size_t next, std::size_t other = 0) {
    return {.op = op, .next = next, .other = other};
  }

  Fragment alternatives(int depth) {
    if (depth > max_depth) fail("expression nests too deeply");
    const Flags outer = flags_;
    std::vector<Fragment> choices{sequence(depth)};
    std::size_t size = choices.back().size();
    while (take('|')) {
      choices.push_back(sequence(depth));
      size += choices.back().size() + 2;
      if (size > max_steps) fail("expression too large");
    }
    flags_ = outer;
    Fragment result;
    for (std::size_t i = 0; i + 1 < choices.size(); ++i) {
      const std::size_t behind = result.size() + choices[i].size() + 2;
      result.push_back(step(Op::split, result.size() + 1, behind));
      append(result, std::move(choices[i]));
      result.push_back(step(Op::jump, size));
    }
    append(result, std::move(choices.back()));
    return result;
  }

  Fragment sequence(int depth) {
    Fragment result;
    while (more() && !next_is('|') && !next_is(')')) append(result, repeated(atom(depth)));
    return result;
  }

  Fragment repeated(Fragment item) {
    std::size_t last = std::u32string::npos;  // where the operator before this one starts
    while (more()) {
      int least = 0;
      int most = -1;  // no limit
      const std::size_t start = at_;
      if (take('*')) {
      } else if (take('+')) {
        least = 1;
      } else if (take('?')) {
        most = 1;
      } else if (!counts(least, most)) {
        break;
      }
      const bool lazy = take('?');
      if (last != std::u32string::npos) fail_stacked(last);
      last = start;
      item = times(item, least, most, lazy);
    }
    return item;
  }

  /// {n}, {n,} or {n,m}; anything else is a literal brace.
  bool counts(int& least, int& most) {
    if (!next_is('{')) return false;
    const std::size_t start = at_++;
    const auto number = [&]() -> std::optional<int> {
      int value = 0;
      const std::size_t from = at_;
      while (more() && text_[at_] >= '0' && text_[at_] <= '9' && value <= max_repeat)
        value = value * 10 + static_cast<int>(text_[at_++] - '0');
      if (at_ == from) return std::nullopt;
      return value;
    };
    const auto low = number();
    std::optional<int> high = low;
    if (low && take(',')) high = next_is('}') ? std::optional(-1) : number();
    if (!low || !high || !take('}')) {
      at_ = start;
      return false;
    }
    if (*low > max_repeat || *high > max_repeat || (*high >= 0 && *high < *low)) fail("invalid repeat count");
    least = *low;
    most = *high;
    return true;
  }

  Fragment times(const Fragment& item, int least, int most, bool lazy) const {
    const auto enter_or_leave = [lazy](std::size_t enter, std::size_t leave) {
      return lazy ? step(Op::split, leave, enter) : step(Op::split, enter, leave);
    };
    Fragment result;
    for (int i = 0; i < least; ++i) append(result, item);
    if (most < 0) {
      const std::size_t start = result.size();
      result.push_back(enter_or_leave(start + 1, start + item.size() + 2));
      append(result, item);
      result.push_back(step(Op::jump, start));
    }
    for (int i = least; i < most; ++i) {
      const std::size_t rest = static_cast<std::size_t>(most - i) * (item.size() + 1);
      result.push_back(enter_or_leave(result.size() + 1, result.size() + rest));
      append(result, item);
    }
    return result;
  }

  Fragment atom(int depth) {
    const char32_t letter = text_[at_++];
    switch (letter) {
      case '(':
        return group(depth);
      case '[':
        return {class_step()};
      case '.':
        return {letter_step(
            flags_.dot_takes_newline ? std::vector<Range>{} : std::vector<Range>{{'\n', '\n'}}, true)};
      case '^':
        return {step(flags_.lines ? Op::line_start : Op::text_start, 1)};
      case '$':
        return {step(flags_.lines ? Op::line_end : Op::text_end, 1)};
      case '\\':
        return escape();
      case '*':
      case '+':
      case '?':
        fail("missing argument to repetition operator");
      default:
        return {letter_step({{letter, letter}}, false)};
    }
  }

  Fragment group(int depth) {
    const Flags outer = flags_;
    if (take('?')) {
      if (next_is('P') || next_is('<')) {
        take('P');
        if (!take('<')) fail("invalid named capture");
        while (more() && !next_is('>')) ++at_;
        if (!take('>')) fail("invalid named capture");
      } else if (read_flags()) {
        return {};  // (?i) holds to the end of the enclosing group
      }
    }
    Fragment inner = alternatives(depth + 1);
    if (!take(')')) fail("missing closing )");
    flags_ = outer;
    return inner;
  }

  /// Flags up to ":" (false) or ")" (true).
  bool read_flags() {
    bool on = true;
    while (more()) {
      const char32_t letter = text_[at_++];
      if (letter == ':') return false;
      if (letter == ')') return true;
      if (letter == '-') {
        on = false;
      } else if (letter == 'i') {
        flags_.ignore_case = on;
      } else if (letter == 's') {
        flags_.dot_takes_newline = on;
      } else if (letter == 'm') {
        flags_.lines = on;
      } else if (letter != 'U') {
        fail("invalid or unsupported Perl syntax");
      }
    }
    fail("missing closing )");
  }

  Step letter_step(std::vector<Range> ranges, bool negated) const {
    if (flags_.ignore_case) fold(ranges);
    auto merged = std::make_shared<const std::vector<Range>>(sorted(std::move(ranges)));
    return {.op = Op::letter, .ranges = std::move(merged), .negated = negated, .next = 1};
  }

  static std::vector<Range> sorted(std::vector<Range> ranges) {
    std::sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) { return a.first < b.first; });
    std::vector<Range> merged;
    for (const Range& range : ranges) {
      if (!merged.empty() && range.first <= merged.back().last)
        merged.back().last = std::max(merged.back().last, range.last);
      else
        merged.push_back(range);
    }
    return merged;
  }

  static void fold(std::vector<Range>& ranges) {
    const std::vector<Range> given = ranges;
    for (const Range& range : given) {
      for (char32_t letter = std::max<char32_t>(range.first, 'A');
           letter <= std::min<char32_t>(range.last, 'z'); ++letter) {
        if (letter >= 'A' && letter <= 'Z') ranges.push_back({letter + 32, letter + 32});
        if (letter >= 'a' && letter <= 'z') ranges.push_back({letter - 32, letter - 32});
      }
    }
  }

  /// \d, \w, \s and their opposites.
  static std::optional<std::vector<Range>> perl_class(char32_t letter) {
    switch (letter) {
      case 'd':
      case 'D':
        return std::vector<Range>{{'0', '9'}};
      case 'w':
      case 'W':
        return std::vector<Range>{{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}};
      case 's':
      case 'S':
        return std::vector<Range>{{'\t', '\n'}, {'\f', '\r'}, {' ', ' '}};
      default:
        return std::nullopt;
    }
  }
  static bool is_upper(char32_t letter) { return letter >= 'A' && letter <= 'Z'; }

  Fragment escape() {
    if (!more()) fail("trailing backslash at end of expression");
    const char32_t letter = text_[at_];
    if (auto ranges = perl_class(letter)) {
      ++at_;
      return {letter_step(*std::move(ranges), is_upper(letter))};
    }
    switch (letter) {
      case 'A':
        return ++at_, Fragment{step(Op::text_start, 1)};
      case 'z':
        return ++at_, Fragment{step(Op::text_end, 1)};
      case 'b':
        return ++at_, Fragment{step(Op::edge, 1)};
      case 'B':
        return ++at_, Fragment{step(Op::no_edge, 1)};
      default:
        break;
    }
    const char32_t meant = escaped_letter();
    return {letter_step({{meant, meant}}, false)};
  }

  char32_t hexadecimal(std::size_t digits) {
    char32_t value = 0;
    for (std::size_t i = 0; i < digits; ++i) {
      if (!more()) fail("invalid escape sequence");
      const char32_t digit = text_[at_++];
      if (digit >= '0' && digit <= '9')
        value = value * 16 + (digit - '0');
      else if ((digit | 32U) >= 'a' && (digit | 32U) <= 'f')
        value = value * 16 + ((digit | 32U) - 'a' + 10);
      else
        fail("invalid escape sequence");
    }
    return value;
  }

  char32_t escaped_letter() {
    const char32_t letter = text_[at_++];
    switch (letter) {
      case 'n':
        return '\n';
      case 't':
        return '\t';
      case 'r':
        return '\r';
      case 'f':
        return '\f';
      case 'v':
        return '\v';
      case 'a':
        return '\a';
      case 'x': {
        if (!take('{')) return hexadecimal(2);
        char32_t value = 0;
        while (more() && !next_is('}')) value = value * 16 + hexadecimal(1);
        if (!take('}') || value > last_code_point) fail("invalid escape sequence");
        return value;
      }
      default:
        if (letter < 128 && is_word(letter)) fail("invalid escape sequence");
        return letter;
    }
  }

  /// [:alpha:] inside a class.
  std::optional<std::vector<Range>> named_class() {
    static const std::vector<std::pair<std::u32string, std::vector<Range>>> names{
        {U"alnum", {{'0', '9'}, {'A', 'Z'}, {'a', 'z'}}},
        {U"alpha", {{'A', 'Z'}, {'a', 'z'}}},
        {U"digit", {{'0', '9'}}},
        {U"lower", {{'a', 'z'}}},
        {U"upper", {{'A', 'Z'}}},
        {U"punct", {{'!', '/'}, {':', '@'}, {'[', '`'}, {'{', '~'}}},
        {U"space", {{'\t', '\r'}, {' ', ' '}}},
        {U"blank", {{'\t', '\t'}, {' ', ' '}}},
        {U"word", {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}},
        {U"xdigit", {{'0', '9'}, {'A', 'F'}, {'a', 'f'}}}};
    for (const auto& [name, ranges] : names) {
      if (text_.compare(at_, name.size() + 3, U":" + name + U":]") == 0) {
        at_ += name.size() + 3;
        return ranges;
      }
    }
    return std::nullopt;
  }

  Step class_step() {
    const bool negated = take('^');
    std::vector<Range> ranges;
    bool first = true;
    while (more() && (first || !next_is(']'))) {
      first = false;
      class_item(ranges);
    }
    if (!take(']')) fail("missing closing ]");
    return letter_step(std::move(ranges), negated);
  }

  void class_item(std::vector<Range>& ranges) {
    if (next_is('[')) {
      ++at_;
      if (auto named = next_is(':') ? named_class() : std::nullopt) {
        ranges.insert(ranges.end(), named->begin(), named->end());
        return;
      }
      --at_;
    }
    char32_t low = text_[at_++];
    if (low == '\\' && more()) {
      const char32_t letter = text_[at_];
      if (auto listed = perl_class(letter)) {
        ++at_;
        add_class(ranges, *std::move(listed), is_upper(letter));
        return;
      }
      low = escaped_letter();
    }
    char32_t high = low;
    if (next_is('-') && at_ + 1 < text_.size() && text_[at_ + 1] != ']') {
      ++at_;
      high = text_[at_++];
      if (high == '\\' && more()) high = escaped_letter();
      if (high < low) fail("invalid character class range");
    }
    ranges.push_back({low, high});
  }

  /// Ranges, or everything between them.
  static void add_class(std::vector<Range>& to, std::vector<Range> listed, bool negated) {
    if (!negated) {
      to.insert(to.end(), listed.begin(), listed.end());
      return;
    }
    char32_t from = 0;
    for (const Range& range : listed) {
      if (range.first > from) to.push_back({from, range.first - 1});
      from = range.last + 1;
    }
    to.push_back({from, last_code_point});
  }

  std::string_view whole_;
  std::u32string text_;
  std::size_t at_ = 0;
  Flags flags_;
};

RegularExpression::RegularExpression(std::string_view expression)
    : steps_(RegularExpressionParser(expression).parse()) {}

bool RegularExpression::takes(const Step& step, char32_t letter) {
  const std::vector<Range>& ranges = *step.ranges;
  const auto behind =
      std::upper_bound(ranges.begin(), ranges.end(), letter,
                       [](char32_t wanted, const Range& range) { return wanted < range.first; });
  const bool listed = behind != ranges.begin() && letter <= (behind - 1)->last;
  return listed != step.negated;
}

bool RegularExpression::holds(Op op, std::size_t place, const std::u32string& text) const {
  const bool before = place > 0 && is_word(text[place - 1]);
  const bool after = place < text.size() && is_word(text[place]);
  switch (op) {
    case Op::text_start:
      return place == 0;
    case Op::text_end:
      return place == text.size();
    case Op::line_start:
      return place == 0 || text[place - 1] == '\n';
    case Op::line_end:
      return place == text.size() || text[place] == '\n';
    case Op::edge:
      return before != after;
    case Op::no_edge:
      return before == after;
    default:
      return true;
  }
}

/// Adds the steps that wait for a letter (or end it all) and can be reached from `step` without one.
void RegularExpression::follow(std::vector<std::size_t>& list, std::vector<char>& seen, std::size_t step,
                               std::size_t place, const std::u32string& text) const {
  std::vector<std::size_t> open{step};
  while (!open.empty()) {
    const std::size_t at = open.back();
    open.pop_back();
    if (seen[at] != 0) continue;
    seen[at] = 1;
    const Step& here = steps_[at];
    if (here.op == Op::letter || here.op == Op::done) {
      list.push_back(at);
    } else if (here.op == Op::split) {
      open.push_back(here.other);
      open.push_back(here.next);
    } else if (holds(here.op, place, text)) {
      open.push_back(here.next);
    }
  }
}

bool RegularExpression::found_in(std::string_view bytes) const {
  const std::u32string text = decoded(bytes);
  std::vector<std::size_t> now;
  std::vector<std::size_t> then;
  std::vector<char> seen(steps_.size(), 0);
  for (std::size_t place = 0; place <= text.size(); ++place) {
    follow(now, seen, 0, place, text);
    std::fill(seen.begin(), seen.end(), 0);
    then.clear();
    for (const std::size_t at : now) {
      if (steps_[at].op == Op::done) return true;
      if (place < text.size() && takes(steps_[at], text[place]))
        follow(then, seen, steps_[at].next, place + 1, text);
    }
    std::swap(now, then);
  }
  return false;
}

/// One search from the left; threads are kept in the order in which their matches are preferred.
std::optional<RegularExpression::Found> RegularExpression::find(const std::u32string& text,
                                                                std::size_t from) const {
  std::vector<std::size_t> now;
  std::vector<std::size_t> starts;  // where the match of each one of `now` starts
  std::vector<std::size_t> then;
  std::vector<std::size_t> then_starts;
  std::vector<char> seen(steps_.size(), 0);
  std::optional<Found> best;
  for (std::size_t place = from; place <= text.size(); ++place) {
    if (!best) follow(now, seen, 0, place, text);
    starts.resize(now.size(), place);
    std::fill(seen.begin(), seen.end(), 0);
    then.clear();
    then_starts.clear();
    for (std::size_t i = 0; i < now.size(); ++i) {
      if (steps_[now[i]].op == Op::done) {
        best = Found{starts[i], place, place};
        break;  // the other threads are less preferred
      }
      if (place < text.size() && takes(steps_[now[i]], text[place]))
        follow(then, seen, steps_[now[i]].next, place + 1, text);
      then_starts.resize(then.size(), starts[i]);
    }
    if (best) best->read = place;
    if (best && then.empty()) break;
    std::swap(now, then);
    std::swap(starts, then_starts);
  }
  return best;
}

void RegularExpression::each_match(std::string_view bytes,
                                   const std::function<bool(const Match&)>& take) const {
  std::vector<std::size_t> places;
  const std::u32string text = decoded(bytes, &places);
  std::optional<std::size_t> behind_last;
  for (std::size_t from = 0; from <= text.size();) {
    const auto found = find(text, from);
    if (!found) return;
    const bool empty = found->first == found->last;
    if (!empty || found->first != behind_last) {
      const std::size_t place = places[found->first];
      if (!take({place, places[found->last] - place, places[found->read] - places[from]})) return;
    }
    behind_last = found->last;
    from = found->last + (empty ? 1 : 0);
  }
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
