// SPDX-License-Identifier: Apache-2.0
// Ownership changes by creates, updates and patches other than apply.
#include "apiserver/merge/managed_fields.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "apiserver/merge/managed_update.hpp"
#include "apiserver/merge/typed_check.hpp"
#include "apiserver/schema/status_error.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

namespace {

constexpr std::size_t max_manager_length = 128;

void set_managed_fields(Json& object, const Json& entries) {
  if (!object["metadata"].is_object()) object["metadata"] = Json::object();
  if (entries.is_null())
    object["metadata"].erase("managedFields");
  else
    object["metadata"]["managedFields"] = entries;
}

/// Returns true for an empty list or a list of one empty entry, which reset all managers.
bool asks_for_reset(const Json* managed_fields) {
  if (managed_fields == nullptr || !managed_fields->is_array()) return false;
  const Json::Array& entries = managed_fields->as_array();
  return entries.empty() || (entries.size() == 1 && entries[0].is_object() && entries[0].empty());
}

/// Returns the managers before an update.
Managers managers_before(const Json& live, const Json& object, const WriteContext& context) {
  const Json* sent = object.find("metadata") == nullptr ? nullptr : object["metadata"].find("managedFields");
  if (context.subresource.empty()) {
    if (asks_for_reset(sent)) return {};
    const auto managers = decode_managers(sent == nullptr ? Json() : *sent);
    if (managers && !managers->empty()) return *managers;
  }
  return decode_managers(live.at({"metadata", "managedFields"})).value_or(Managers{});
}

Json without_times(const Json& managed_fields) {
  Json result = managed_fields;
  if (result.is_array()) {
    for (Json& entry : result.as_array()) entry.erase("time");
  }
  return result;
}

/// Converts ".spec.replicas" to spec, replicas.
FieldPath path_of(std::string_view json_path) {
  FieldPath path;
  while (!json_path.empty()) {
    if (json_path.front() == '.') json_path.remove_prefix(1);
    const std::size_t end = std::min(json_path.find('.'), json_path.size());
    path.push_back(PathElement::field(json_path.substr(0, end)));
    json_path.remove_prefix(end);
  }
  return path;
}

constexpr const char* scale_version = "autoscaling/v1";

Managers managers_of(const Json& object) {
  return decode_managers(object.at({"metadata", "managedFields"})).value_or(Managers{});
}

/// Returns the identity of a manager in the managedFields of a Scale.
ManagerId in_scale(ManagerId id) {
  if (!id.applies) id.api_version = scale_version;
  return id;
}

/// Returns the fields of an owner of replicas. It has no time, as in the real server: it is made from that of
/// the Scale, whose time is lost.
ManagedSet scale_set(const FieldPath& replicas, const std::string& api_version) {
  ManagedSet set{.api_version = api_version};
  set.fields.insert(replicas);
  return set;
}

/// Takes a field from the managers that are not appliers among `owners`.
void disown(Managers& managers, const FieldPath& path, const Managers& owners) {
  FieldSet field;
  field.insert(path);
  for (auto& [id, set] : managers)
    if (!id.applies || !owners.contains(id)) set.fields = set.fields.without(field);
  std::erase_if(managers, [](const auto& one) { return one.second.fields.empty(); });
}

}  // namespace

Json object_before_creation(const KindSchema& kind) {
  Json result = kind.built_in ? zero_value(kind.root()) : Json::object();
  result["apiVersion"] = kind.api_version();
  result["kind"] = kind.kind;
  return result;
}

FieldSet reset_fields(const KindSchema& kind, std::string_view subresource) {
  FieldSet result;
  const auto top = [&](const char* name) { result.insert({PathElement::field(name)}); };
  const auto metadata = [&](const char* name) {
    result.insert({PathElement::field("metadata"), PathElement::field(name)});
  };
  if (kind.built_in && kind.kind == "CertificateSigningRequest") {
    top("spec");
    if (subresource.empty())
      top("status");
    else
      result.insert({PathElement::field("status"),
                     PathElement::field(subresource == "approval" ? "certificate" : "conditions")});
    return result;
  }
  if (subresource.empty()) {
    if (kind.status_subresource) top("status");
  } else if (subresource == "status") {
    top("spec");
    if (!kind.built_in) top("metadata");
    if (kind.kind == "Pod") metadata("deletionTimestamp"), metadata("ownerReferences");
    if (kind.kind == "Deployment") metadata("labels");
  }
  return result;
}

