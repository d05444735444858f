// SPDX-License-Identifier: Apache-2.0
// Quotation marks in messages.
#pragma once

#include <string>
#include <string_view>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Returns `text` in quotation marks; nothing in it is escaped.
inline std::string in_quotes(std::string_view text) {
  return "\"" + std::string(text) + "\"";
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
