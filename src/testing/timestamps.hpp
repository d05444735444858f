// SPDX-License-Identifier: Apache-2.0
// Timestamps of documents, to the second as metadata has them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <evenkeel/base/time.hpp>

namespace evenkeel::inline v0::testing {

/// "2026-01-02T03:04:05Z"; fractions are dropped.
std::string timestamp(WallTime time);
/// Reads what timestamp() writes (fractions are allowed and dropped); nothing for other text.
std::optional<WallTime> parse_timestamp(std::string_view text);

}  // namespace evenkeel::inline v0::testing
