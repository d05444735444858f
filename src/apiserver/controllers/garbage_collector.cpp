// SPDX-License-Identifier: Apache-2.0
#include "apiserver/controllers/garbage_collector.hpp"

#include <algorithm>
#include <utility>

#include "apiserver/request/call.hpp"
#include "apiserver/rest/deletion.hpp"
#include "apiserver/rest/write.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {
namespace {

bool holds_finalizer(const Stored& object, std::string_view name) {
  return has_finalizer(Json::object({{"finalizers", object.part("metadata.finalizers")}}), name);
}

bool waits_for_dependents(const Stored& object) {
  return object.is_deleting() && holds_finalizer(object, foreground_finalizer);
}

/// Returns true if a foreground deletion begins with this change. From then on all dependents are deleted,
/// not only those for which the owner waits. Source: graph_builder.go processTransitions.
bool starts_waiting(const StoredPtr& before, const Stored& after) {
  return waits_for_dependents(after) && !(before && waits_for_dependents(*before));
}

bool blocks(const Stored& dependent, std::string_view owner_uid) {
  const Json owners = dependent.owners();
  for (std::size_t i = 0; i < owners.size(); ++i)
    if (owners[i]["uid"] == Json(owner_uid)) return owners[i]["blockOwnerDeletion"].bool_or(false);
  return false;
}

/// Stores `dependent` without the references for which `drop` holds, and without their ownership.
template <class Predicate>
void drop_references(Storage& storage, const ResourceType& type, const StoredPtr& dependent, WallTime now,
                     Predicate drop) {
  const Json live = storage.document(type, dependent);
  Json object = live;
  Json* owners = object["metadata"].find("ownerReferences");
  if (!owners || !owners->is_array() || std::erase_if(owners->as_array(), drop) == 0) return;
  if (owners->empty()) object["metadata"].erase("ownerReferences");
  store_as_controller(storage, type, live, std::move(object), "", now);
}

/// Stores `object` with references that do not block the deletion of their owners.
void unblock_owners(Storage& storage, const ResourceType& type, const StoredPtr& object, WallTime now) {
  const Json live = storage.document(type, object);
  Json changed = live;
  for (Json& reference : changed["metadata"]["ownerReferences"].as_array())
    if (std::as_const(reference)["blockOwnerDeletion"].bool_or(false))
      reference["blockOwnerDeletion"] = false;
  store_as_controller(storage, type, live, std::move(changed), "", now);
}

/// Returns the resource that a reference names by apiVersion and kind, or null if it is not served.
ResourceTypePtr kind_of(const Registry& registry, const Json& reference) {
  const std::string api_version = reference["apiVersion"].string_or("");
  const auto slash = api_version.find('/');
  const std::string group = slash == std::string::npos ? "" : api_version.substr(0, slash);
  const std::string version = slash == std::string::npos ? api_version : api_version.substr(slash + 1);
  return registry.find_kind(group, version, reference["kind"].string_or(""));
}

}  // namespace

void GarbageCollector::enqueue(const Place& place) {
  if (queued_.insert(place).second) queue_.push_back(place);
}

std::vector<GarbageCollector::Place> GarbageCollector::dependents(std::string_view uid) const {
  std::vector<Place> out;
  for (auto at = dependents_.lower_bound(Dependence(uid, Place()));
       at != dependents_.end() && at->first.first == uid; ++at)
    out.push_back(at->first.second);
  return out;
}

bool GarbageCollector::has_dependents(std::string_view uid) const {
  const auto at = dependents_.lower_bound(Dependence(uid, Place()));
  return at != dependents_.end() && at->first.first == uid;
}

void GarbageCollector::enqueue_dependents(std::string_view uid) {
  for (const Place& place : dependents(uid)) enqueue(place);
}

GarbageCollector::GarbageCollector(const Frozen& from)
    : by_uid_(from.by_uid_),
      dependents_(from.dependents_),
      queue_(from.queue_),
      queued_(queue_.begin(), queue_.end()) {}

GarbageCollector::Frozen GarbageCollector::freeze() {
  Frozen out;
  out.by_uid_ = by_uid_.freeze();
  out.dependents_ = dependents_.freeze();
  out.queue_ = queue_;
  return out;
}

