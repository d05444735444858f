// SPDX-License-Identifier: Apache-2.0
// Source: kube-openapi pkg/validation/strfmt/default.go.
#include "apiserver/text/formats.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/text/regular_expression.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

namespace {

std::string without_hyphens(std::string_view format) {
  std::string result(format);
  std::erase(result, '-');
  return result;
}

bool is_digit(char letter) {
  return letter >= '0' && letter <= '9';
}

/// Parses `text` as a decimal number of at most `limit`.
std::optional<std::uint32_t> number(std::string_view text, std::uint32_t limit) {
  if (text.empty() || text.size() > 9 || !std::all_of(text.begin(), text.end(), is_digit))
    return std::nullopt;
  std::uint32_t value = 0;
  for (const char digit : text) value = value * 10 + static_cast<std::uint32_t>(digit - '0');
  return value <= limit ? std::optional(value) : std::nullopt;
}

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t place = text.find(at);
    parts.push_back(text.substr(0, place));
    if (place == std::string_view::npos) return parts;
    text.remove_prefix(place + 1);
  }
}

bool is_ipv4(std::string_view text) {
  const auto parts = split(text, '.');
  return parts.size() == 4 && std::all_of(parts.begin(), parts.end(), [](std::string_view part) {
           return number(part, 255) && (part.size() == 1 || part[0] != '0');
         });
}

bool is_ipv6(std::string_view text) {
  const std::size_t gap = text.find("::");
  if (gap != std::string_view::npos && text.find("::", gap + 1) != std::string_view::npos) return false;
  std::size_t groups = 0;
  const auto side = [&](std::string_view part, bool last) {
    if (part.empty()) return true;
    const auto pieces = split(part, ':');
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      if (last && i + 1 == pieces.size() && is_ipv4(pieces[i])) {
        groups += 2;
        continue;
      }
      const auto hexadecimal = [](char letter) {
        return is_digit(letter) || ((letter | 32) >= 'a' && (letter | 32) <= 'f');
      };
      if (pieces[i].empty() || pieces[i].size() > 4 ||
          !std::all_of(pieces[i].begin(), pieces[i].end(), hexadecimal))
        return false;
      ++groups;
    }
    return true;
  };
  if (gap == std::string_view::npos) return side(text, true) && groups == 8;
  return side(text.substr(0, gap), false) && side(text.substr(gap + 2), true) && groups < 8;
}

bool is_cidr(std::string_view text) {
  const std::size_t slash = text.rfind('/');
  if (slash == std::string_view::npos) return false;
  const std::string_view address = text.substr(0, slash);
  const std::string_view bits = text.substr(slash + 1);
  return (is_ipv4(address) && number(bits, 32)) || (is_ipv6(address) && number(bits, 128));
}

/// A string literal as a template argument.
template <std::size_t size>
struct Literal {
  constexpr Literal(const char (&text)[size]) { std::copy_n(text, size, letters); }  // NOLINT: implicit
  char letters[size] = {};
};

/// Matches an expression that is compiled once.
template <Literal expression>
bool matches(std::string_view text) {
  static const RegularExpression compiled(expression.letters);
  return compiled.found_in(text);
}

bool is_date(std::string_view text) {
  if (!matches<"^[0-9]{4}-[0-9]{2}-[0-9]{2}$">(text)) return false;
  const std::uint32_t year = *number(text.substr(0, 4), 9999);
  const std::uint32_t month = *number(text.substr(5, 2), 99);
  const std::uint32_t day = *number(text.substr(8, 2), 99);
  static constexpr std::array<std::uint32_t, 12> days{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  if (month < 1 || month > 12 || day < 1) return false;
  const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  return day <= days[month - 1] + (leap && month == 2 ? 1U : 0U);
}

bool is_date_time(std::string_view text) {
  return text.size() > 11 && is_date(text.substr(0, 10)) &&
         matches<
             "^[Tt]([01][0-9]|2[0-3]):[0-5][0-9]:([0-5][0-9]|60)([.][0-9]+)?([Zz]|[+-]([01][0-9]|2[0-3]):"
             "?[0-5][0-9])$">(text.substr(10));
}

bool is_duration(std::string_view text) {
  return matches<
             "^[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)(ns|us|µs|μs|ms|s|m|h)(([0-9]+([.][0-9]*)?|[.][0-9]+)"
             "(ns|us|µs|μs|ms|s|m|h))*$">(text) ||
         text == "0" ||
         matches<
             "^([0-9]+) *(ns|nano|nanosecond|us|µs|micro|microsecond|ms|milli|millisecond|s|sec|second|m|min|"
             "minute|h|hr|hour|d|day|w|wk|week)s?$">(text);
}

bool is_base64(std::string_view text) {
  return text.size() % 4 == 0 && matches<"^[A-Za-z0-9+/]*={0,2}$">(text);
}

bool is_hostname(std::string_view text) {
  return text.size() <= 255 && matches<
                                   "^[a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?"
                                   "([.][a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*[.]?$">(text);
}

/// Checks the digits and check digit of an ISBN.
bool is_isbn(std::string_view text, std::size_t wanted) {
  std::string digits;
  for (const char letter : text) {
    if (letter == '-' || letter == ' ') continue;
    digits += letter;
  }
  if (digits.size() != wanted) return false;
  int sum = 0;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    const bool ten = wanted == 10 && i == 9 && (digits[i] == 'X' || digits[i] == 'x');
    if (!is_digit(digits[i]) && !ten) return false;
    const int value = ten ? 10 : digits[i] - '0';
    sum += value * (wanted == 10 ? static_cast<int>(10 - i) : (i % 2 == 0 ? 1 : 3));
  }
  return sum % (wanted == 10 ? 11 : 10) == 0;
}

