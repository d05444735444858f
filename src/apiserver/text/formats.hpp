// SPDX-License-Identifier: Apache-2.0
// The string formats that a CRD schema may ask for.
#pragma once

#include <string_view>

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// Whether a CRD may ask for this format of strings; others are ignored. Hyphens do not count: "date-time".
bool is_string_format(std::string_view format);

/// Whether `text` is of the format; true for formats that are not known.
bool has_format(std::string_view text, std::string_view format);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
