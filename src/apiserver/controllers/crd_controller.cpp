// SPDX-License-Identifier: Apache-2.0
#include "apiserver/controllers/crd_controller.hpp"

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/merge/managed_fields.hpp"
#include "apiserver/rest/deletion.hpp"
#include "apiserver/rest/watch_hub.hpp"
#include "apiserver/store/crd_rules.hpp"
#include "apiserver/store/storage.hpp"
#include "apiserver/text/timestamps.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {
namespace {

Collection& definitions(Storage& storage) {
  return storage.store.collection("apiextensions.k8s.io", "customresourcedefinitions", false);
}

ResourceTypePtr definition_type(Storage& storage) {
  return storage.registry.find("apiextensions.k8s.io", "v1", "customresourcedefinitions");
}

/// Stores a status as the API server's own controllers do, with their manager name.
StoredPtr put_status(Storage& storage, const StoredPtr& live, Json body, WallTime now) {
  const ResourceTypePtr type = definition_type(storage);
  const Json before = storage.document(*type, live);
  body["apiVersion"] = type->api_version();
  body["kind"] = type->kind;
  track_update(before, body, *type->schema,
               {.manager = "kube-apiserver", .subresource = "status", .now = timestamp(now)});
  return storage.store.put(definitions(storage), std::move(body));
}

struct TakenNames {
  std::set<std::string> resources;
  std::set<std::string> kinds;
};

void add_names(const Json& list, std::set<std::string>& out) {
  for (std::size_t i = 0; i < list.size(); ++i) out.insert(list[i].string_or(""));
}

/// Returns the accepted names of other CRDs of the group.
TakenNames taken_names(Storage& storage, const Json& crd, const std::string& name) {
  TakenNames taken;
  for (const auto& [key, other] : definitions(storage).objects) {
    if (key == name || other->part("spec.group") != crd.at({"spec", "group"})) continue;
    const Json accepted = other->part("status.acceptedNames");
    for (const char* field : {"plural", "singular"}) taken.resources.insert(accepted[field].string_or(""));
    for (const char* field : {"kind", "listKind"}) taken.kinds.insert(accepted[field].string_or(""));
    add_names(accepted["shortNames"], taken.resources);
  }
  taken.resources.erase("");
  taken.kinds.erase("");
  return taken;
}

/// The accepted names of a CRD, and the reason why some were not accepted.
/// Source: apiextensions pkg/controller/status/naming_controller.go.
struct Naming {
  Json accepted;
  std::string reason = "NoConflicts";
  std::string message = "no conflicts found";
  bool good() const { return reason == "NoConflicts"; }
};

Naming name_it(Storage& storage, const Json& crd, const std::string& name) {
  const Json& wanted = crd.at({"spec", "names"});
  const TakenNames taken = taken_names(storage, crd, name);
  Naming out{.accepted = crd.at({"status", "acceptedNames"})};
  if (!out.accepted.is_object()) out.accepted = Json::object({{"plural", ""}, {"kind", ""}});
  const auto settle = [&](const char* field, const std::set<std::string>& used, const char* reason) {
    const Json& name_wanted = wanted[field];
    if (std::as_const(out.accepted)[field] != name_wanted && used.contains(name_wanted.string_or(""))) {
      out.reason = reason;
      out.message = name_wanted.dump() + " is already in use";
    } else if (!name_wanted.is_null()) {
      out.accepted[field] = name_wanted;
    }
  };
  settle("plural", taken.resources, "PluralConflict");
  settle("singular", taken.resources, "SingularConflict");
  std::set<std::string> short_names;
  add_names(wanted["shortNames"], short_names);
  std::erase_if(short_names, [&](const std::string& each) { return !taken.resources.contains(each); });
  if (!short_names.empty()) {
    out.reason = "ShortNamesConflict";
    out.message = Json(*short_names.begin()).dump() + " is already in use";
  } else if (wanted.contains("shortNames")) {
    out.accepted["shortNames"] = wanted["shortNames"];
  } else {
    out.accepted.erase("shortNames");
  }
  settle("kind", taken.kinds, "KindConflict");
  settle("listKind", taken.kinds, "ListKindConflict");
  out.accepted.erase("categories");
  if (wanted.contains("categories")) out.accepted["categories"] = wanted["categories"];
  return out;
}

}  // namespace

namespace {

bool is_same_definition(Store& store, const Change& change) {
  if (!change.before || !change.after) return false;
  return store.body(change.before)["spec"] == store.body(change.after)["spec"] &&
         store.metadata(change.before)["deletionTimestamp"] ==
             store.metadata(change.after)["deletionTimestamp"] &&
         store.metadata(change.before)["annotations"][approval_annotation] ==
             store.metadata(change.after)["annotations"][approval_annotation];
}

}  // namespace

