// SPDX-License-Identifier: Apache-2.0
#include "apiserver/controllers/namespace_controller.hpp"

#include <map>
#include <utility>
#include <vector>

#include "apiserver/controllers/kubernetes_service.hpp"
#include "apiserver/request/call.hpp"
#include "apiserver/rest/deletion.hpp"
#include "apiserver/rest/write.hpp"
#include "apiserver/store/crd_rules.hpp"
#include "apiserver/text/timestamps.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {
namespace {

Collection& namespaces(Storage& storage) {
  return storage.store.collection("", "namespaces", false);
}

struct Remaining {
  std::map<std::string, std::size_t> by_resource = {};  ///< "configmaps." -> 2
  std::map<std::string, std::size_t> by_finalizer = {};
};

/// Tries to delete all objects once, and counts the remaining ones.
Remaining delete_content(Storage& storage, const std::string& name, WallTime now) {
  Remaining left;
  const std::string prefix = name + "/";
  for (const CollectionId id : storage.store.collections()) {
    const Collection& collection = storage.store.at(id);
    if (!collection.namespaced) continue;
    const ResourceTypePtr type = storage.registry.find_any(collection);
    if (!type) continue;
    for (const StoredPtr& object : storage.store.snapshot(collection, prefix, storage.store.version())) {
      DeleteOptions options;
      options.propagation = Propagation::background;
      if (!object->is_deleting() && delete_object(storage, *type, object, options, now).removed) continue;
      const StoredPtr rest = storage.store.find(collection, prefix + object->name());
      if (!rest) continue;
      ++left.by_resource[collection.plural() + "." + collection.group()];
      const Json finalizers = rest->part("metadata.finalizers");
      for (std::size_t i = 0; i < finalizers.size(); ++i) ++left.by_finalizer[finalizers[i].string_or("")];
    }
  }
  return left;
}

std::string counted(const std::map<std::string, std::size_t>& counts, std::string_view before,
                    std::string_view between) {
  std::string out(before);
  bool first = true;
  for (const auto& [what, count] : counts) {
    if (!std::exchange(first, false)) out += ", ";
    out += what + std::string(between) + std::to_string(count) + " resource instances";
  }
  return out;
}

/// Source: kubernetes pkg/controller/namespace/deletion/status_condition_utils.go.
bool set_conditions(Json& body, const Remaining& left, const std::string& now) {
  bool changed = set_condition(body,
                               {"NamespaceDeletionDiscoveryFailure", false, "ResourcesDiscovered",
                                "All resources successfully discovered"},
                               now);
  changed |= set_condition(body,
                           {"NamespaceDeletionGroupVersionParsingFailure", false, "ParsedGroupVersions",
                            "All legacy kube types successfully parsed"},
                           now);
  changed |= set_condition(body,
                           {"NamespaceDeletionContentFailure", false, "ContentDeleted",
                            "All content successfully deleted, may be waiting on finalization"},
                           now);
  const bool content = !left.by_resource.empty();
  changed |=
      set_condition(body,
                    {"NamespaceContentRemaining", content, content ? "SomeResourcesRemain" : "ContentRemoved",
                     content ? counted(left.by_resource, "Some resources are remaining: ", " has ")
                             : "All content successfully removed"},
                    now);
  const bool held = !left.by_finalizer.empty();
  changed |= set_condition(
      body,
      {"NamespaceFinalizersRemaining", held, held ? "SomeFinalizersRemain" : "ContentHasNoFinalizers",
       held ? counted(left.by_finalizer, "Some content in the namespace has finalizers remaining: ", " in ")
            : "All content-preserving finalizers finished"},
      now);
  return changed;
}

}  // namespace

void NamespaceController::create_initial(Storage& storage, WallTime now) {
  for (const char* name : {"default", "kube-node-lease", "kube-public", "kube-system"}) {
    Json metadata =
        Json::object({{"name", name}, {"labels", Json::object({{"kubernetes.io/metadata.name", name}})}});
    store_as_server(storage, *storage.registry.find("", "v1", "namespaces"),
                    Json::object({{"metadata", std::move(metadata)}}), now);
  }
}

void NamespaceController::observe(const Store& store, const Change& change) {
  const StoredPtr& object = change.after ? change.after : change.before;
  const Collection& collection = store.at(change.collection);
  if (collection.group().empty() && collection.plural() == "namespaces") {
    const bool going = change.after && change.after->is_deleting();
    if (!going) {
      terminating_.erase(object->name());
      dirty_.erase(object->name());
    } else if (terminating_.insert(object->name()).second) {
      dirty_.insert(object->name());
    }
  } else if (!terminating_.empty() && terminating_.contains(object->namespace_())) {
    dirty_.insert(object->namespace_());
  }
}

void NamespaceController::run(Storage& storage, WallTime now) {
  for (const std::string& name : std::exchange(dirty_, {})) empty(storage, name, now);
}

void NamespaceController::empty(Storage& storage, const std::string& name, WallTime now) {
  Collection& collection = namespaces(storage);
  const Remaining left = delete_content(storage, name, now);
  dirty_.erase(name);  // the deletions above need no second pass
  const StoredPtr object = storage.store.find(collection, name);
  if (!object) return;
  const ResourceTypePtr type = storage.registry.find_any(collection);
  const Json live = storage.document(*type, object);
  Json body = live;
  if (set_conditions(body, left, timestamp(now)))
    store_as_controller(storage, *type, live, std::move(body), "status", now);
  if (left.by_resource.empty()) finalize(storage, name, now);
}

void NamespaceController::finalize(Storage& storage, const std::string& name, WallTime now) {
  Collection& collection = namespaces(storage);
  const StoredPtr object = storage.store.find(collection, name);
  if (!object) return;
  const ResourceTypePtr type = storage.registry.find_any(collection);
  const Json live = storage.document(*type, object);
  Json body = live;
  Json& finalizers = body["spec"]["finalizers"];
  if (finalizers.is_array()) std::erase(finalizers.as_array(), Json("kubernetes"));
  if (finalizers.empty()) body["spec"].erase("finalizers");
  if (is_released(body, *type))
    storage.store.erase(collection, name);
  else
    store_as_controller(storage, *type, live, std::move(body), "finalize", now);
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
