// SPDX-License-Identifier: Apache-2.0
// The syntax tree of a CEL expression.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/schema/cel.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

struct CelNode {
  enum class Kind : std::uint8_t {
    literal,      // value
    name,         // text
    field,        // children[0].text
    has,          // children[0].text is there
    index,        // children[0][children[1]]
    call,         // text(children...), or with a receiver children[0].text(children[1]...)
    list,         // [children...]
    map,          // {children[0]: children[1], ...}
    maybe,        // ?children[0], an item or a value of a map that is left out if it is optional.none()
    loop,         // a macro named text; children = range, body, and for some a filter
    choice,       // children[0] ? children[1] : children[2]
    conjunction,  // children: two or more
    disjunction,
  };
  Kind kind = Kind::literal;
  std::string text = {};
  std::string variable = {};  ///< loop.
  std::string second = {};    ///< loop: the second variable, if any.
  bool receiver = false;      ///< call.
  bool optional = false;      ///< field and index: .?text, [?children[1]].
  CelValue value = {};
  std::vector<std::shared_ptr<const CelNode>> children = {};
  int height = 1;          ///< levels of nodes down to the lowest one
  std::size_t column = 0;  ///< of name, field and call, from 1
};

/// Throws CelError with the position of the problem.
std::shared_ptr<const CelNode> parse_cel(std::string_view text);

/// Returns the name of a node like "optional.of", empty if it is more than names and dots.
std::string dotted_name(const CelNode& node);

/// Returns the identifier by which expressions refer to a field, std::nullopt if they cannot: reserved words
/// are enclosed in "__", other characters than letters have names.
/// Source: apiserver pkg/cel/escaping.go Escape.
std::optional<std::string> escaped_field(std::string_view name);

/// Returns a member or item as a value, by the type and format of its schema.
CelValue cel_value_of(std::shared_ptr<const Json> owner, const Json& value, const Schema* schema);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
