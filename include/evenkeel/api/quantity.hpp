// SPDX-License-Identifier: Apache-2.0
// Amounts of resources as Kubernetes writes them: "500m" of a CPU, "1536Mi" of memory.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <evenkeel/api/fields.hpp>

namespace evenkeel {
inline namespace v0 {

/// A fixed-point number, exact to nano, with the family of suffixes that it is printed with. Comparison
/// is by value alone: "1000m" == "1". Range: +-1.7e29; sums and texts beyond it stop there. Texts with
/// binary suffixes stop at 2^63-1 and finer parts than nano are rounded away from zero, as Kubernetes
/// does it.
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
  /// Nothing if `text` is no quantity.
  static std::optional<Quantity> parse(std::string_view text);

  /// The canonical text: no fraction, the largest suffix that keeps the value.
  std::string str() const;
  Format format() const noexcept { return format_; }
  bool is_zero() const noexcept { return nanos_ == 0; }

  /// The value in whole units, or thousandths, rounded away from zero; the nearest that fits.
  std::int64_t value() const noexcept;
  std::int64_t milli_value() const noexcept;
  double approximate() const noexcept;

  /// Sums take the format of the left side, or of the right side if the left is zero.
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
