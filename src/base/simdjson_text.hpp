// SPDX-License-Identifier: Apache-2.0
// Strings of simdjson.
#pragma once

#include <string>
#include <string_view>

#include <simdjson.h>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Returns the value of a string; empty for any other value.
inline std::string string_in(simdjson::ondemand::value value) {
  std::string_view text;
  return value.get_string().get(text) == simdjson::SUCCESS ? std::string(text) : std::string();
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
