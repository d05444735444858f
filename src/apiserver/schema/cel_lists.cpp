// SPDX-License-Identifier: Apache-2.0
// Functions of lists, sets and optionals. Source: cel-go ext/lists.go (version 3), ext/sets.go,
// cel/library.go (optionalLib); apiserver pkg/cel/library/lists.go.
#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/schema/cel_library.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

namespace {

using Type = CelValue::Type;

CelValue count_of(const CelCall& call) {
  return cel_int(static_cast<std::int64_t>(cel_count(call[0])));
}

CelValue is_sorted(const CelCall& call) {
  const CelValue::Parts items = call.items(0);
  return cel_bool(std::is_sorted(items.begin(), items.end(),
                                 [](const CelValue& a, const CelValue& b) { return cel_order(a, b) < 0; }));
}

CelValue sum(const CelCall& call) {
  const CelValue::Parts items = call.items(0);
  if (items.empty()) return cel_int(0);
  CelValue total = items[0];
  for (std::size_t i = 1; i < items.size(); ++i) {
    const std::vector<CelValue> both{total, items[i]};
    total = call_cel("_+_", false, both, call.budget);
  }
  return total;
}

/// Returns the first of the smallest items, or of the largest.
CelValue extreme(const CelCall& call, int wanted) {
  const CelValue::Parts items = call.items(0);
  if (items.empty()) throw CelError(std::string(wanted < 0 ? "min" : "max") + " called on empty list");
  CelValue best = items[0];
  for (const CelValue& item : items) {
    if (cel_order(item, best) == wanted) best = item;
  }
  return best;
}

CelValue index_of_item(const CelCall& call) {
  const CelValue::Parts items = call.items(0);
  const auto found = std::find(items.begin(), items.end(), call[1]);
  return cel_int(found == items.end() ? -1 : found - items.begin());
}
CelValue last_index_of_item(const CelCall& call) {
  const CelValue::Parts items = call.items(0);
  return cel_int(items.rend() - std::find(items.rbegin(), items.rend(), call[1]) - 1);
}

CelValue slice(const CelCall& call) {
  const CelValue::Parts items = call.items(0);
  const std::int64_t start = call.whole(1);
  const std::int64_t end = call.whole(2);
  const std::string what = "cannot slice(" + std::to_string(start) + ", " + std::to_string(end) + "), ";
  if (start < 0 || end < 0) throw CelError(what + "negative indexes not supported");
  if (start > end) throw CelError(what + "start index must be less than or equal to end index");
  if (end > static_cast<std::int64_t>(items.size()))
    throw CelError(what + "list is length " + std::to_string(items.size()));
  return cel_list({items.begin() + start, items.begin() + end});
}

void flatten_into(CelValue::Parts& result, const CelValue::Parts& items, std::int64_t depth) {
  for (const CelValue& item : items) {
    if (depth > 0 && is_list(item))
      flatten_into(result, cel_items(item), depth - 1);
    else
      result.push_back(item);
  }
}

CelValue flatten(const CelCall& call) {
  const std::int64_t depth = call.given.size() > 1 ? call.whole(1) : 1;
  if (depth < 0) throw CelError("level must be non-negative");
  CelValue::Parts result;
  flatten_into(result, call.items(0), depth);
  return cel_list(std::move(result));
}

/// Orders the items of one list by those of another.
CelValue sorted_by(const CelCall& call, std::size_t keys_at) {
  const CelValue::Parts items = call.items(0);
  const CelValue::Parts keys = call.items(keys_at);
  for (const CelValue& key : keys)
    if (cel_type_name(key) != cel_type_name(keys[0])) throw CelError("list elements must have the same type");
  std::vector<std::size_t> order(items.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return cel_order(keys[a], keys[b]) < 0; });
  CelValue::Parts result;
  for (const std::size_t at : order) result.push_back(items[at]);
  return cel_list(std::move(result));
}

CelValue reversed(const CelCall& call) {
  CelValue::Parts items = call.items(0);
  std::reverse(items.begin(), items.end());
  return cel_list(std::move(items));
}

CelValue distinct(const CelCall& call) {
  CelValue::Parts result;
  for (CelValue& item : call.items(0)) {
    if (std::find(result.begin(), result.end(), item) == result.end()) result.push_back(std::move(item));
  }
  return cel_list(std::move(result));
}

CelValue range(const CelCall& call) {
  CelValue::Parts result;
  for (std::int64_t i = 0; i < call.whole(0); ++i) result.push_back(cel_int(i));
  return cel_list(std::move(result));
}

/// Returns true if the first list has each item of the second.
bool has_all(const CelValue::Parts& items, const CelValue::Parts& wanted) {
  return std::all_of(wanted.begin(), wanted.end(), [&](const CelValue& item) {
    return std::find(items.begin(), items.end(), item) != items.end();
  });
}

