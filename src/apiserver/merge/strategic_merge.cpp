// SPDX-License-Identifier: Apache-2.0
#include "apiserver/merge/strategic_merge.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

namespace {

constexpr std::string_view patch_marker = "$patch";
constexpr std::string_view retain_keys = "$retainKeys";
constexpr std::string_view delete_prefix = "$deleteFromPrimitiveList/";
constexpr std::string_view order_prefix = "$setElementOrder/";

using Items = Json::Array;

[[noreturn]] void wrong_kind(const char* expected, const Json& found) {
  throw StrategicMergeError(std::string("expected a ") + expected + ", but received a " +
                            std::string(found.kind_name()));
}

[[noreturn]] void no_merge_key(const Json& item, const std::string& key) {
  throw StrategicMergeError("map: " + item.dump() + " does not contain declared merge key: " + key);
}

[[noreturn]] void bad_order() {
  throw StrategicMergeError("invalid patch format of setElementOrder list", 400);
}

/// Returns the identity of an item: its merge key, or a primitive itself. Null if it has none.
const Json& merge_key_of(const Json& item, const std::string& key) {
  return key.empty() ? item : item[key];
}

/// Compares like Go: 80 and 80.0 differ.
bool same(const Json& one, const Json& other) {
  return one.kind() == other.kind() && one == other;
}

bool is_in(const Items& items, const Json& item) {
  return std::ranges::any_of(items, [&](const Json& candidate) { return same(candidate, item); });
}

std::optional<std::size_t> index_of(const Items& items, const Json& name, const std::string& key) {
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (same(merge_key_of(items[i], key), name)) return i;
  }
  return std::nullopt;
}

void require_keys(const Items& items, const std::string& key) {
  if (key.empty()) return;
  for (const Json& item : items) {
    if (!item.is_object()) wrong_kind("map[string]interface {}", item);
    if (!item.contains(key)) no_merge_key(item, key);
  }
}

/// Returns a patch value without its directives, and without null members; std::nullopt if it was only a
/// directive.
std::optional<Json> plain(const Json& value) {
  if (value.is_object()) {
    if (value.contains(patch_marker)) return std::nullopt;
    Json result = Json::object();
    for (const auto& [name, member] : value.as_object()) {
      if (member.is_null()) continue;
      if (auto kept = plain(member)) result[name] = *std::move(kept);
    }
    return result;
  }
  if (value.is_array()) {
    Json result = Json::array();
    for (const Json& item : value.as_array()) {
      if (auto kept = plain(item)) result.push_back(*std::move(kept));
    }
    return result;
  }
  return value;
}

/// Sorts by the order of another list; items that are not in it keep their positions.
Items in_order(Items items, const Items& order, const std::string& key) {
  require_keys(items, key);
  require_keys(order, key);
  std::vector<std::size_t> places;
  std::vector<std::pair<std::size_t, Json>> ranked;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (const auto rank = index_of(order, merge_key_of(items[i], key), key)) {
      places.push_back(i);
      ranked.emplace_back(*rank, items[i]);
    }
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (std::size_t i = 0; i < places.size(); ++i) items[places[i]] = std::move(ranked[i].second);
  return items;
}

/// Orders the items of the patch and those that only the server has: each group in its own order, interleaved
/// by the live order where it contains both.
Items woven(const Items& merged, const Items& patch_order, const Items& live_order, const std::string& key) {
  Items left;
  Items right;
  for (const Json& item : merged)
    (index_of(patch_order, merge_key_of(item, key), key) ? right : left).push_back(item);
  left = in_order(std::move(left), live_order, key);
  right = in_order(std::move(right), patch_order, key);
  Items result;
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < left.size() || j < right.size()) {
    bool from_left = j >= right.size();
    if (i < left.size() && j < right.size()) {
      const auto mine = index_of(live_order, merge_key_of(left[i], key), key);
      const auto theirs = index_of(live_order, merge_key_of(right[j], key), key);
      from_left = mine && theirs && *mine < *theirs;
    }
    result.push_back(from_left ? std::move(left[i++]) : std::move(right[j++]));
  }
  return result;
}

class Merger {
 public:
  Json merge(Json target, Json patch, const Schema* schema) {
    if (const Json* directive = std::as_const(patch).find(patch_marker)) {
      const std::string what = directive->string_or("");
      if (what == "delete") return Json::object();
      if (what != "replace")
        throw StrategicMergeError("unknown patch type: " + directive->string_or(directive->dump()) +
                                  " in map: " + patch.dump());
      patch.erase(patch_marker);
      return patch;
    }
    if (!target.is_object()) target = Json::object();
    keep_only(target, patch);
    reorder(target, patch, schema);
    for (const auto& [name, value] : std::as_const(patch).as_object())
      if (!name.starts_with(delete_prefix)) merge_member(target, name, value, schema);
    // A real server deletes in random order; last, an item that is added, too, is deleted every time.
    for (const auto& [name, value] : std::as_const(patch).as_object())
      if (name.starts_with(delete_prefix))
        delete_items(target, name.substr(delete_prefix.size()), value, schema);
    return target;
  }

