// SPDX-License-Identifier: Apache-2.0
// Validation of Ingresses, NetworkPolicies, Endpoints and EndpointSlices.
// Source: kubernetes pkg/apis/{networking,core,discovery}/validation.
#include <arpa/inet.h>
#include <array>

#include "apiserver/schema/builtin_checks.hpp"
#include "apiserver/schema/name_rules.hpp"
#include "apiserver/text/address_formats.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver::checks {
namespace {

constexpr std::string_view range_text = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";

bool is_range(const Json& text) {
  const std::string range = text.string_or("");
  return is_sloppy_cidr(range) && is_address(std::string_view(range).substr(0, range.find('/')));
}

/// The parts of a valid range.
struct Range {
  explicit Range(const std::string& text)
      : v6(text.find(':') != std::string::npos), prefix(std::stoul(text.substr(text.find('/') + 1))) {
    inet_pton(v6 ? AF_INET6 : AF_INET, text.substr(0, text.find('/')).c_str(), bytes.data());
  }
  bool bit(std::size_t at) const { return (bytes[at / 8] & (0x80 >> (at % 8))) != 0; }

  bool v6;
  std::size_t prefix;
  std::array<unsigned char, 16> bytes{};
};

/// Returns true if the address of a valid range has bits outside of the prefix.
bool has_host_bits(const std::string& text) {
  const Range range(text);
  for (std::size_t at = range.prefix; at < (range.v6 ? 128U : 32U); ++at)
    if (range.bit(at)) return true;
  return false;
}

void check_backend(const Json& backend, const std::string& here, Errors& errors) {
  const Json& service = backend["service"];
  const auto refuse = [&](std::string_view why) { errors.push_back(field_invalid(here, Json(""), why)); };
  if (service.is_object() && backend["resource"].is_object())
    return refuse("cannot set both resource and service backends");
  if (backend["resource"].is_object()) return;
  if (!service.is_object()) return refuse("resource or service backend is required");
  if (is_empty(service["name"]))
    errors.push_back(field_required(here + ".service.name"));
  else
    check_label(service["name"].string_or(""), here + ".service.name", errors);
  const Json& port = service["port"];
  const bool named = !is_empty(port["name"]);
  const bool numbered = port["number"].integer_or(0) != 0;
  if (named && numbered) return refuse("cannot set both port name & port number");
  if (named) return check_port_name(port["name"].string_or(""), here + ".service.port.name", errors);
  if (numbered) return check_port(port["number"], here + ".service.port.number", errors);
  errors.push_back(field_required(here, "port name or number is required"));
}

void check_path(const Json& path, const std::string& here, Errors& errors) {
  const std::string type = path["pathType"].string_or("");
  const std::string text = path["path"].string_or("");
  if (type.empty()) return errors.push_back(field_required(here + ".pathType", "pathType must be specified"));
  const bool exact = type == "Exact" || type == "Prefix";
  if ((exact || !text.empty()) && !text.starts_with('/'))
    errors.push_back(field_invalid(here + ".path", text, "must be an absolute path"));
  if (exact) {
    for (const char* part : {"//", "/./", "/../", "%2f", "%2F"})
      if (text.find(part) != std::string::npos)
        errors.push_back(field_invalid(here + ".path", text, "must not contain '" + std::string(part) + "'"));
    for (const char* end : {"/..", "/."})
      if (text.ends_with(end))
        errors.push_back(field_invalid(here + ".path", text, "cannot end with '" + std::string(end) + "'"));
  }
  check_backend(path["backend"], here + ".backend", errors);
}

/// Checks a host name, whose first label may be "*".
void check_host(const std::string& host, const std::string& field, Errors& errors) {
  if (host.find('*') == std::string::npos) return check_subdomain(host, field, errors);
  Errors problems;
  if (host.starts_with("*.")) check_subdomain(host.substr(2), field, problems);
  if (!host.starts_with("*.") || !problems.empty())
    errors.push_back(field_invalid(
        field, host,
        "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must "
        "consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character "
        "(e.g. "
        "'*.example.com', regex used for validation is "
        "'\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"));
}

void check_tls(const Json& tls, const std::string& path, Errors& errors) {
  for (std::size_t i = 0; i < tls.size(); ++i) {
    const std::string here = indexed(path, i);
    for (std::size_t j = 0; j < tls[i]["hosts"].size(); ++j)
      check_host(tls[i]["hosts"][j].string_or(""), indexed(here + ".hosts", j), errors);
    if (const std::string name = tls[i]["secretName"].string_or(""); !name.empty())
      check_subdomain(name, here + ".secretName", errors);
  }
}

void check_ingress_rule(const Json& rule, const std::string& here, Errors& errors) {
  if (const std::string host = rule["host"].string_or(""); !host.empty()) {
    if (is_address(host))
      errors.push_back(field_invalid(here + ".host", host, "must be a DNS name, not an IP address"));
    else
      check_host(host, here + ".host", errors);
  }
  if (!rule["http"].is_object()) return;
  const Json& paths = rule["http"]["paths"];
  if (is_empty(paths)) errors.push_back(field_required(here + ".http.paths"));
  for (std::size_t i = 0; i < paths.size(); ++i)
    check_path(paths[i], indexed(here + ".http.paths", i), errors);
}

void check_peer(const Json& peer, const std::string& here, Errors& errors) {
  const Json& block = peer["ipBlock"];
  if (!block.is_object() && !peer["podSelector"].is_object() && !peer["namespaceSelector"].is_object()) {
    errors.push_back(field_required(here, "must specify a peer"));
    return;
  }
  if (block.is_object() && !is_range(block["cidr"]))
    errors.push_back(field_invalid(here + ".ipBlock.cidr", block["cidr"], range_text));
}

void check_policy_rule(const Json& rule, const char* peers, const std::string& here, Errors& errors) {
  for (std::size_t i = 0; i < rule["ports"].size(); ++i)
    if (const Json& port = rule["ports"][i]["port"]; !port.is_null())
      check_port(port, indexed(here + ".ports", i) + ".port", errors);
  for (std::size_t i = 0; i < rule[peers].size(); ++i)
    check_peer(rule[peers][i], indexed(std::string(here) + "." + peers, i), errors);
}

void check_endpoint_address(const Json& address, const std::string& field, Errors& errors) {
  const std::string text = address.string_or("");
  if (!is_address(text)) {
    errors.push_back(field_invalid(field, text, "must be a valid IP address"));
    errors.push_back(field_invalid(field, text, address_text));
  } else if (text.starts_with("127.") || text == "::1") {
    errors.push_back(field_invalid(field, text, "may not be in the loopback range (127.0.0.0/8, ::1/128)"));
  }
}

}  // namespace

