// SPDX-License-Identifier: Apache-2.0
// The properties of a document that can be changed, by its schema.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include <evenkeel/api/fields.hpp>
#include <evenkeel/api/json.hpp>

#include "testing/operations/candidates.hpp"
#include "testing/operations/property_path.hpp"

namespace evenkeel {
inline namespace v0 {
namespace testing::detail {

struct Property {
  PropertyPath path = {};
  PropertySchema schema = {};
  bool is_container = false;  ///< Its value has properties of its own.
};

struct Properties {
  std::vector<Property> all = {};
  std::set<std::string> left_out = {};  ///< Paths of properties of known types without values of their own.
};

/// Returns the schema of a kind; texts whose type the schema does not show are marked with text_type_member.
Json operations_schema(const TypeInfo& type);

/// Returns the properties of everything but metadata and status, of lists those of the first item, of maps
/// those of the first member. Flags that are off come first in their record, those that are on last: others
/// may matter only while they are on. `untouched`: paths to leave out.
Properties properties_of(const Json& schema, const Json& document, const std::set<std::string>& untouched);

}  // namespace testing::detail
}  // namespace v0
}  // namespace evenkeel
