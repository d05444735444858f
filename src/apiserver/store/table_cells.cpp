// SPDX-License-Identifier: Apache-2.0
#include "apiserver/store/table_cells.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

std::string text_or(const Json& value, std::string_view otherwise) {
  return value.is_string() && !value.as_string().empty() ? value.as_string() : std::string(otherwise);
}

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ",") + part;
  return text.empty() ? "<none>" : text;
}

std::string labels_text(const Json& labels) {
  std::vector<std::string> parts;
  if (labels.is_object()) {
    for (const auto& [name, value] : labels.as_object()) parts.push_back(name + "=" + value.string_or(""));
  }
  return joined(parts);
}

std::string selector_text(const Json& selector) {
  std::vector<std::string> parts;
  if (selector["matchLabels"].is_object()) {
    for (const auto& [name, value] : selector["matchLabels"].as_object())
      parts.push_back(name + "=" + value.string_or(""));
  }
  for (std::size_t i = 0; i < selector["matchExpressions"].size(); ++i) {
    const Json& rule = selector["matchExpressions"][i];
    const std::string key = rule["key"].string_or("");
    const std::string what = rule["operator"].string_or("");
    if (what == "Exists") parts.push_back(key);
    if (what == "DoesNotExist") parts.push_back("!" + key);
    if (what != "In" && what != "NotIn") continue;
    std::string values;
    for (std::size_t j = 0; j < rule["values"].size(); ++j)
      values += (j > 0 ? "," : "") + rule["values"][j].string_or("");
    parts.push_back(key + (what == "In" ? " in (" : " notin (") + values + ")");
  }
  return joined(parts);
}

