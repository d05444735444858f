// SPDX-License-Identifier: Apache-2.0
#include "apiserver/merge/field_set.hpp"

#include <stdexcept>
#include <utility>

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

namespace {

constexpr std::string_view prefix_of(PathElement::Kind kind) {
  switch (kind) {
    case PathElement::Kind::field:
      return "f:";
    case PathElement::Kind::key:
      return "k:";
    case PathElement::Kind::value:
      return "v:";
    case PathElement::Kind::index:
      return "i:";
  }
  return "";
}

/// Returns the canonical text of a key or value, so that equal ones have equal text.
std::string canonical(std::string_view text, std::string_view whole) {
  try {
    return Json::parse(text).dump();
  } catch (const DecodeError&) {
    throw std::invalid_argument("managed fields: no JSON in path element " + std::string(whole));
  }
}

void collect(const FieldSet& set, FieldPath& path, std::vector<FieldPath>& out) {
  for (const auto& [element, node] : set.children()) {
    path.push_back(element);
    if (node.member) out.push_back(path);
    collect(node.below, path, out);
    path.pop_back();
  }
}

}  // namespace

std::string PathElement::encode() const {
  return std::string(prefix_of(kind)) + text;
}

PathElement PathElement::parse(std::string_view text) {
  if (text.size() >= 2 && text[1] == ':') {
    const std::string_view rest = text.substr(2);
    if (text[0] == 'f') return field(rest);
    if (text[0] == 'k') return {Kind::key, canonical(rest, text)};
    if (text[0] == 'v') return {Kind::value, canonical(rest, text)};
    if (text[0] == 'i') return {Kind::index, std::string(rest)};
  }
  throw std::invalid_argument("managed fields: unknown path element " + std::string(text));
}

std::string PathElement::describe() const {
  switch (kind) {
    case Kind::field:
      return "." + text;
    case Kind::value:
      return "[=" + text + "]";
    case Kind::index:
      return "[" + text + "]";
    case Kind::key:
      break;
  }
  std::string result = "[";
  const Json keys = Json::parse(text);
  if (keys.is_object()) {
    for (const auto& [name, value] : keys.as_object()) {
      if (result.size() > 1) result += ',';
      result += name + "=" + value.dump();
    }
  }
  return result + "]";
}

std::string describe(const FieldPath& path) {
  std::string result;
  for (const PathElement& element : path) result += element.describe();
  return result;
}

bool FieldSet::Node::operator==(const Node& other) const {
  return member == other.member && below == other.below;
}
bool FieldSet::operator==(const FieldSet& other) const {
  return children_ == other.children_;
}

std::size_t FieldSet::size() const noexcept {
  std::size_t count = 0;
  for (const auto& [element, node] : children_) count += (node.member ? 1U : 0U) + node.below.size();
  return count;
}

bool FieldSet::has(const FieldPath& path) const {
  const FieldSet* set = this;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const auto found = set->children_.find(path[i]);
    if (found == set->children_.end()) return false;
    if (i + 1 == path.size()) return found->second.member;
    set = &found->second.below;
  }
  return false;
}

void FieldSet::insert(const FieldPath& path) {
  FieldSet* set = this;
  for (std::size_t i = 0; i < path.size(); ++i) {
    Node& node = set->children_[path[i]];
    if (i + 1 == path.size()) node.member = true;
    set = &node.below;
  }
}

FieldSet FieldSet::united(const FieldSet& other) const {
  FieldSet result = *this;
  for (const auto& [element, node] : other.children_) {
    Node& mine = result.children_[element];
    mine.member = mine.member || node.member;
    mine.below = mine.below.united(node.below);
  }
  return result;
}

FieldSet FieldSet::intersected(const FieldSet& other) const {
  FieldSet result;
  for (const auto& [element, node] : children_) {
    const auto found = other.children_.find(element);
    if (found == other.children_.end()) continue;
    Node both{node.member && found->second.member, node.below.intersected(found->second.below)};
    if (both.member || !both.below.empty()) result.children_.emplace(element, std::move(both));
  }
  return result;
}

FieldSet FieldSet::without(const FieldSet& other) const {
  FieldSet result;
  for (const auto& [element, node] : children_) {
    const auto found = other.children_.find(element);
    Node left = node;
    if (found != other.children_.end())
      left = {node.member && !found->second.member, node.below.without(found->second.below)};
    if (left.member || !left.below.empty()) result.children_.emplace(element, std::move(left));
  }
  return result;
}

FieldSet FieldSet::without_below(const FieldSet& other) const {
  FieldSet result;
  for (const auto& [element, node] : children_) {
    const auto found = other.children_.find(element);
    Node left = node;
    if (found != other.children_.end()) {
      if (found->second.member) continue;
      left.below = node.below.without_below(found->second.below);
    }
    if (left.member || !left.below.empty()) result.children_.emplace(element, std::move(left));
  }
  return result;
}

FieldSet FieldSet::leaves() const {
  FieldSet result;
  for (const auto& [element, node] : children_) {
    Node leaf{node.member && node.below.empty(), node.below.leaves()};
    if (leaf.member || !leaf.below.empty()) result.children_.emplace(element, std::move(leaf));
  }
  return result;
}

FieldSet FieldSet::with_named_parents(const Schema* schema) const {
  FieldSet result;
  for (const auto& [element, node] : children_) {
    const Schema* below = nullptr;
    Node& mine = result.children_[element];
    mine.member = node.member;
    if (element.kind == PathElement::Kind::field) {
      below = schema == nullptr ? nullptr : schema->member(element.text);
      const bool named = schema != nullptr && schema->property(element.text) != nullptr;
      if (named && !node.below.empty()) mine.member = true;
    } else {
      below = schema == nullptr ? nullptr : schema->items;
    }
    mine.below = node.below.with_named_parents(below);
  }
  return result;
}

std::vector<FieldPath> FieldSet::paths() const {
  std::vector<FieldPath> result;
  FieldPath path;
  collect(*this, path, result);
  return result;
}

Json FieldSet::to_json() const {
  Json result = Json::object();
  for (const auto& [element, node] : children_) {
    Json below = node.below.to_json();
    if (node.member && !node.below.empty()) below["."] = Json::object();
    result[element.encode()] = std::move(below);
  }
  return result;
}

FieldSet FieldSet::from_json(const Json& fields) {
  if (!fields.is_object()) throw std::invalid_argument("managed fields: fieldsV1 is not an object");
  FieldSet result;
  for (const auto& [name, value] : fields.as_object()) {
    if (name == ".") continue;  // the node itself; handled by the caller
    Node& node = result.children_[PathElement::parse(name)];
    node.below = from_json(value);
    node.member = value.empty() || value.contains(".");
  }
  return result;
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
