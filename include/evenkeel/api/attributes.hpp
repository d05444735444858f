// SPDX-License-Identifier: Apache-2.0
// Attributes of fields, for the parentheses of EVENKEEL_FIELDS: bounds, formats, list types and validation
// rules of the schema. docs/api-types.md lists them with the types that accept them.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string_view>

namespace evenkeel {
inline namespace v0 {

/// Representation of a type on the wire.
enum class TypeKind : std::uint8_t {
  boolean,
  integer,  ///< Any integral type, described by `size` and `is_signed`.
  number,   ///< float or double.
  string,
  enumeration,  ///< A string, one of `values`.
  text,         ///< A class with its own text form (Time, Quantity, Bytes...), see TextOps.
  int_or_string,
  json,      ///< A Json value of any kind.
  optional,  ///< std::optional: omitted when empty.
  list,      ///< std::vector: omitted when empty.
  map,       ///< std::map or std::unordered_map with std::string keys: omitted when empty.
  record,    ///< A struct described by EVENKEEL_FIELDS.
};

/// A validation rule of the schema, in the Common Expression Language (CEL).
struct CelRule {
  std::string_view rule = {};
  std::string_view message = {};
};

enum class ListType : std::uint8_t { unset, atomic, set, map };

/// Attributes written in parentheses beside a field's name. Only `wire` and `omit_empty` affect encoding, and
/// `keys` affects how overlay() matches items; all others affect only the schema.
struct Attributes {
  std::string_view wire = {};
  std::string_view doc = {};
  std::string_view pattern = {};
  std::string_view format = {};
  std::string_view default_json = {};  ///< Overrides the member's initialiser.
  std::optional<double> minimum = {};
  std::optional<double> maximum = {};
  std::int64_t min_length = -1;  ///< Bound of a string's length; -1: no bound, here and below.
  std::int64_t max_length = -1;
  std::int64_t min_items = -1;  ///< Bound of the number of list items or map members.
  std::int64_t max_items = -1;
  std::array<std::string_view, 16> values = {};
  std::uint8_t value_count = 0;
  std::array<std::string_view, 4> keys = {};
  std::uint8_t key_count = 0;
  std::array<CelRule, 4> rules = {};
  std::uint8_t rule_count = 0;
  ListType list_type = ListType::unset;
  bool atomic_map = false;
  bool nullable = false;
  bool omit_empty = false;
  bool required = false;
  bool no_default = false;
  bool preserve_unknown = false;
  bool embedded_object = false;
};

namespace detail {
struct SetText {
  std::string_view Attributes::*member;
  std::string_view value;
  constexpr void apply(Attributes& out) const { out.*member = value; }
};
struct SetBound {
  std::optional<double> Attributes::*member;
  double value;
  constexpr void apply(Attributes& out) const { out.*member = value; }
};
struct SetCount {
  std::int64_t Attributes::*member;
  std::int64_t value;
  constexpr void apply(Attributes& out) const { out.*member = value; }
};
struct SetFlag {
  bool Attributes::*member;
  constexpr void apply(Attributes& out) const { out.*member = true; }
};
struct AddRule {
  CelRule rule;
  constexpr void apply(Attributes& out) const { out.rules[out.rule_count++] = rule; }
};
struct SetList {
  ListType type;
  std::array<std::string_view, 4> keys;
  std::uint8_t count;
  constexpr void apply(Attributes& out) const {
    out.list_type = type;
    out.keys = keys;
    out.key_count = count;
  }
};
struct SetValues {
  std::array<std::string_view, 16> values;
  std::uint8_t count;
  constexpr void apply(Attributes& out) const {
    out.values = values;
    out.value_count = count;
  }
};
}  // namespace detail

/// The name on the wire, if it is not the member's name in camelCase.
constexpr detail::SetText wire(std::string_view name) {
  return {&Attributes::wire, name};
}
/// The description in the schema.
constexpr detail::SetText doc(std::string_view text) {
  return {&Attributes::doc, text};
}
/// A regular expression that strings must match.
constexpr detail::SetText pattern(std::string_view text) {
  return {&Attributes::pattern, text};
}
/// The schema's format, such as "date-time" or "ipv4".
constexpr detail::SetText format(std::string_view text) {
  return {&Attributes::format, text};
}
/// The default as JSON text, which overrides the member's initialiser: `ek::default_to("{\"a\":1}")`.
constexpr detail::SetText default_to(std::string_view json) {
  return {&Attributes::default_json, json};
}
/// Bounds of numbers, inclusive.
constexpr detail::SetBound minimum(double bound) {
  return {&Attributes::minimum, bound};
}
constexpr detail::SetBound maximum(double bound) {
  return {&Attributes::maximum, bound};
}
/// Bounds of the length of strings, in characters.
constexpr detail::SetCount min_length(std::int64_t count) {
  return {&Attributes::min_length, count};
}
constexpr detail::SetCount max_length(std::int64_t count) {
  return {&Attributes::max_length, count};
}
/// Bounds of the size of lists and maps.
constexpr detail::SetCount min_items(std::int64_t count) {
  return {&Attributes::min_items, count};
}
constexpr detail::SetCount max_items(std::int64_t count) {
  return {&Attributes::max_items, count};
}
/// The allowed strings; at most 16.
template <class... Texts>
constexpr detail::SetValues one_of(Texts... values) {
  static_assert((std::convertible_to<Texts, std::string_view> && ...), "one_of takes strings");
  static_assert(sizeof...(Texts) > 0 && sizeof...(Texts) <= 16, "one_of takes 1 to 16 values");
  return {{std::string_view(values)...}, static_cast<std::uint8_t>(sizeof...(Texts))};
}
/// The list is atomic: the field manager that applies it owns all of it.
inline constexpr detail::SetList list_atomic{ListType::atomic, {}, 0};
/// The list is a set: items are unique and owned individually.
inline constexpr detail::SetList list_set{ListType::set, {}, 0};
/// The items are records identified by these fields (wire names); at most 4.
template <class... Texts>
constexpr detail::SetList list_map(Texts... keys) {
  static_assert(sizeof...(Texts) > 0 && sizeof...(Texts) <= 4, "list_map takes 1 to 4 keys");
  return {ListType::map, {std::string_view(keys)...}, static_cast<std::uint8_t>(sizeof...(Texts))};
}
/// The list is atomic for the server, but overlay() identifies its items by these fields when it applies a
/// typed change to a document.
template <class... Texts>
constexpr detail::SetList match_by(Texts... keys) {
  static_assert(sizeof...(Texts) > 0 && sizeof...(Texts) <= 4, "match_by takes 1 to 4 keys");
  return {ListType::atomic, {std::string_view(keys)...}, static_cast<std::uint8_t>(sizeof...(Texts))};
}
/// The map or record is atomic.
inline constexpr detail::SetFlag map_atomic{&Attributes::atomic_map};
/// The schema allows null.
inline constexpr detail::SetFlag nullable{&Attributes::nullable};
/// Omitted when zero or "", although it is a plain scalar.
inline constexpr detail::SetFlag omit_empty{&Attributes::omit_empty};
/// The schema requires the field and has no default for it.
inline constexpr detail::SetFlag required{&Attributes::required};
/// The schema has no default although the member has an initialiser.
inline constexpr detail::SetFlag no_default{&Attributes::no_default};
/// The server preserves fields that are not in the schema.
inline constexpr detail::SetFlag preserve_unknown{&Attributes::preserve_unknown};
/// The value is a complete object with apiVersion, kind and metadata.
inline constexpr detail::SetFlag embedded_object{&Attributes::embedded_object};
/// A CEL rule that the value must satisfy; at most 4.
constexpr detail::AddRule rule(std::string_view cel, std::string_view message = {}) {
  return {{cel, message}};
}
/// The value cannot be changed once set.
inline constexpr detail::AddRule immutable{{"self == oldSelf", "is immutable"}};

}  // namespace v0
}  // namespace evenkeel
