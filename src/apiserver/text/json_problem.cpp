// SPDX-License-Identifier: Apache-2.0
#include "apiserver/text/json_problem.hpp"

#include <array>
#include <cstdio>

namespace evenkeel {
inline namespace v0 {
namespace apiserver {
namespace {

/// Walks the text once; the first problem ends it.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  std::string problem() {
    if (value() && space() && at_ < text_.size()) unexpected("after top-level value");
    return problem_;
  }

 private:
  bool space() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos)
      ++at_;
    return true;
  }
  bool at_end() {
    if (at_ < text_.size()) return false;
    problem_ = "unexpected end of JSON input";
    return true;
  }
  bool unexpected(std::string_view where) {
    if (at_end()) return false;
    const char c = text_[at_];
    std::array<char, 16> quoted{};
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\'' || c == '\\')
      std::snprintf(quoted.data(), quoted.size(), "'\\%c'", c);
    else if (byte >= 0x80)
      std::snprintf(quoted.data(), quoted.size(), "'\\u%04x'", byte);
    else if (byte < 0x20 || byte == 0x7f)
      std::snprintf(quoted.data(), quoted.size(), "'\\x%02x'", byte);
    else
      std::snprintf(quoted.data(), quoted.size(), "'%c'", c);
    problem_ = "invalid character " + std::string(quoted.data()) + " " + std::string(where);
    return false;
  }
  bool next_is(char wanted) {
    space();
    if (at_ >= text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }

  bool value() {
    space();
    if (at_end()) return false;
    if (++depth_ > 10000) return unexpected("exceeded max depth");
    bool ok = false;
    switch (text_[at_]) {
      case '{':
        ok = object();
        break;
      case '[':
        ok = array();
        break;
      case '"':
        ok = string();
        break;
      case 't':
        ok = literal("true");
        break;
      case 'f':
        ok = literal("false");
        break;
      case 'n':
        ok = literal("null");
        break;
      default:
        ok = number();
    }
    --depth_;
    return ok;
  }

  bool object() {
    ++at_;
    if (next_is('}')) return true;
    while (true) {
      space();
      if (at_ >= text_.size() || text_[at_] != '"')
        return unexpected("looking for beginning of object key string");
      if (!string()) return false;
      if (!next_is(':')) return unexpected("after object key");
      if (!value()) return false;
      if (next_is('}')) return true;
      if (!next_is(',')) return unexpected("after object key:value pair");
    }
  }

  bool array() {
    ++at_;
    if (next_is(']')) return true;
    while (true) {
      if (!value()) return false;
      if (next_is(']')) return true;
      if (!next_is(',')) return unexpected("after array element");
    }
  }

  bool string() {
    for (++at_; !at_end(); ++at_) {
      const char c = text_[at_];
      if (c == '"') return ++at_ > 0;
      if (static_cast<unsigned char>(c) < 0x20) return unexpected("in string literal");
      if (c == '\\' && !escape()) return false;
    }
    return false;
  }
  bool escape() {
    ++at_;
    if (at_end()) return false;
    if (std::string_view("\"\\/bfnrt").find(text_[at_]) != std::string_view::npos) return true;
    if (text_[at_] != 'u') return unexpected("in string escape code");
    for (int i = 0; i < 4; ++i) {
      ++at_;
      if (at_ >= text_.size() ||
          std::string_view("0123456789abcdefABCDEF").find(text_[at_]) == std::string_view::npos)
        return unexpected("in \\u hexadecimal character escape");
    }
    return true;
  }

  bool literal(std::string_view word) {
    for (const char c : word) {
      if (at_ >= text_.size() || text_[at_] != c)
        return unexpected("in literal " + std::string(word) + " (expecting '" + c + "')");
      ++at_;
    }
    return true;
  }

  bool digits() {
    const std::size_t start = at_;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') ++at_;
    return at_ > start;
  }
  bool number() {
    const bool negative = text_[at_] == '-';
    if (negative) ++at_;
    if (at_ < text_.size() && text_[at_] == '0')
      ++at_;
    else if (!digits())
      return unexpected(negative ? "in numeric literal" : "looking for beginning of value");
    if (at_ < text_.size() && text_[at_] == '.') {
      ++at_;
      if (!digits()) return unexpected("after decimal point in numeric literal");
    }
    if (at_ < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E')) {
      ++at_;
      if (at_ < text_.size() && (text_[at_] == '+' || text_[at_] == '-')) ++at_;
      if (!digits()) return unexpected("in exponent of numeric literal");
    }
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
  std::string problem_;
};

}  // namespace

std::string json_problem(std::string_view text) {
  return Scanner(text).problem();
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
