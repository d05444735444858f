// SPDX-License-Identifier: Apache-2.0
#include "testing/crd_controller.hpp"

#include <utility>
#include <vector>

#include "testing/crd_rules.hpp"
#include "testing/deletion.hpp"
#include "testing/server.hpp"
#include "testing/timestamps.hpp"

namespace evenkeel::inline v0::testing {
namespace {

Collection& definitions(Server& server) {
  return server.store.collection("apiextensions.k8s.io", "customresourcedefinitions", false);
}

/// The CRD whose names collide with those of `crd` in its group; empty if none.
std::string name_conflict(Server& server, const Json& crd, const std::string& name) {
  const Json& names = crd.at({"spec", "names"});
  for (const auto& [key, other] : definitions(server).objects) {
    if (key == name || other->body().at({"spec", "group"}) != crd.at({"spec", "group"})) continue;
    const Json& accepted = other->body().at({"status", "acceptedNames"});
    for (const char* field : {"plural", "kind"})
      if (accepted[field] == names[field]) return names[field].string_or("");
  }
  return {};
}

}  // namespace

void CrdController::observe(const ChangePtr& change) {
  if (change->collection->plural == "customresourcedefinitions") {
    const StoredPtr& object = change->after ? change->after : change->before;
    const bool same_spec =
        change->before && change->after && change->before->body()["spec"] == change->after->body()["spec"] &&
        change->before->metadata()["deletionTimestamp"] == change->after->metadata()["deletionTimestamp"];
    if (!same_spec) written_.insert(object->name());
    const bool going = change->after && !change->after->metadata()["deletionTimestamp"].is_null();
    if (!going)
      terminating_.erase(object->name());
    else if (terminating_.insert(object->name()).second)
      going_.insert(object->name());
    return;
  }
  if (terminating_.empty()) return;
  std::string name = change->collection->plural + "." + change->collection->group;
  if (terminating_.contains(name)) going_.insert(std::move(name));
}

void CrdController::settle(Server& server, WallTime now) {
  while (!written_.empty())
    for (const std::string& name : std::exchange(written_, {})) {
      if (server.store.find(definitions(server), name))
        establish(server, name, now);
      else
        withdraw(server, name);
    }
}

void CrdController::withdraw(Server& server, const std::string& name) {
  for (const ResourceTypePtr& type : server.registry.custom(name)) server.watches.end_all(*type->collection);
  server.registry.remove_custom(name);
  serving_.erase(name);
}

void CrdController::serve(Server& server, const std::string& name, const Json& definition) {
  Json served = Json::object(
      {{"spec", definition["spec"]}, {"acceptedNames", definition.at({"status", "acceptedNames"})}});
  if (serving_[name] != served)
    for (const ResourceTypePtr& type : server.registry.custom(name))
      server.watches.end_all(*type->collection);
  serving_[name] = std::move(served);
  server.registry.set_custom(name, resources_of(definition));
}

void CrdController::establish(Server& server, const std::string& name, WallTime now) {
  const StoredPtr object = server.store.find(definitions(server), name);
  Json body = object->body();
  const std::string conflict = name_conflict(server, body, name);
  const std::string time = timestamp(now);
  bool changed = false;
  if (conflict.empty()) {
    changed |= set_condition(body, {"NamesAccepted", true, "NoConflicts", "no conflicts found"}, time);
    changed |= set_condition(
        body, {"Established", true, "InitialNamesAccepted", "the initial names have been accepted"}, time);
    const Json names = std::as_const(body).at({"spec", "names"});
    changed |= std::as_const(body).at({"status", "acceptedNames"}) != names;
    body["status"]["acceptedNames"] = names;
  } else {
    changed |= set_condition(
        body, {"NamesAccepted", false, "ListKindConflict", "\"" + conflict + "\" is already in use"}, time);
    changed |= set_condition(body, {"Established", false, "NotAccepted", "not all names are accepted"}, time);
  }
  if (!has_condition(body, "Established")) {
    if (changed) server.store.put(definitions(server), std::move(body));
    return;
  }
  serve(server, name, body);
  if (changed) server.store.put(definitions(server), std::move(body));
}

void CrdController::run(Server& server, WallTime now) {
  for (const std::string& name : std::exchange(going_, {})) clean_up(server, name, now);
}

void CrdController::clean_up(Server& server, const std::string& name, WallTime now) {
  const StoredPtr object = server.store.find(definitions(server), name);
  if (!object || !has_finalizer(object->metadata(), crd_finalizer)) return;
  const std::vector<ResourceTypePtr> types = server.registry.custom(name);
  if (!types.empty()) {
    const ResourceTypePtr type = server.registry.find_any(*types.front()->collection);
    for (const StoredPtr& instance : server.store.snapshot(*type->collection, "", server.store.version())) {
      DeleteOptions options;
      options.propagation = Propagation::background;
      if (instance->metadata()["deletionTimestamp"].is_null())
        delete_object(server, *type, instance, options, now);
    }
    going_.erase(name);
    if (!type->collection->objects.empty()) return;
  }
  Json body = object->body();
  remove_finalizer(body["metadata"], crd_finalizer);
  if (std::as_const(body).at({"metadata", "finalizers"}).empty())
    server.store.erase(definitions(server), name);
  else
    server.store.put(definitions(server), std::move(body));
}

}  // namespace evenkeel::inline v0::testing
