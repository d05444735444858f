// SPDX-License-Identifier: Apache-2.0
// The values of CEL, and those of documents as such. Source: apiserver pkg/cel/common/valuesunstructured.go.
#include <algorithm>
#include <array>
#include <compare>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <evenkeel/api/bytes.hpp>
#include <evenkeel/api/quantity.hpp>

#include "apiserver/schema/cel.hpp"
#include "apiserver/schema/cel_library.hpp"
#include "apiserver/schema/cel_node.hpp"
#include "apiserver/schema/cel_time.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

namespace {

using Type = CelValue::Type;

bool is_number(const CelValue& value) {
  return value.type == Type::uint || (value.type == Type::json && value.data().is_number());
}

/// Compares numbers of all types by value; a comparison with NaN is unordered.
std::partial_ordering compare_numbers(const CelValue& a, const CelValue& b) {
  const bool a_whole = a.type == Type::uint || a.data().is_integer();
  const bool b_whole = b.type == Type::uint || b.data().is_integer();
  __extension__ using Wide = __int128;
  const auto whole = [](const CelValue& value) {
    return value.type == Type::uint ? static_cast<Wide>(static_cast<std::uint64_t>(value.number))
                                    : static_cast<Wide>(value.data().as_integer());
  };
  const auto real = [&](const CelValue& value, bool is_whole) {
    return is_whole ? static_cast<double>(whole(value)) : value.data().as_number();
  };
  if (a_whole && b_whole) return whole(a) <=> whole(b);
  return real(a, a_whole) <=> real(b, b_whole);
}

/// Returns true if each item of `items` is one of `range`.
bool all_in(const CelValue::Parts& items, const CelValue::Parts& range) {
  return std::all_of(items.begin(), items.end(), [&](const CelValue& item) {
    return std::find(range.begin(), range.end(), item) != range.end();
  });
}

bool equal_lists(const CelValue& a, const CelValue& b) {
  if (cel_count(a) != cel_count(b)) return false;
  const CelValue::Parts one = cel_items(a);
  const CelValue::Parts other = cel_items(b);
  if (a.schema != nullptr && a.schema->list_type != ListType::atomic) return all_in(one, other);
  return one == other;
}

bool equal_maps(const CelValue& a, const CelValue& b) {
  if (cel_count(a) != cel_count(b)) return false;
  const CelValue::Parts entries = cel_entries(a);
  for (std::size_t i = 0; i < entries.size(); i += 2) {
    const auto other = cel_find(b, entries[i]);
    if (!other || !(*other == entries[i + 1])) return false;
  }
  return true;
}

bool equal_special(const CelValue& a, const CelValue& b) {
  if (a.data()["type"] != b.data()["type"]) return false;
  if (a.data()["type"] != Json("kubernetes.Quantity")) return a.data() == b.data();
  return Quantity::parse(a.data()["text"].as_string()) == Quantity::parse(b.data()["text"].as_string());
}

[[noreturn]] void refuse(const char* what, const std::string& text) {
  throw CelError(std::string("Invalid ") + what + " " + text);
}

/// Returns the value of a string by its format, std::nullopt if it has none that is a type of its own. Throws
/// CelError if the text is not as the source reads it.
std::optional<CelValue> formatted(const std::string& text, const std::string& format) {
  if (format == "duration") {
    const auto span = parse_field_duration(text);
    if (!span) refuse("duration", text);
    return CelValue{.type = Type::duration, .number = *span};
  }
  if (format == "date-time" || format == "date") {
    const auto time = format == "date" ? parse_instant(text) : parse_rfc3339(text);
    if (!time) refuse("date formatted string", text);
    return cel_time(*time);
  }
  if (format == "byte") {
    // The source reads the alphabet for URLs, so that texts with a slash or plus are valid but have no value.
    const auto bytes = Bytes::from_base64(text);
    if (!bytes || text.find_first_of("/+") != std::string::npos) refuse("byte formatted string", text);
    return cel_bytes(bytes->value());
  }
  return std::nullopt;
}

}  // namespace

const Json& CelValue::data() const {
  static const Json none;
  return json == nullptr ? none : *json;
}

bool CelValue::operator==(const CelValue& other) const {
  if (is_number(*this) && is_number(other)) return std::is_eq(compare_numbers(*this, other));
  if (is_list(*this) && is_list(other)) return equal_lists(*this, other);
  if (is_map(*this) && is_map(other)) return equal_maps(*this, other);
  if (type != other.type) return false;
  switch (type) {
    case Type::duration:
      return number == other.number;
    case Type::timestamp:
      return number == other.number && nanoseconds == other.nanoseconds;
    case Type::optional:
      return *parts == *other.parts;
    case Type::special:
      return equal_special(*this, other);
    default:
      return data() == other.data();
  }
}

