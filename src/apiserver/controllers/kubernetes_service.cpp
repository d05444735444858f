// SPDX-License-Identifier: Apache-2.0
#include "apiserver/controllers/kubernetes_service.hpp"

#include <string>
#include <string_view>
#include <utility>

#include "apiserver/merge/managed_update.hpp"
#include "apiserver/request/call.hpp"
#include "apiserver/schema/pruning.hpp"
#include "apiserver/store/object_rules.hpp"
#include "apiserver/text/timestamps.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {
namespace {

// There is no server at this address: endpoints must not be loopback addresses, and 192.0.2.0/24 is reserved
// for documentation (RFC 5737).
constexpr std::string_view endpoint_address = "192.0.2.1";
constexpr int endpoint_port = 6443;

Json metadata(Json labels) {
  return Json::object({{"name", "kubernetes"}, {"namespace", "default"}, {"labels", std::move(labels)}});
}

Json ports() {
  return Json::array({Json::object({{"name", "https"}, {"port", endpoint_port}, {"protocol", "TCP"}})});
}

Json service() {
  Json port =
      Json::object({{"name", "https"}, {"port", 443}, {"protocol", "TCP"}, {"targetPort", endpoint_port}});
  return Json::object(
      {{"metadata", metadata(Json::object({{"component", "apiserver"}, {"provider", "kubernetes"}}))},
       {"spec", Json::object({{"clusterIP", "10.0.0.1"},
                              {"internalTrafficPolicy", "Cluster"},
                              {"ipFamilyPolicy", "SingleStack"},
                              {"ports", Json::array({std::move(port)})},
                              {"sessionAffinity", "None"},
                              {"type", "ClusterIP"}})}});
}

Json endpoints() {
  Json subset = Json::object(
      {{"addresses", Json::array({Json::object({{"ip", endpoint_address}})})}, {"ports", ports()}});
  return Json::object(
      {{"metadata", metadata(Json::object({{"endpointslice.kubernetes.io/skip-mirror", "true"}}))},
       {"subsets", Json::array({std::move(subset)})}});
}

Json slice() {
  Json endpoint = Json::object({{"addresses", Json::array({Json(endpoint_address)})},
                                {"conditions", Json::object({{"ready", true}})}});
  return Json::object({{"metadata", metadata(Json::object({{"kubernetes.io/service-name", "kubernetes"}}))},
                       {"addressType", "IPv4"},
                       {"endpoints", Json::array({std::move(endpoint)})},
                       {"ports", ports()}});
}

}  // namespace

void store_as_server(Storage& storage, const ResourceType& type, Json object, WallTime now) {
  Collection& collection = storage.collection(type);
  const std::string name = std::as_const(object).at({"metadata", "name"}).string_or("");
  const std::string space = std::as_const(object).at({"metadata", "namespace"}).string_or("");
  if (storage.store.find(collection, collection.key_of(space, name))) return;
  object["apiVersion"] = type.api_version();
  object["kind"] = type.kind;
  object["metadata"]["uid"] = storage.identity.uid();
  object["metadata"]["creationTimestamp"] = timestamp(now);
  apply_defaults(object, *type.schema);
  canonicalize(object, *type.schema);
  track_update(Json(), object, *type.schema, {.manager = "kube-apiserver", .now = timestamp(now)});
  complete_for_create(object, type);
  const WriteStrategy& strategy = type.rules.strategy;
  if (strategy.prepare) strategy.prepare(object, Json());
  if (strategy.allocate) strategy.allocate(collection, object, Json());
  object.erase("apiVersion");
  object.erase("kind");
  storage.store.put(collection, std::move(object));
}

void KubernetesService::run(Storage& storage, WallTime now) {
  missing_ = false;
  store_as_server(storage, *storage.registry.find("", "v1", "services"), service(), now);
  store_as_server(storage, *storage.registry.find("", "v1", "endpoints"), endpoints(), now);
  store_as_server(storage, *storage.registry.find("discovery.k8s.io", "v1", "endpointslices"), slice(), now);
}

void KubernetesService::observe(const Store& store, const Change& change) {
  if (change.after || change.before->namespace_() != "default" || change.before->name() != "kubernetes")
    return;
  const std::string_view plural = store.at(change.collection).plural();
  missing_ = missing_ || plural == "services" || plural == "endpoints" || plural == "endpointslices";
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
