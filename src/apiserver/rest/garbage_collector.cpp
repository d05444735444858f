// SPDX-License-Identifier: Apache-2.0
#include "apiserver/rest/garbage_collector.hpp"

#include <algorithm>
#include <utility>

#include "apiserver/rest/call.hpp"
#include "apiserver/rest/deletion.hpp"
#include "apiserver/rest/write.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {
namespace {

Json owners_of(const Stored& object) {
  return object.part("metadata.ownerReferences");
}

bool is_marked(const Stored& object) {
  return !object.part("metadata.deletionTimestamp").is_null();
}

bool blocks(const Stored& dependent, std::string_view owner_uid) {
  const Json owners = owners_of(dependent);
  for (std::size_t i = 0; i < owners.size(); ++i)
    if (owners[i]["uid"] == Json(owner_uid)) return owners[i]["blockOwnerDeletion"].bool_or(false);
  return false;
}

/// Stores `dependent` without the references for which `drop` holds, and without their ownership.
template <class Predicate>
void drop_references(Storage& storage, const ResourceType& type, const StoredPtr& dependent, WallTime now,
                     Predicate drop) {
  const Json live = type.document(*dependent);
  Json object = live;
  Json* owners = object["metadata"].find("ownerReferences");
  if (!owners || !owners->is_array() || std::erase_if(owners->as_array(), drop) == 0) return;
  if (owners->empty()) object["metadata"].erase("ownerReferences");
  store_as_controller(storage, type, live, std::move(object), "", now);
}

bool is_namespaced_kind(Storage& storage, const Json& reference, bool& known) {
  const std::string api_version = reference["apiVersion"].string_or("");
  const auto slash = api_version.find('/');
  const std::string group = slash == std::string::npos ? "" : api_version.substr(0, slash);
  const std::string version = slash == std::string::npos ? api_version : api_version.substr(slash + 1);
  const ResourceTypePtr type = storage.registry.find_kind(group, version, reference["kind"].string_or(""));
  known = type != nullptr;
  return known && type->namespaced;
}

}  // namespace

namespace {

/// Returns true if the kind of an owner is served. Otherwise the absence of the owner is unknown.
bool is_served(Storage& storage, const Json& reference) {
  const std::string api_version = reference["apiVersion"].string_or("");
  const std::string kind = reference["kind"].string_or("");
  for (const ServedVersion& served : storage.registry.versions()) {
    if (served.api_version() != api_version) continue;
    for (const ResourceTypePtr& type : served.resources)
      if (type->kind == kind) return true;
  }
  return false;
}

}  // namespace

void GarbageCollector::enqueue(const Place& place) {
  if (queued_.insert(place).second) queue_.push_back(place);
}

std::set<GarbageCollector::Place> GarbageCollector::dependents(std::string_view uid) const {
  const auto at = dependents_.find(uid);
  return at == dependents_.end() ? std::set<Place>() : at->second;
}

void GarbageCollector::enqueue_dependents(std::string_view uid) {
  for (const Place& place : dependents(uid)) enqueue(place);
}

void GarbageCollector::link(const Place& place, const Stored& object) {
  by_uid_[object.uid()] = place;
  const Json owners = owners_of(object);
  for (std::size_t i = 0; i < owners.size(); ++i) {
    const std::string uid = owners[i]["uid"].string_or("");
    dependents_[uid].insert(place);
    const auto owner = by_uid_.find(uid);
    if (owner == by_uid_.end() || !may_own(owner->second, place)) enqueue(place);
  }
}

bool GarbageCollector::may_own(const Place& owner, const Place& dependent) {
  if (!owner.collection->namespaced) return true;
  return space_of(owner) == space_of(dependent);
}

std::string_view GarbageCollector::space_of(const Place& place) {
  return place.collection->namespaced ? std::string_view(place.key).substr(0, place.key.find('/'))
                                      : std::string_view();
}

void GarbageCollector::unlink(const Place& place, const Stored& object) {
  by_uid_.erase(object.uid());
  const Json owners = owners_of(object);
  for (std::size_t i = 0; i < owners.size(); ++i) {
    const auto at = dependents_.find(owners[i]["uid"].string_or(""));
    if (at == dependents_.end()) continue;
    at->second.erase(place);
    if (at->second.empty()) dependents_.erase(at);
  }
}

