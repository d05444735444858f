// SPDX-License-Identifier: Apache-2.0
// What Kubernetes adds to CEL: quantity, url, ip, cidr, semver, their tests and methods, and format.NAME().
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "apiserver/schema/cel_node.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// The value of a call of one of these functions or methods; empty if it is none of them. Throws CelError.
/// The cost of searching again is counted down from `budget`.
std::optional<CelValue> call_kubernetes(std::string_view name, bool receiver, std::span<const CelValue> given,
                                        std::int64_t& budget);

/// format.dns1123Label() and its kin.
CelValue named_format(std::string_view name);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
