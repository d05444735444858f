// SPDX-License-Identifier: Apache-2.0
// The syntax tree of a CEL expression, and what its operators do with values.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "testing/cel.hpp"

namespace evenkeel::inline v0::testing {

struct CelNode {
  enum class Kind : std::uint8_t {
    literal,  // value
    name,     // text
    field,    // children[0].text
    has,      // children[0].text is there
    index,    // children[0][children[1]]
    call,     // text(children...), or with a receiver children[0].text(children[1]...)
    list,     // [children...]
    map,      // {children[0]: children[1], ...}
    loop,     // text = all, exists, exists_one, filter, map; children = range, body, and for map a filter
    choice,   // children[0] ? children[1] : children[2]
    conjunction,
    disjunction,
  };
  Kind kind = Kind::literal;
  std::string text = {};
  std::string variable = {};  ///< loop.
  bool receiver = false;      ///< call.
  CelValue value = {};
  std::vector<std::shared_ptr<const CelNode>> children = {};
};

/// Throws CelError with the place of what is wrong.
std::shared_ptr<const CelNode> parse_cel(std::string_view text);

/// Calls a function or operator ("_+_", "size", "startsWith"); with a receiver that is the first argument.
/// Throws CelError("no such overload") if it does not take such values.
CelValue call_cel(std::string_view name, bool receiver, std::span<const CelValue> arguments);

/// A member or item as a value: strings whose schema has the format date-time, date or duration are of those
/// types.
CelValue cel_value_of(std::shared_ptr<const Json> owner, const Json& value, const Schema* schema);

}  // namespace evenkeel::inline v0::testing
