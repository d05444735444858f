// SPDX-License-Identifier: Apache-2.0
// The string formats of CRD schemas.
#pragma once

#include <string_view>

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// Returns true if CRDs may use this format of strings; others are ignored. Hyphens are ignored: "date-time".
bool is_string_format(std::string_view format);

/// Returns true if `text` has the format; also for unknown formats.
bool has_format(std::string_view text, std::string_view format);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
