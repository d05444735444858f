// SPDX-License-Identifier: Apache-2.0
// Texts of resource quantities as a real server reads and writes them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// Fractions that are kept; lists of resources are rounded away from zero to thousandths.
enum class QuantityPrecision : std::uint8_t { nano, milli };

/// Returns the text that Go writes after it has read `text`: most quantities as they are ("1.441", "1E3"),
/// others in canonical form ("1000m" is "1", "0.5" is "500m"). Returns nullopt if `text` is not a quantity.
/// Source: apimachinery resource.Quantity UnmarshalJSON, ParseQuantity, RoundUp. Quantities above the range
/// of their suffixes keep their value here; Go loses it ("2000E" becomes "2").
std::optional<std::string> quantity_text(std::string_view text, QuantityPrecision precision);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
