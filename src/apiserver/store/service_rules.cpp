// SPDX-License-Identifier: Apache-2.0
#include "apiserver/store/service_rules.hpp"

#include <set>
#include <string>
#include <utility>

#include "apiserver/schema/builtin_checks.hpp"
#include "apiserver/schema/status_error.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {
namespace {

constexpr std::int64_t first_port = 30000;
constexpr std::int64_t last_port = 32767;
constexpr std::int64_t first_free_port = 30086;  // lower ones are reserved for explicit requests
constexpr int first_address = 256;               // lower ones are reserved for explicit requests
constexpr int last_address = 65534;

std::string type_of(const Json& service) {
  return service["spec"]["type"].string_or("ClusterIP");
}

bool has_node_ports(const Json& service) {
  const std::string type = type_of(service);
  return type == "NodePort" || type == "LoadBalancer";
}

std::string address_of(const Json& service) {
  return service["spec"]["clusterIP"].string_or("");
}

std::string address(int number) {
  return "10.0." + std::to_string(number / 256) + "." + std::to_string(number % 256);
}

void drop_all(Json& spec, std::initializer_list<const char*> names) {
  for (const char* name : names) spec.erase(name);
}

void prepare_external_name(Json& spec, const Json& old) {
  spec.erase("internalTrafficPolicy");
  if (old.is_null() || type_of(old) == "ExternalName") return;
  drop_all(spec, {"clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy", "externalTrafficPolicy",
                  "allocateLoadBalancerNodePorts", "healthCheckNodePort"});
  if (Json* ports = spec.find("ports"); ports && ports->is_array())
    for (Json& port : ports->as_array()) port.erase("nodePort");
}

/// Makes clusterIP and clusterIPs equal; keeps the old value of a missing one.
void prepare_addresses(Json& spec, const Json& old) {
  const Json before = old.is_null() ? Json() : old["spec"];
  const bool keeps = !old.is_null() && type_of(old) != "ExternalName";
  const Json& ip = std::as_const(spec)["clusterIP"];
  if (keeps && checks::is_empty(ip) && !checks::is_empty(before["clusterIP"])) {
    spec["clusterIP"] = Json(before["clusterIP"]);
    spec["clusterIPs"] = Json(before["clusterIPs"]);
  }
  if (keeps && checks::is_empty(std::as_const(spec)["clusterIPs"]) &&
      std::as_const(spec)["clusterIP"] == before["clusterIP"] && !checks::is_empty(before["clusterIPs"]))
    spec["clusterIPs"] = Json(before["clusterIPs"]);
  const bool changed = keeps && std::as_const(spec)["clusterIP"] != before["clusterIP"] &&
                       std::as_const(spec)["clusterIPs"] == before["clusterIPs"];
  if (!checks::is_empty(std::as_const(spec)["clusterIP"]) &&
      (changed || checks::is_empty(std::as_const(spec)["clusterIPs"])))
    spec["clusterIPs"] = Json::array({Json(std::as_const(spec)["clusterIP"])});
  if (!keeps) return;
  for (const char* name : {"ipFamilies", "ipFamilyPolicy"})
    if (checks::is_empty(std::as_const(spec)[name]) && !before[name].is_null())
      spec[name] = Json(before[name]);
}

/// Returns the node port of the same port in the old Service.
std::int64_t old_node_port(const Json& port, const Json& old) {
  const Json& ports = old["spec"]["ports"];
  for (std::size_t i = 0; i < ports.size(); ++i)
    if (ports[i]["port"] == port["port"] && ports[i]["protocol"] == port["protocol"])
      return ports[i]["nodePort"].integer_or(0);
  return 0;
}

void prepare_ports(Json& service, const Json& old) {
  if (old.is_null()) return;
  Json& spec = service["spec"];
  const bool needs = has_node_ports(service);
  if (Json* ports = spec.find("ports"); ports && ports->is_array() && has_node_ports(old))
    for (Json& port : ports->as_array()) {
      const std::int64_t before = old_node_port(port, old);
      const std::int64_t now = std::as_const(port)["nodePort"].integer_or(0);
      if (needs && now == 0 && before != 0) port["nodePort"] = before;
      if (!needs && now == before) port.erase("nodePort");
    }
  if (has_node_ports(old) && !needs && spec["externalTrafficPolicy"] == old["spec"]["externalTrafficPolicy"])
    spec.erase("externalTrafficPolicy");
  if (type_of(old) == "LoadBalancer" && type_of(service) != "LoadBalancer") {
    spec.erase("allocateLoadBalancerNodePorts");
    if (std::as_const(spec)["loadBalancerClass"] == old["spec"]["loadBalancerClass"])
      spec.erase("loadBalancerClass");
  }
}

[[noreturn]] void refuse(const Json& service, const FieldErrors& errors) {
  throw StatusError::invalid({"", "Service"}, service.at({"metadata", "name"}).string_or(""), errors);
}

void set_families(Json& service) {
  Json& spec = service["spec"];
  const bool selects = !checks::is_empty(std::as_const(spec)["selector"]);
  const bool both = address_of(service) == "None" && !selects;
  if (std::as_const(spec)["ipFamilyPolicy"].is_null())
    spec["ipFamilyPolicy"] = both ? "RequireDualStack" : "SingleStack";
  if (checks::is_empty(std::as_const(spec)["ipFamilies"]))
    spec["ipFamilies"] = both ? Json::array({"IPv4", "IPv6"}) : Json::array({"IPv4"});
  if (both) return;
  FieldErrors errors;
  const Json& families = std::as_const(spec)["ipFamilies"];
  for (std::size_t i = 0; i < families.size(); ++i)
    if (families[i] == Json("IPv6"))
      errors.push_back(field_invalid(checks::indexed("spec.ipFamilies", i), families[i],
                                     "not configured on this cluster"));
  if (std::as_const(spec)["ipFamilyPolicy"] == Json("RequireDualStack"))
    errors.push_back(field_invalid("spec.ipFamilyPolicy", Json("RequireDualStack"),
                                   "this cluster is not configured for dual-stack services"));
  if (!errors.empty()) refuse(service, errors);
}

struct Taken {
  std::set<std::string> addresses = {};
  std::set<std::int64_t> ports = {};
};

Taken taken_by_others(const Collection& services, const Json& service) {
  Taken taken;
  for (const auto& [key, other] : services.objects) {
    if (other->uid() == service.at({"metadata", "uid"}).string_or("")) continue;
    const Json spec = other->part("spec");
    taken.addresses.insert(spec["clusterIP"].string_or(""));
    const Json& ports = spec["ports"];
    for (std::size_t i = 0; i < ports.size(); ++i) taken.ports.insert(ports[i]["nodePort"].integer_or(0));
    taken.ports.insert(spec["healthCheckNodePort"].integer_or(0));
  }
  return taken;
}

void allocate_address(const Taken& taken, Json& service, const Json& old) {
  const std::string wanted = address_of(service);
  if (wanted == "None" || (!old.is_null() && wanted == address_of(old) && !wanted.empty())) return;
  Json& spec = service["spec"];
  if (wanted.empty()) {
    int number = first_address;
    while (number < last_address && taken.addresses.contains(address(number))) ++number;
    spec["clusterIP"] = address(number);
    spec["clusterIPs"] = Json::array({address(number)});
    return;
  }
  const auto cannot = [&](std::string_view why) {
    refuse(service, {field_invalid("spec.clusterIPs", Json::array({wanted}),
                                   "failed to allocate IP " + wanted + ": " + std::string(why))});
  };
  if (!wanted.starts_with("10.0.")) cannot("the provided network does not match the current range");
  if (taken.addresses.contains(wanted)) cannot("provided IP is already allocated");
}

std::int64_t free_port(Taken& taken) {
  std::int64_t number = first_free_port;
  while (number < last_port && taken.ports.contains(number)) ++number;
  taken.ports.insert(number);
  return number;
}

/// Allocates the port on which load balancers with local traffic policy check if a node has a pod of the
/// Service.
void allocate_health_check(Taken& taken, Json& service) {
  Json& spec = service["spec"];
  const bool needed =
      type_of(service) == "LoadBalancer" && std::as_const(spec)["externalTrafficPolicy"] == Json("Local");
  if (!needed)
    spec.erase("healthCheckNodePort");
  else if (std::as_const(spec)["healthCheckNodePort"].integer_or(0) == 0)
    spec["healthCheckNodePort"] = free_port(taken);
}

void allocate_ports(Taken& taken, Json& service, const Json& old) {
  Json* ports = service["spec"].find("ports");
  if (!has_node_ports(service) || !ports || !ports->is_array()) return;
  const bool wanted = std::as_const(service)["spec"]["allocateLoadBalancerNodePorts"].bool_or(true);
  for (std::size_t i = 0; i < ports->size(); ++i) {
    Json& port = ports->as_array()[i];
    const std::int64_t given = std::as_const(port)["nodePort"].integer_or(0);
    if (given == 0) {
      if (wanted) port["nodePort"] = free_port(taken);
      continue;
    }
    const std::string field = checks::indexed("spec.ports", i) + ".nodePort";
    if (given < first_port || given > last_port)
      refuse(service, {field_invalid(field, Json(given),
                                     "provided port is not in the valid range. The range of valid ports is "
                                     "30000-32767")});
    if (taken.ports.contains(given) && (old.is_null() || old_node_port(port, old) != given))
      refuse(service, {field_invalid(field, Json(given), "provided port is already allocated")});
    taken.ports.insert(given);
  }
}

}  // namespace

void prepare_service(Json& service, const Json& old) {
  Json& spec = service["spec"];
  if (!spec.is_object()) return;
  if (type_of(service) == "ExternalName") return prepare_external_name(spec, old);
  prepare_addresses(spec, old);
  prepare_ports(service, old);
  if (!old.is_null() && std::as_const(spec)["healthCheckNodePort"].is_null() &&
      !old["spec"]["healthCheckNodePort"].is_null())
    spec["healthCheckNodePort"] = Json(old["spec"]["healthCheckNodePort"]);
}

void allocate_service(const Collection& services, Json& service, const Json& old) {
  if (type_of(service) == "ExternalName") return;
  set_families(service);
  Taken taken = taken_by_others(services, service);
  allocate_address(taken, service, old);
  allocate_ports(taken, service, old);
  allocate_health_check(taken, service);
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