namespace {

std::string of_containers(const Json& pod_spec, const char* member) {
  std::string text;
  for (std::size_t i = 0; i < pod_spec["containers"].size(); ++i)
    text += (i > 0 ? "," : "") + pod_spec["containers"][i][member].string_or("");
  return text;
}

Json size_of(const Json& value) {
  return Json(value.size());
}

std::string access_modes(const Json& modes) {
  static constexpr std::pair<std::string_view, std::string_view> names[] = {{"ReadWriteOnce", "RWO"},
                                                                            {"ReadOnlyMany", "ROX"},
                                                                            {"ReadWriteMany", "RWX"},
                                                                            {"ReadWriteOncePod", "RWOP"}};
  std::string text;
  for (const auto& [mode, name] : names) {
    for (std::size_t i = 0; i < modes.size(); ++i) {
      if (modes[i].string_or("") == mode) text += (text.empty() ? "" : ",") + std::string(name);
    }
  }
  return text;
}

std::string phase_of(const Json& object) {
  return object["metadata"].contains("deletionTimestamp") ? "Terminating"
                                                          : object["status"]["phase"].string_or("");
}

Json::Array config_map(const Json& object, WallTime now) {
  return {name_of(object), Json(object["data"].size() + object["binaryData"].size()),
          Json(age_of(object, now))};
}

Json::Array secret(const Json& object, WallTime now) {
  return {name_of(object), object["type"], size_of(object["data"]), Json(age_of(object, now))};
}

Json::Array name_space(const Json& object, WallTime now) {
  return {name_of(object), object["status"]["phase"], Json(age_of(object, now))};
}

Json::Array lease(const Json& object, WallTime now) {
  return {name_of(object), Json(object["spec"]["holderIdentity"].string_or("")), Json(age_of(object, now))};
}

std::string external_address(const Json& object) {
  const Json& spec = object["spec"];
  const std::string type = spec["type"].string_or("");
  std::vector<std::string> addresses;
  if (type == "ExternalName") return spec["externalName"].string_or("");
  const Json& ingress = object.at({"status", "loadBalancer", "ingress"});
  for (std::size_t i = 0; type == "LoadBalancer" && i < ingress.size(); ++i)
    addresses.push_back(text_or(ingress[i]["ip"], ingress[i]["hostname"].string_or("")));
  for (std::size_t i = 0; i < spec["externalIPs"].size(); ++i)
    addresses.push_back(spec["externalIPs"][i].string_or(""));
  if (addresses.empty()) return type == "LoadBalancer" ? "<pending>" : "<none>";
  return joined(addresses);
}

Json::Array service(const Json& object, WallTime now) {
  const Json& spec = object["spec"];
  std::vector<std::string> ports;
  for (std::size_t i = 0; i < spec["ports"].size(); ++i) {
    const Json& port = spec["ports"][i];
    const std::int64_t node_port = port["nodePort"].integer_or(0);
    ports.push_back(std::to_string(port["port"].integer_or(0)) +
                    (node_port > 0 ? ":" + std::to_string(node_port) : "") + "/" +
                    port["protocol"].string_or("TCP"));
  }
  return {name_of(object),
          spec["type"],
          Json(text_or(spec["clusterIP"], "<none>")),
          Json(external_address(object)),
          Json(joined(ports)),
          Json(age_of(object, now)),
          Json(labels_text(spec["selector"]))};
}

/// Handles core events and events.k8s.io events, whose fields have other names.
Json::Array event(const Json& object, WallTime now) {
  const Json& about = object.contains("regarding") ? object["regarding"] : object["involvedObject"];
  const auto first_of = [&](std::initializer_list<const char*> names) {
    for (const char* name : names) {
      if (object[name].is_string()) return object[name];
    }
    return Json();
  };
  const Json first = first_of({"firstTimestamp", "deprecatedFirstTimestamp", "eventTime"});
  Json last = first_of({"lastTimestamp", "deprecatedLastTimestamp"});
  if (object["series"]["lastObservedTime"].is_string()) last = object["series"]["lastObservedTime"];
  if (last.is_null()) last = first;
  const std::int64_t count = object["series"]["count"].integer_or(
      object["count"].integer_or(object["deprecatedCount"].integer_or(0)));
  const Json& source = object.contains("deprecatedSource") ? object["deprecatedSource"] : object["source"];
  std::vector<std::string> from;
  const std::string component =
      text_or(source["component"],
              object["reportingComponent"].string_or(object["reportingController"].string_or("")));
  if (!component.empty()) from.push_back(component);
  if (!source["host"].string_or("").empty()) from.push_back(source["host"].string_or(""));
  std::string kind = about["kind"].string_or("");
  std::transform(kind.begin(), kind.end(), kind.begin(), [](char letter) {
    return static_cast<char>(letter >= 'A' && letter <= 'Z' ? letter + 32 : letter);
  });
  const std::string name = about["name"].string_or("");
  return {Json(age(last, now)),
          object["type"],
          object["reason"],
          Json(name.empty() ? kind : kind + "/" + name),
          Json(about["fieldPath"].string_or("")),
          Json(from.empty() ? "" : joined(from)),
          Json(text_or(object.contains("note") ? object["note"] : object["message"], "")),
          Json(age(first, now)),
          Json(std::to_string(count == 0 ? 1 : count)),
          name_of(object)};
}

std::string node_status(const Json& object) {
  std::string text = "Unknown";
  const Json& conditions = object["status"]["conditions"];
  for (std::size_t i = 0; i < conditions.size(); ++i) {
    if (conditions[i]["type"].string_or("") == "Ready")
      text = conditions[i]["status"].string_or("") == "True" ? "Ready" : "NotReady";
  }
  return text + (object["spec"]["unschedulable"].bool_or(false) ? ",SchedulingDisabled" : "");
}

std::string node_roles(const Json& object) {
  static constexpr std::string_view prefix = "node-role.kubernetes.io/";
  std::set<std::string> roles;
  const Json& labels = object["metadata"]["labels"];
  if (labels.is_object()) {
    for (const auto& [name, value] : labels.as_object()) {
      if (name.starts_with(prefix) && name.size() > prefix.size()) roles.insert(name.substr(prefix.size()));
      if (name == "kubernetes.io/role" && !value.string_or("").empty()) roles.insert(value.string_or(""));
    }
  }
  return joined({roles.begin(), roles.end()});
}

Json::Array node(const Json& object, WallTime now) {
  const auto address = [&](std::string_view type) {
    const Json& addresses = object["status"]["addresses"];
    for (std::size_t i = 0; i < addresses.size(); ++i) {
      if (addresses[i]["type"].string_or("") == type) return addresses[i]["address"];
    }
    return Json("<none>");
  };
  const Json& info = object["status"]["nodeInfo"];
  return {name_of(object),
          Json(node_status(object)),
          Json(node_roles(object)),
          Json(age_of(object, now)),
          Json(info["kubeletVersion"].string_or("")),
          address("InternalIP"),
          address("ExternalIP"),
          Json(text_or(info["osImage"], "<unknown>")),
          Json(text_or(info["kernelVersion"], "<unknown>")),
          Json(text_or(info["containerRuntimeVersion"], "<unknown>"))};
}

Json::Array persistent_volume(const Json& object, WallTime now) {
  const Json& spec = object["spec"];
  const Json& claim = spec["claimRef"];
  return {name_of(object),
          Json(text_or(spec["capacity"]["storage"], "0")),
          Json(access_modes(spec["accessModes"])),
          Json(spec["persistentVolumeReclaimPolicy"].string_or("")),
          Json(phase_of(object)),
          Json(claim.is_object() ? claim["namespace"].string_or("") + "/" + claim["name"].string_or("") : ""),
          Json(spec["storageClassName"].string_or("")),
          Json(text_or(spec["volumeAttributesClassName"], "<unset>")),
          Json(object["status"]["reason"].string_or("")),
          Json(age_of(object, now)),
          Json(text_or(spec["volumeMode"], "<unset>"))};
}

Json::Array persistent_volume_claim(const Json& object, WallTime now) {
  const Json& spec = object["spec"];
  const bool bound = !spec["volumeName"].string_or("").empty();
  return {name_of(object),
          Json(phase_of(object)),
          Json(spec["volumeName"].string_or("")),
          Json(bound ? text_or(object["status"]["capacity"]["storage"], "0") : ""),
          Json(bound ? access_modes(object["status"]["accessModes"]) : ""),
          Json(spec["storageClassName"].string_or("")),
          Json(text_or(spec["volumeAttributesClassName"], "<unset>")),
          Json(age_of(object, now)),
          Json(text_or(spec["volumeMode"], "<unset>"))};
}

std::string role_ref(const Json& object) {
  return object["roleRef"]["kind"].string_or("") + "/" + object["roleRef"]["name"].string_or("");
}

Json::Array role_binding(const Json& object, WallTime now) {
  const auto subjects = [&](std::string_view kind) {
    std::string text;
    for (std::size_t i = 0; i < object["subjects"].size(); ++i) {
      const Json& subject = object["subjects"][i];
      if (subject["kind"].string_or("") != kind) continue;
      const bool account = kind == "ServiceAccount";
      text += (text.empty() ? "" : ", ") + (account ? subject["namespace"].string_or("") + "/" : "") +
              subject["name"].string_or("");
    }
    return Json(text);
  };
  return {name_of(object),  Json(role_ref(object)), Json(age_of(object, now)),
          subjects("User"), subjects("Group"),      subjects("ServiceAccount")};
}

Json::Array ingress(const Json& object, WallTime now) {
  const Json& spec = object["spec"];
  std::vector<std::string> hosts;
  for (std::size_t i = 0; i < spec["rules"].size(); ++i) {
    const std::string host = spec["rules"][i]["host"].string_or("");
    if (!host.empty() && hosts.size() < 3) hosts.push_back(host);
  }
  std::string shown = hosts.empty() ? "*" : joined(hosts);
  if (spec["rules"].size() > 3 && !hosts.empty())
    shown += " + " + std::to_string(spec["rules"].size() - 3) + " more...";
  std::vector<std::string> addresses;
  const Json& balancers = object.at({"status", "loadBalancer", "ingress"});
  for (std::size_t i = 0; i < balancers.size(); ++i)
    addresses.push_back(text_or(balancers[i]["ip"], balancers[i]["hostname"].string_or("")));
  return {name_of(object),
          Json(text_or(spec["ingressClassName"], "<none>")),
          Json(shown),
          Json(addresses.empty() ? "" : joined(addresses)),
          Json(spec["tls"].empty() ? "80" : "80, 443"),
          Json(age_of(object, now))};
}

Json::Array network_policy(const Json& object, WallTime now) {
  return {name_of(object), Json(selector_text(object["spec"]["podSelector"])), Json(age_of(object, now))};
}

Json::Array disruption_budget(const Json& object, WallTime now) {
  const auto bound = [](const Json& value) {
    return Json(value.is_string() ? value.as_string() : value.is_integer() ? value.dump() : "N/A");
  };
  return {name_of(object), bound(object["spec"]["minAvailable"]), bound(object["spec"]["maxUnavailable"]),
          Json(object["status"]["disruptionsAllowed"].integer_or(0)), Json(age_of(object, now))};
}

Json::Array endpoints(const Json& object, WallTime now) {
  std::vector<std::string> shown;
  std::size_t total = 0;
  for (std::size_t i = 0; i < object["subsets"].size(); ++i) {
    const Json& subset = object["subsets"][i];
    for (std::size_t j = 0; j < subset["addresses"].size(); ++j) {
      const std::string address = subset["addresses"][j]["ip"].string_or("");
      for (std::size_t k = 0; k < std::max<std::size_t>(subset["ports"].size(), 1); ++k) {
        const Json& port = subset["ports"][k]["port"];
        if (++total <= 3) shown.push_back(address + (port.is_integer() ? ":" + port.dump() : ""));
      }
    }
  }
  return {name_of(object),
          Json(joined(shown) + (total > 3 ? " + " + std::to_string(total - 3) + " more..." : "")),
          Json(age_of(object, now))};
}

Json::Array endpoint_slice(const Json& object, WallTime now) {
  std::vector<std::string> ports;
  for (std::size_t i = 0; i < object["ports"].size(); ++i)
    ports.push_back(object["ports"][i]["port"].is_integer() ? object["ports"][i]["port"].dump() : "*");
  std::vector<std::string> addresses;
  for (std::size_t i = 0; i < object["endpoints"].size(); ++i) {
    for (std::size_t j = 0; j < object["endpoints"][i]["addresses"].size(); ++j)
      addresses.push_back(object["endpoints"][i]["addresses"][j].string_or(""));
  }
  return {name_of(object), object["addressType"], Json(ports.empty() ? "<unset>" : joined(ports)),
          Json(addresses.empty() ? "<unset>" : joined(addresses)), Json(age_of(object, now))};
}

Json::Array storage_class(const Json& object, WallTime now) {
  return {name_of(object),
          object["provisioner"],
          Json(text_or(object["reclaimPolicy"], "Delete")),
          Json(text_or(object["volumeBindingMode"], "Immediate")),
          Json(object["allowVolumeExpansion"].bool_or(false)),
          Json(age_of(object, now))};
}

Json::Array ingress_class(const Json& object, WallTime now) {
  const Json& parameters = object["spec"]["parameters"];
  std::string kind = parameters["kind"].string_or("");
  if (const std::string group = parameters["apiGroup"].string_or(""); !group.empty()) kind += "." + group;
  return {name_of(object), object["spec"]["controller"],
          Json(parameters.is_null() ? "<none>" : kind + "/" + parameters["name"].string_or("")),
          Json(age_of(object, now))};
}

Json::Array priority_class(const Json& object, WallTime now) {
  return {name_of(object), Json(object["value"].integer_or(0)), Json(object["globalDefault"].bool_or(false)),
          Json(age_of(object, now)), object["preemptionPolicy"]};
}

Json::Array autoscaler(const Json& object, WallTime now) {
  const Json& spec = object["spec"];
  const Json& target = spec["scaleTargetRef"];
  const Json& least = spec["minReplicas"];
  return {name_of(object),
          Json(target["kind"].string_or("") + "/" + target["name"].string_or("")),
          Json("<none>"),
          Json(least.is_integer() ? least.dump() : "<unset>"),
          Json(spec["maxReplicas"].integer_or(0)),
          Json(object["status"]["currentReplicas"].integer_or(0)),
          Json(age_of(object, now))};
}

Json::Array webhook_configuration(const Json& object, WallTime now) {
  return {name_of(object), size_of(object["webhooks"]), Json(age_of(object, now))};
}

/// Formats lists of requests and limits: "cpu: 1/2, pods: 0/5".
Json::Array resource_quota(const Json& object, WallTime now) {
  std::string requests;
  std::string limits;
  const Json& hard = object["status"]["hard"];
  if (hard.is_object()) {
    for (const auto& [name, amount] : hard.as_object()) {
      std::string& text = name.starts_with("limits.") ? limits : requests;
      text += (text.empty() ? "" : ", ") + name + ": " + object["status"]["used"][name].string_or("0") + "/" +
              amount.string_or("0");
    }
  }
  return {name_of(object), Json(requests), Json(limits), Json(age_of(object, now))};
}

std::string certificate_state(const Json& status) {
  const auto has = [&](std::string_view type) {
    for (std::size_t i = 0; i < status["conditions"].size(); ++i)
      if (status["conditions"][i]["type"] == Json(type)) return true;
    return false;
  };
  std::string text = has("Denied") ? "Denied" : has("Approved") ? "Approved" : "Pending";
  if (has("Failed")) text += ",Failed";
  if (!status["certificate"].string_or("").empty()) text += ",Issued";
  return text;
}
Json::Array certificate_request(const Json& object, WallTime now) {
  const Json& spec = object["spec"];
  const Json& seconds = spec["expirationSeconds"];
  return {name_of(object),
          Json(age_of(object, now)),
          Json(text_or(spec["signerName"], "<none>")),
          Json(spec["username"].string_or("")),
          Json(seconds.is_integer() ? human_duration(std::chrono::seconds(seconds.as_integer())) : "<none>"),
          Json(certificate_state(object["status"]))};
}

/// Joins strings of a list, or one member of each object in it.
std::string joined_list(const Json& list, const char* member) {
  std::string text;
  for (std::size_t i = 0; i < list.size(); ++i)
    text += (i == 0 ? "" : ",") + (member == nullptr ? list[i] : list[i][member]).string_or("");
  return text;
}

Json::Array csi_driver(const Json& object, WallTime now) {
  const Json& spec = object["spec"];
  const std::string modes = joined_list(spec["volumeLifecycleModes"], nullptr);
  return {name_of(object),
          Json(spec["attachRequired"].bool_or(true)),
          Json(spec["podInfoOnMount"].bool_or(false)),
          Json(spec["storageCapacity"].bool_or(false)),
          Json(spec["tokenRequests"].is_null() ? "<unset>" : joined_list(spec["tokenRequests"], "audience")),
          Json(spec["requiresRepublish"].bool_or(false)),
          Json(modes.empty() ? "<none>" : modes),
          Json(age_of(object, now))};
}

Json::Array csi_node(const Json& object, WallTime now) {
  return {name_of(object), size_of(object["spec"]["drivers"]), Json(age_of(object, now))};
}

Json::Array volume_attachment(const Json& object, WallTime now) {
  const Json& spec = object["spec"];
  return {name_of(object),
          Json(spec["attacher"].string_or("")),
          Json(spec["source"]["persistentVolumeName"].string_or("")),
          Json(spec["nodeName"].string_or("")),
          Json(object["status"]["attached"].bool_or(false)),
          Json(age_of(object, now))};
}

Json::Array volume_attributes_class(const Json& object, WallTime now) {
  return {name_of(object), object["driverName"], Json(age_of(object, now))};
}

Json::Array admission_policy(const Json& object, WallTime now) {
  const Json& spec = object["spec"];
  const Json& kind = spec["paramKind"];
  const bool mutating = object["kind"] == Json("MutatingAdmissionPolicy");
  return {
      name_of(object), size_of(spec[mutating ? "mutations" : "validations"]),
      Json(kind.is_null() ? "<unset>" : kind["apiVersion"].string_or("") + "/" + kind["kind"].string_or("")),
      Json(age_of(object, now))};
}

Json::Array policy_binding(const Json& object, WallTime now) {
  const Json& parameter = object["spec"]["paramRef"];
  const std::string name = parameter["name"].string_or("");
  return {name_of(object), object["spec"]["policyName"],
          Json(name.empty() ? "<unset>" : text_or(parameter["namespace"], "*") + "/" + name),
          Json(age_of(object, now))};
}

Json::Array service_cidr(const Json& object, WallTime now) {
  return {name_of(object), Json(joined_list(object["spec"]["cidrs"], nullptr)), Json(age_of(object, now))};
}

Json::Array ip_address(const Json& object, WallTime) {
  const Json& parent = object["spec"]["parentRef"];
  std::string text = parent.is_null() ? "<none>" : "";
  for (const char* part : {"resource", "group", "namespace", "name"}) {
    const std::string value = parent[part].string_or("");
    if (value.empty()) continue;
    text += std::string(text.empty() ? "" : part == std::string_view("group") ? "." : "/") + value;
  }
  return {name_of(object), Json(text)};
}

struct Rows {
  std::string_view resource;
  TableCells cells;
};

constexpr std::array known_rows{
    Rows{"pods", rows::pod},
    Rows{"deployments", rows::deployment},
    Rows{"replicasets", rows::replica_set},
    Rows{"replicationcontrollers", rows::replication_controller},
    Rows{"statefulsets", rows::stateful_set},
    Rows{"daemonsets", rows::daemon_set},
    Rows{"jobs", rows::job},
    Rows{"cronjobs", rows::cron_job},
    Rows{"podtemplates", rows::pod_template},
    Rows{"controllerrevisions", rows::controller_revision},
    Rows{"configmaps", config_map},
    Rows{"secrets", secret},
    Rows{"namespaces", name_space},
    Rows{"leases", lease},
    Rows{"services", service},
    Rows{"events", event},
    Rows{"nodes", node},
    Rows{"persistentvolumes", persistent_volume},
    Rows{"persistentvolumeclaims", persistent_volume_claim},
    Rows{"rolebindings", role_binding},
    Rows{"clusterrolebindings", role_binding},
    Rows{"ingresses", ingress},
    Rows{"ingressclasses", ingress_class},
    Rows{"networkpolicies", network_policy},
    Rows{"poddisruptionbudgets", disruption_budget},
    Rows{"endpoints", endpoints},
    Rows{"endpointslices", endpoint_slice},
    Rows{"storageclasses", storage_class},
    Rows{"priorityclasses", priority_class},
    Rows{"horizontalpodautoscalers", autoscaler},
    Rows{"mutatingwebhookconfigurations", webhook_configuration},
    Rows{"validatingwebhookconfigurations", webhook_configuration},
    Rows{"resourcequotas", resource_quota},
    Rows{"certificatesigningrequests", certificate_request},
    Rows{"csidrivers", csi_driver},
    Rows{"csinodes", csi_node},
    Rows{"volumeattachments", volume_attachment},
    Rows{"volumeattributesclasses", volume_attributes_class},
    Rows{"validatingadmissionpolicies", admission_policy},
    Rows{"validatingadmissionpolicybindings", policy_binding},
    Rows{"mutatingadmissionpolicies", admission_policy},
    Rows{"mutatingadmissionpolicybindings", policy_binding},
    Rows{"servicecidrs", service_cidr},
    Rows{"ipaddresses", ip_address},
};

}  // namespace

std::string container_names(const Json& pod_spec) {
  return of_containers(pod_spec, "name");
}
std::string container_images(const Json& pod_spec) {
  return of_containers(pod_spec, "image");
}

TableCells builtin_cells(std::string_view resource) {
  for (const Rows& known : known_rows) {
    if (known.resource == resource) return known.cells;
  }
  return nullptr;
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