void GarbageCollector::link(const Place& place, const Stored& object) {
  by_uid_.exchange(object.uid(), place);
  const Json owners = object.owners();
  for (std::size_t i = 0; i < owners.size(); ++i)
    dependents_.exchange({owners[i]["uid"].string_or(""), place}, {});
}

void GarbageCollector::unlink(const Place& place, const Stored& object) {
  by_uid_.extract(object.uid());
  const Json owners = object.owners();
  for (std::size_t i = 0; i < owners.size(); ++i)
    dependents_.extract(Dependence(owners[i]["uid"].string_or(""), place));
}

void GarbageCollector::enqueue_if_ownerless(const Store& store, const Place& place, const Json& owners) {
  for (std::size_t i = 0; i < owners.size(); ++i) {
    const auto owner = by_uid_.find(owners[i]["uid"].string_or(""));
    if (owner == by_uid_.end() || !may_own(store, owner->second, place)) enqueue(place);
  }
}

void GarbageCollector::enqueue_if_misnamed(const Registry& registry, const Place& place, const Json& owners) {
  for (std::size_t i = 0; i < owners.size(); ++i) {
    const auto owner = by_uid_.find(owners[i]["uid"].string_or(""));
    if (owner == by_uid_.end()) continue;
    const std::string_view key = owner->second.key;
    const ResourceTypePtr type = kind_of(registry, owners[i]);
    if ((type && type->collection != owner->second.collection) ||
        owners[i]["name"] != Json(key.substr(key.find('/') + 1)))
      enqueue(place);
  }
}

bool GarbageCollector::may_own(const Store& store, const Place& owner, const Place& dependent) {
  if (!store.at(owner.collection).namespaced) return true;
  return space_of(store, owner) == space_of(store, dependent);
}

std::string_view GarbageCollector::space_of(const Store& store, const Place& place) {
  return store.at(place.collection).namespaced ? std::string_view(place.key).substr(0, place.key.find('/'))
                                               : std::string_view();
}

void GarbageCollector::observe(const Storage& storage, const Change& change) {
  const Store& store = storage.store;
  const Place place{change.collection, change.key};
  const StoredPtr& before = change.before;
  const StoredPtr& after = change.after;
  const bool linked =
      before && after && before->uid() == after->uid() && before->owners_text() == after->owners_text();
  if (before && !linked) unlink(place, *before);
  if (after) {
    if (!linked) {
      link(place, *after);
      enqueue_if_misnamed(storage.registry, place, after->owners());
    }
    enqueue_if_ownerless(store, place, after->owners());
    if (!after->is_deleting()) return;
    if (starts_waiting(before, *after)) enqueue_dependents(after->uid());
    if (holds_finalizer(*after, orphan_finalizer) || holds_finalizer(*after, foreground_finalizer))
      enqueue(place);
  } else {
    enqueue_dependents(before->uid());
  }
  // An owner that waits for its dependents is checked again when one is deleted or marked.
  const Json owners = (before ? *before : *after).owners();
  for (std::size_t i = 0; i < owners.size(); ++i)
    if (const auto owner = by_uid_.find(owners[i]["uid"].string_or("")); owner != by_uid_.end())
      enqueue(owner->second);
}

void GarbageCollector::run(Storage& storage, WallTime now) {
  while (!queue_.empty()) {
    const Place place = std::move(queue_.front());
    queue_.pop_front();
    queued_.erase(place);
    visit(storage, place, now);
  }
}

// Source: garbagecollector.go isDangling, which reads the owner by the reference's apiVersion, kind and name.
GarbageCollector::Standing GarbageCollector::standing(Storage& storage, const Json& reference,
                                                      const Stored& dependent) {
  // If the kind is unknown, or cannot own this object, the absence of the owner is unknown.
  const ResourceTypePtr type = kind_of(storage.registry, reference);
  if (!type || (type->namespaced && dependent.namespace_().empty())) return Standing::present;
  // An owner has the kind, the name and the uid in the reference, and is in the same namespace or in none.
  const Collection& owners = storage.collection(*type);
  const StoredPtr owner =
      storage.store.find(owners, owners.key_of(dependent.namespace_(), reference["name"].string_or("")));
  if (!owner || owner->uid() != reference["uid"].string_or("")) return Standing::absent;
  return waits_for_dependents(*owner) ? Standing::waits_for_dependents : Standing::present;
}

