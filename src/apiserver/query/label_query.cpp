// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <utility>

#include "apiserver/query/selector.hpp"
#include "apiserver/schema/name_rules.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {
namespace {

enum class TokenKind : std::uint8_t { end, identifier, symbol };

struct Token {
  TokenKind kind = TokenKind::end;
  std::string text = {};
};

/// Symbols are read greedily: "===" is "==" and "=".
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  Token next() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
    if (at_ >= text_.size()) return {};
    return is_special(text_[at_]) ? symbol() : identifier();
  }

 private:
  static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
  static bool is_special(char c) { return std::string_view("=!(),><").find(c) != std::string_view::npos; }

  Token symbol() {
    std::size_t length = 1;
    const std::string_view two = text_.substr(at_, 2);
    if (two == "==" || two == "!=") length = 2;
    Token token{TokenKind::symbol, std::string(text_.substr(at_, length))};
    at_ += length;
    return token;
  }
  Token identifier() {
    const std::size_t start = at_;
    while (at_ < text_.size() && !is_space(text_[at_]) && !is_special(text_[at_])) ++at_;
    return {TokenKind::identifier, std::string(text_.substr(start, at_ - start))};
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

[[noreturn]] void refuse(const std::string& problem) {
  throw StatusError::bad_request(problem);
}

std::string found(const Token& token) {
  return "found '" + token.text + "'";
}

std::optional<std::int64_t> number(std::string_view text) {
  std::int64_t value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec != std::errc() || result.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

class LabelQueryParser {
 public:
  using Requirement = LabelQuery::Requirement;
  using Operator = LabelQuery::Operator;

  explicit LabelQueryParser(std::string_view text) : lexer_(text) { token_ = lexer_.next(); }

  std::vector<Requirement> parse() {
    std::vector<Requirement> out;
    while (token_.kind != TokenKind::end) {
      if (!starts_requirement()) refuse(found(token_) + ", expected: !, identifier, or 'end of string'");
      out.push_back(requirement());
      if (token_.kind == TokenKind::end) break;
      if (!is(",")) refuse(found(token_) + ", expected: ',' or 'end of string'");
      take();
      if (!starts_requirement()) refuse(found(token_) + ", expected: identifier after ','");
    }
    return out;
  }

 private:
  bool is(std::string_view symbol) const { return token_.kind == TokenKind::symbol && token_.text == symbol; }
  bool starts_requirement() const { return token_.kind == TokenKind::identifier || is("!"); }
  Token take() { return std::exchange(token_, lexer_.next()); }
  [[noreturn]] static void refuse_requirement(const std::string& problem) {
    refuse("unable to parse requirement: " + problem);
  }

  Requirement requirement() {
    const bool negated = is("!");
    if (negated) take();
    const Token key = take();
    if (key.kind != TokenKind::identifier) refuse_requirement(found(key) + ", expected: identifier");
    check(key.text, qualified_name_problems(key.text), "<nil>");
    if (negated) return {key.text, Operator::absent, {}};
    if (token_.kind == TokenKind::end || is(",")) return {key.text, Operator::exists, {}};
    return with_values(key.text, take());
  }

  static void check(const std::string& value, const std::vector<std::string>& problems,
                    const std::string& field) {
    if (problems.empty()) return;
    std::string joined;
    for (const std::string& problem : problems) joined += (joined.empty() ? "" : "; ") + problem;
    refuse_requirement(field + ": Invalid value: " + Json(value).dump() + ": " + joined);
  }

  Requirement with_values(const std::string& key, const Token& op) {
    Requirement out{key, Operator::in, {}};
    if (op.text == "in" || op.text == "notin") {
      out.op = op.text == "in" ? Operator::in : Operator::not_in;
      out.values = values();
    } else if (op.text == "=" || op.text == "==" || op.text == "!=") {
      out.op = op.text == "!=" ? Operator::not_in : Operator::in;
      out.values = {value()};
    } else if (op.text == ">" || op.text == "<") {
      out.op = op.text == ">" ? Operator::greater : Operator::less;
      out.values = {value()};
      if (!number(out.values.front()))
        refuse_requirement("values[0]: Invalid value: " + Json(out.values.front()).dump() +
                           ": for 'Gt', 'Lt' operators, the value must be an integer");
    } else {
      refuse_requirement(found(op) + ", expected: in, notin, =, ==, !=, gt, lt");
    }
    std::sort(out.values.begin(), out.values.end());
    out.values.erase(std::unique(out.values.begin(), out.values.end()), out.values.end());
    for (std::size_t i = 0; i < out.values.size(); ++i)
      check(out.values[i], label_value_problems(out.values[i]),
            "values[" + std::to_string(i) + "][" + key + "]");
    return out;
  }

  std::string value() {
    if (token_.kind == TokenKind::end || is(",")) return "";
    const Token token = take();
    if (token.kind != TokenKind::identifier) refuse_requirement(found(token) + ", expected: identifier");
    return token.text;
  }

  std::vector<std::string> values() {
    if (!is("(")) refuse_requirement(found(token_) + " expected: '('");
    take();
    if (!is(")") && !is(",") && token_.kind != TokenKind::identifier)
      refuse_requirement(found(token_) + ", expected: ',', ')' or identifier");
    std::vector<std::string> out;
    while (!is(")")) {
      if (is(",")) {
        out.emplace_back();
        take();
        continue;
      }
      const Token token = take();
      if (token.kind != TokenKind::identifier)
        refuse_requirement(found(token) + ", expected: ',', or identifier");
      out.push_back(token.text);
      if (is(",")) {
        take();
        if (is(")")) out.emplace_back();
      } else if (!is(")")) {
        refuse_requirement(found(token_) + ", expected: ',' or ')'");
      }
    }
    take();
    if (out.empty()) out.emplace_back();  // "()" is the empty value
    return out;
  }

  Lexer lexer_;
  Token token_;
};

LabelQuery::LabelQuery(std::string_view text) : requirements_(LabelQueryParser(text).parse()) {}

bool LabelQuery::holds(const Requirement& requirement, const Json& label) {
  const bool present = label.is_string();
  switch (requirement.op) {
    case Operator::exists:
      return present;
    case Operator::absent:
      return !present;
    default:
      break;
  }
  if (!present) return requirement.op == Operator::not_in;
  const std::string& value = label.as_string();
  const bool listed =
      std::find(requirement.values.begin(), requirement.values.end(), value) != requirement.values.end();
  switch (requirement.op) {
    case Operator::in:
      return listed;
    case Operator::not_in:
      return !listed;
    default:
      break;
  }
  const auto have = number(value);
  const auto bound = number(requirement.values.front());
  if (!have || !bound) return false;
  return requirement.op == Operator::greater ? *have > *bound : *have < *bound;
}

bool LabelQuery::matches(const Json& labels) const {
  return std::all_of(requirements_.begin(), requirements_.end(), [&](const Requirement& requirement) {
    return holds(requirement, labels[requirement.key]);
  });
}

bool LabelQuery::matches(const Stored& object) const {
  return std::all_of(requirements_.begin(), requirements_.end(), [&](const Requirement& requirement) {
    return holds(requirement, object.label(requirement.key));
  });
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