Comparison without_reset_fields(Comparison comparison, const FieldSet& reset) {
  return {comparison.added.without_below(reset), comparison.modified.without_below(reset),
          comparison.removed.without_below(reset)};
}

void own_changes(Managers& managers, VersionedChanges& changes, const WriteContext& context,
                 const KindSchema& kind) {
  changes.take_from(managers, std::nullopt);
  const FieldSet mine = changes.own().modified.united(changes.own().added).without(server_owned_fields());
  if (!mine.empty()) {
    ManagedSet& entry = managers[{.manager = context.manager.empty() ? "unknown" : context.manager,
                                  .api_version = kind.api_version(),
                                  .subresource = context.subresource}];
    entry = {entry.fields.united(mine), kind.api_version(), context.now};
  }
}

std::string default_manager(std::string_view user_agent) {
  std::string name(user_agent.substr(0, std::min(user_agent.find('/'), user_agent.size())));
  std::size_t length = std::min(name.size(), max_manager_length);
  while (length > 0 && length < name.size() && (static_cast<unsigned char>(name[length]) & 0xC0U) == 0x80U)
    --length;
  name.resize(length);
  return name.empty() ? "unknown" : name;
}

void track_update(const Json& live, Json& object, const KindSchema& kind, const WriteContext& context) {
  Managers managers = managers_before(live, object, context);
  set_managed_fields(object, {});
  const bool creates = live.at({"metadata", "uid"}).string_or("").empty();
  if (managers.empty() && !creates) return;  // after a reset there are no managers until the next apply
  // Ownership of an object that does not match the schema cannot be determined, and is dropped.
  if (!kind.built_in && !typed_problems(object, kind.root(), Duplicates::allowed).empty()) return;
  try {
    const Json before = creates ? object_before_creation(kind) : live;
    VersionedChanges changes(
        before, object,
        without_reset_fields(compare(before, object, kind.root()), reset_fields(kind, context.subresource)),
        kind, context);
    own_changes(managers, changes, context, kind);
    cap_updates(managers);
    set_managed_fields(object, encode_managers(managers));
  } catch (const StatusError&) {
    set_managed_fields(object, {});
  } catch (const std::invalid_argument&) {
    // Keyed lists have items without keys: ownership cannot be determined, so it stays unchanged.
    set_managed_fields(object, live.at({"metadata", "managedFields"}));
  }
}

void ignore_time_only_changes(const Json& live, Json& object) {
  const Json& before = live.at({"metadata", "managedFields"});
  const Json& after = std::as_const(object).at({"metadata", "managedFields"});
  if (before == after || without_times(before) != without_times(after)) return;
  Json candidate = object;
  set_managed_fields(candidate, before);
  if (candidate == live) object = std::move(candidate);
}

void track_scale(const Json& before, Json& object, const KindSchema& kind, std::string_view replicas_path,
                 const WriteContext& context) {
  Managers managers = decode_managers(before.at({"metadata", "managedFields"})).value_or(Managers{});
  if (managers.empty()) return;  // as in track_update()
  const FieldPath path = path_of(replicas_path);
  const Comparison changes = compare(before, object, kind.root());
  if (changes.added.has(path) || changes.modified.has(path)) {
    disown(managers, path, {});
    managers[{.manager = context.manager.empty() ? "unknown" : context.manager,
              .api_version = kind.api_version(),
              .subresource = "scale"}] = scale_set(path, kind.api_version());
  }
  set_managed_fields(object, encode_managers(managers));
}

Json scale_managers(const Json& object, std::string_view replicas_path) {
  const FieldPath path = path_of(replicas_path);
  Managers result;
  for (const auto& [id, set] : managers_of(object))
    if (set.fields.has(path)) result[in_scale(id)] = scale_set(path_of(".spec.replicas"), scale_version);
  return encode_managers(result);
}

void take_scale_managers(Json& object, const KindSchema& kind, std::string_view replicas_path,
                         const Json& scale_managers) {
  const FieldPath path = path_of(replicas_path);
  const Managers owners = decode_managers(scale_managers).value_or(Managers{});
  Managers managers = managers_of(object);
  disown(managers, path, owners);
  for (const auto& [id, set] : owners) {
    if (!set.fields.has(path_of(".spec.replicas"))) continue;
    ManagerId own = id;
    own.api_version = id.applies ? "" : kind.api_version();
    // A real server lists an updater of other fields twice, and loses the second entry in the next write.
    managers.try_emplace(own, scale_set(path, kind.api_version()));
  }
  set_managed_fields(object, encode_managers(managers));
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
