// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <optional>
#include <string>
#include <utility>

#include "apiserver/schema/cel_library.hpp"
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

/// Words that are not the name of a variable or function. Source: cel-go parser/parser.go reservedIds.
constexpr std::array<std::string_view, 18> reserved_words{
    "as", "break", "const", "continue", "else",      "for",    "function", "if",   "import",
    "in", "let",   "loop",  "package",  "namespace", "return", "var",      "void", "while"};

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
  Node call(std::string name, std::vector<Node> children, bool receiver = false,
            std::size_t column = 0) const {
    return bounded({.kind = CelNode::Kind::call,
                    .text = std::move(name),
                    .receiver = receiver,
                    .children = std::move(children),
                    .column = column == 0 ? at_ : column});
  }
  static Node literal(CelValue value) {
    return std::make_shared<CelNode>(CelNode{.value = std::move(value)});
  }
  static Node literal(Json value) { return literal(CelValue::of(std::move(value))); }
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
        const std::size_t column = at_;
        const bool optional = take("?");
        const std::string name = identifier();
        target = !optional && take("(") ? method(target, name) : field(target, name, optional, column);
      } else if (take("[")) {
        const bool optional = take("?");
        target =
            bounded({.kind = CelNode::Kind::index, .optional = optional, .children = {target, choice()}});
        expect("]");
      } else {
        return target;
      }
    }
  }

  /// Names of types may have dots.
  static Node field(const Node& target, const std::string& name, bool optional, std::size_t column) {
    const std::string prefix = optional ? "" : dotted_name(*target);
    if (!prefix.empty() && is_cel_type(prefix + "." + name))
      return node(CelNode::Kind::name, {}, prefix + "." + name);
    return bounded({.kind = CelNode::Kind::field,
                    .text = name,
                    .optional = optional,
                    .children = {target},
                    .column = column});
  }

  std::vector<Node> arguments() {
    std::vector<Node> result;
    if (take(")")) return result;
    do {
      result.push_back(choice());
    } while (take(","));
    expect(")");
    return result;
  }

  /// Parses an item of a list or the value of a map.
  Node maybe(bool optional) {
    Node value = choice();
    return optional ? node(CelNode::Kind::maybe, {value}) : value;
  }

  Node list_literal() {
    std::vector<Node> items;
    while (!take("]")) {
      if (!items.empty()) {
        expect(",");
        if (take("]")) break;
      }
      items.push_back(maybe(take("?")));
    }
    return node(CelNode::Kind::list, std::move(items));
  }

  Node map_literal() {
    std::vector<Node> children;
    while (!take("}")) {
      if (!children.empty()) {
        expect(",");
        if (take("}")) break;
      }
      const bool optional = take("?");
      children.push_back(choice());
      expect(":");
      children.push_back(maybe(optional));
    }
    return node(CelNode::Kind::map, std::move(children));
  }

  /// A method of this name whose first arguments are variables.
  struct Macro {
    std::string_view name;
    std::size_t variables;
    std::size_t filters;  ///< how many it may have
  };

  /// Parses a method, or one of the macros that loop.
  Node method(const Node& target, const std::string& name) {
    static constexpr std::array<Macro, 15> macros{{{"all", 1, 0},
                                                   {"exists", 1, 0},
                                                   {"exists_one", 1, 0},
                                                   {"filter", 1, 0},
                                                   {"map", 1, 1},
                                                   {"sortBy", 1, 0},
                                                   {"optMap", 1, 0},
                                                   {"optFlatMap", 1, 0},
                                                   {"all", 2, 0},
                                                   {"exists", 2, 0},
                                                   {"exists_one", 2, 0},
                                                   {"existsOne", 2, 0},
                                                   {"transformList", 2, 1},
                                                   {"transformMap", 2, 1},
                                                   {"transformMapEntry", 2, 1}}};
    const std::string prefix = dotted_name(*target);
    const std::size_t column = at_;
    std::vector<Node> given = arguments();
    for (const Macro& macro : macros) {
      const std::size_t least = macro.variables + 1;
      if (macro.name == name && given.size() >= least && given.size() <= least + macro.filters)
        return loop(target, macro, given);
    }
    if (!prefix.empty() && is_cel_function(prefix + "." + name))
      return call(prefix + "." + name, std::move(given), false, column);
    given.insert(given.begin(), target);
    return call(name, std::move(given), true, column);
  }

  Node loop(const Node& target, const Macro& macro, const std::vector<Node>& given) {
    for (std::size_t i = 0; i < macro.variables; ++i)
      if (given[i]->kind != CelNode::Kind::name) fail("argument must be a simple name");
    CelNode loop{.kind = CelNode::Kind::loop,
                 .text = std::string(macro.name),
                 .variable = given[0]->text,
                 .second = macro.variables > 1 ? given[1]->text : "",
                 .children = {target, given.back()},
                 .column = at_};
    if (loop.text == "exists_one") loop.text = "existsOne";
    if (loop.variable == loop.second) fail("duplicate variable name: " + loop.second);
    if (given.size() > macro.variables + 1) loop.children.push_back(given[macro.variables]);
    return bounded(std::move(loop));
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
    if (take("[")) return list_literal();
    if (take("{")) return map_literal();
    const bool fraction = letter == '.' && is_digit(at_ + 1);
    if (is_digit(at_) || letter == '-' || fraction) return number();
    if (const auto prefix = literal_prefix()) {
      at_ += prefix->size();
      const bool bytes = prefix->find_first_of("bB") != std::string_view::npos;
      const bool raw = prefix->find_first_of("rR") != std::string_view::npos;
      std::string value = string_literal(raw, bytes);
      return literal(bytes ? cel_bytes(std::move(value)) : cel_text(std::move(value)));
    }
    take(".");
    return word();
  }

  bool is_digit(std::size_t at) const {
    return at < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at])) != 0;
  }

  /// Returns the letters before the quotes of a string or bytes literal: "", "r", "b", "br".
  std::optional<std::string_view> literal_prefix() const {
    const std::size_t quote = std::min(text_.find_first_of("\"'", at_), text_.size());
    const std::string_view prefix = text_.substr(at_, quote - at_);
    static constexpr std::array<std::string_view, 9> known{"", "r", "R", "b", "B", "br", "bR", "Br", "BR"};
    if (quote == text_.size() || std::find(known.begin(), known.end(), prefix) == known.end())
      return std::nullopt;
    return prefix;
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
    blanks();
    const std::size_t column = at_ + 1;
    const std::string name = identifier();
    if (name == "true" || name == "false") return literal(Json(name == "true"));
    if (name == "null") return literal(Json());
    if (std::find(reserved_words.begin(), reserved_words.end(), name) != reserved_words.end())
      fail("reserved identifier: " + name);
    if (!take("(")) return bounded({.kind = CelNode::Kind::name, .text = name, .column = column});
    const std::size_t bracket = at_;
    std::vector<Node> given = arguments();
    if (name != "has") return call(name, std::move(given), false, bracket);
    if (given.size() != 1 || given[0]->kind != CelNode::Kind::field || given[0]->optional)
      fail("invalid argument to has() macro");
    return node(CelNode::Kind::has, given[0]->children, given[0]->text);
  }

  Node number() {
    const std::size_t start = at_;
    if (text_[at_] == '-') ++at_;
    const bool hexadecimal = text_.substr(at_, 2) == "0x";
    if (hexadecimal) at_ += 2;
    bool real = false;
    while (at_ < text_.size()) {
      const char letter = text_[at_];
      const bool sign = (letter == '+' || letter == '-') && !hexadecimal && (text_[at_ - 1] | 32) == 'e';
      if (!sign && letter != '.' && std::isxdigit(static_cast<unsigned char>(letter)) == 0) break;
      if (letter == '.' && !is_digit(at_ + 1)) break;
      real |= !hexadecimal && (letter == '.' || (letter | 32) == 'e');
      ++at_;
    }
    std::string digits(text_.substr(start, at_ - start));
    const bool is_unsigned = at_ < text_.size() && (text_[at_] | 32) == 'u';
    if (is_unsigned) ++at_;
    const bool negative = digits.starts_with('-');
    if (hexadecimal) digits.erase(negative ? 1 : 0, 2);
    if (real)
      return literal(Json(parsed<double>(digits, std::chars_format::general, "invalid double literal")));
    const int base = hexadecimal ? 16 : 10;
    if (!is_unsigned) return literal(Json(parsed<std::int64_t>(digits, base, "invalid int literal")));
    const auto value = parsed<std::uint64_t>(digits, base, "invalid uint literal");
    return literal(CelValue{.type = CelValue::Type::uint, .number = static_cast<std::int64_t>(value)});
  }

  template <class Number, class Base>
  Number parsed(const std::string& digits, Base base, const char* problem) const {
    Number value{};
    const char* end = digits.data() + digits.size();
    const auto result = std::from_chars(digits.data(), end, value, base);
    if (result.ec != std::errc() || result.ptr != end) fail(problem);
    return value;
  }

  /// Escapes in bytes stand for bytes, those in strings for code points.
  std::string string_literal(bool raw, bool bytes) {
    const std::string quote(
        text_.substr(at_, text_.substr(at_).starts_with(std::string(3, text_[at_])) ? 3 : 1));
    at_ += quote.size();
    std::string result;
    while (!text_.substr(at_).starts_with(quote)) {
      if (at_ >= text_.size()) fail("unterminated string");
      if (text_[at_] == '\\' && !raw) {
        ++at_;
        escape(result, bytes);
      } else if (quote.size() == 1 && (text_[at_] == '\n' || text_[at_] == '\r')) {
        fail("unterminated string");
      } else {
        result += text_[at_++];
      }
    }
    at_ += quote.size();
    return result;
  }

  void escape(std::string& out, bool bytes) {
    static constexpr std::string_view plain = "\\?\"'`";
    static constexpr std::string_view names = "abfnrtv";
    static constexpr std::string_view meanings = "\a\b\f\n\r\t\v";
    if (at_ >= text_.size()) fail("unterminated string");
    const char letter = text_[at_++];
    const auto append = [&](std::uint32_t value) {
      if (bytes)
        out += static_cast<char>(value);
      else
        append_letter(out, value);
    };
    if (plain.find(letter) != std::string_view::npos) {
      out += letter;
    } else if (const std::size_t known = names.find(letter); known != std::string_view::npos) {
      out += meanings[known];
    } else if (letter == 'x' || letter == 'X') {
      append(digits(2, 16));
    } else if (letter == 'u' && !bytes) {
      append(digits(4, 16));
    } else if (letter == 'U' && !bytes) {
      append(digits(8, 16));
    } else if (letter >= '0' && letter <= '3') {
      --at_;
      append(digits(3, 8));
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

std::string dotted_name(const CelNode& node) {
  if (node.kind == CelNode::Kind::name) return node.text;
  if (node.kind != CelNode::Kind::field || node.optional) return "";
  std::string prefix = dotted_name(*node.children[0]);
  return prefix.empty() ? prefix : prefix + "." + node.text;
}

std::optional<std::string> escaped_field(std::string_view name) {
  static constexpr std::pair<std::string_view, std::string_view> escapes[] = {
      {"__", "__underscores__"}, {".", "__dot__"}, {"-", "__dash__"}, {"/", "__slash__"}};
  const auto is_word = [](unsigned char letter) { return std::isalnum(letter) != 0 || letter == '_'; };
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) != 0) return std::nullopt;
  const bool is_literal = name == "true" || name == "false" || name == "null";
  if (is_literal || std::find(reserved_words.begin(), reserved_words.end(), name) != reserved_words.end())
    return "__" + std::string(name) + "__";
  std::string result;
  while (!name.empty()) {
    const auto known = std::find_if(std::begin(escapes), std::end(escapes),
                                    [&](const auto& escape) { return name.starts_with(escape.first); });
    if (known == std::end(escapes) && !is_word(static_cast<unsigned char>(name[0]))) return std::nullopt;
    result += known == std::end(escapes) ? name.substr(0, 1) : known->second;
    name.remove_prefix(known == std::end(escapes) ? 1 : known->first.size());
  }
  return result;
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
