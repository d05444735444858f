// SPDX-License-Identifier: Apache-2.0
// Sets of field paths, which record the ownership of fields, and their form in managedFields (FieldsV1).
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/api/json.hpp>

#include "apiserver/schema/schema.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// One step of a path: a member "f:name", an item by key `k:{"name":"a"}`, by value `v:"x"`, by index "i:0".
struct PathElement {
  enum class Kind : std::uint8_t { field, key, value, index };
  Kind kind = Kind::field;
  std::string text = {};  ///< Field name, or the compact JSON of value, key or index.

  static PathElement field(std::string_view name) { return {Kind::field, std::string(name)}; }
  static PathElement value(const Json& value) { return {Kind::value, value.dump()}; }
  static PathElement key(const Json& keys) { return {Kind::key, keys.dump()}; }
  static PathElement index(std::size_t index) { return {Kind::index, std::to_string(index)}; }

  /// Returns "f:name", `k:{"name":"a"}`; parse() throws std::invalid_argument for any other form.
  std::string encode() const;
  static PathElement parse(std::string_view text);
  /// Returns ".name", `[name="a"]`, `[="x"]`, "[0]", the form used in messages about conflicts.
  std::string describe() const;

  auto operator<=>(const PathElement&) const = default;
};

using FieldPath = std::vector<PathElement>;
/// Returns ".spec.parts[name=\"a\"].count".
std::string describe(const FieldPath& path);

/// A set of paths, as a tree: a path may be a member without its children, and vice versa. A regular type;
/// sets with equal members are equal.
class FieldSet {
 public:
  struct Node;
  using Children = std::map<PathElement, Node>;

  bool empty() const noexcept { return children_.empty(); }
  /// Returns the number of paths.
  std::size_t size() const noexcept;
  bool has(const FieldPath& path) const;
  void insert(const FieldPath& path);

  FieldSet united(const FieldSet& other) const;
  FieldSet intersected(const FieldSet& other) const;
  /// Returns the paths that are not in `other`.
  FieldSet without(const FieldSet& other) const;
  /// Returns the paths that are neither in `other` nor below a path of `other`.
  FieldSet without_below(const FieldSet& other) const;
  /// Returns the paths that have no other path of this set below them.
  FieldSet leaves() const;
  /// Returns this set with every named field (a property of `schema`) above its paths.
  FieldSet with_named_parents(const Schema* schema) const;
  /// Returns every path, parents before children, in FieldsV1 order.
  std::vector<FieldPath> paths() const;

  /// Returns {"f:spec": {".": {}, "f:size": {}}}.
  Json to_json() const;
  /// Throws std::invalid_argument if it is not of that form.
  static FieldSet from_json(const Json& fields);

  const Children& children() const noexcept { return children_; }
  Children& children() noexcept { return children_; }
  bool operator==(const FieldSet& other) const;

 private:
  Children children_;
};

struct FieldSet::Node {
  bool member = false;
  FieldSet below = {};
  bool operator==(const Node& other) const;
};

/// Returns the element that identifies an item of a list of type set or map; the index if the schema says
/// atomic. Missing keys have the key's default. Throws std::invalid_argument if an item has no valid key.
PathElement item_element(const Json& item, std::size_t index, const Schema& list);

/// Returns every field that `object` sets, by the rules of server-side apply: atomic lists and maps as one
/// path, items of sets and maps by value and key. Throws std::invalid_argument for items without keys.
FieldSet fields_of(const Json& object, const Schema& schema);

/// The differences between two objects of a kind.
struct Comparison {
  FieldSet added = {};
  FieldSet modified = {};
  FieldSet removed = {};
  bool same() const { return added.empty() && modified.empty() && removed.empty(); }
};
Comparison compare(const Json& before, const Json& after, const Schema& schema);

/// Returns `live` with `applied` merged into it: maps and keyed lists item by item, atomic ones replaced.
Json merge_by_schema(const Json& live, const Json& applied, const Schema& schema);

/// Returns `object` without `fields` (whole items and members where their path is in the set).
Json remove_fields(const Json& object, const FieldSet& fields, const Schema& schema);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
