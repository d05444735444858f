// SPDX-License-Identifier: Apache-2.0
#include "apiserver/text/regular_expression.hpp"

#include <optional>
#include <stdexcept>
#include <string>

#include <re2/re2.h>

namespace evenkeel {
inline namespace v0 {
namespace apiserver {
namespace {

re2::StringPiece piece(std::string_view text) {
  return {text.data(), text.size()};
}

/// Converts Go's additions to RE2's syntax: (?<name>re) is (?P<name>re). Quotes (\Q...\E) and classes are not
/// changed.
std::string with_named_groups(std::string_view expression) {
  std::string result;
  bool quoted = false;
  std::optional<std::size_t> class_start;
  for (std::size_t i = 0; i < expression.size(); ++i) {
    const std::string_view rest = expression.substr(i);
    if (quoted ? rest.starts_with("\\E") : rest.starts_with("\\Q") && !class_start) quoted = !quoted;
    if (!quoted && !class_start && rest.starts_with("(?<")) {
      result += "(?P<";
      i += 2;
      continue;
    }
    result += rest.front();
    if (quoted) continue;
    if (rest.front() == '\\' && rest.size() > 1) {
      result += rest[1];
      ++i;
    } else if (!class_start && rest.front() == '[') {
      class_start = i + (rest.starts_with("[^") ? 2 : 1);
    } else if (class_start && rest.front() == ']' && i > *class_start) {
      class_start.reset();  // at the start of a class it is a literal
    }
  }
  return result;
}

re2::RE2::Options options() {
  re2::RE2::Options options;
  options.set_log_errors(false);
  return options;
}

/// Returns the position after the code point at `place`.
std::size_t behind_letter(std::string_view text, std::size_t place) {
  do ++place;
  while (place < text.size() && (static_cast<unsigned char>(text[place]) & 0xC0U) == 0x80U);
  return place;
}

}  // namespace

RegularExpression::RegularExpression(std::string_view expression)
    : program_(std::make_shared<const re2::RE2>(piece(with_named_groups(expression)), options())) {
  if (!program_->ok()) throw std::invalid_argument("error parsing regexp: " + program_->error());
}

bool RegularExpression::found_in(std::string_view text) const {
  return re2::RE2::PartialMatch(piece(text), *program_);
}

void RegularExpression::each_match(std::string_view text,
                                   const std::function<bool(const Match&)>& take) const {
  std::optional<std::size_t> behind_last;
  for (std::size_t from = 0; from <= text.size();) {
    re2::StringPiece found;
    if (!program_->Match(piece(text), from, text.size(), re2::RE2::UNANCHORED, &found, 1)) return;
    const auto place = static_cast<std::size_t>(found.data() - text.data());
    const std::size_t end = place + found.size();
    if (!found.empty() || place != behind_last)
      if (!take({place, found.size(), text.size() - from})) return;
    behind_last = end;
    from = found.empty() ? behind_letter(text, end) : end;
  }
}

std::size_t RegularExpression::size() const {
  return static_cast<std::size_t>(program_->ProgramSize());
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
