// SPDX-License-Identifier: Apache-2.0
// Resource quantities in Kubernetes' notation: "500m" of a CPU, "1536Mi" of memory.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <evenkeel/api/fields.hpp>

namespace evenkeel {
inline namespace v0 {

/// A fixed-point number, exact to nano, with the suffix family that it is printed with. Comparison is by
/// value alone: "1000m" == "1". The range is +-1.7e29; sums and parsed texts saturate there. As in
/// Kubernetes, texts with binary suffixes saturate at 2^63-1, and fractions finer than nano are rounded away
/// from zero.
/// Source: apimachinery resource.Quantity.
class EVENKEEL_API Quantity {
 public:
  enum class Format : std::uint8_t {
    decimal,   ///< n, u, m, none, k, M, G, T, P, E
    binary,    ///< Ki, Mi, Gi, Ti, Pi, Ei
    exponent,  ///< e3, e6...
  };

  Quantity() = default;  ///< 0.
  Quantity(std::int64_t value, Format format = Format::decimal);
  static Quantity milli(std::int64_t value, Format format = Format::decimal);
  /// Returns nullopt if `text` is not a quantity.
  static std::optional<Quantity> parse(std::string_view text);

  /// Returns the canonical text: no fraction, the largest suffix that keeps the value exact.
  std::string str() const;
  Format format() const noexcept { return format_; }
  bool is_zero() const noexcept { return nanos_ == 0; }

  /// Returns the value in whole units, or thousandths, rounded away from zero and saturated.
  std::int64_t value() const noexcept;
  std::int64_t milli_value() const noexcept;
  double approximate() const noexcept;

  /// Sums take the format of the left operand, or of the right one if the left is zero.
  Quantity& operator+=(const Quantity& other) noexcept;
  Quantity& operator-=(const Quantity& other) noexcept;
  friend Quantity operator+(Quantity a, const Quantity& b) noexcept { return a += b; }
  friend Quantity operator-(Quantity a, const Quantity& b) noexcept { return a -= b; }
  Quantity operator-() const noexcept;

  bool operator==(const Quantity& other) const noexcept { return nanos_ == other.nanos_; }
  std::strong_ordering operator<=>(const Quantity& other) const noexcept { return nanos_ <=> other.nanos_; }

 private:
  __extension__ using Nanos = __int128;
  Nanos nanos_ = 0;
  Format format_ = Format::decimal;
};

EVENKEEL_API const TypeInfo& evenkeel_leaf_info(Quantity**, FieldLookup);
constexpr TypeKind evenkeel_leaf_kind(Quantity**, FieldLookup) {
  return TypeKind::text;
}

}  // namespace v0
}  // namespace evenkeel
