// SPDX-License-Identifier: Apache-2.0
// A value that is an integer or a string: ports, maxUnavailable.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include <evenkeel/api/fields.hpp>

namespace evenkeel {
inline namespace v0 {

/// A 32-bit integer, encoded as a JSON number, or a string ("http", "25%").
class EVENKEEL_API IntOrString {
 public:
  IntOrString() = default;  ///< 0.
  IntOrString(std::int32_t number) : value_(number) {}
  IntOrString(std::string text) : value_(std::move(text)) {}
  IntOrString(std::string_view text) : value_(std::string(text)) {}
  IntOrString(const char* text) : value_(std::string(text)) {}

  bool is_integer() const noexcept { return value_.index() == 0; }
  bool is_string() const noexcept { return value_.index() == 1; }
  /// Returns the integer, or 0 for a string.
  std::int32_t integer() const noexcept;
  /// Returns the string, or "" for an integer.
  const std::string& string() const noexcept;
  /// Returns either value as text.
  std::string str() const;
  /// Returns the integer, or the percentage "25%" of `total`, rounded up or down. Returns nullopt for any
  /// other string.
  /// Source: apimachinery intstr.GetScaledValueFromIntOrPercent.
  enum class Round : std::uint8_t { up, down };
  std::optional<std::int64_t> scaled(std::int64_t total, Round round) const;

  bool operator==(const IntOrString&) const = default;

 private:
  std::variant<std::int32_t, std::string> value_ = 0;
};

EVENKEEL_API const TypeInfo& evenkeel_leaf_info(IntOrString**, FieldLookup);
constexpr TypeKind evenkeel_leaf_kind(IntOrString**, FieldLookup) {
  return TypeKind::int_or_string;
}

}  // namespace v0
}  // namespace evenkeel
