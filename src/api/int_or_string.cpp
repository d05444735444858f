// SPDX-License-Identifier: Apache-2.0
#include <charconv>

#include <evenkeel/api/int_or_string.hpp>

#include "api/wide.hpp"

namespace evenkeel {
inline namespace v0 {

std::int32_t IntOrString::integer() const noexcept {
  const auto* number = std::get_if<std::int32_t>(&value_);
  return number ? *number : 0;
}

const std::string& IntOrString::string() const noexcept {
  static const std::string none;
  const auto* text = std::get_if<std::string>(&value_);
  return text ? *text : none;
}

std::string IntOrString::str() const {
  return is_integer() ? std::to_string(integer()) : string();
}

std::optional<std::int64_t> IntOrString::scaled(std::int64_t total, Round round) const {
  if (is_integer()) return integer();
  const std::string& text = string();
  if (text.empty() || text.back() != '%') return std::nullopt;
  std::int32_t percent = 0;
  const char* last = text.data() + text.size() - 1;
  const auto [end, error] = std::from_chars(text.data(), last, percent);
  if (error != std::errc() || end != last) return std::nullopt;
  const Wide product = Wide(percent) * total;
  Wide quotient = product / 100;
  const Wide rest = product % 100;
  if (round == Round::up && rest > 0) ++quotient;
  if (round == Round::down && rest < 0) --quotient;
  return static_cast<std::int64_t>(quotient);
}

const TypeInfo& evenkeel_leaf_info(IntOrString**, FieldLookup) {
  static constexpr TypeInfo info{.kind = TypeKind::int_or_string};
  return info;
}

}  // namespace v0
}  // namespace evenkeel