 private:
  /// $retainKeys: removes members that it does not list; the patch may set no others.
  static void keep_only(Json& target, Json& patch) {
    const Json* listed = std::as_const(patch).find(retain_keys);
    if (listed == nullptr) return;
    if (!listed->is_array()) throw StrategicMergeError("invalid patch format of retainKeys", 400);
    const Items keys = listed->as_array();
    patch.erase(retain_keys);
    const auto retained = [&](const std::string& name) {
      return std::find(keys.begin(), keys.end(), Json(name)) != keys.end();
    };
    for (const auto& [name, value] : std::as_const(patch).as_object()) {
      const bool directive = name.starts_with(delete_prefix) || name.starts_with(order_prefix);
      if (!value.is_null() && !directive && !retained(name))
        throw StrategicMergeError("invalid patch format of retainKeys", 400);
    }
    std::vector<std::string> gone;
    for (const auto& [name, value] : std::as_const(target).as_object()) {
      if (!retained(name)) gone.push_back(name);
    }
    for (const std::string& name : gone) target.erase(name);
  }

  /// $setElementOrder/F: merges F now and sorts it in the given order.
  void reorder(Json& target, Json& patch, const Schema* schema) {
    std::vector<std::string> directives;
    for (const auto& [name, value] : std::as_const(patch).as_object()) {
      if (name.starts_with(order_prefix)) directives.push_back(name);
    }
    for (const std::string& directive : directives) {
      const Json order = std::as_const(patch)[directive];
      patch.erase(directive);
      if (!order.is_array()) wrong_kind("[]interface {}", order);
      const std::string field = directive.substr(order_prefix.size());
      reorder_field(target, patch, field, order.as_array(), schema);
    }
  }

  void reorder_field(Json& target, Json& patch, const std::string& field, const Items& order,
                     const Schema* schema) {
    const Schema* list = schema == nullptr ? nullptr : schema->member(field);
    const Json* live = std::as_const(target).find(field);
    const Json* wanted = std::as_const(patch).find(field);
    if (live != nullptr && !live->is_array()) wrong_kind("[]interface {}", *live);
    if (wanted != nullptr && !wanted->is_array()) wrong_kind("[]interface {}", *wanted);
    if (list == nullptr && schema != nullptr && !schema->properties.empty())
      throw StrategicMergeError("unable to find api field in struct " +
                                schema->type_name.substr(schema->type_name.rfind('.') + 1) +
                                " for the json field " + Json(field).dump());
    if (list != nullptr && list->type != SchemaType::array)
      throw StrategicMergeError("expected slice or array type, but got: struct");
    if (live == nullptr && wanted == nullptr) return;
    const std::string key = list == nullptr ? "" : list->merge_key;
    if (wanted != nullptr) check_order(wanted->as_array(), order, key);
    const Items live_items = live == nullptr ? Items() : live->as_array();
    Items merged = live_items;
    if (wanted != nullptr && live == nullptr) merged = plain(*wanted)->as_array();
    if (wanted != nullptr && live != nullptr) merged = merge_items(live_items, wanted->as_array(), list);
    require_keys(merged, key);
    target[field] = Json(woven(merged, order, live_items, key));
    patch.erase(field);
  }

  /// Checks that the items of the patch have the order that it specifies.
  static void check_order(const Items& patch, const Items& order, const std::string& key) {
    if (patch.empty() || order.empty()) return;
    std::size_t next = 0;
    for (const Json& item : patch) {
      if (item.is_object() && item.contains(patch_marker)) continue;
      if (!key.empty() && !item.is_object()) bad_order();
      if (!key.empty() && !item.contains(key)) no_merge_key(item, key);
      while (next < order.size() && merge_key_of(order[next], key) != merge_key_of(item, key)) ++next;
      if (next++ >= order.size())
        throw StrategicMergeError("The order in patch list:\n" + Json(patch).dump() +
                                  "\n doesn't match $setElementOrder list:\n" + Json(order).dump() + "\n");
    }
  }

  void merge_member(Json& target, const std::string& name, const Json& value, const Schema* schema) {
    if (value.is_null()) {
      target.erase(name);
      return;
    }
    const Json* present = std::as_const(target).find(name);
    const bool same_kind = present != nullptr && present->kind() == value.kind();
    const Schema* member = schema == nullptr ? nullptr : schema->member(name);
    if (same_kind && value.is_object()) {
      target[name] = merge(*present, value, member);
    } else if (same_kind && value.is_array()) {
      const bool merges = member != nullptr && member->patch_merge;
      Json merged = merges ? Json(merge_items(present->as_array(), value.as_array(), member)) : value;
      target[name] = std::move(merged);
    } else if (auto kept = plain(value)) {
      target[name] = *std::move(kept);
    } else {
      target.erase(name);
    }
  }

