// SPDX-License-Identifier: Apache-2.0
#include "apiserver/text/block_yaml.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "api/yaml_scalar.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {
namespace {

/// Thrown to leave a document to the other parser.
struct NotBlockYaml {};

[[noreturn]] void leave() {
  throw NotBlockYaml();
}
void require(bool condition) {
  if (!condition) leave();
}

/// Line breaks and printable ASCII, without tabs.
bool is_simple(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return (c >= ' ' && c <= '~') || c == '\n'; });
}

std::string_view without_leading_spaces(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of(' '), text.size()));
}
std::string_view without_trailing_spaces(std::string_view text) {
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

bool is_dash(std::string_view text) {
  return text.starts_with("- ") || text == "-";
}

bool is_null_word(std::string_view text) {
  return text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL";
}

/// Returns the size of the quoted scalar at the beginning of `text` and appends its value to `out`.
std::size_t read_quoted(std::string_view text, std::string& out) {
  const char quote = text.front();
  for (std::size_t at = 1; at < text.size(); ++at) {
    const std::size_t end = std::min(text.find_first_of(quote == '"' ? "\"\\" : "'", at), text.size());
    out.append(text.substr(at, end - at));
    at = end;
    if (at + 1 < text.size() && quote == '\'' && text[at + 1] == '\'') {
      out += text[++at];
    } else if (at < text.size() && text[at] == quote) {
      return at + 1;
    } else if (at + 1 < text.size()) {
      constexpr std::string_view escapes = "\"\\/ntr";
      constexpr std::string_view values = "\"\\/\n\t\r";
      const std::size_t which = escapes.find(text[++at]);
      require(which != std::string_view::npos);
      out += values[which];
    }
  }
  leave();  // It goes on in the next line.
}

/// Returns the value of an unquoted scalar that is the rest of a line.
Json plain_value(std::string_view text) {
  constexpr std::string_view indicators = "-?:,[]{}#&*!|>'\"%@`";
  const bool number = text.front() == '-' && text.size() > 1 && text[1] != ' ' && text[1] != '-';
  require(number || indicators.find(text.front()) == std::string_view::npos);
  require(text.find(": ") == std::string_view::npos && text.find(" #") == std::string_view::npos &&
          text.back() != ':');
  const bool letter = (text.front() | 0x20) >= 'a' && (text.front() | 0x20) <= 'z';
  constexpr std::size_t longest_word = 5;  // "false": longer plain words are strings
  return letter && text.size() > longest_word ? Json(text) : v0::detail::plain_scalar(std::string(text));
}

struct Key {
  std::string name = {};
  std::string_view rest = {};  ///< After the colon and spaces.
};

/// Returns the key at the beginning of a line, if there is one.
std::optional<Key> read_key(std::string_view text) {
  constexpr std::string_view indicators = "-?:,[]{}#&*!|>%@`";
  Key key;
  std::size_t colon = 0;
  if (text.front() == '"' || text.front() == '\'') {
    colon = read_quoted(text, key.name);
    if (colon == text.size() || text[colon] != ':') return std::nullopt;
    require(colon + 1 == text.size() || text[colon + 1] == ' ');
  } else {
    colon = text.find(": ");
    if (colon == std::string_view::npos && text.back() == ':') colon = text.size() - 1;
    if (colon == std::string_view::npos) return std::nullopt;
    const std::string_view name = text.substr(0, colon);
    require(!name.empty() && indicators.find(name.front()) == std::string_view::npos &&
            name.find(" #") == std::string_view::npos && name.back() != ' ' && !is_null_word(name));
    key.name = name;
  }
  constexpr std::size_t longest = 1000;  // yaml-cpp refuses keys of more than 1,024 bytes.
  require(colon < longest);
  key.rest = without_leading_spaces(text.substr(colon + 1));
  return key;
}

/// Reads lines; the current one is that of the next token. The text after a dash counts as a line of its own.
class BlockParser {
 public:
  BlockParser(std::string_view text, const YamlItem& on_item) : text_(text), on_item_(on_item) {}

  BlockYaml run() {
    next_line();
    require(!end_);
    BlockYaml out;
    out.document = block(0);
    require(end_);
    out.duplicates = duplicates_;
    return out;
  }

 private:
  static constexpr int max_depth = 100;

  std::string_view take_raw_line() {
    const std::size_t end = std::min(text_.find('\n', next_), text_.size());
    const std::string_view line = text_.substr(next_, end - next_);
    next_ = std::min(end + 1, text_.size());
    return line;
  }

  /// Goes to the next line that is neither blank nor a comment.
  void next_line() {
    while (next_ < text_.size()) {
      const std::string_view raw = without_trailing_spaces(take_raw_line());
      line_ = without_leading_spaces(raw);
      if (line_.empty() || line_.front() == '#') continue;
      indent_ = raw.size() - line_.size();
      require(indent_ > 0 || !(raw.starts_with("---") || raw.starts_with("...") || raw.front() == '%'));
      return;
    }
    end_ = true;
  }

  /// A mapping or sequence at the current position.
  Json block(int depth) {
    require(depth < max_depth);
    if (is_dash(line_)) return sequence(depth, nullptr);
    std::optional<Key> key = read_key(line_);
    require(key.has_value());
    return mapping(std::move(*key), depth);
  }

  Json mapping(Key key, int depth) {
    const std::size_t indent = indent_;
    Json::Object members;
    while (true) {
      const bool items = depth == 0 && on_item_ && key.name == "items";
      Json value = key.rest.empty() ? value_below(indent, depth, items ? &on_item_ : nullptr)
                                    : value_in_line(key.rest, indent);
      const std::size_t before = members.size();
      members[key.name] = std::move(value);
      duplicates_ |= members.size() == before;
      if (end_ || indent_ != indent || is_dash(line_)) break;
      std::optional<Key> next = read_key(line_);
      require(next.has_value());
      key = std::move(*next);
    }
    require(end_ || indent_ <= indent);
    return Json(std::move(members));
  }

  /// The value of a key that ends its line; a sequence may have the indentation of the key.
  Json value_below(std::size_t indent, int depth, const YamlItem* on_item) {
    next_line();
    if (!end_ && is_dash(line_) && indent_ >= indent) return sequence(depth + 1, on_item);
    if (end_ || indent_ <= indent) return Json();
    return block(depth + 1);
  }

  Json sequence(int depth, const YamlItem* on_item) {
    const std::size_t indent = indent_;
    Json::Array items;
    while (!end_ && indent_ == indent && is_dash(line_)) {
      Json value = item(indent, depth);
      if (on_item != nullptr)
        (*on_item)(std::move(value));
      else
        items.push_back(std::move(value));
    }
    require(end_ || indent_ < indent || (indent_ == indent && !is_dash(line_)));
    return Json(std::move(items));
  }

  Json item(std::size_t indent, int depth) {
    require(depth < max_depth);
    const std::string_view rest = without_leading_spaces(line_.substr(1));
    if (rest.empty()) {
      next_line();
      return end_ || indent_ <= indent ? Json() : block(depth + 1);
    }
    if (!is_dash(rest) && !read_key(rest)) return value_in_line(rest, indent);
    indent_ += line_.size() - rest.size();
    line_ = rest;
    return block(depth + 1);
  }

  /// A value that begins in the line of its key or dash, which has the indentation `indent`.
  Json value_in_line(std::string_view text, std::size_t indent) {
    if (text.front() == '|') return literal(text, indent);
    Json value;
    if (text.front() == '"' || text.front() == '\'') {
      std::string content;
      require(read_quoted(text, content) == text.size());
      value = Json(std::move(content));
    } else if (text == "{}" || text == "[]") {
      value = text == "{}" ? Json::object() : Json::array();
    } else {
      value = plain_value(text);
    }
    next_line();
    require(end_ || indent_ <= indent);  // Otherwise the scalar may go on.
    return value;
  }

  /// A literal block scalar, whose first line determines its indentation.
  Json literal(std::string_view header, std::size_t indent) {
    require(header == "|" || header == "|-");
    std::string content;
    std::size_t own = 0;
    while (next_ < text_.size()) {
      const std::size_t start = next_;
      const std::string_view raw = take_raw_line();
      const std::size_t spaces = std::min(raw.find_first_not_of(' '), raw.size());
      if (own == 0) {
        require(spaces > indent && spaces < raw.size());
        own = spaces;
      }
      if (spaces < own && spaces < raw.size()) {
        next_ = start;
        require(spaces <= indent);
        break;
      }
      require(spaces < raw.size() || spaces <= own);
      content.append(raw.substr(std::min(own, raw.size()))) += '\n';
    }
    require(text_.back() == '\n' || header == "|-");
    content.resize(content.find_last_not_of('\n') + 1);
    require(!content.empty());
    if (header == "|") content += '\n';
    next_line();
    return Json(std::move(content));
  }

  const std::string_view text_;
  const YamlItem& on_item_;
  std::size_t next_ = 0;        ///< Position of the next line.
  std::string_view line_ = {};  ///< Without the spaces around it.
  std::size_t indent_ = 0;
  bool end_ = false;
  bool duplicates_ = false;
};

}  // namespace

std::optional<BlockYaml> parse_block_yaml(std::string_view text, const YamlItem& on_item) {
  if (!is_simple(text)) return std::nullopt;
  try {
    return BlockParser(text, on_item).run();
  } catch (const NotBlockYaml&) {
    return std::nullopt;
  }
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
