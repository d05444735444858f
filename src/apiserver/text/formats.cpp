// SPDX-License-Identifier: Apache-2.0
// Source: kube-openapi pkg/validation/strfmt/default.go.
#include "apiserver/text/formats.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "apiserver/text/address_formats.hpp"
#include "apiserver/text/regular_expression.hpp"
#include "apiserver/text/timestamps.hpp"
#include "apiserver/text/url.hpp"
#include "base/ascii.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

namespace {

namespace ascii = evenkeel::detail::ascii;

std::string without_hyphens(std::string_view format) {
  std::string result(format);
  std::erase(result, '-');
  return result;
}

/// Parses `text` as a decimal number of at most `limit`.
std::optional<std::uint32_t> number(std::string_view text, std::uint32_t limit) {
  if (text.empty() || text.size() > 9 || !std::all_of(text.begin(), text.end(), ascii::is_digit))
    return std::nullopt;
  std::uint32_t value = 0;
  for (const char digit : text) value = value * 10 + static_cast<std::uint32_t>(digit - '0');
  return value <= limit ? std::optional(value) : std::nullopt;
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

/// Everything after a second "t" is ignored, as in the source.
bool is_date_time(std::string_view text) {
  const std::string lower = ascii::lower(text);
  const std::size_t place = lower.find('t');
  if (place == std::string::npos || !is_date(lower.substr(0, place))) return false;
  const std::string_view time = std::string_view(lower).substr(place + 1);
  return matches<"^([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](.[0-9]+)?(z|[+-][0-9]{2}:[0-9]{2})$">(
      time.substr(0, time.find('t')));
}

/// Returns true for a unit in words or in short: "s", "sec", "seconds".
bool is_duration_unit(std::string_view unit) {
  return matches<"^(ns|us|µs|ms|s|m|h|hr|d|w|wk|(nano|micro|milli|sec|min|hour|day|week).*)$">(
      ascii::lower(unit));
}

/// Accepts durations of Go, and any text with an amount and a unit: "1.5 days", "2 weeks".
/// Source: strfmt ParseDuration.
bool is_duration(std::string_view text) {
  if (duration_problem(std::string(text)).empty()) return true;
  static const RegularExpression amounts("[0-9]+\\s*[A-Za-zµ]+");
  bool found = false;
  bool small = true;
  amounts.each_match(text, [&](const RegularExpression::Match& match) {
    const std::string_view amount = text.substr(match.place, match.size);
    const std::size_t digits = amount.find_first_not_of("0123456789");
    std::int64_t number = 0;
    small = std::from_chars(amount.data(), amount.data() + digits, number).ec == std::errc();
    found = found || is_duration_unit(amount.substr(amount.find_first_not_of(" \t\n\f\r", digits)));
    return small;
  });
  return found && small;
}

bool is_base64(std::string_view text) {
  return matches<"^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$">(text);
}

/// Source: strfmt HostnamePattern.
bool is_hostname(std::string_view text) {
  if (text.size() > 255 ||
      !matches<
          "^([a-zA-Z0-9\\p{S}\\p{L}]((-?[a-zA-Z0-9\\p{S}\\p{L}]{0,62})?)|([a-zA-Z0-9\\p{S}\\p{L}]"
          "(([a-zA-Z0-9-\\p{S}\\p{L}]{0,61}[a-zA-Z0-9\\p{S}\\p{L}])?)(\\.)){1,}([a-zA-Z\\p{L}]){2,63})$">(
          text))
    return false;
  for (; text.size() > 63; text.remove_prefix(text.find('.') + 1))
    if (text.find('.') > 63) return false;
  return true;
}

/// Checks the digits and check digit of an ISBN.
bool is_isbn(std::string_view text, std::size_t wanted) {
  std::string digits;
  for (const char letter : text) {
    if (std::string_view("- \t\n\f\r").find(letter) == std::string_view::npos) digits += letter;
  }
  if (digits.size() != wanted) return false;
  int sum = 0;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    const bool ten = wanted == 10 && i == 9 && digits[i] == 'X';
    if (!ascii::is_digit(digits[i]) && !ten) return false;
    const int value = ten ? 10 : digits[i] - '0';
    sum += value * (wanted == 10 ? static_cast<int>(10 - i) : (i % 2 == 0 ? 1 : 3));
  }
  return sum % (wanted == 10 ? 11 : 10) == 0;
}

/// Checks the issuer's prefix and the check digit (Luhn's). Everything but digits is ignored.
bool is_credit_card(std::string_view text) {
  std::string digits;
  std::copy_if(text.begin(), text.end(), std::back_inserter(digits), ascii::is_digit);
  if (!matches<"^(4[0-9]{12}([0-9]{3})?|5[1-5][0-9]{14}|6(011|5[0-9][0-9])[0-9]{12}|"
               "3[47][0-9]{13}|3(0[0-5]|[68][0-9])[0-9]{11}|(2131|1800|35[0-9]{3})[0-9]{11})$">(digits))
    return false;
  int sum = 0;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    const int value = (digits[digits.size() - 1 - i] - '0') * (i % 2 == 0 ? 1 : 2);
    sum += value > 9 ? value - 9 : value;
  }
  return sum % 10 == 0;
}

/// Accepts 6, 8 or 20 bytes, with ":", "-", "." or nothing between them. Source: net ParseMAC.
bool is_hardware_address(std::string_view text) {
  return matches<"^([0-9a-fA-F]{12}|[0-9a-fA-F]{16}|[0-9a-fA-F]{40})$">(text) ||
         matches<"^[0-9a-fA-F]{2}((:[0-9a-fA-F]{2}){5}|(:[0-9a-fA-F]{2}){7}|(:[0-9a-fA-F]{2}){19})$">(text) ||
         matches<"^[0-9a-fA-F]{2}((-[0-9a-fA-F]{2}){5}|(-[0-9a-fA-F]{2}){7}|(-[0-9a-fA-F]{2}){19})$">(text) ||
         matches<"^[0-9a-fA-F]{4}(([.][0-9a-fA-F]{4}){2}|([.][0-9a-fA-F]{4}){3}|([.][0-9a-fA-F]{4}){9})$">(
             text);
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
    Format{"uri", is_request_url},
    Format{"email", is_mail_address},
    Format{"hostname", is_hostname},
    Format{"ipv4",
           [](std::string_view text) {
             return text.find('.') != std::string_view::npos && is_sloppy_ip_address(text);
           }},
    Format{"ipv6", is_ipv6_address},
    Format{"cidr", is_sloppy_cidr},
    Format{"mac", is_hardware_address},
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
    Format{"creditcard", is_credit_card},
    Format{"ssn", [](std::string_view text) { return matches<"^[0-9]{3}[- ][0-9]{2}[- ][0-9]{4}$">(text); }},
    Format{"hexcolor",
           [](std::string_view text) { return matches<"^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$">(text); }},
    Format{"rgbcolor",
           [](std::string_view text) {
             return matches<
                 "^rgb[(](\\s*(0|[1-9][0-9]?|1[0-9][0-9]?|2[0-4][0-9]|25[0-5])\\s*,){2}"
                 "\\s*(0|[1-9][0-9]?|1[0-9][0-9]?|2[0-4][0-9]|25[0-5])\\s*[)]$">(text);
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