void GarbageCollector::orphan_dependents(Storage& storage, const Stored& owner, WallTime now) {
  for (const Place& place : dependents(owner.uid())) {
    const StoredPtr dependent = storage.store.find(storage.store.at(place.collection), place.key);
    const ResourceTypePtr type = storage.registry.find_any(storage.store.at(place.collection));
    if (!dependent || !type) continue;
    drop_references(storage, *type, dependent, now,
                    [&](const Json& each) { return each["uid"] == Json(owner.uid()); });
  }
}

void GarbageCollector::visit_deleting(Storage& storage, const Place& place, const StoredPtr& object,
                                      WallTime now) {
  const bool orphan = holds_finalizer(*object, orphan_finalizer);
  const bool foreground = holds_finalizer(*object, foreground_finalizer);
  if (!orphan && !foreground) return;
  if (orphan) orphan_dependents(storage, *object, now);
  if (foreground) {
    bool blocked = false;
    for (const Place& each : dependents(object->uid())) {
      const StoredPtr dependent = storage.store.find(storage.store.at(each.collection), each.key);
      if (!dependent || !blocks(*dependent, object->uid())) continue;
      blocked = true;
      if (!dependent->is_deleting()) visit(storage, each, now);
    }
    if (blocked) {
      // Dependents that were removed at once have put this object into the queue again.
      return;
    }
  }
  const ResourceTypePtr type = storage.registry.find_any(storage.store.at(place.collection));
  if (!type) return;
  Json body = storage.store.body(object);
  remove_finalizer(body["metadata"], orphan ? orphan_finalizer : foreground_finalizer);
  if (is_released(body, *type))
    storage.store.erase(storage.collection(*type), place.key);
  else
    storage.store.put(storage.collection(*type), std::move(body), object->form());
}

bool GarbageCollector::may_be_in_cycle(const Store& store, const Stored& object) const {
  for (const Place& place : dependents(object.uid())) {
    const StoredPtr dependent = store.find(store.at(place.collection), place.key);
    if (dependent && waits_for_dependents(*dependent)) return true;
  }
  return false;
}

void GarbageCollector::visit(Storage& storage, const Place& place, WallTime now) {
  StoredPtr object = storage.store.find(storage.store.at(place.collection), place.key);
  if (!object) return;
  if (object->is_deleting()) return visit_deleting(storage, place, object, now);
  const Json owners = object->owners();
  std::size_t present = 0;
  std::size_t waiting = 0;
  for (std::size_t i = 0; i < owners.size(); ++i) {
    const Standing found = standing(storage, owners[i], *object);
    present += found == Standing::present ? 1U : 0U;
    waiting += found == Standing::waits_for_dependents ? 1U : 0U;
  }
  if (owners.empty() || present == owners.size()) return;
  const ResourceTypePtr type = storage.registry.find_any(storage.store.at(place.collection));
  if (!type) return;
  if (present > 0) {
    drop_references(storage, *type, object, now,
                    [&](const Json& each) { return standing(storage, each, *object) != Standing::present; });
    return;
  }
  DeleteOptions options;
  options.uid = object->uid();
  // Dependents of an owner with foreground deletion are deleted the same way, so that it waits for theirs
  // too.
  options.propagation =
      waiting > 0 && has_dependents(object->uid()) ? Propagation::foreground : Propagation::unset;
  if (options.propagation == Propagation::foreground && may_be_in_cycle(storage.store, *object)) {
    unblock_owners(storage, *type, object, now);
    object = storage.store.find(storage.collection(*type), place.key);
  }
  if (options.propagation == Propagation::unset && !holds_finalizer(*object, orphan_finalizer) &&
      !holds_finalizer(*object, foreground_finalizer))
    options.propagation = Propagation::background;
  delete_object(storage, *type, object, options, now);
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
