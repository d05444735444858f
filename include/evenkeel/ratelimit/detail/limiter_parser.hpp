// SPDX-License-Identifier: Apache-2.0
// Parser of limiters written as text into a tree; parse.hpp makes limiters of the tree.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <evenkeel/base/duration_text.hpp>
#include <evenkeel/base/time.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

enum class LimiterKind : std::uint8_t {
  exponential,
  fast_slow,
  token_bucket,
  token_bucket_per,
  max_of,
  with_max_delay,
  with_jitter,
  standard
};

enum class ArgumentKind : std::uint8_t { limiter, duration, whole, real };

/// A limiter and its arguments, each list in the order in which its type appears in the signature.
struct LimiterNode {
  LimiterKind kind = LimiterKind::standard;
  std::size_t column = 1;
  std::vector<LimiterNode> parts = {};
  std::vector<Duration> durations = {};
  std::vector<std::int64_t> wholes = {};
  std::vector<double> reals = {};
};

struct LimiterParameter {
  std::string_view name;
  ArgumentKind kind = ArgumentKind::limiter;
};

struct LimiterSignature {
  std::string_view name;
  LimiterKind kind = LimiterKind::standard;
  std::size_t least = 0;  // number of arguments
  std::size_t most = 0;
  LimiterParameter parameters[3] = {};
  std::string_view usage = {};

  /// Returns the parameter at `index`; the last parameter stands for all that follow.
  const LimiterParameter& parameter(std::size_t index) const {
    return parameters[index < most ? index : most - 1];
  }
};

inline constexpr std::size_t any_number = 3;  // of parts of a max_of

inline constexpr LimiterSignature limiter_signatures[] = {
    {"exponential",
     LimiterKind::exponential,
     2,
     2,
     {{"base_delay", ArgumentKind::duration}, {"max_delay", ArgumentKind::duration}},
     "exponential(base_delay, max_delay)"},
    {"fast_slow",
     LimiterKind::fast_slow,
     3,
     3,
     {{"fast", ArgumentKind::duration},
      {"slow", ArgumentKind::duration},
      {"fast_attempts", ArgumentKind::whole}},
     "fast_slow(fast, slow, fast_attempts)"},
    {"token_bucket",
     LimiterKind::token_bucket,
     2,
     2,
     {{"per_second", ArgumentKind::real}, {"burst", ArgumentKind::whole}},
     "token_bucket(per_second, burst) or token_bucket(tokens, per, burst)"},
    {"token_bucket",
     LimiterKind::token_bucket_per,
     3,
     3,
     {{"tokens", ArgumentKind::whole}, {"per", ArgumentKind::duration}, {"burst", ArgumentKind::whole}},
     "token_bucket(per_second, burst) or token_bucket(tokens, per, burst)"},
    {"max_of",
     LimiterKind::max_of,
     1,
     any_number,
     {{"limiter"}, {"limiter"}, {"limiter"}},
     "max_of(limiter, ...)"},
    {"with_max_delay",
     LimiterKind::with_max_delay,
     2,
     2,
     {{"limiter"}, {"max_delay", ArgumentKind::duration}},
     "with_max_delay(limiter, max_delay)"},
    {"with_jitter",
     LimiterKind::with_jitter,
     2,
     3,
     {{"limiter"}, {"factor", ArgumentKind::real}, {"seed", ArgumentKind::whole}},
     "with_jitter(limiter, factor) or with_jitter(limiter, factor, seed)"},
    {"default", LimiterKind::standard, 0, 0, {}, "default()"},
};

/// Returns the number of single-letter edits between two words.
inline std::size_t edit_distance(std::string_view one, std::string_view other) {
  std::vector<std::size_t> row(other.size() + 1);
  for (std::size_t j = 0; j <= other.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= one.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= other.size(); ++j) {
      std::size_t least = diagonal + (one[i - 1] == other[j - 1] ? 0 : 1);
      if (row[j] + 1 < least) least = row[j] + 1;
      if (row[j - 1] + 1 < least) least = row[j - 1] + 1;
      diagonal = std::exchange(row[j], least);
    }
  }
  return row[other.size()];
}