Json CelValue::to_json() const {
  switch (type) {
    case Type::uint:
      return Json(static_cast<std::uint64_t>(number));
    case Type::duration:
    case Type::timestamp:
      return Json(cel_string_of(*this));
    case Type::special:
      return data()["text"];
    case Type::optional:
      return parts->empty() ? Json() : parts->front().to_json();
    case Type::list: {
      Json list = Json::array();
      for (const CelValue& part : *parts) list.push_back(part.to_json());
      return list;
    }
    case Type::map: {
      Json map = Json::object();
      for (std::size_t i = 0; i < parts->size(); i += 2) {
        const Json key = (*parts)[i].to_json();
        map[key.is_string() ? key.as_string() : key.dump()] = (*parts)[i + 1].to_json();
      }
      return map;
    }
    default:
      return data();
  }
}

bool is_list(const CelValue& value) {
  return value.type == Type::list || (value.type == Type::json && value.data().is_array());
}
bool is_map(const CelValue& value) {
  return value.type == Type::map || (value.type == Type::json && value.data().is_object());
}

std::size_t cel_count(const CelValue& value) {
  if (value.type == Type::map) return value.parts->size() / 2;
  return value.type == Type::list ? value.parts->size() : value.data().size();
}

CelValue::Parts cel_items(const CelValue& list) {
  if (!is_list(list)) no_overload();
  if (list.type == Type::list) return *list.parts;
  CelValue::Parts items;
  const Schema* schema = list.schema == nullptr ? nullptr : list.schema->items;
  for (const Json& item : list.data().as_array()) items.push_back(cel_value_of(list.json, item, schema));
  return items;
}

CelValue::Parts cel_entries(const CelValue& map) {
  if (!is_map(map)) no_overload();
  if (map.type == Type::map) return *map.parts;
  CelValue::Parts entries;
  for (const auto& [name, value] : map.data().as_object()) {
    entries.push_back(cel_text(name));
    entries.push_back(
        cel_value_of(map.json, value, map.schema == nullptr ? nullptr : map.schema->member(name)));
  }
  return entries;
}

std::optional<CelValue> cel_find(const CelValue& map, const CelValue& key) {
  if (!is_map(map)) no_overload();
  if (map.type == Type::map) {
    for (std::size_t i = 0; i < map.parts->size(); i += 2)
      if ((*map.parts)[i] == key) return (*map.parts)[i + 1];
    return std::nullopt;
  }
  if (key.type != Type::json || !key.data().is_string()) return std::nullopt;
  const std::string& name = key.data().as_string();
  const Json* member = map.data().find(name);
  if (member == nullptr) return std::nullopt;
  return cel_value_of(map.json, *member, map.schema == nullptr ? nullptr : map.schema->member(name));
}

int cel_order(const CelValue& a, const CelValue& b) {
  const auto sign = [](std::partial_ordering order) {
    return std::is_lt(order) ? -1 : std::is_gt(order) ? 1 : 0;
  };
  if (is_number(a) && is_number(b)) return sign(compare_numbers(a, b));
  if (a.type != b.type) no_overload();
  if (a.type == Type::duration) return sign(a.number <=> b.number);
  if (a.type == Type::timestamp)
    return sign(std::pair(a.number, a.nanoseconds) <=> std::pair(b.number, b.nanoseconds));
  const Json& left = a.data();
  const Json& right = b.data();
  if ((a.type == Type::json || a.type == Type::bytes) && left.is_string() && right.is_string())
    return sign(left.as_string() <=> right.as_string());
  if (left.is_bool() && right.is_bool())
    return static_cast<int>(left.as_bool()) - static_cast<int>(right.as_bool());
  no_overload();
}

std::int64_t copy_cost(const CelValue& value) {
  std::int64_t cost = 1;
  if (value.parts != nullptr) {
    for (const CelValue& part : *value.parts) cost += copy_cost(part);
    return cost;
  }
  const Json& data = value.data();
  if (data.is_string()) return cost + text_cost(data.as_string().size());
  if (data.is_array())
    for (const Json& item : data.as_array()) cost += copy_cost(cel_value_of(value.json, item, nullptr));
  if (data.is_object())
    for (const auto& [name, member] : data.as_object())
      cost += text_cost(name.size()) + copy_cost(cel_value_of(value.json, member, nullptr));
  return cost;
}

CelValue cel_value_of(std::shared_ptr<const Json> owner, const Json& value, const Schema* schema) {
  if (schema != nullptr && schema->type == SchemaType::string && value.is_string()) {
    if (auto special = formatted(value.as_string(), schema->format)) return *std::move(special);
  }
  if (schema != nullptr && schema->type == SchemaType::number && value.is_integer())
    return CelValue::of(Json(value.as_number()));
  return {.json = std::shared_ptr<const Json>(std::move(owner), &value), .schema = schema};
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
