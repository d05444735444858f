// SPDX-License-Identifier: Apache-2.0
// The functions of CEL that rules of CRDs may call. Each library is a table of signatures, which serve the
// check of a rule and the choice of a function during evaluation.
// Source: apiserver pkg/cel/environment/base.go.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "apiserver/schema/cel.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// A call of a function whose signature accepts the values; the receiver of a method is the first one.
/// Accessors throw CelError if a value that may have any type has another one.
struct CelCall {
  std::span<const CelValue> given;
  std::int64_t& budget;

  const CelValue& operator[](std::size_t at) const { return given[at]; }
  const std::string& text(std::size_t at) const;
  std::int64_t whole(std::size_t at) const;
  CelValue::Parts items(std::size_t at) const;
};

struct CelFunction {
  /// "size(string) int", or ".size(string) int" for a method.
  std::string_view signature;
  CelValue (*body)(const CelCall& call);
};

std::span<const CelFunction> cel_operators();
std::span<const CelFunction> cel_conversions();
std::span<const CelFunction> cel_string_functions();
std::span<const CelFunction> cel_list_functions();
std::span<const CelFunction> cel_optional_functions();
std::span<const CelFunction> cel_time_functions();
std::span<const CelFunction> cel_network_functions();
std::span<const CelFunction> cel_kubernetes_functions();

/// Returns true if a function or method has this name.
bool is_cel_function(std::string_view name);
/// Returns true if `name` is that of a type: "int", "net.IP".
bool is_cel_type(std::string_view name);

/// Calls a function or operator ("_+_", "size", "startsWith"); a receiver is the first argument. Throws
/// CelError("no such overload") if it does not support such values. Subtracts its cost from `budget`.
CelValue call_cel(std::string_view name, bool receiver, std::span<const CelValue> arguments,
                  std::int64_t& budget);

/// Returns the type of the result; std::nullopt if no function accepts these types. Throws CelError if no
/// function has this name.
std::optional<CelType> cel_result_type(std::string_view name, bool receiver, std::span<const CelType> given);

/// Throws CelError("no such overload").
[[noreturn]] void no_overload();

CelValue cel_bool(bool value);
CelValue cel_int(std::int64_t value);
CelValue cel_text(std::string text);
CelValue cel_bytes(std::string bytes);
CelValue cel_list(CelValue::Parts items);
/// Returns a value of one of Kubernetes' own types, which is represented by `text`.
CelValue cel_special(std::string_view type, const std::string& text);
/// Returns what represents a value of one of these types; of a string, itself.
const std::string& cel_special_text(const CelValue& value);
CelValue cel_optional(std::optional<CelValue> value);
/// Returns the name of a value's type: "list", "google.protobuf.Duration".
std::string cel_type_name(const CelValue& value);

/// Returns -1, 0 or 1. Throws CelError if the values have no order.
int cel_order(const CelValue& a, const CelValue& b);
bool is_list(const CelValue& value);
bool is_map(const CelValue& value);
/// Returns the number of items or members.
std::size_t cel_count(const CelValue& value);
/// Returns the items of a list. Throws CelError if it is none.
CelValue::Parts cel_items(const CelValue& list);
/// Returns keys and values of a map, alternating. Throws CelError if it is none.
CelValue::Parts cel_entries(const CelValue& map);
/// Returns the value of a key, if there is one. Throws CelError if `map` is none.
std::optional<CelValue> cel_find(const CelValue& map, const CelValue& key);

/// Returns what string() gives: numbers, times and booleans as text. Throws CelError for other types.
std::string cel_string_of(const CelValue& value);

/// Formats the list `given` by the clauses of `pattern`: "%s", "%.2f". Throws CelError.
std::string cel_format(const std::string& pattern, const CelValue::Parts& given);
/// Returns the letters of the clauses of a pattern: "sd" for "%s: %d". Throws CelError.
std::string cel_format_clauses(const std::string& pattern);

/// Subtracts `cost` from `budget`; throws CelError if it is exceeded. Functions with large results must call
/// it before creating them.
void spend(std::int64_t& budget, std::int64_t cost);

/// Returns the cost of traversing text of this size. Source: cel-go common/cost.go StringTraversalCostFactor.
constexpr std::int64_t text_cost(std::size_t bytes) {
  return static_cast<std::int64_t>((bytes + 9) / 10);
}
/// Returns the cost of copying a value: one for each value in it, and its strings.
std::int64_t copy_cost(const CelValue& value);
/// Returns the cost of matching: the source assumes one state for every four bytes of an expression;
/// expressions with counts have more. Source: cel-go interpreter/runtimecost.go costCall (matches).
std::int64_t match_cost(std::size_t subject, std::size_t pattern, std::size_t states);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