void CrdController::observe(Store& store, const Change& change) {
  const Collection& collection = store.at(change.collection);
  if (collection.plural() == "customresourcedefinitions") {
    const StoredPtr& object = change.after ? change.after : change.before;
    if (!is_same_definition(store, change)) written_.insert(object->name());
    const bool going = change.after && change.after->is_deleting();
    if (!going)
      terminating_.erase(object->name());
    else if (terminating_.insert(object->name()).second)
      going_.insert(object->name());
    return;
  }
  if (terminating_.empty()) return;
  std::string name = collection.plural() + "." + collection.group();
  if (terminating_.contains(name)) going_.insert(std::move(name));
}

void CrdController::settle(Storage& storage, WatchHub& watches, WallTime now) {
  while (!written_.empty())
    for (const std::string& name : std::exchange(written_, {})) {
      if (storage.store.find(definitions(storage), name))
        establish(storage, watches, name, now);
      else
        withdraw(storage, watches, name);
    }
}

void CrdController::withdraw(Storage& storage, WatchHub& watches, const std::string& name) {
  for (const ResourceTypePtr& type : storage.registry.custom(name)) watches.end_all(type->collection);
  storage.registry.remove_custom(name);
  serving_.erase(name);
  // Its names become available for other CRDs of the group.
  const std::string group = name.substr(name.find('.') + 1);
  for (const auto& [key, other] : definitions(storage).objects)
    if (other->part("spec.group") == Json(group) &&
        !has_condition(storage.store.body(other), "NamesAccepted"))
      written_.insert(key);
}

void CrdController::serve(Storage& storage, WatchHub& watches, const std::string& name,
                          const Json& definition) {
  Json served = Json::object(
      {{"spec", definition["spec"]}, {"acceptedNames", definition.at({"status", "acceptedNames"})}});
  std::shared_ptr<const Json>& present = serving_[name];
  if (!present || *present != served)
    for (const ResourceTypePtr& type : storage.registry.custom(name)) watches.end_all(type->collection);
  present = std::make_shared<const Json>(std::move(served));
  storage.registry.set_custom(name, resources_of(definition));
}

void CrdController::establish(Storage& storage, WatchHub& watches, const std::string& name, WallTime now) {
  StoredPtr object = storage.store.find(definitions(storage), name);
  const std::string time = timestamp(now);
  const Naming naming = name_it(storage, storage.store.body(object), name);
  Json body = storage.store.body(object);
  bool changed = std::as_const(body).at({"status", "acceptedNames"}) != naming.accepted;
  body["status"]["acceptedNames"] = naming.accepted;
  changed |= set_condition(body, {"NamesAccepted", naming.good(), naming.reason, naming.message}, time);
  if (!has_condition(body, "Established"))
    changed |=
        naming.good()
            ? set_condition(
                  body, {"Established", false, "Installing", "the initial names have been accepted"}, time)
            : set_condition(body, {"Established", false, "NotAccepted", "not all names are accepted"}, time);
  if (changed) object = put_status(storage, object, std::move(body), now);
  if (naming.good() && !has_condition(storage.store.body(object), "Established")) {
    Json established = storage.store.body(object);
    set_condition(established,
                  {"Established", true, "InitialNamesAccepted", "the initial names have been accepted"},
                  time);
    object = put_status(storage, object, std::move(established), now);
  }
  if (const std::optional<Approval> approval = approval_of(storage.store.body(object))) {
    Json approved = storage.store.body(object);
    if (set_condition(
            approved,
            {"KubernetesAPIApprovalPolicyConformant", approval->holds, approval->reason, approval->message},
            time))
      object = put_status(storage, object, std::move(approved), now);
  }
  if (has_condition(storage.store.body(object), "Established"))
    serve(storage, watches, name, storage.store.body(object));
}

void CrdController::run(Storage& storage, WallTime now) {
  for (const std::string& name : std::exchange(going_, {})) clean_up(storage, name, now);
}

void CrdController::clean_up(Storage& storage, const std::string& name, WallTime now) {
  StoredPtr object = storage.store.find(definitions(storage), name);
  if (!object || !has_finalizer(storage.store.metadata(object), crd_finalizer)) return;
  Json marked = storage.store.body(object);
  if (set_condition(
          marked,
          {"Terminating", true, "InstanceDeletionInProgress", "CustomResource deletion is in progress"},
          timestamp(now)))
    object = put_status(storage, object, std::move(marked), now);
  const std::vector<ResourceTypePtr> types = storage.registry.custom(name);
  if (!types.empty()) {
    const ResourceTypePtr type = storage.registry.find_any(storage.collection(*types.front()));
    for (const StoredPtr& instance :
         storage.store.snapshot(storage.collection(*type), "", storage.store.version())) {
      DeleteOptions options;
      options.propagation = Propagation::background;
      if (!instance->is_deleting()) delete_object(storage, *type, instance, options, now);
    }
    going_.erase(name);
    if (!storage.collection(*type).objects.empty()) return;
  }
  Json body = storage.store.body(object);
  remove_finalizer(body["metadata"], crd_finalizer);
  if (std::as_const(body).at({"metadata", "finalizers"}).empty())
    storage.store.erase(definitions(storage), name);
  else
    storage.store.put(definitions(storage), std::move(body));
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
