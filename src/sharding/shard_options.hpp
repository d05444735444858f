// SPDX-License-Identifier: Apache-2.0
// Validation of ShardOptions.
#pragma once

#include <evenkeel/client/config.hpp>
#include <evenkeel/sharding/shards.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Returns the options with their defaults filled in. Throws std::invalid_argument if one is out of its
/// bounds.
ShardOptions completed(ShardOptions options, const Config& config);

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
