// SPDX-License-Identifier: Apache-2.0
// Values that are tried for a property, from its schema, its name and its present value.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <evenkeel/api/json.hpp>
#include <evenkeel/testing/property_change.hpp>

namespace evenkeel {
inline namespace v0 {
namespace testing::detail {

struct Candidate {
  std::optional<Json> value = {};  ///< Empty: the property is removed.
  ValueKind kind = ValueKind::valid;
  /// It is wrong by the schema alone. Should the server accept it, it is no wrong value.
  bool breaks_schema = false;
};

/// A property that can be changed.
struct PropertySchema {
  std::string name = {};  ///< Name of the member that it is, or is an item of.
  Json schema = {};
  Json parent = {};  ///< Schema of the record that it belongs to.
  bool removable = false;
};

/// Member of a schema that holds the type of texts whose schema says only that they are strings: "duration".
inline constexpr const char* text_type_member = "x-evenkeel-text";

/// Returns the candidates in the order in which they are tried; the valid ones first. `current` is null if
/// the property is absent.
std::vector<Candidate> candidates(const PropertySchema& property, const Json* current);
/// Returns the smallest value that the schema allows, as far as the schema shows it.
Json smallest_value(const Json& schema, const std::string& name);
/// Returns a schema that a value of free form has.
Json schema_of_value(const Json& value);

}  // namespace testing::detail
}  // namespace v0
}  // namespace evenkeel
