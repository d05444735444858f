// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <utility>

#include "apiserver/schema/cel_node.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

namespace {

using Node = std::shared_ptr<const CelNode>;
// Default limits of cel-go's parser, which Kubernetes does not change. Source: cel-go parser/parser.go
// NewParser.
constexpr std::int64_t max_letters = 100'000;
constexpr int max_depth = 250;
// Each bracket counts as two levels during parsing.
constexpr int max_open = 2 * max_depth;

/// Appends the UTF-8 form of a code point.
void append_letter(std::string& out, std::uint32_t letter) {
  if (letter < 0x80) {
    out += static_cast<char>(letter);
  } else if (letter < 0x800) {
    out += static_cast<char>(0xC0U | letter >> 6U);
    out += static_cast<char>(0x80U | (letter & 0x3FU));
  } else if (letter < 0x10000) {
    out += static_cast<char>(0xE0U | letter >> 12U);
    out += static_cast<char>(0x80U | (letter >> 6U & 0x3FU));
    out += static_cast<char>(0x80U | (letter & 0x3FU));
  } else {
    out += static_cast<char>(0xF0U | letter >> 18U);
    out += static_cast<char>(0x80U | (letter >> 12U & 0x3FU));
    out += static_cast<char>(0x80U | (letter >> 6U & 0x3FU));
    out += static_cast<char>(0x80U | (letter & 0x3FU));
  }
}

/// A recursive descent parser, one function per level of precedence.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Node parse() {
    const std::int64_t letters = std::count_if(text_.begin(), text_.end(), [](char byte) {
      return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U;
    });
    if (letters > max_letters)
      throw CelError("ERROR: <input>:-1:0: expression code point size exceeds limit: size: " +
                     std::to_string(letters) + ", limit " + std::to_string(max_letters));
    Node result = choice();
    blanks();
    if (at_ < text_.size()) fail("unexpected input");
    return result;
  }

 private:
  [[noreturn]] void fail(const std::string& problem) const {
    throw CelError("ERROR: <input>:1:" + std::to_string(at_ + 1) + ": Syntax error: " + problem);
  }

  [[noreturn]] static void fail_depth() {
    throw CelError("ERROR: <input>:-1:0: expression recursion limit exceeded: " + std::to_string(max_depth));
  }

  void blanks() {
    while (at_ < text_.size()) {
      if (std::isspace(static_cast<unsigned char>(text_[at_])) != 0)
        ++at_;
      else if (text_.substr(at_).starts_with("//"))
        at_ = std::min(text_.find('\n', at_), text_.size());
      else
        return;
    }
  }

  bool take(std::string_view symbol) {
    blanks();
    if (!text_.substr(at_).starts_with(symbol)) return false;
    at_ += symbol.size();
    return true;
  }
  void expect(std::string_view symbol) {
    if (!take(symbol)) fail("expected '" + std::string(symbol) + "'");
  }

  /// Chains of operators and members are nested without brackets: the height of the tree is limited as well.
  static Node bounded(CelNode node) {
    for (const Node& child : node.children) node.height = std::max(node.height, child->height + 1);
    if (node.height > max_depth) fail_depth();
    return std::make_shared<CelNode>(std::move(node));
  }
  static Node call(std::string name, std::vector<Node> children, bool receiver = false) {
    return bounded({.kind = CelNode::Kind::call,
                    .text = std::move(name),
                    .receiver = receiver,
                    .children = std::move(children)});
  }
  static Node literal(Json value) {
    return std::make_shared<CelNode>(CelNode{.value = CelValue::of(std::move(value))});
  }
  static Node node(CelNode::Kind kind, std::vector<Node> children, std::string text = {}) {
    return bounded({.kind = kind, .text = std::move(text), .children = std::move(children)});
  }

  Node choice() {
    if (++depth_ > max_open) fail_depth();
    Node condition = disjunction();
    if (take("?")) {
      Node yes = disjunction();
      expect(":");
      Node no = choice();
      condition = node(CelNode::Kind::choice, {condition, yes, no});
    }
    --depth_;
    return condition;
  }

  // One node for a chain of any length; cel-go balances its tree for the same purpose.
  Node disjunction() {
    std::vector<Node> sides{conjunction()};
    while (take("||")) sides.push_back(conjunction());
    return sides.size() == 1 ? sides[0] : node(CelNode::Kind::disjunction, std::move(sides));
  }

  Node conjunction() {
    std::vector<Node> sides{relation()};
    while (take("&&")) sides.push_back(relation());
    return sides.size() == 1 ? sides[0] : node(CelNode::Kind::conjunction, std::move(sides));
  }

  Node relation() {
    static constexpr std::array<std::string_view, 6> symbols{"==", "!=", "<=", ">=", "<", ">"};
    Node left = sum();
    while (true) {
      const auto found =
          std::find_if(symbols.begin(), symbols.end(), [this](auto symbol) { return take(symbol); });
      if (found != symbols.end()) {
        left = call("_" + std::string(*found) + "_", {left, sum()});
      } else if (take_word("in")) {
        left = call("@in", {left, sum()});
      } else {
        return left;
      }
    }
  }

  Node sum() {
    Node left = product();
    while (true) {
      if (take("+"))
        left = call("_+_", {left, product()});
      else if (take("-"))
        left = call("_-_", {left, product()});
      else
        return left;
    }
  }

  Node product() {
    Node left = unary();
    while (true) {
      if (take("*"))
        left = call("_*_", {left, unary()});
      else if (take("/"))
        left = call("_/_", {left, unary()});
      else if (take("%"))
        left = call("_%_", {left, unary()});
      else
        return left;
    }
  }

  Node unary() {
    if (++depth_ > max_open) fail_depth();
    Node result;
    blanks();
    const bool negative_number = at_ + 1 < text_.size() && text_[at_] == '-' &&
                                 std::isdigit(static_cast<unsigned char>(text_[at_ + 1])) != 0;
    if (text_.substr(at_, 2) != "!=" && take("!"))
      result = call("!_", {unary()});
    else if (!negative_number && take("-"))
      result = call("-_", {unary()});
    else
      result = member();
    --depth_;
    return result;
  }

  Node member() {
    Node target = primary();
    while (true) {
      if (take(".")) {
        const std::string name = identifier();
        if (take("("))
          target = method(target, name);
        else
          target = node(CelNode::Kind::field, {target}, name);
      } else if (take("[")) {
        target = node(CelNode::Kind::index, {target, choice()});
        expect("]");
      } else {
        return target;
      }
    }
  }

  std::vector<Node> arguments(std::string_view end) {
    std::vector<Node> result;
    if (take(end)) return result;
    do {
      blanks();
      if (text_.substr(at_).starts_with(end)) break;  // trailing comma
      result.push_back(choice());
    } while (take(","));
    expect(end);
    return result;
  }

  /// Parses a method, or one of the macros that loop.
  Node method(const Node& target, const std::string& name) {
    static constexpr std::array<std::string_view, 5> loops{"all", "exists", "exists_one", "filter", "map"};
    std::vector<Node> given = arguments(")");
    const bool loops_over = std::find(loops.begin(), loops.end(), name) != loops.end() && given.size() >= 2 &&
                            given[0]->kind == CelNode::Kind::name;
    if (loops_over && (given.size() == 2 || (name == "map" && given.size() == 3))) {
      CelNode loop{.kind = CelNode::Kind::loop, .text = name, .variable = given[0]->text};
      loop.children = {target, given.back()};
      if (given.size() == 3) loop.children.push_back(given[1]);
      return bounded(std::move(loop));
    }
    given.insert(given.begin(), target);
    return call(name, std::move(given), true);
  }

  Node primary() {
    blanks();
    if (at_ >= text_.size()) fail("unexpected end of input");
    const char letter = text_[at_];
    if (take("(")) {
      Node inner = choice();
      expect(")");
      return inner;
    }
    if (take("[")) return node(CelNode::Kind::list, arguments("]"));
    if (take("{")) return map_literal();
    if (std::isdigit(static_cast<unsigned char>(letter)) != 0 || letter == '-') return number();
    if (letter == '"' || letter == '\'') return literal(Json(string_literal(false)));
    if ((letter == 'r' || letter == 'R') && at_ + 1 < text_.size() &&
        (text_[at_ + 1] == '"' || text_[at_ + 1] == '\'')) {
      ++at_;
      return literal(Json(string_literal(true)));
    }
    take(".");
    return word();
  }

  Node map_literal() {
    std::vector<Node> children;
    if (take("}")) return node(CelNode::Kind::map, {});
    do {
      children.push_back(choice());
      expect(":");
      children.push_back(choice());
    } while (take(","));
    expect("}");
    return node(CelNode::Kind::map, std::move(children));
  }

  bool take_word(std::string_view word) {
    blanks();
    if (!text_.substr(at_).starts_with(word)) return false;
    const std::size_t end = at_ + word.size();
    if (end < text_.size() &&
        (std::isalnum(static_cast<unsigned char>(text_[end])) != 0 || text_[end] == '_'))
      return false;
    at_ = end;
    return true;
  }

  std::string identifier() {
    blanks();
    const std::size_t start = at_;
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '_'))
      ++at_;
    if (at_ == start || std::isdigit(static_cast<unsigned char>(text_[start])) != 0)
      fail("expected an identifier");
    return std::string(text_.substr(start, at_ - start));
  }

  Node word() {
    const std::string name = identifier();
    if (name == "true" || name == "false") return literal(Json(name == "true"));
    if (name == "null") return literal(Json());
    if (!take("(")) return node(CelNode::Kind::name, {}, name);
    std::vector<Node> given = arguments(")");
    if (name != "has") return call(name, std::move(given));
    if (given.size() != 1 || given[0]->kind != CelNode::Kind::field) fail("invalid argument to has() macro");
    return node(CelNode::Kind::has, given[0]->children, given[0]->text);
  }

  Node number() {
    const std::size_t start = at_;
    if (text_[at_] == '-') ++at_;
    const bool hexadecimal = text_.substr(at_, 2) == "0x" || text_.substr(at_, 2) == "0X";
    if (hexadecimal) at_ += 2;
    bool real = false;
    while (at_ < text_.size()) {
      const char letter = text_[at_];
      const bool sign = (letter == '+' || letter == '-') && !hexadecimal && (text_[at_ - 1] | 32) == 'e';
      if (!sign && letter != '.' && std::isxdigit(static_cast<unsigned char>(letter)) == 0) break;
      if (letter == '.' &&
          (at_ + 1 >= text_.size() || std::isdigit(static_cast<unsigned char>(text_[at_ + 1])) == 0))
        break;
      real |= !hexadecimal && (letter == '.' || (letter | 32) == 'e');
      ++at_;
    }
    std::string digits(text_.substr(start, at_ - start));
    if (at_ < text_.size() && (text_[at_] | 32) == 'u') ++at_;
    const bool negative = digits.starts_with('-');
    if (hexadecimal) digits.erase(negative ? 1 : 0, 2);
    const char* end = digits.data() + digits.size();
    if (real) {
      double value = 0;
      if (std::from_chars(digits.data(), end, value).ptr != end) fail("invalid double literal");
      return literal(Json(value));
    }
    std::int64_t value = 0;
    const auto result = std::from_chars(digits.data(), end, value, hexadecimal ? 16 : 10);
    if (result.ec != std::errc() || result.ptr != end) fail("invalid int literal");
    return literal(Json(value));
  }

  std::string string_literal(bool raw) {
    const std::string quote(
        text_.substr(at_, text_.substr(at_).starts_with(std::string(3, text_[at_])) ? 3 : 1));
    at_ += quote.size();
    std::string result;
    while (!text_.substr(at_).starts_with(quote)) {
      if (at_ >= text_.size()) fail("unterminated string");
      if (text_[at_] == '\\' && !raw) {
        ++at_;
        escape(result);
      } else {
        result += text_[at_++];
      }
    }
    at_ += quote.size();
    return result;
  }

  void escape(std::string& out) {
    static constexpr std::string_view plain = "\\?\"'`";
    static constexpr std::string_view names = "abfnrtv";
    static constexpr std::string_view meanings = "\a\b\f\n\r\t\v";
    if (at_ >= text_.size()) fail("unterminated string");
    const char letter = text_[at_++];
    if (plain.find(letter) != std::string_view::npos) {
      out += letter;
    } else if (const std::size_t known = names.find(letter); known != std::string_view::npos) {
      out += meanings[known];
    } else if (letter == 'x' || letter == 'X') {
      append_letter(out, digits(2, 16));
    } else if (letter == 'u') {
      append_letter(out, digits(4, 16));
    } else if (letter == 'U') {
      append_letter(out, digits(8, 16));
    } else if (letter >= '0' && letter <= '3') {
      --at_;
      append_letter(out, digits(3, 8));
    } else {
      fail("invalid escape sequence");
    }
  }

  std::uint32_t digits(std::size_t count, int base) {
    const std::string_view piece = text_.substr(at_, count);
    std::uint32_t value = 0;
    const auto result = std::from_chars(piece.data(), piece.data() + piece.size(), value, base);
    if (piece.size() < count || result.ptr != piece.data() + piece.size() || value > 0x10FFFF)
      fail("invalid escape sequence");
    at_ += count;
    return value;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

std::shared_ptr<const CelNode> parse_cel(std::string_view text) {
  return Parser(text).parse();
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
