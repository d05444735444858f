// SPDX-License-Identifier: Apache-2.0
// The time zones of the operating system.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// Returns the seconds to add to UTC at a time in seconds since 1970; std::nullopt if the zone is not known.
/// `zone` is a name ("Europe/Berlin", "UTC", "") from /usr/share/zoneinfo. Source: Go time.LoadLocation.
std::optional<std::int64_t> zone_offset(std::string_view zone, std::int64_t seconds);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