void GarbageCollector::observe(const ChangePtr& change) {
  const Place place{change->collection, change->key};
  if (change->before) unlink(place, *change->before);
  if (change->after) {
    link(place, *change->after);
    if (!is_marked(*change->after)) return;
    if (has_finalizer(change->after->metadata(), orphan_finalizer) ||
        has_finalizer(change->after->metadata(), foreground_finalizer))
      enqueue(place);
  } else {
    enqueue_dependents(change->before->uid());
  }
  // An owner that waits for its dependents is checked again when one is deleted or marked.
  const Json owners = owners_of(change->before ? *change->before : *change->after);
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

GarbageCollector::Standing GarbageCollector::standing(Storage& storage, const Json& reference,
                                                      const Stored& dependent) const {
  // If the kind is unknown, or cannot own this object, the absence of the owner is unknown.
  bool known = false;
  const bool namespaced = is_namespaced_kind(storage, reference, known);
  if (!known || (namespaced && dependent.namespace_().empty())) return Standing::present;
  const std::string uid = reference["uid"].string_or("");
  const auto at = by_uid_.find(uid);
  if (at == by_uid_.end()) return is_served(storage, reference) ? Standing::absent : Standing::present;
  const StoredPtr owner = storage.store.find(*at->second.collection, at->second.key);
  // An owner is in the same namespace or in none, and has the name in the reference.
  if (!owner || owner->name() != reference["name"].string_or("")) return Standing::absent;
  if (!owner->namespace_().empty() && owner->namespace_() != dependent.namespace_()) return Standing::absent;
  const bool waits = is_marked(*owner) && has_finalizer(owner->metadata(), foreground_finalizer);
  return waits ? Standing::waits_for_dependents : Standing::present;
}

void GarbageCollector::orphan_dependents(Storage& storage, const Stored& owner, WallTime now) {
  for (const Place& place : dependents(owner.uid())) {
    const StoredPtr dependent = storage.store.find(*place.collection, place.key);
    const ResourceTypePtr type = storage.registry.find_any(*place.collection);
    if (!dependent || !type) continue;
    drop_references(storage, *type, dependent, now,
                    [&](const Json& each) { return each["uid"] == Json(owner.uid()); });
  }
}

void GarbageCollector::visit_deleting(Storage& storage, const Place& place, const StoredPtr& object,
                                      WallTime now) {
  const Json& metadata = object->metadata();
  const bool orphan = has_finalizer(metadata, orphan_finalizer);
  const bool foreground = has_finalizer(metadata, foreground_finalizer);
  if (!orphan && !foreground) return;
  if (orphan) orphan_dependents(storage, *object, now);
  if (foreground) {
    bool blocked = false;
    for (const Place& each : dependents(object->uid())) {
      const StoredPtr dependent = storage.store.find(*each.collection, each.key);
      if (!dependent || !blocks(*dependent, object->uid())) continue;
      blocked = true;
      if (!is_marked(*dependent)) visit(storage, each, now);
    }
    if (blocked) {
      // Dependents that were removed at once have put this object into the queue again.
      return;
    }
  }
  const ResourceTypePtr type = storage.registry.find_any(*place.collection);
  if (!type) return;
  Json body = object->body();
  remove_finalizer(body["metadata"], orphan ? orphan_finalizer : foreground_finalizer);
  if (is_released(body, *type))
    storage.store.erase(*type->collection, place.key);
  else
    storage.store.put(*type->collection, std::move(body));
}

void GarbageCollector::visit(Storage& storage, const Place& place, WallTime now) {
  const StoredPtr object = storage.store.find(*place.collection, place.key);
  if (!object) return;
  if (is_marked(*object)) return visit_deleting(storage, place, object, now);
  const Json owners = owners_of(*object);
  std::size_t present = 0;
  std::size_t waiting = 0;
  for (std::size_t i = 0; i < owners.size(); ++i) {
    const Standing found = standing(storage, owners[i], *object);
    present += found == Standing::present ? 1U : 0U;
    waiting += found == Standing::waits_for_dependents ? 1U : 0U;
  }
  if (owners.empty() || present == owners.size()) return;
  const ResourceTypePtr type = storage.registry.find_any(*place.collection);
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
      waiting > 0 && dependents_.contains(object->uid()) ? Propagation::foreground : Propagation::unset;
  if (options.propagation == Propagation::unset && !has_finalizer(object->metadata(), orphan_finalizer) &&
      !has_finalizer(object->metadata(), foreground_finalizer))
    options.propagation = Propagation::background;
  delete_object(storage, *type, object, options, now);
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
