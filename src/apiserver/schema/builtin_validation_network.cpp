// SPDX-License-Identifier: Apache-2.0
// Validation of Ingresses, NetworkPolicies, Endpoints and EndpointSlices.
// Source: kubernetes pkg/apis/{networking,core,discovery}/validation.
#include <arpa/inet.h>
#include <array>
#include <set>

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

/// Returns true if `inner` is a part of `outer`, and not the whole.
bool is_inside(const std::string& inner, const std::string& outer) {
  const Range part(inner);
  const Range whole(outer);
  if (part.v6 != whole.v6 || part.prefix <= whole.prefix) return false;
  for (std::size_t at = 0; at < whole.prefix; ++at)
    if (part.bit(at) != whole.bit(at)) return false;
  return true;
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
  if (path["pathType"].is_null())
    return errors.push_back(field_required(here + ".pathType", "pathType must be specified"));
  if (type.empty()) {
    static const Json::Array types = {Json("Exact"), Json("ImplementationSpecific"), Json("Prefix")};
    return check_one_of(path["pathType"], here + ".pathType", types, errors);
  }
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

/// Checks a range and those that are excepted from it. Source: kubernetes networking validation
/// ValidateIPBlock.
void check_block(const Json& block, const std::string& here, Errors& errors) {
  const Json& range = block["cidr"];
  if (is_empty(range)) return errors.push_back(field_required(here + ".cidr"));
  if (!is_range(range)) errors.push_back(field_invalid(here + ".cidr", range, range_text));
  for (std::size_t i = 0; i < block["except"].size(); ++i) {
    const Json inner(block["except"][i].string_or(""));
    const std::string field = indexed(here + ".except", i);
    if (!is_range(inner))
      errors.push_back(field_invalid(field, inner, range_text));
    else if (is_range(range) && !is_inside(inner.as_string(), range.as_string()))
      errors.push_back(field_invalid(field, inner, "must be a strict subset of `cidr`"));
  }
}

void check_peer(const Json& peer, const std::string& here, Errors& errors) {
  bool selected = false;
  for (const char* selector : {"podSelector", "namespaceSelector"}) {
    selected = selected || peer[selector].is_object();
    const Errors problems = selector_problems(peer[selector], here + "." + selector);
    errors.insert(errors.end(), problems.begin(), problems.end());
  }
  const Json& block = peer["ipBlock"];
  if (block.is_object()) check_block(block, here + ".ipBlock", errors);
  if (!selected && !block.is_object()) errors.push_back(field_required(here, "must specify a peer"));
  if (selected && block.is_object())
    errors.push_back(field_forbidden(here, "may not specify both ipBlock and another peer"));
}

void check_policy_port(const Json& entry, const std::string& here, Errors& errors) {
  const Json& port = entry["port"];
  const Json& end = entry["endPort"];
  if (!port.is_null()) check_port(port, here + ".port", errors);
  if (end.is_null()) return;
  if (!port.is_integer())
    return errors.push_back(field_invalid(here + ".endPort", end,
                                          port.is_null()
                                              ? "may not be specified when `port` is not specified"
                                              : "may not be specified when `port` is non-numeric"));
  if (end.integer_or(0) < port.as_integer())
    errors.push_back(field_invalid(here + ".endPort", port, "must be greater than or equal to `port`"));
  check_port(end, here + ".endPort", errors);
}

void check_policy_rule(const Json& rule, const char* peers, const std::string& here, Errors& errors) {
  for (std::size_t i = 0; i < rule["ports"].size(); ++i)
    check_policy_port(rule["ports"][i], indexed(here + ".ports", i), errors);
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

/// Source: apimachinery validation IsDomainPrefixedPath.
void check_prefixed_path(const std::string& text, const std::string& field, Errors& errors) {
  const std::size_t slash = text.find('/');
  if (slash == 0 || slash == std::string::npos || slash + 1 == text.size())
    errors.push_back(field_invalid(field, text, "must be a domain-prefixed path (such as \"acme.io/foo\")"));
  else
    check_subdomain(text.substr(0, slash), field, errors);
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
  if (const Json& name = spec["ingressClassName"]; name.is_string())
    check_subdomain(name.as_string(), "spec.ingressClassName", errors);
}

/// Source: kubernetes networking validation validateIngressClassSpec.
void check_ingress_class(const Json& object, const Json& old, Errors& errors) {
  const Json& spec = object["spec"];
  const std::string controller = spec["controller"].string_or("");
  if (controller.empty())
    errors.push_back(field_required("spec.controller"));
  else
    check_prefixed_path(controller, "spec.controller", errors);
  const Json& parameters = spec["parameters"];
  if (parameters.is_object()) {
    const std::string here = "spec.parameters";
    if (parameters["apiGroup"].is_string())
      check_subdomain(parameters["apiGroup"].as_string(), here + ".apiGroup", errors);
    for (const char* name : {"kind", "name"}) {
      if (is_empty(parameters[name]))
        errors.push_back(field_required(here + "." + name));
      else
        check_path_segment(parameters[name], here + "." + name, errors);
    }
    check_one_of(parameters["scope"], here + ".scope", {Json("Cluster"), Json("Namespace")}, errors);
    if (parameters["scope"] == Json("Cluster") && !parameters["namespace"].is_null())
      errors.push_back(field_forbidden(here + ".namespace", "`parameters.scope` is set to 'Cluster'"));
    if (parameters["scope"] == Json("Namespace") && parameters["namespace"].is_null())
      errors.push_back(field_required(here + ".namespace", "`parameters.scope` is set to 'Namespace'"));
  }
  if (!old.is_null())
    check_immutable(spec["controller"], old["spec"]["controller"], "spec.controller", errors);
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
      for (std::size_t j = 0; j < subset[list].size(); ++j) {
        const std::string at = indexed(here + "." + list, j);
        check_endpoint_address(subset[list][j]["ip"], at + ".ip", errors);
        if (const std::string host = subset[list][j]["hostname"].string_or(""); !host.empty())
          check_label(host, at + ".hostname", errors);
      }
    for (std::size_t j = 0; j < subset["ports"].size(); ++j) {
      const std::string at = indexed(here + ".ports", j);
      const std::string name = subset["ports"][j]["name"].string_or("");
      if (!name.empty()) check_label(name, at + ".name", errors);
      if (name.empty() && subset["ports"].size() > 1) errors.push_back(field_required(at + ".name"));
      check_port(Json(subset["ports"][j]["port"].integer_or(0)), at + ".port", errors);
    }
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
    if (const Json& host = object["endpoints"][i]["hostname"]; host.is_string())
      check_label(host.as_string(), indexed("endpoints", i) + ".hostname", errors);
  }
  std::set<std::string> names;
  for (std::size_t i = 0; i < object["ports"].size(); ++i) {
    const std::string name = object["ports"][i]["name"].string_or("");
    const std::string field = indexed("ports", i) + ".name";
    if (!name.empty()) check_label(name, field, errors);
    if (!names.insert(name).second) errors.push_back(field_duplicate(field, Json(name)));
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