void check_ingress(const Json& object, const Json&, Errors& errors) {
  const Json& spec = object["spec"];
  if (is_empty(spec["rules"]) && !spec["defaultBackend"].is_object())
    errors.push_back(field_invalid("spec", Json(), "either `defaultBackend` or `rules` must be specified"));
  if (spec["defaultBackend"].is_object())
    check_backend(spec["defaultBackend"], "spec.defaultBackend", errors);
  for (std::size_t i = 0; i < spec["rules"].size(); ++i)
    check_ingress_rule(spec["rules"][i], indexed("spec.rules", i), errors);
  check_tls(spec["tls"], "spec.tls", errors);
}

void check_network_policy(const Json& object, const Json&, Errors& errors) {
  const Json& spec = object["spec"];
  const Errors problems = selector_problems(spec["podSelector"], "spec.podSelector");
  errors.insert(errors.end(), problems.begin(), problems.end());
  for (std::size_t i = 0; i < spec["ingress"].size(); ++i)
    check_policy_rule(spec["ingress"][i], "from", indexed("spec.ingress", i), errors);
  for (std::size_t i = 0; i < spec["egress"].size(); ++i)
    check_policy_rule(spec["egress"][i], "to", indexed("spec.egress", i), errors);
}

void check_endpoints(const Json& object, const Json&, Errors& errors) {
  for (std::size_t i = 0; i < object["subsets"].size(); ++i) {
    const Json& subset = object["subsets"][i];
    const std::string here = indexed("subsets", i);
    if (is_empty(subset["addresses"]) && is_empty(subset["notReadyAddresses"]))
      errors.push_back(field_required(here, "must specify `addresses` or `notReadyAddresses`"));
    for (const char* list : {"addresses", "notReadyAddresses"})
      for (std::size_t j = 0; j < subset[list].size(); ++j)
        check_endpoint_address(subset[list][j]["ip"], indexed(here + "." + list, j) + ".ip", errors);
    for (std::size_t j = 0; j < subset["ports"].size(); ++j)
      check_port(Json(subset["ports"][j]["port"].integer_or(0)), indexed(here + ".ports", j) + ".port",
                 errors);
  }
}

void check_slice(const Json& object, const Json& old, Errors& errors) {
  const std::string type = object["addressType"].string_or("");
  if (type.empty()) errors.push_back(field_required("addressType"));
  for (std::size_t i = 0; i < object["endpoints"].size(); ++i) {
    const std::string here = indexed("endpoints", i) + ".addresses";
    const Json& addresses = object["endpoints"][i]["addresses"];
    if (is_empty(addresses)) errors.push_back(field_required(here, "must contain at least 1 address"));
    for (std::size_t j = 0; j < addresses.size(); ++j)
      if ((type == "IPv4" || type == "IPv6") && !is_address(addresses[j].string_or("")))
        errors.push_back(field_invalid(indexed(here, j), addresses[j], address_text));
  }
  if (!old.is_null()) check_immutable(object["addressType"], old["addressType"], "addressType", errors);
}

void check_node(const Json& object, const Json& old, Errors& errors) {
  static const Json::Array effects = {Json("NoSchedule"), Json("PreferNoSchedule"), Json("NoExecute")};
  const Json& spec = object["spec"];
  for (std::size_t i = 0; i < spec["taints"].size(); ++i) {
    const Json& taint = spec["taints"][i];
    const std::string here = indexed("metadata.taints", i);
    const std::string key = taint["key"].string_or("");
    const std::string value = taint["value"].string_or("");
    add_all(here + ".key", key, qualified_name_problems(key), errors);
    add_all(here + ".value", value, label_value_problems(value), errors);
    if (is_empty(taint["effect"]))
      errors.push_back(field_required(here + ".effect"));
    else
      check_one_of(taint["effect"], here + ".effect", effects, errors);
  }
  for (std::size_t i = 0; i < spec["podCIDRs"].size(); ++i) {
    const Json& range = spec["podCIDRs"][i];
    if (!is_range(range))
      errors.push_back(field_invalid(indexed("spec.podCIDRs", i), range, range_text));
    else if (has_host_bits(range.as_string()))
      errors.push_back(field_invalid(indexed("spec.podCIDRs", i), range,
                                     "must not have bits set beyond the prefix length"));
  }
  if (!old.is_null() && !is_empty(old["spec"]["podCIDR"]) && spec["podCIDR"] != old["spec"]["podCIDR"])
    errors.push_back(
        field_forbidden("spec.podCIDRs", "node updates may not change podCIDR except from \"\" to valid"));
}

}  // namespace apiserver::checks
}  // namespace v0
}  // namespace evenkeel