bool is_short_name(std::string_view text) {
  return text.size() <= 63 && matches<"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$">(text);
}

bool is_long_name(std::string_view text) {
  return text.size() <= 253 &&
         matches<"^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$">(text);
}

bool anything(std::string_view) {
  return true;
}

struct Format {
  std::string_view name;
  bool (*holds)(std::string_view);
};

constexpr std::array formats{
    Format{"bsonobjectid", [](std::string_view text) { return matches<"^[0-9a-fA-F]{24}$">(text); }},
    Format{"uri",
           [](std::string_view text) { return matches<"^([a-zA-Z][a-zA-Z0-9+.-]*:[^ ]*|/[^ ]*)$">(text); }},
    Format{"email", [](std::string_view text) { return matches<"^([^@]* <)?[^@ <>]+@[^@ <>]+>?$">(text); }},
    Format{"hostname", is_hostname},
    Format{"ipv4", is_ipv4},
    Format{"ipv6", is_ipv6},
    Format{"cidr", is_cidr},
    Format{"mac",
           [](std::string_view text) {
             return matches<
                 "^([0-9a-fA-F]{2}([:-][0-9a-fA-F]{2}){5}|[0-9a-fA-F]{2}([:-][0-9a-fA-F]{2}){7}|"
                 "[0-9a-fA-F]{4}([.][0-9a-fA-F]{4}){2})$">(text);
           }},
    Format{"uuid",
           [](std::string_view text) {
             return matches<"(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$">(text);
           }},
    Format{"uuid3",
           [](std::string_view text) {
             return matches<"(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$">(text);
           }},
    Format{"uuid4",
           [](std::string_view text) {
             return matches<"(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$">(
                 text);
           }},
    Format{"uuid5",
           [](std::string_view text) {
             return matches<"(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$">(
                 text);
           }},
    Format{"isbn", [](std::string_view text) { return is_isbn(text, 10) || is_isbn(text, 13); }},
    Format{"isbn10", [](std::string_view text) { return is_isbn(text, 10); }},
    Format{"isbn13", [](std::string_view text) { return is_isbn(text, 13); }},
    Format{"creditcard",
           [](std::string_view text) {
             std::string digits;
             std::copy_if(text.begin(), text.end(), std::back_inserter(digits), is_digit);
             return matches<
                 "^(4[0-9]{12}([0-9]{3})?|5[1-5][0-9]{14}|6(011|5[0-9][0-9])[0-9]{12}|"
                 "3[47][0-9]{13}|3(0[0-5]|[68][0-9])[0-9]{11}|(2131|1800|35[0-9]{3})[0-9]{11})$">(digits);
           }},
    Format{"ssn",
           [](std::string_view text) { return matches<"^[0-9]{3}[- ]?[0-9]{2}[- ]?[0-9]{4}$">(text); }},
    Format{"hexcolor",
           [](std::string_view text) { return matches<"^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$">(text); }},
    Format{"rgbcolor",
           [](std::string_view text) {
             return matches<
                 "^rgb[(] *(0|[1-9][0-9]?|1[0-9][0-9]?|2[0-4][0-9]|25[0-5]) *, *(0|[1-9][0-9]?|"
                 "1[0-9][0-9]?|2[0-4][0-9]|25[0-5]) *, *(0|[1-9][0-9]?|1[0-9][0-9]?|2[0-4][0-9]|"
                 "25[0-5]) *[)]$">(text);
           }},
    Format{"byte", is_base64},
    Format{"password", anything},
    Format{"date", is_date},
    Format{"duration", is_duration},
    Format{"datetime", is_date_time},
    Format{"k8sshortname", is_short_name},
    Format{"k8slongname", is_long_name},
};

const Format* find(std::string_view format) {
  const std::string name = without_hyphens(format);
  const auto found =
      std::find_if(formats.begin(), formats.end(), [&](const Format& known) { return known.name == name; });
  return found == formats.end() ? nullptr : &*found;
}

}  // namespace

bool is_string_format(std::string_view format) {
  return find(format) != nullptr;
}

bool has_format(std::string_view text, std::string_view format) {
  const Format* known = find(format);
  return known == nullptr || known->holds(text);
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
