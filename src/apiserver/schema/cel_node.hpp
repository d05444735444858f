// SPDX-License-Identifier: Apache-2.0
// The syntax tree of a CEL expression, and the evaluation of its operators.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
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
    loop,         // text = all, exists, exists_one, filter, map; children = range, body, and for map a filter
    choice,       // children[0] ? children[1] : children[2]
    conjunction,  // children: two or more
    disjunction,
  };
  Kind kind = Kind::literal;
  std::string text = {};
  std::string variable = {};  ///< loop.
  bool receiver = false;      ///< call.
  CelValue value = {};
  std::vector<std::shared_ptr<const CelNode>> children = {};
  int height = 1;  ///< levels of nodes down to the lowest one
};

/// Subtracts `cost` from `budget`; throws CelError if it is exceeded. Functions with large results must call
/// it before creating them.
void spend(std::int64_t& budget, std::int64_t cost);

/// Returns the cost of traversing text of this size. Source: cel-go common/cost.go StringTraversalCostFactor.
constexpr std::int64_t text_cost(std::size_t bytes) {
  return static_cast<std::int64_t>((bytes + 9) / 10);
}
/// Returns the cost of copying a value: one for each value in it, and its strings.
std::int64_t copy_cost(const Json& value);
/// Returns the cost of matching: the source assumes one state for every four bytes of an expression;
/// expressions with counts have more. Source: cel-go interpreter/runtimecost.go costCall (matches).
std::int64_t match_cost(std::size_t subject, std::size_t pattern, std::size_t states);

/// Throws CelError with the position of the problem.
std::shared_ptr<const CelNode> parse_cel(std::string_view text);

/// Calls a function or operator ("_+_", "size", "startsWith"); a receiver is the first argument. Throws
/// CelError("no such overload") if it does not support such values. Subtracts its cost from `budget`.
CelValue call_cel(std::string_view name, bool receiver, std::span<const CelValue> arguments,
                  std::int64_t& budget);

/// Returns a member or item as a value: strings whose schema has the format date-time, date or duration have
/// those types.
CelValue cel_value_of(std::shared_ptr<const Json> owner, const Json& value, const Schema* schema);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
