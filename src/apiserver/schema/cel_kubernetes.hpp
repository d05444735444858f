// SPDX-License-Identifier: Apache-2.0
// Kubernetes' extensions of CEL: quantity, url, ip, cidr, semver, their predicates and methods, and
// format.NAME().
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "apiserver/schema/cel_node.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// Calls one of these functions or methods; returns std::nullopt if it is none of them. Throws CelError. The
/// cost of repeated searches is subtracted from `budget`.
std::optional<CelValue> call_kubernetes(std::string_view name, bool receiver, std::span<const CelValue> given,
                                        std::int64_t& budget);

/// Returns the value of format.dns1123Label() and similar ones.
CelValue named_format(std::string_view name);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
