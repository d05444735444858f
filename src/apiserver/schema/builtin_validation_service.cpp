// SPDX-License-Identifier: Apache-2.0
// Validation of Services. Source: kubernetes pkg/apis/core/validation ValidateService.
#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "apiserver/schema/builtin_checks.hpp"
#include "apiserver/schema/name_rules.hpp"
#include "apiserver/text/address_formats.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver::checks {
namespace {

/// Formats a duplicate port like Go's %v of its struct.
std::string repeated_port(const Json& port) {
  return "{\"Name\":\"\",\"Protocol\":" + port["protocol"].dump() +
         ",\"AppProtocol\":null,\"Port\":" + port["port"].dump() + ",\"TargetPort\":0,\"NodePort\":0}";
}

void check_service_port(const Json& port, bool named, const std::string& type, const std::string& here,
                        Errors& errors) {
  const std::string name = port["name"].string_or("");
  if (named && name.empty()) errors.push_back(field_required(here + ".name"));
  if (!name.empty()) check_label(name, here + ".name", errors);
  check_port(Json(port["port"].integer_or(0)), here + ".port", errors);
  check_port(port["targetPort"], here + ".targetPort", errors);
  if (port["nodePort"].integer_or(0) != 0 && type == "ClusterIP")
    errors.push_back(field_forbidden(here + ".nodePort", "may not be used when `type` is 'ClusterIP'"));
}

void check_service_ports(const Json& spec, const std::string& type, Errors& errors) {
  const Json& ports = spec["ports"];
  if (is_empty(ports) && type != "ExternalName" && spec["clusterIP"].string_or("") != "None")
    errors.push_back(field_required("spec.ports"));
  std::set<std::string> names;
  std::set<std::pair<std::int64_t, std::string>> seen;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    const std::string here = indexed("spec.ports", i);
    check_service_port(ports[i], ports.size() > 1, type, here, errors);
    const std::string name = ports[i]["name"].string_or("");
    if (!name.empty() && !names.insert(name).second) errors.push_back(field_duplicate(here + ".name", name));
    if (!seen.emplace(ports[i]["port"].integer_or(0), ports[i]["protocol"].string_or("")).second)
      errors.push_back({"FieldValueDuplicate", "Duplicate value: " + repeated_port(ports[i]), here});
  }
}

void check_addresses(const Json& spec, const Json& old, const std::string& type, Errors& errors) {
  const Json& addresses = spec["clusterIPs"];
  const std::string first = addresses[std::size_t{0}].string_or("");
  if (type != "ExternalName" && !first.empty()) {
    if (first == "None" && type != "ClusterIP")
      errors.push_back(
          field_invalid("spec.clusterIPs[0]", first, "may not be set to 'None' for " + type + " services"));
    else if (first != "None" && !is_address(first))
      errors.push_back(field_invalid("spec.clusterIPs[0]", first, address_text));
  }
  const Json& given = spec["externalIPs"];
  for (std::size_t i = 0; i < given.size(); ++i)
    if (!is_address(given[i].string_or("")))
      errors.push_back(field_invalid(indexed("spec.externalIPs", i), given[i], address_text));
  if (!old.is_null() && type != "ExternalName" && old["spec"]["type"] != Json("ExternalName") &&
      !is_empty(old["spec"]["clusterIPs"]) &&
      addresses[std::size_t{0}] != old["spec"]["clusterIPs"][std::size_t{0}])
    errors.push_back(field_invalid("spec.clusterIPs[0]", addresses, "may not change once set"));
}

void check_external_name(std::string name, Errors& errors) {
  if (name.ends_with('.')) name.pop_back();
  if (name.empty())
    errors.push_back(field_required("spec.externalName"));
  else
    check_subdomain(name, "spec.externalName", errors);
}

/// Checks the fields of load balancers, which no other Service may have.
void check_balancer(const Json& spec, const std::string& type, Errors& errors) {
  const auto refuse = [&](const std::string& field) {
    if (type != "LoadBalancer")
      errors.push_back(field_forbidden("spec." + field, "may only be used when `type` is 'LoadBalancer'"));
  };
  const Json& ranges = spec["loadBalancerSourceRanges"];
  if (!is_empty(ranges)) refuse("LoadBalancerSourceRanges");
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const std::string range = ranges[i].string_or("");
    const std::size_t start = std::min(range.find_first_not_of(' '), range.size());
    const std::string trimmed = range.substr(start, range.find_last_not_of(' ') + 1 - start);
    if (!is_sloppy_cidr(trimmed))
      errors.push_back(field_invalid(indexed("spec.LoadBalancerSourceRanges", i), Json(trimmed),
                                     "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"));
  }
  if (!spec["allocateLoadBalancerNodePorts"].is_null()) refuse("allocateLoadBalancerNodePorts");
  const Json& balancer = spec["loadBalancerClass"];
  if (balancer.is_null()) return;
  refuse("loadBalancerClass");
  if (type == "LoadBalancer")
    add_all("spec.loadBalancerClass", balancer.string_or(""), qualified_name_problems(balancer.string_or("")),
            errors);
}

}  // namespace

void check_service(const Json& object, const Json& old, Errors& errors) {
  const Json& spec = object["spec"];
  const std::string type = spec["type"].string_or("");
  check_service_ports(spec, type, errors);
  check_labels(spec["selector"], "spec.selector", errors);
  check_addresses(spec, old, type, errors);
  if (type == "ExternalName") check_external_name(spec["externalName"].string_or(""), errors);
  check_balancer(spec, type, errors);
  for (std::size_t i = 0; i < spec["ipFamilies"].size(); ++i)
    if (is_empty(spec["ipFamilies"][i]))  // others are checked where addresses are allocated
      errors.push_back(
          field_not_supported(indexed("spec.ipFamilies", i), Json(""), {Json("IPv4"), Json("IPv6")}));
  if (const Json& seconds = spec["sessionAffinityConfig"]["clientIP"]["timeoutSeconds"];
      seconds.integer_or(1) <= 0 || seconds.integer_or(1) > 86400)
    errors.push_back(field_invalid("spec.sessionAffinityConfig.clientIP.timeoutSeconds", seconds,
                                   "must be greater than 0 and less than 86400"));
  const Json& policy = spec["externalTrafficPolicy"];
  const bool outside =
      type == "NodePort" || type == "LoadBalancer" || (type == "ClusterIP" && !is_empty(spec["externalIPs"]));
  if (!is_empty(policy) && !outside)
    errors.push_back(field_invalid("spec.externalTrafficPolicy", policy,
                                   "may only be set for externally-accessible services"));
  if (type != "LoadBalancer" && !is_empty(object.at({"status", "loadBalancer", "ingress"})))
    errors.push_back(field_forbidden("status.loadBalancer.ingress",
                                     "may only be used when `spec.type` is 'LoadBalancer'"));
}

}  // namespace apiserver::checks
}  // namespace v0
}  // namespace evenkeel
