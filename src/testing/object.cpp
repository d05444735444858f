// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include <evenkeel/api/kinds/apiextensions.hpp>
#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/base/error.hpp>
#include <evenkeel/client/resource_client.hpp>
#include <evenkeel/testing/object.hpp>
#include <evenkeel/testing/wait.hpp>

#include "apiserver/schema/builtin_data.hpp"
#include "apiserver/shell/manifest.hpp"

namespace evenkeel {
inline namespace v0 {
namespace testing {
namespace {

std::string name_of(const Json& document) {
  const std::string space = document.at({"metadata", "namespace"}).string_or("");
  return document["kind"].string_or("object") + " " + (space.empty() ? "" : space + "/") +
         document.at({"metadata", "name"}).string_or("");
}

ResourceId resource_of(const Json& crd, const std::string& version) {
  const Json& spec = crd["spec"];
  return {spec["group"].string_or(""), version, spec.at({"names", "kind"}).string_or(""),
          spec.at({"names", "plural"}).string_or(""),
          spec["scope"].string_or("") == "Cluster" ? Scope::cluster : Scope::namespaced};
}

std::pair<std::string, std::string> group_and_version(const std::string& api_version) {
  const std::size_t slash = api_version.find('/');
  if (slash == std::string::npos) return {"", api_version};
  return {api_version.substr(0, slash), api_version.substr(slash + 1)};
}

/// Creates objects one after the other; caches what it learns about kinds.
class Seeder {
 public:
  explicit Seeder(const Client& client) : client_(client) {}

  void add(const Object& object);

 private:
  void create(Json document, const ResourceId& known);
  void define(const Json& crd);
  void need_namespace(const std::string& name);
  ResourceId find_resource(const Json& document);
  std::optional<ResourceId> builtin(const Json& document);
  void fill_owners(Json& metadata);
  void write_status(const ResourceClient& objects, const Json& created, const Json& status,
                    const std::string& name);

  apiserver::BuiltinData& builtins() { return builtins_ ? *builtins_ : builtins_.emplace(); }

  const Client& client_;
  std::set<std::string> namespaces_;
  std::set<std::string> defined_;
  std::optional<apiserver::BuiltinData> builtins_;  // once it is needed
};

void Seeder::add(const Object& object) {
  const ResourceId& resource = object.resource();
  if (object.crd() && !builtins().has_kind(resource.group, resource.version, resource.kind))
    define(object.crd()());
  for (const Json& document : object.documents()) {
    if (document["kind"].string_or("") == "CustomResourceDefinition") {
      define(document);
    } else {
      create(document, object.resource());
    }
  }
}

void Seeder::define(const Json& crd) {
  const std::string name = crd.at({"metadata", "name"}).string_or("");
  if (!defined_.insert(name).second) return;
  const ResourceClient crds = client_.resource(apiextensions_v1::CustomResourceDefinition::resource);
  if (!crds.find({"", name})) crds.create(DynamicObject(crd));
  const std::string version = crd["spec"]["versions"][0]["name"].string_or("");
  const ResourceClient objects = client_.resource(resource_of(crd, version));
  try {
    objects.list({.limit = 1});
  } catch (const ApiError& error) {
    if (!error.is_no_such_resource()) throw;
    // A definition is accepted some time before its objects are served.
    detail::wait_for(
        client_, {.resource = apiextensions_v1::CustomResourceDefinition::resource, .name = name},
        "CustomResourceDefinition " + name + " to be served", {}, [&objects](const Client&) -> std::string {
          objects.list({.limit = 1});
          return "";
        });
  }
}

void Seeder::need_namespace(const std::string& name) {
  if (name.empty() || !namespaces_.insert(name).second) return;
  if (!client_.find<Namespace>({"", name})) client_.create(Namespace{.metadata = {.name = name}});
}

std::optional<ResourceId> Seeder::builtin(const Json& document) {
  const auto [group, version] = group_and_version(document["apiVersion"].string_or(""));
  const apiserver::BuiltinGroupVersion* const found = builtins().find(group, version);
  if (found == nullptr) return std::nullopt;
  for (const apiserver::BuiltinResource& one : found->resources) {
    if (one.kind == document["kind"].string_or("") && one.name.find('/') == std::string::npos)
      return ResourceId(group, version, one.kind, one.name,
                        one.namespaced ? Scope::namespaced : Scope::cluster);
  }
  return std::nullopt;
}

ResourceId Seeder::find_resource(const Json& document) {
  if (const auto found = builtin(document)) return *found;
  const auto [group, version] = group_and_version(document["apiVersion"].string_or(""));
  for (const auto& crd :
       client_.resource(apiextensions_v1::CustomResourceDefinition::resource).list().items) {
    const ResourceId resource = resource_of(crd->body(), version);
    if (resource.group == group && resource.kind == document["kind"].string_or("")) return resource;
  }
  throw Error(name_of(document) + ": the server knows no kind " + document["kind"].string_or("\"\"") +
              " in \"" + document["apiVersion"].string_or("") +
              "\"; put its CustomResourceDefinition before it");
}

void Seeder::fill_owners(Json& metadata) {
  Json* const owners = metadata.find("ownerReferences");
  if (owners == nullptr || !owners->is_array()) return;
  for (Json& owner : owners->as_array()) {
    if (!owner["uid"].string_or("").empty()) continue;
    const ResourceId resource = find_resource(owner);
    const std::string space =
        resource.scope == Scope::cluster ? "" : metadata["namespace"].string_or("default");
    const auto found = client_.resource(resource).find({space, owner["name"].string_or("")});
    if (!found)
      throw Error("owner " + owner["kind"].string_or("") + " " + owner["name"].string_or("") +
                  " does not exist: it must come before what it owns");
    owner["uid"] = found->uid();
  }
}

void Seeder::write_status(const ResourceClient& objects, const Json& created, const Json& status,
                          const std::string& name) {
  if (status.is_null() || status.empty() || created["status"] == status) return;
  Json whole = created;
  whole["status"] = status;
  try {
    objects.update(DynamicObject(std::move(whole)), "status");
  } catch (const ApiError& error) {
    throw Error(name + ": its status was refused: " + error.message());
  }
}

void Seeder::create(Json document, const ResourceId& known) {
  const std::string name = name_of(document);
  const ResourceId resource = known.plural.empty() ? find_resource(document) : known;
  Json& metadata = document["metadata"];
  if (resource.scope == Scope::namespaced && metadata["namespace"].string_or("").empty())
    metadata["namespace"] = "default";
  need_namespace(metadata["namespace"].string_or(""));
  const bool deleting = !metadata["deletionTimestamp"].is_null();
  if (deleting && metadata["finalizers"].empty())
    throw Error(name + ": it has a deletion timestamp but no finalizer: no server would keep it");
  for (const char* member : {"resourceVersion", "uid", "generation", "managedFields", "creationTimestamp",
                             "deletionTimestamp", "deletionGracePeriodSeconds"})
    metadata.erase(member);
  fill_owners(metadata);
  const Json status = document["status"];
  const ResourceClient objects = client_.resource(resource);
  const auto created = objects.create(DynamicObject(std::move(document)));
  write_status(objects, created->body(), status, name);
  if (deleting) objects.remove(created->key());
}

}  // namespace

Object::Object(Json document) : documents_{std::move(document)} {}
Object::Object(const DynamicObject& object) : documents_{object.body()} {}
Object::Object(std::string_view manifest) : documents_(apiserver::manifest_objects(manifest)) {}

void Object::leave_untouched_status(const Json& untouched) {
  if (std::as_const(documents_[0])["status"] == untouched["status"]) documents_[0].erase("status");
}

void create_objects(const Client& client, const Objects& objects) {
  Seeder seeder(client);
  for (const Object& object : objects) seeder.add(object);
}

}  // namespace testing
}  // namespace v0
}  // namespace evenkeel
