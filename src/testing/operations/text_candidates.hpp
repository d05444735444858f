// SPDX-License-Identifier: Apache-2.0
// Texts that are tried for a property.
#pragma once

#include <string>
#include <vector>

#include <evenkeel/api/json.hpp>

#include "testing/operations/candidates.hpp"

namespace evenkeel {
inline namespace v0 {
namespace testing::detail {

struct Texts {
  std::vector<std::string> valid = {};
  std::vector<std::string> wrong = {};  ///< Wrong, although the schema may allow them.
  std::vector<std::string> breaks_schema = {};
};

/// Returns texts of the kind that the schema, the name and the present text (empty if there is none) suggest:
/// quantities, durations, schedules, images, times, or any.
Texts texts_for(const PropertySchema& property, const std::string& current);

/// Returns `text` with its last number one higher, or with "-2" if it has none.
std::string next_text(const std::string& text);

}  // namespace testing::detail
}  // namespace v0
}  // namespace evenkeel
