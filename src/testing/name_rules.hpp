// SPDX-License-Identifier: Apache-2.0
// What names, label keys and label values may look like, with the words that refusals use.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "testing/resource_type.hpp"

namespace evenkeel::inline v0::testing {

/// What is wrong with `name`; empty if nothing. With `prefix`, for generateName: a trailing '-' is fine.
/// Source: apimachinery validation.NameIsDNSSubdomain and its kin.
enum class NamePart : bool { whole, prefix };
std::vector<std::string> name_problems(std::string_view name, NameRule rule, NamePart part = NamePart::whole);

/// "example.com/MyName", as label keys, annotation keys (in lower case) and finalizers are.
std::vector<std::string> qualified_name_problems(std::string_view name);
std::vector<std::string> label_value_problems(std::string_view value);

}  // namespace evenkeel::inline v0::testing
