// SPDX-License-Identifier: Apache-2.0
// JSON from strangers: a document whose values are counted before they take memory. Shared with floors above.
#pragma once

#include <cstddef>
#include <string_view>

#include <evenkeel/api/json.hpp>
#include <evenkeel/base/export.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Like Json::parse(), but throws DecodeError as well if `text` has more than `max_values` values, names of
/// members not counted. The memory of the parser is in proportion to that number and to the size of `text`.
EVENKEEL_API Json parse_bounded(std::string_view text, std::string_view name, std::size_t max_values);

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