CelValue intersects(const CelCall& call) {
  const CelValue::Parts one = call.items(0);
  const CelValue::Parts other = call.items(1);
  return cel_bool(std::find_first_of(one.begin(), one.end(), other.begin(), other.end()) != one.end());
}

CelValue first(const CelCall& call) {
  const CelValue::Parts items = call.items(0);
  return cel_optional(items.empty() ? std::nullopt : std::optional(items.front()));
}
CelValue last(const CelCall& call) {
  const CelValue::Parts items = call.items(0);
  return cel_optional(items.empty() ? std::nullopt : std::optional(items.back()));
}

/// Returns true for null, 0, false, "" and other empty values.
bool is_zero(const CelValue& value) {
  if (is_list(value) || is_map(value)) return cel_count(value) == 0;
  switch (value.type) {
    case Type::uint:
    case Type::duration:
      return value.number == 0;
    case Type::bytes:
      return value.data().as_string().empty();
    case Type::json:
      return value.data().is_null() || value.data() == Json(false) || value.data() == Json(0) ||
             value.data() == Json("");
    case Type::optional:
      return value.parts->empty();
    default:
      return false;
  }
}

CelValue unwrapped(const CelCall& call) {
  CelValue::Parts result;
  for (const CelValue& item : call.items(0)) {
    if (item.type != Type::optional) throw CelError("no such overload");
    if (!item.parts->empty()) result.push_back(item.parts->front());
  }
  return cel_list(std::move(result));
}

CelValue value_of(const CelCall& call) {
  if (call[0].parts->empty()) throw CelError("optional.none() dereference");
  return call[0].parts->front();
}

}  // namespace

std::span<const CelFunction> cel_list_functions() {
  static constexpr CelFunction functions[] = {
      {"size(list(A)) int", count_of},
      {".size(list(A)) int", count_of},
      {"size(map(A, B)) int", count_of},
      {".size(map(A, B)) int", count_of},
      {".isSorted(list(C)) bool", is_sorted},
      {".sum(list(S)) S", sum},
      {".min(list(C)) C", [](const CelCall& call) { return extreme(call, -1); }},
      {".max(list(C)) C", [](const CelCall& call) { return extreme(call, 1); }},
      {".indexOf(list(A), A) int", index_of_item},
      {".lastIndexOf(list(A), A) int", last_index_of_item},
      {".slice(list(A), int, int) list(A)", slice},
      {".flatten(list(list(A))) list(A)", flatten},
      {".flatten(list(dyn), int) list(dyn)", flatten},
      {".sort(list(C)) list(C)", [](const CelCall& call) { return sorted_by(call, 0); }},
      {".@sortByAssociatedKeys(list(A), list(C)) list(A)",
       [](const CelCall& call) { return sorted_by(call, 1); }},
      {".reverse(list(A)) list(A)", reversed},
      {".distinct(list(A)) list(A)", distinct},
      {"lists.range(int) list(int)", range},
      {"sets.contains(list(A), list(A)) bool",
       [](const CelCall& call) { return cel_bool(has_all(call.items(0), call.items(1))); }},
      {"sets.equivalent(list(A), list(A)) bool",
       [](const CelCall& call) {
         const CelValue::Parts one = call.items(0);
         const CelValue::Parts other = call.items(1);
         return cel_bool(has_all(one, other) && has_all(other, one));
       }},
      {"sets.intersects(list(A), list(A)) bool", intersects},
  };
  return functions;
}

std::span<const CelFunction> cel_optional_functions() {
  static constexpr CelFunction functions[] = {
      {"optional.of(A) optional_type(A)", [](const CelCall& call) { return cel_optional(call[0]); }},
      {"optional.ofNonZeroValue(A) optional_type(A)",
       [](const CelCall& call) {
         return cel_optional(is_zero(call[0]) ? std::nullopt : std::optional(call[0]));
       }},
      {"optional.none() optional_type(A)", [](const CelCall&) { return cel_optional(std::nullopt); }},
      {"optional.unwrap(list(optional_type(A))) list(A)", unwrapped},
      {".unwrapOpt(list(optional_type(A))) list(A)", unwrapped},
      {".hasValue(optional_type(A)) bool",
       [](const CelCall& call) { return cel_bool(!call[0].parts->empty()); }},
      {".value(optional_type(A)) A", value_of},
      // A receiver that has a value is the result without a call.
      {".or(optional_type(A), optional_type(A)) optional_type(A)",
       [](const CelCall& call) { return call[1]; }},
      {".orValue(optional_type(A), A) A", [](const CelCall& call) { return call[1]; }},
      {".first(list(A)) optional_type(A)", first},
      {".last(list(A)) optional_type(A)", last},
  };
  return functions;
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
