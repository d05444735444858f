// SPDX-License-Identifier: Apache-2.0
// What names, label keys and label values may look like, with the words that refusals use.
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

/// A name, or the beginning of one that generateName gives.
enum class NamePart : bool { whole, prefix };

/// Returns the problems of `name`, none if it is valid. A prefix may end in '-'.
/// Source: apimachinery validation.NameIsDNSSubdomain and its siblings.
std::vector<std::string> name_problems(std::string_view name, NameRule rule, NamePart part = NamePart::whole);

/// "example.com/MyName", as label keys, annotation keys (in lower case) and finalizers are.
std::vector<std::string> qualified_name_problems(std::string_view name);
std::vector<std::string> label_value_problems(std::string_view value);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
