// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <limits>

#include <evenkeel/api/quantity.hpp>

#include "api/text_type.hpp"
#include "api/wide.hpp"

namespace evenkeel {
inline namespace v0 {
namespace {

constexpr Wide nano = 1'000'000'000;
/// Symmetric, so that negation never overflows.
constexpr Wide largest = (((Wide{1} << 126) - 1) << 1) | 1;
constexpr Wide largest_binary = Wide{std::numeric_limits<std::int64_t>::max()} * nano;

Wide saturating_multiply(Wide a, Wide b) {
  return b != 0 && a > largest / b ? largest : a * b;
}
Wide saturating_add(Wide a, Wide b) {
  Wide sum = 0;
  if (!__builtin_add_overflow(a, b, &sum) && sum >= -largest) return sum;
  return a > 0 ? largest : -largest;
}

struct Suffix {
  Quantity::Format format = Quantity::Format::decimal;
  int decimal = 0;  // power of ten
  int binary = 0;   // power of two
};

struct NamedSuffix {
  std::string_view text;
  int power;
};
constexpr NamedSuffix decimal_suffixes[] = {{"n", -9}, {"u", -6}, {"m", -3}, {"", 0},   {"k", 3},
                                            {"M", 6},  {"G", 9},  {"T", 12}, {"P", 15}, {"E", 18}};
constexpr NamedSuffix binary_suffixes[] = {{"Ki", 10}, {"Mi", 20}, {"Gi", 30},
                                           {"Ti", 40}, {"Pi", 50}, {"Ei", 60}};

std::optional<Suffix> parse_suffix(std::string_view text) {
  for (const auto& [name, power] : decimal_suffixes) {
    if (name == text) return Suffix{Quantity::Format::decimal, power, 0};
  }
  for (const auto& [name, power] : binary_suffixes) {
    if (name == text) return Suffix{Quantity::Format::binary, 0, power};
  }
  if (text.size() < 2 || (text.front() != 'e' && text.front() != 'E')) return std::nullopt;
  text.remove_prefix(1);
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  int power = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), power);
  if (error == std::errc::invalid_argument || end != text.data() + text.size()) return std::nullopt;
  if (error != std::errc()) power = text.front() == '-' ? -1000 : 1000;
  return Suffix{Quantity::Format::exponent, std::clamp(power, -1000, 1000), 0};
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// The digits of a number without the decimal point, and the number of decimals.
struct Digits {
  Wide value = 0;
  int decimals = 0;
  bool inexact = false;  // digits that do not fit into Wide were dropped
  bool any = false;
};

/// Consumes a number from `text`. Digits after the 28th decimal, or that would overflow, are dropped.
Digits take_number(std::string_view& text) {
  Digits out;
  bool fraction = false;
  for (; !text.empty(); text.remove_prefix(1)) {
    const char c = text.front();
    if (c == '.' && !fraction) {
      fraction = true;
    } else if (!is_digit(c)) {
      break;
    } else if (fraction && (out.decimals >= 28 || out.value > largest / 10 - 1)) {
      out.any = true;
      out.inexact |= c != '0';
    } else {
      out.any = true;
      out.value = saturating_add(saturating_multiply(out.value, 10), c - '0');
      if (fraction) ++out.decimals;
    }
  }
  return out;
}

/// Returns value * 10^power, rounded away from zero.
Wide scale_up(Wide value, int power, bool inexact) {
  for (; power > 0 && value != 0 && value != largest; --power) value = saturating_multiply(value, 10);
  for (; power < 0 && value != 0; ++power) {
    inexact |= value % 10 != 0;
    value /= 10;
  }
  return inexact ? saturating_add(value, 1) : value;
}

/// Returns digits * 2^power in nanos. The integral and the fractional part are converted separately, without
/// loss.
Wide binary_nanos(const Digits& digits, int power) {
  Wide unit = 1;
  for (int i = 0; i < digits.decimals; ++i) unit *= 10;
  const Wide whole = saturating_multiply(saturating_multiply(digits.value / unit, Wide{1} << power), nano);
  // The fraction, one binary digit at a time; the remainder stays below `unit`.
  Wide rest = digits.value % unit;
  Wide parts = 0;
  for (int i = 0; i < power; ++i) {
    rest *= 2;
    parts = parts * 2 + rest / unit;
    rest %= unit;
  }
  Wide nanos = parts * nano;
  Wide digit_value = nano / 10;
  for (; digit_value > 0 && rest != 0; digit_value /= 10) {
    rest *= 10;
    nanos += rest / unit * digit_value;
    rest %= unit;
  }
  if (rest != 0 || digits.inexact) ++nanos;
  return std::min(saturating_add(whole, nanos), largest_binary);
}

std::string digits_of(Wide value) {
  std::string out;
  for (; value > 0; value /= 10) out += static_cast<char>('0' + static_cast<int>(value % 10));
  std::reverse(out.begin(), out.end());
  return out;
}

std::string decimal_text(Wide nanos, Quantity::Format format) {
  int power = -9;
  while (nanos % 1000 == 0) {
    nanos /= 1000;
    power += 3;
  }
  std::string out = digits_of(nanos);
  if (format == Quantity::Format::decimal && power <= 18) {
    out += decimal_suffixes[(power + 9) / 3].text;
  } else if (power != 0) {
    out += "e" + std::to_string(power);
  }
  return out;
}

std::string binary_text(Wide units) {
  std::size_t power = 0;
  while (units % 1024 == 0 && power < std::size(binary_suffixes)) {
    units /= 1024;
    ++power;
  }
  return digits_of(units) + (power == 0 ? std::string() : std::string(binary_suffixes[power - 1].text));
}

/// Returns nanos / unit, rounded away from zero and saturated.
std::int64_t rounded(Wide nanos, Wide unit) {
  Wide value = nanos / unit;
  if (nanos % unit != 0) value += nanos > 0 ? 1 : -1;
  constexpr Wide low = std::numeric_limits<std::int64_t>::min();
  constexpr Wide high = std::numeric_limits<std::int64_t>::max();
  return static_cast<std::int64_t>(std::clamp(value, low, high));
}

}  // namespace

Quantity::Quantity(std::int64_t value, Format format) : nanos_(Wide{value} * nano), format_(format) {}

Quantity Quantity::milli(std::int64_t value, Format format) {
  Quantity out;
  out.nanos_ = Wide{value} * (nano / 1000);
  out.format_ = format;
  return out;
}

std::optional<Quantity> Quantity::parse(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  const Digits digits = take_number(text);
  const auto suffix = parse_suffix(text);
  if (!digits.any || !suffix) return std::nullopt;
  Quantity out;
  out.format_ = suffix->format;
  if (suffix->format == Format::binary) {
    out.nanos_ = binary_nanos(digits, suffix->binary);
    if (out.nanos_ > 0 && out.nanos_ < nano) out.format_ = Format::decimal;
  } else {
    out.nanos_ = scale_up(digits.value, suffix->decimal - digits.decimals + 9, digits.inexact);
  }
  if (negative) out.nanos_ = -out.nanos_;
  return out;
}

std::string Quantity::str() const {
  if (nanos_ == 0) return "0";
  const Wide size = nanos_ < 0 ? -nanos_ : nanos_;
  const bool in_binary = format_ == Format::binary && size >= 1024 * nano && size % nano == 0;
  const Format decimal_format = format_ == Format::binary ? Format::decimal : format_;
  return (nanos_ < 0 ? "-" : "") +
         (in_binary ? binary_text(size / nano) : decimal_text(size, decimal_format));
}

std::int64_t Quantity::value() const noexcept {
  return rounded(nanos_, nano);
}
std::int64_t Quantity::milli_value() const noexcept {
  return rounded(nanos_, nano / 1000);
}
double Quantity::approximate() const noexcept {
  return static_cast<double>(nanos_) / 1e9;
}

Quantity& Quantity::operator+=(const Quantity& other) noexcept {
  if (nanos_ == 0) format_ = other.format_;
  nanos_ = saturating_add(nanos_, other.nanos_);
  return *this;
}
Quantity& Quantity::operator-=(const Quantity& other) noexcept {
  return *this += -other;
}
Quantity Quantity::operator-() const noexcept {
  Quantity out = *this;
  out.nanos_ = -out.nanos_;
  return out;
}

const TypeInfo& evenkeel_leaf_info(Quantity**, FieldLookup) {
  static constexpr TextOps ops = [] {
    TextOps made = text_ops<Quantity>("a quantity such as \"500m\" or \"2Gi\"", "");
    made.numbers = true;
    return made;
  }();
  static constexpr TypeInfo info = text_info(ops);
  return info;
}

}  // namespace v0
}  // namespace evenkeel
