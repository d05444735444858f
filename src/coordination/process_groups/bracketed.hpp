// SPDX-License-Identifier: Apache-2.0
// Lists in sentences.
#pragma once

#include <string>
#include <vector>

namespace evenkeel {
inline namespace v0 {
namespace coordination {

/// Returns the texts in brackets, separated by spaces: "[a b]".
inline std::string bracketed(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& one : texts) out += (out.empty() ? "" : " ") + one;
  return "[" + out + "]";
}

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
