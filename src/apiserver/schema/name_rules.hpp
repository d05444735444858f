// SPDX-License-Identifier: Apache-2.0
// Rules for names, label keys and label values, with their error texts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// Rules for names of objects. Source: apimachinery validation and kubernetes pkg/apis/*/validation.
enum class NameRule : std::uint8_t { dns_subdomain, dns_label, dns_1035_label, path_segment };

/// A complete name, or a prefix in generateName.
enum class NamePart : bool { whole, prefix };

/// Returns the problems of `name`, none if it is valid. A prefix may end in '-'.
/// Source: apimachinery validation.NameIsDNSSubdomain and its siblings.
std::vector<std::string> name_problems(std::string_view name, NameRule rule, NamePart part = NamePart::whole);

/// Returns the problems of a name like "example.com/MyName": label keys, annotation keys (in lower case) and
/// finalizers.
std::vector<std::string> qualified_name_problems(std::string_view name);
std::vector<std::string> label_value_problems(std::string_view value);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
