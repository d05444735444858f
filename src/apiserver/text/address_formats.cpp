// SPDX-License-Identifier: Apache-2.0
#include "apiserver/text/address_formats.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <charconv>
#include <cstddef>
#include <optional>
#include <string>

#include "base/ascii.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

namespace {

namespace ascii = evenkeel::detail::ascii;

bool is_hexadecimal(char c) {
  return ascii::is_digit(c) || (ascii::lower(c) >= 'a' && ascii::lower(c) <= 'f');
}
bool is_one_of(std::string_view set, char c) {
  return set.find(c) != std::string_view::npos;
}

bool is_address_of(int family, std::string_view text) {
  std::array<unsigned char, 16> bytes{};
  return text.find('\0') == std::string_view::npos &&
         inet_pton(family, std::string(text).c_str(), bytes.data()) == 1;
}

std::string without_leading_zeros(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool first = out.empty() || is_one_of(".:", out.back());
    if (first && text[i] == '0' && i + 1 < text.size() && is_hexadecimal(text[i + 1])) continue;
    out += text[i];
  }
  return out;
}

/// A reader of an address in the syntax of RFC 5322. What cannot be read is not consumed.
class MailReader {
 public:
  explicit MailReader(std::string_view text) : rest_(text) {}

  bool reads_one_address() { return address(Group::allowed) == 1U && skip_comments() && rest_.empty(); }

 private:
  enum class Group : bool { refused, allowed };

  /// Returns the number of addresses, of which a group may have several.
  std::optional<std::size_t> address(Group group) {
    skip_space();
    if (const std::string_view before = rest_; plain_address()) {
      skip_space();
      return !consume('(') || comment() ? std::optional<std::size_t>(1) : std::nullopt;
    } else {
      rest_ = before;
    }
    if (!rest_.starts_with('<') && !phrase()) return std::nullopt;
    skip_space();
    if (group == Group::allowed && consume(':')) return members();
    if (!consume('<') || !plain_address() || !consume('>')) return std::nullopt;
    return 1;
  }

  std::optional<std::size_t> members() {
    std::size_t count = 0;
    skip_space();
    if (consume(';')) return skip_comments() ? std::optional(count) : std::nullopt;
    while (address(Group::refused) && skip_comments()) {
      ++count;
      if (consume(';')) return skip_comments() ? std::optional(count) : std::nullopt;
      if (!consume(',')) break;
    }
    return std::nullopt;
  }

  bool plain_address() {
    skip_space();
    if (rest_.starts_with('"') ? quoted().value_or(0) == 0 : !atom() || !is_dot_atom(last_)) return false;
    if (!consume('@')) return false;
    skip_space();
    return rest_.starts_with('[') ? literal() : atom() && is_dot_atom(last_);
  }

  bool phrase() {
    std::size_t words = 0;
    while (words == 0 || skip_comments()) {
      skip_space();
      if (rest_.empty() || !(rest_.starts_with('"') ? quoted().has_value() : atom())) return words > 0;
      ++words;
    }
    return false;
  }

  /// Returns the length of a quoted text.
  std::optional<std::size_t> quoted() {
    std::size_t length = 0;
    for (std::size_t i = 1; i < rest_.size(); ++i, ++length) {
      if (rest_[i] == '"') {
        rest_.remove_prefix(i + 1);
        return length;
      }
      if (rest_[i] == '\\') ++i;
      if (i >= rest_.size() || (!is_visible(rest_[i]) && !is_one_of(" \t", rest_[i]))) break;
    }
    return std::nullopt;
  }

  bool atom() {
    const auto end = std::find_if_not(
        rest_.begin(), rest_.end(), [](char c) { return is_visible(c) && !is_one_of("()<>[]:;@\\,\"", c); });
    last_ = rest_.substr(0, static_cast<std::size_t>(end - rest_.begin()));
    rest_.remove_prefix(last_.size());
    return !last_.empty();
  }

  bool literal() {
    const std::size_t end = rest_.find(']');
    if (end == std::string_view::npos || !is_ip_address(rest_.substr(1, end - 1))) return false;
    rest_.remove_prefix(end + 1);
    return true;
  }

  /// Consumes the rest of a comment, which may contain others.
  bool comment() {
    for (std::size_t depth = 1; depth > 0; rest_.remove_prefix(1)) {
      if (rest_.empty()) return false;
      if (rest_.front() == '\\' && rest_.size() > 1)
        rest_.remove_prefix(1);
      else if (rest_.front() == '(')
        ++depth;
      else if (rest_.front() == ')')
        --depth;
    }
    return true;
  }

  bool skip_comments() {
    for (skip_space(); consume('('); skip_space())
      if (!comment()) return false;
    return true;
  }

  static bool is_dot_atom(std::string_view atom) {
    return !atom.starts_with('.') && !atom.ends_with('.') && atom.find("..") == std::string_view::npos;
  }
  static bool is_visible(char c) { return (c > ' ' && c <= '~') || static_cast<unsigned char>(c) >= 0x80; }

  void skip_space() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t"), rest_.size())); }
  bool consume(char c) {
    const bool found = rest_.starts_with(c);
    if (found) rest_.remove_prefix(1);
    return found;
  }

  std::string_view rest_;
  std::string_view last_ = {};  // the last atom
};

}  // namespace

bool is_ipv6_address(std::string_view text) {
  return is_address_of(AF_INET6, text);
}

bool is_ip_address(std::string_view text) {
  return is_address_of(AF_INET, text) || is_ipv6_address(text);
}

bool is_sloppy_ip_address(std::string_view text) {
  return is_ip_address(without_leading_zeros(text));
}

bool is_sloppy_cidr(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos || !is_sloppy_ip_address(text.substr(0, slash))) return false;
  const std::string_view bits = text.substr(slash + 1);
  const int limit = text.find(':') == std::string_view::npos ? 32 : 128;
  int number = 0;
  const auto [end, error] = std::from_chars(bits.data(), bits.data() + bits.size(), number);
  return error == std::errc() && end == bits.data() + bits.size() && bits.front() != '-' && number <= limit;
}

bool is_mail_address(std::string_view text) {
  return MailReader(text).reads_one_address();
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
