// SPDX-License-Identifier: Apache-2.0
// Values for properties of types that Kubernetes defines: parts of Pods and claims, selectors, schedules.
// They are recognized by their members, so that types of one's own with the same shape count as well.
#pragma once

#include <set>
#include <string_view>
#include <vector>

#include <evenkeel/api/json.hpp>

namespace evenkeel {
inline namespace v0 {
namespace testing::detail {

/// Way in which a value is put into a property.
enum class Placement {
  replace,  ///< The value replaces the former one.
  append,   ///< The value is one more item.
  merge,    ///< The members of the value are added to those of the former one.
};

struct KnownValues {
  std::string_view type = {};
  Placement placement = Placement::replace;
  std::vector<std::string_view> valid = {};  ///< JSON texts.
  std::vector<std::string_view> wrong = {};  ///< Refused by an API server in an object of a built-in kind.
};

/// Returns the values of all types, for tests.
const std::vector<KnownValues>& all_known_values();
/// Returns the values for a member `name` of a record with the schema `parent`; null if its type is unknown.
const KnownValues* known_values(const Json& schema, std::string_view name, const Json& parent);
/// Returns the members to change of a known type of many members; null for other types.
const std::set<std::string_view>* usual_members(const Json& schema);

}  // namespace testing::detail
}  // namespace v0
}  // namespace evenkeel
