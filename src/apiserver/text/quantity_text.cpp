// SPDX-License-Identifier: Apache-2.0
#include "apiserver/text/quantity_text.hpp"

#include <algorithm>
#include <charconv>

#include <evenkeel/api/quantity.hpp>

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

namespace {

constexpr std::string_view decimal_digits = "0123456789";

/// Removes the leading characters of `rest` that are in `set`, and returns them.
std::string_view take(std::string_view& rest, std::string_view set) {
  const std::string_view taken = rest.substr(0, std::min(rest.find_first_not_of(set), rest.size()));
  rest.remove_prefix(taken.size());
  return taken;
}

void take_sign(std::string_view& rest) {
  if (rest.starts_with('+') || rest.starts_with('-')) rest.remove_prefix(1);
}

/// The parts of a quantity, without sign and leading zeros.
struct Parts {
  std::string_view whole;
  std::string_view fraction;
  std::string_view suffix;
};

std::optional<Parts> parts_of(std::string_view text) {
  take_sign(text);
  take(text, "0");
  Parts parts;
  parts.whole = take(text, decimal_digits);
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    parts.fraction = take(text, decimal_digits);
  }
  parts.suffix = text;
  take(text, "eEinumkKMGTP");
  take_sign(text);
  take(text, decimal_digits);
  return text.empty() ? std::optional(parts) : std::nullopt;
}

/// Returns the power of ten of a decimal suffix or exponent, or of two of a binary suffix.
int power_of(std::string_view suffix, Quantity::Format format) {
  if (format == Quantity::Format::binary)
    return (static_cast<int>(std::string_view("KMGTPE").find(suffix.front())) + 1) * 10;
  if (format == Quantity::Format::decimal)
    return suffix.empty() ? 0
                          : (static_cast<int>(std::string_view("num kMGTPE").find(suffix.front())) - 3) * 3;
  suffix.remove_prefix(suffix[1] == '+' ? 2 : 1);
  int power = 0;
  std::from_chars(suffix.data(), suffix.data() + suffix.size(), power);
  return power;
}

/// Returns true if Go keeps the text of the quantity: it is an integer of 64 bits at a scale that has a
/// suffix, and no multiple of a larger one.
bool keeps_text(const Parts& parts, Quantity::Format format) {
  const int whole = std::max(static_cast<int>(parts.whole.size()), 1);  // "0" if there is none
  const int fraction = static_cast<int>(parts.fraction.size());
  const int power = power_of(parts.suffix, format);
  if (format == Quantity::Format::binary) {
    std::uint64_t value = 0;
    std::from_chars(parts.whole.data(), parts.whole.data() + parts.whole.size(), value);
    return fraction == 0 && whole + power * 3 / 10 <= 14 && value % 8 != 0;
  }
  const std::string all = std::string(parts.whole) + std::string(parts.fraction);
  const int scale = power - fraction;
  return whole + fraction <= 18 && scale >= -9 && scale % 3 == 0 && !all.ends_with("000") &&
         !parts.whole.empty();
}

/// Rounds to thousandths. Larger amounts than fit have no fractions.
Quantity rounded(const Quantity& amount) {
  const Quantity limit(std::int64_t{9'000'000'000'000'000});
  if (amount > limit || -amount > limit) return amount;
  return Quantity::milli(amount.milli_value(), amount.format());
}

}  // namespace

std::optional<std::string> quantity_text(std::string_view text, QuantityPrecision precision) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  text.remove_suffix(text.size() - (text.find_last_not_of(' ') + 1));
  const std::optional<Parts> parts = parts_of(text);
  if (text.empty() || !parts) return std::nullopt;
  std::string plain(text.starts_with('-') ? "-0" : "0");
  plain.append(parts->whole).append(".").append(parts->fraction).append(parts->suffix);
  const std::optional<Quantity> amount = Quantity::parse(plain);
  if (!amount) return std::nullopt;
  const Quantity kept = precision == QuantityPrecision::milli ? rounded(*amount) : *amount;
  const auto format = parts->suffix.ends_with('i') ? Quantity::Format::binary : amount->format();
  return kept == *amount && keeps_text(*parts, format) ? std::string(text) : kept.str();
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