/// Returns the name of the limiter most similar to `word`; empty if none is similar.
inline std::string_view nearest_limiter(std::string_view word) {
  std::string folded(word.substr(0, 40));
  for (char& letter : folded) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
    if (letter == '-') letter = '_';
  }
  std::string_view nearest;
  std::size_t least = 1 + (folded.size() < 6 ? 2 : folded.size() / 3);
  for (const LimiterSignature& signature : limiter_signatures) {
    const bool part = folded.size() >= 3 && signature.name.find(folded) != std::string_view::npos;
    const std::size_t distance = part ? 1 : edit_distance(folded, signature.name);
    if (distance >= least) continue;
    least = distance;
    nearest = signature.name;
  }
  return nearest;
}

/// Parses one composition. On an error it throws std::invalid_argument with the column (from 1, in bytes),
/// the text found there and what was expected.
class LimiterParser {
 public:
  explicit LimiterParser(std::string_view text) : text_(text) {}

  LimiterNode parse() {
    LimiterNode node = limiter(1);
    skip_space();
    if (at_ < text_.size()) fail(at_, token(), "the end");
    return node;
  }

  /// Returns the normalized text: one space after each comma and none elsewhere; numbers as written.
  std::string take_text() { return std::move(tidy_); }

 private:
  struct Literal {
    std::size_t at;
    std::string_view text;
  };

  static constexpr std::size_t deepest = 16;

  LimiterNode limiter(std::size_t depth) {
    skip_space();
    const std::size_t start = at_;
    if (depth > deepest) fail(start, token(), "at most 16 limiters inside each other");
    const LimiterSignature& known = signature_at(start);
    tidy_ += known.name;
    tidy_ += '(';
    LimiterNode node;
    std::vector<Literal> literals;
    skip_space();
    if (known.most > 0 || peek() == '(') arguments(known, depth, node, literals);
    tidy_ += ')';
    const LimiterSignature& signature = overload(known, node.parts.size() + literals.size());
    node.kind = signature.kind;
    node.column = start + 1;
    convert(signature, literals, node);
    return node;
  }

  const LimiterSignature& signature_at(std::size_t start) {
    const std::string_view name = token();
    for (const LimiterSignature& signature : limiter_signatures) {
      if (signature.name != name) continue;
      at_ = start + name.size();
      return signature;
    }
    const std::string_view near = nearest_limiter(name);
    if (near.empty()) {
      fail(start, name,
           "exponential, fast_slow, token_bucket, max_of, with_max_delay, with_jitter or default");
    }
    fail(start, name, "a limiter; did you mean " + std::string(near) + "?");
  }

  // Returns the overload of `first` with `count` parameters; arguments() has checked that `count` is in
  // range.
  static const LimiterSignature& overload(const LimiterSignature& first, std::size_t count) {
    for (const LimiterSignature& signature : limiter_signatures) {
      const bool fits = count >= signature.least && (count <= signature.most || takes_any_number(signature));
      if (signature.name == first.name && fits) return signature;
    }
    return first;
  }

  static bool takes_any_number(const LimiterSignature& signature) {
    return signature.kind == LimiterKind::max_of;
  }

  static std::size_t most_arguments(const LimiterSignature& first) {
    if (takes_any_number(first)) return static_cast<std::size_t>(-1);
    std::size_t most = 0;
    for (const LimiterSignature& signature : limiter_signatures) {
      if (signature.name == first.name && signature.most > most) most = signature.most;
    }
    return most;
  }

  void arguments(const LimiterSignature& signature, std::size_t depth, LimiterNode& node,
                 std::vector<Literal>& literals) {
    expect('(', signature);
    const std::size_t most = most_arguments(signature);
    for (std::size_t count = 0;; ++count) {
      skip_space();
      if (count < signature.least || (count > 0 && count < most && peek() == ',')) {
        if (count > 0) expect(',', signature, count);
        if (count > 0) tidy_ += ", ";
        argument(signature, count, depth, node, literals);
        continue;
      }
      expect(')', signature);
      return;
    }
  }

