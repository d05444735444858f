// SPDX-License-Identifier: Apache-2.0
// Computes strategic merge patches. Source: apimachinery pkg/util/strategicpatch/patch.go diffMaps.
#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include <evenkeel/api/patch.hpp>

namespace evenkeel {
inline namespace v0 {
namespace {

enum class Strategy : std::uint8_t { none, merge, retain, merge_retain, replace };

/// A built-in kind with fields that have a strategy, and the number of its type.
struct PatchKind {
  std::string_view api_version;
  std::string_view kind;
  std::uint16_t type;
};

/// A field that has a strategy or leads to one. Sorted by type, then by name.
struct PatchField {
  std::uint16_t type;
  std::string_view name;
  std::uint16_t below;  ///< Type of its value, items or entries; 0: no field below has a strategy.
  std::string_view merge_key;
  Strategy strategy;
};

#include "api/patch_fields.inc"

const PatchField& field_of(std::uint16_t type, std::string_view name) {
  static constexpr PatchField plain{0, "", 0, "", Strategy::none};
  const auto* const found =
      std::ranges::lower_bound(patch_fields, std::pair(type, name), {},
                               [](const PatchField& field) { return std::pair(field.type, field.name); });
  const bool known = found != std::end(patch_fields) && found->type == type && found->name == name;
  return known ? *found : plain;
}

bool merges(const PatchField& field) {
  return field.strategy == Strategy::merge || field.strategy == Strategy::merge_retain;
}
bool retains(const PatchField& field) {
  return field.strategy == Strategy::retain || field.strategy == Strategy::merge_retain;
}

bool same(const Json& one, const Json& other) {
  return one.kind() == other.kind() && one == other;
}

const Json* find(const Json::Array& items, const Json& item, const std::string& key) {
  for (const Json& candidate : items)
    if (key.empty() ? same(candidate, item) : same(candidate[key], item[key])) return &candidate;
  return nullptr;
}

/// Returns true if an item stands for another one as well: such lists cannot be merged.
bool is_ambiguous(const Json::Array& items, const std::string& key) {
  return std::ranges::any_of(items, [&](const Json& item) { return find(items, item, key) != &item; });
}

void require_keys(const Json::Array& items, const PatchField& field) {
  for (const Json& item : items) {
    if (!item.is_object() || item[field.merge_key].is_null())
      throw std::invalid_argument("strategic_patch: an item of " + std::string(field.name) + " has no " +
                                  std::string(field.merge_key));
  }
}

Json diff(const Json& before, const Json& after, std::uint16_t type, bool retain);

/// Adds the changes of a list whose items have a key.
void diff_maps(const Json::Array& before, const Json::Array& after, const PatchField& field, Json& patch) {
  require_keys(before, field);
  require_keys(after, field);
  const std::string key(field.merge_key);
  Json::Array changed;
  Json::Array order;
  if (is_ambiguous(before, key) || is_ambiguous(after, key)) {
    changed = after;
    changed.push_back(Json::object({{"$patch", "replace"}}));
    patch[field.name] = Json(std::move(changed));
    return;
  }
  for (const Json& item : after) {
    const Json* old = find(before, item, key);
    Json change = old == nullptr ? item : diff(*old, item, field.below, retains(field));
    order.push_back(Json::object({{key, item[key]}}));
    if (change.empty()) continue;
    change[key] = item[key];
    changed.push_back(std::move(change));
  }
  for (const Json& item : before)
    if (find(after, item, key) == nullptr)
      changed.push_back(Json::object({{"$patch", "delete"}, {key, item[key]}}));
  const bool moved = !std::ranges::equal(
      before, after, [&](const Json& one, const Json& other) { return same(one[key], other[key]); });
  if (!order.empty() && (moved || !changed.empty()))
    patch["$setElementOrder/" + std::string(field.name)] = Json(std::move(order));
  if (!changed.empty()) patch[field.name] = Json(std::move(changed));
}

/// Adds the changes of a list of values that is merged as a set.
void diff_values(const Json::Array& before, const Json::Array& after, const PatchField& field, Json& patch) {
  const auto missing = [](const Json::Array& from, const Json::Array& in) {
    Json::Array out;
    for (const Json& item : from)
      if (find(in, item, "") == nullptr) out.push_back(item);
    return out;
  };
  const std::string name(field.name);
  if (Json::Array added = missing(after, before); !added.empty()) patch[name] = Json(std::move(added));
  if (Json::Array gone = missing(before, after); !gone.empty())
    patch["$deleteFromPrimitiveList/" + name] = Json(std::move(gone));
  if (!after.empty()) patch["$setElementOrder/" + name] = Json(after);
}

void diff_member(const std::string& name, const Json& before, const Json& after, std::uint16_t type,
                 Json& patch) {
  const PatchField& field = field_of(type, name);
  if (same(before, after)) return;
  if (before.kind() == after.kind() && before.is_object() && field.strategy != Strategy::replace) {
    Json change = diff(before, after, field.below, retains(field));
    if (!change.empty()) patch[name] = std::move(change);
  } else if (before.is_array() && after.is_array() && merges(field)) {
    if (field.merge_key.empty())
      diff_values(before.as_array(), after.as_array(), field, patch);
    else
      diff_maps(before.as_array(), after.as_array(), field, patch);
  } else {
    patch[name] = after;
  }
}

/// Returns the patch of an object. `retain`: it lists the members that stay.
Json diff(const Json& before, const Json& after, std::uint16_t type, bool retain) {
  Json patch = Json::object();
  Json::Array kept;
  bool clears = false;
  for (const auto& [name, value] : after.as_object()) {
    if (!value.is_null()) kept.emplace_back(name);
    if (const Json* old = before.find(name))
      diff_member(name, *old, value, type, patch);
    else
      patch[name] = value;
  }
  for (const auto& [name, value] : before.as_object()) {
    if (after.contains(name)) continue;
    patch[name] = Json();
    clears |= !value.is_null();
  }
  if (retain && !kept.empty() && (!patch.empty() || clears)) patch["$retainKeys"] = Json(std::move(kept));
  return patch;
}

}  // namespace

Json strategic_patch(const Json& before, const Json& after) {
  if (!before.is_object() || !after.is_object())
    throw std::invalid_argument("strategic_patch: expected two objects");
  const std::string api_version = before["apiVersion"].string_or("");
  const std::string kind = before["kind"].string_or("");
  const auto* const known = std::ranges::find_if(patch_kinds, [&](const PatchKind& candidate) {
    return candidate.api_version == api_version && candidate.kind == kind;
  });
  return diff(before, after, known == std::end(patch_kinds) ? std::uint16_t{0} : known->type, false);
}

}  // namespace v0
}  // namespace evenkeel