  /// $deleteFromPrimitiveList/F: null removes the list; has no effect if either value is not a list.
  void delete_items(Json& target, const std::string& field, const Json& values, const Schema* schema) {
    if (values.is_null()) target.erase(field);
    Json* present = target.find(field);
    if (present == nullptr || !present->is_array() || !values.is_array()) return;
    Items& items = present->as_array();
    const Items& gone = values.as_array();
    if (are_maps(items, gone))
      items = merge_maps(std::move(items), gone, schema == nullptr ? nullptr : schema->member(field));
    else
      std::erase_if(items, [&](const Json& item) { return is_in(gone, item); });
  }

  /// Returns true for items that are objects, false for primitives; all must be of one type.
  static bool are_maps(const Items& live, const Items& patch) {
    if (live.empty() && patch.empty()) return false;
    const Json::Kind kind = (live.empty() ? patch : live).front().kind();
    if (kind == Json::Kind::array) throw StrategicMergeError("lists of lists are not supported", 422);
    for (const Items* items : {&live, &patch}) {
      for (const Json& item : *items) {
        if (item.kind() != kind || item.is_null())
          throw StrategicMergeError("list element types are not identical: [" + Json(live).dump() + " " +
                                    Json(patch).dump() + "]");
      }
    }
    return kind == Json::Kind::object;
  }

  Items merge_items(Items live, const Items& patch, const Schema* list) {
    if (live.empty() && patch.empty()) return live;
    if (are_maps(live, patch)) return merge_maps(std::move(live), patch, list);
    Items merged;
    for (const Items* items : {&std::as_const(live), &patch}) {
      for (const Json& item : *items) {
        if (!is_in(merged, item)) merged.push_back(item);
      }
    }
    return woven(merged, patch, live, "");
  }

  Items merge_maps(Items live, const Items& patch, const Schema* list) {
    const std::string key = list == nullptr ? "" : list->merge_key;
    if (key.empty()) throw StrategicMergeError("cannot merge lists without merge key for struct");
    Items wanted;
    bool replace = false;
    for (const Json& item : patch) {
      const Json* directive = item.find(patch_marker);
      if (directive == nullptr)
        wanted.push_back(item);
      else
        replace |= carry_out(live, item, directive->string_or(directive->dump()), key);
    }
    if (replace) return in_order(wanted, wanted, key);  // items of one key together
    Items merged = live;
    for (const Json& item : wanted) {
      if (!item.contains(key)) no_merge_key(item, key);
      if (const auto place = index_of(merged, item[key], key))
        merged[*place] = merge(merged[*place], item, list->items);
      else
        merged.push_back(item);  // as it is, with nulls and directives
    }
    require_keys(merged, key);
    return woven(merged, wanted, live, key);
  }

  /// Carries out a directive among the items of a list; returns true if the other items replace the list.
  static bool carry_out(Items& live, const Json& item, const std::string& directive, const std::string& key) {
    if (directive == "replace") return true;
    if (directive == "merge") throw StrategicMergeError("merging lists cannot yet be specified in the patch");
    if (directive != "delete")
      throw StrategicMergeError("unknown patch type: " + directive + " in map: " + item.dump());
    if (!item.contains(key)) no_merge_key(item, key);
    std::erase_if(live, [&](const Json& candidate) { return same(candidate[key], item[key]); });
    return false;
  }
};

/// Returns the integer that Go makes of a whole number for a field of `format`.
Json go_integer(const Json& value, std::string_view format) {
  constexpr double limit = 9223372036854775808.0;  // 2^63
  const double number = value.as_number();
  std::int64_t whole = std::numeric_limits<std::int64_t>::min();
  if (value.is_integer())
    whole = value.as_integer();
  else if (number != std::trunc(number))
    return value;
  else if (number >= -limit && number < limit)
    whole = static_cast<std::int64_t>(number);
  return Json(format == "int32" ? static_cast<std::int32_t>(whole) : whole);
}

}  // namespace

void convert_integers(Json& value, const Schema& schema) {
  const bool integral = schema.type == SchemaType::integer || schema.type == SchemaType::int_or_string;
  if (value.is_number() && integral) value = go_integer(value, schema.format);
  if (value.is_array() && schema.items != nullptr)
    for (Json& item : value.as_array()) convert_integers(item, *schema.items);
  if (!value.is_object() || schema.opaque) return;
  for (auto& [name, member] : value.as_object())
    if (const Schema* known = schema.member(name)) convert_integers(member, *known);
}

Json strategic_merge(Json target, const Json& patch, const KindSchema& kind) {
  if (!patch.is_object()) throw StrategicMergeError("invalid JSON document", 400);
  return Merger().merge(std::move(target), patch, &kind.root());
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