  void argument(const LimiterSignature& signature, std::size_t index, std::size_t depth, LimiterNode& node,
                std::vector<Literal>& literals) {
    if (signature.parameter(index).kind == ArgumentKind::limiter) {
      node.parts.push_back(limiter(depth + 1));
      return;
    }
    skip_space();
    const Literal literal{at_, token()};
    at_ += literal.text.size();
    if (literal.text.empty() || is_mark(literal.text.front()) || peek() == '(') {
      fail(literal.at, literal.text, expected(signature, index));
    }
    tidy_ += literal.text;
    literals.push_back(literal);
  }

  void convert(const LimiterSignature& signature, const std::vector<Literal>& literals, LimiterNode& node) {
    for (std::size_t i = 0; i < literals.size(); ++i) {
      const std::size_t index = node.parts.size() + i;
      if (!convert_one(signature.parameter(index).kind, literals[i].text, node)) {
        fail(literals[i].at, literals[i].text, expected(signature, index));
      }
    }
  }

  static bool convert_one(ArgumentKind kind, std::string_view text, LimiterNode& node) {
    if (kind == ArgumentKind::duration) {
      const auto duration = parse_duration(text);
      if (duration) node.durations.push_back(*duration);
      return duration.has_value();
    }
    return kind == ArgumentKind::whole ? convert_number(text, node.wholes) : convert_number(text, node.reals);
  }

  template <class Number>
  static bool convert_number(std::string_view text, std::vector<Number>& numbers) {
    Number number{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size()) return false;
    numbers.push_back(number);
    return true;
  }

  static std::string expected(const LimiterSignature& signature, std::size_t index) {
    const LimiterParameter& parameter = signature.parameter(index);
    std::string text;
    switch (parameter.kind) {
      case ArgumentKind::limiter:
        text = "a limiter";
        break;
      case ArgumentKind::duration:
        text = "a duration such as 5ms or 1m30s";
        break;
      case ArgumentKind::whole:
        text = "a whole number";
        break;
      case ArgumentKind::real:
        text = "a number";
        break;
    }
    return text + " (" + std::string(parameter.name) + " of " + std::string(signature.usage) + ")";
  }

  void expect(char mark, const LimiterSignature& signature, std::size_t index = 0) {
    skip_space();
    if (peek() != mark) {
      std::string wanted = std::string("\"") + mark + "\"";
      if (index > 0)
        wanted += " and " + expected(signature, index);
      else
        wanted += " as in " + std::string(signature.usage);
      fail(at_, token(), wanted);
    }
    ++at_;
  }

  static bool is_space(char letter) {
    return letter == ' ' || letter == '\t' || letter == '\n' || letter == '\r';
  }
  static bool is_mark(char letter) { return letter == '(' || letter == ')' || letter == ','; }

  void skip_space() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  }
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  // Returns the word or punctuation mark at at_; empty at the end.
  std::string_view token() const {
    std::size_t end = at_;
    while (end < text_.size() && !is_space(text_[end]) && !is_mark(text_[end])) ++end;
    if (end == at_ && end < text_.size()) ++end;
    return text_.substr(at_, end - at_);
  }

  [[noreturn]] static void fail(std::size_t at, std::string_view found, const std::string& expected) {
    throw std::invalid_argument("limiter, column " + std::to_string(at + 1) + ": found " + shown(found) +
                                ", expected " + expected);
  }

  // Quotes `found`, truncated if it is long, with non-printing characters escaped.
  static std::string shown(std::string_view found) {
    if (found.empty()) return "the end";
    constexpr std::string_view hex = "0123456789abcdef";
    std::string text = "\"";
    for (const char letter : found.substr(0, 32)) {
      const auto byte = static_cast<unsigned char>(letter);
      if (byte >= 0x20 && byte < 0x7f) {
        text += letter;
      } else {
        text += {'\\', 'x', hex[byte >> 4], hex[byte & 15]};
      }
    }
    return text + (found.size() > 32 ? "...\"" : "\"");
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string tidy_ = {};
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
