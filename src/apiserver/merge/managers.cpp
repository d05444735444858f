// SPDX-License-Identifier: Apache-2.0
#include "apiserver/merge/managers.hpp"

#include <algorithm>
#include <initializer_list>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

namespace {

constexpr std::size_t max_updates = 10;

/// Returns std::nullopt if the entry is not a valid managedFields entry.
std::optional<std::pair<ManagerId, ManagedSet>> decode_entry(const Json& entry) {
  const std::string operation = entry["operation"].string_or("");
  if (operation != "Apply" && operation != "Update") return std::nullopt;
  if (entry["fieldsType"].string_or("") != "FieldsV1") return std::nullopt;
  ManagedSet set{.api_version = entry["apiVersion"].string_or(""), .time = entry["time"].string_or("")};
  if (set.api_version.empty()) return std::nullopt;
  try {
    if (const Json* fields = entry.find("fieldsV1"); fields != nullptr && !fields->is_null())
      set.fields = FieldSet::from_json(*fields);
  } catch (const std::invalid_argument&) {
    return std::nullopt;
  }
  ManagerId id{.manager = entry["manager"].string_or(""),
               .applies = operation == "Apply",
               .api_version = operation == "Apply" ? "" : set.api_version,
               .subresource = entry["subresource"].string_or("")};
  return std::pair(std::move(id), std::move(set));
}

Json encode_entry(const ManagerId& id, const ManagedSet& set) {
  Json entry = Json::object({{"apiVersion", set.api_version},
                             {"fieldsType", "FieldsV1"},
                             {"fieldsV1", set.fields.to_json()},
                             {"operation", id.applies ? "Apply" : "Update"}});
  if (!id.manager.empty()) entry["manager"] = id.manager;
  if (!id.subresource.empty()) entry["subresource"] = id.subresource;
  if (!set.time.empty()) entry["time"] = set.time;
  return entry;
}

}  // namespace

std::string ManagerId::describe() const {
  std::string text = Json(manager).dump();
  if (!subresource.empty()) text += " with subresource " + Json(subresource).dump();
  if (!applies) text += " using " + api_version;
  return text;
}

std::optional<Managers> decode_managers(const Json& managed_fields) {
  Managers result;
  if (!managed_fields.is_array()) return result;
  for (const Json& entry : managed_fields.as_array()) {
    auto decoded = decode_entry(entry);
    if (!decoded) return std::nullopt;
    result[std::move(decoded->first)] = std::move(decoded->second);
  }
  return result;
}

Json encode_managers(const Managers& managers) {
  std::vector<const Managers::value_type*> order;
  for (const auto& manager : managers) order.push_back(&manager);
  const auto rank = [](const Managers::value_type& entry) {
    const auto& [id, set] = entry;
    return std::tie(set.time, id.manager, set.api_version, id.subresource);
  };
  std::sort(order.begin(), order.end(), [&](const auto* one, const auto* other) {
    if (one->first.applies != other->first.applies) return one->first.applies;
    return rank(*one) < rank(*other);
  });
  if (order.empty()) return {};
  Json result = Json::array();
  for (const auto* entry : order) result.push_back(encode_entry(entry->first, entry->second));
  return result;
}

void cap_updates(Managers& managers) {
  std::vector<ManagerId> updates;
  for (const auto& [id, set] : managers) {
    if (!id.applies) updates.push_back(id);
  }
  if (updates.size() <= max_updates) return;
  std::sort(updates.begin(), updates.end(), [&](const ManagerId& one, const ManagerId& other) {
    return std::tie(managers[one].time, one) < std::tie(managers[other].time, other);
  });
  std::map<std::string, ManagerId> first_of_version;
  std::size_t left = updates.size();
  for (const ManagerId& id : updates) {
    if (left <= max_updates) break;
    const ManagedSet set = managers[id];
    const ManagerId bucket{.manager = "ancient-changes", .api_version = set.api_version};
    const auto [first, fresh] = first_of_version.emplace(set.api_version, id);
    if (fresh) continue;
    if (!managers.contains(bucket)) {
      managers[bucket] = managers[first->second];
      managers.erase(first->second);
    }
    ManagedSet& old = managers[bucket];
    old.fields = old.fields.united(set.fields);
    old.time = set.time;
    managers.erase(id);
    --left;
  }
}

const FieldSet& server_owned_fields() {
  static const FieldSet fields = [] {
    FieldSet result;
    for (const char* name : {"apiVersion", "kind", "metadata"}) result.insert({PathElement::field(name)});
    for (const char* name : {"name", "namespace", "creationTimestamp", "selfLink", "uid", "clusterName",
                             "generation", "managedFields", "resourceVersion"})
      result.insert({PathElement::field("metadata"), PathElement::field(name)});
    return result;
  }();
  return fields;
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
