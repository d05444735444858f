// SPDX-License-Identifier: Apache-2.0
// Validation of pods and pod templates: volumes, affinity, tolerations and everything else outside of
// containers.
// Source: kubernetes pkg/apis/core/validation ValidatePodSpec.
#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>

#include "apiserver/schema/builtin_checks.hpp"
#include "apiserver/schema/name_rules.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver::checks {
namespace {

constexpr std::string_view mode_text = "must be a number between 0 and 0777 (octal), both inclusive";

void append(Errors& errors, const Errors& more) {
  errors.insert(errors.end(), more.begin(), more.end());
}

void check_required(const Json& object, std::initializer_list<const char*> names, const std::string& here,
                    Errors& errors) {
  for (const char* name : names)
    if (is_empty(object[name])) errors.push_back(field_required(here + "." + name));
}

void check_mode(const Json& mode, const std::string& field, Errors& errors) {
  if (mode.is_integer() && (mode.as_integer() < 0 || mode.as_integer() > 0777))
    errors.push_back(field_invalid(field, mode, mode_text));
}

/// Checks the path of a file in a volume that the kubelet fills.
void check_file_path(const Json& path, const std::string& field, Errors& errors) {
  const std::string text = path.string_or("");
  if (text.starts_with('/')) errors.push_back(field_invalid(field, path, "must be a relative path"));
  check_no_backsteps(path, field, errors);
  if (text.starts_with("..") && !text.starts_with("../"))
    errors.push_back(field_invalid(field, path, "must not start with '..'"));
}

void check_items(const Json& items, const std::string& path, Errors& errors) {
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::string here = indexed(path, i);
    check_required(items[i], {"key", "path"}, here, errors);
    check_file_path(items[i]["path"], here + ".path", errors);
    check_mode(items[i]["mode"], here + ".mode", errors);
  }
}

/// The source reports no index for these files.
void check_downward_items(const Json& items, const std::string& here, Errors& errors) {
  for (std::size_t i = 0; i < items.size(); ++i) {
    const Json& file = items[i];
    check_required(file, {"path"}, here, errors);
    check_file_path(file["path"], here + ".path", errors);
    check_field_selector(file["fieldRef"], FieldPaths::volumes, here + ".fieldRef", errors);
    if (file["fieldRef"].is_object() && file["resourceFieldRef"].is_object())
      errors.push_back(field_invalid(here, Json("resource"),
                                     "fieldRef and resourceFieldRef can not be specified simultaneously"));
    else if (!file["fieldRef"].is_object() && !file["resourceFieldRef"].is_object())
      errors.push_back(field_required(here, "one of fieldRef and resourceFieldRef is required"));
    else if (!file["fieldRef"].is_object())
      check_resource_selector(file["resourceFieldRef"], true, here + ".resourceFieldRef", errors);
    check_mode(file["mode"], here + ".mode", errors);
  }
}

void check_token(const Json& token, const std::string& source, const std::string& volume, Errors& errors) {
  const Json& seconds = token["expirationSeconds"];
  const std::string field = source + ".serviceAccountToken.expirationSeconds";
  if (seconds.integer_or(3600) < 600)
    errors.push_back(field_invalid(field, seconds, "may not specify a duration less than 10 minutes"));
  if (seconds.integer_or(0) > (std::int64_t{1} << 32))
    errors.push_back(field_invalid(field, seconds, "may not specify a duration larger than 2^32 seconds"));
  check_required(token, {"path"}, volume, errors);
  if (!is_empty(token["path"])) check_file_path(token["path"], volume + ".path", errors);
}

void check_projected(const Json& volume, const std::string& here, Errors& errors) {
  check_mode(volume["defaultMode"], here + ".defaultMode", errors);
  for (std::size_t i = 0; i < volume["sources"].size(); ++i) {
    const Json& source = volume["sources"][i];
    const std::string at = indexed(here + ".sources", i);
    std::size_t count = 0;
    for (const char* name : {"secret", "configMap"}) {
      if (!source[name].is_object()) continue;
      ++count;
      check_required(source[name], {"name"}, at + "." + name, errors);
      check_items(source[name]["items"], at + "." + name + ".items", errors);
    }
    if (source["downwardAPI"].is_object()) {
      ++count;
      check_downward_items(source["downwardAPI"]["items"], at + ".downwardAPI", errors);
    }
    if (source["serviceAccountToken"].is_object()) {
      ++count;
      check_token(source["serviceAccountToken"], at, here, errors);
    }
    if (count > 1)
      errors.push_back(field_forbidden(at, "may not specify more than 1 volume type per source"));
  }
}

void check_files(const Json& files, const char* name, const std::string& here, Errors& errors) {
  check_required(files, {name}, here, errors);
  check_mode(files["defaultMode"], here + ".defaultMode", errors);
  check_items(files["items"], here + ".items", errors);
}

void check_host_path(const Json& source, const std::string& here, Errors& errors) {
  if (is_empty(source["path"])) return errors.push_back(field_required(here + ".path"));
  check_no_backsteps(source["path"], here + ".path", errors);
}

void check_nfs(const Json& source, const std::string& here, Errors& errors) {
  check_required(source, {"server", "path"}, here, errors);
  if (!source["path"].string_or("").starts_with('/'))
    errors.push_back(
        field_invalid(here + ".path", Json(source["path"].string_or("")), "must be an absolute path"));
}

void check_volume_source(const std::string& kind, const Json& source, const std::string& here,
                         Errors& errors) {
  struct Needs {
    std::string_view kind;
    const char* name;
  };
  static constexpr std::array needs{Needs{"persistentVolumeClaim", "claimName"},
                                    Needs{"vsphereVolume", "volumePath"},
                                    Needs{"awsElasticBlockStore", "volumeID"},
                                    Needs{"cinder", "volumeID"},
                                    Needs{"portworxVolume", "volumeID"},
                                    Needs{"photonPersistentDisk", "pdID"},
                                    Needs{"glusterfs", "endpoints"},
                                    Needs{"glusterfs", "path"},
                                    Needs{"flexVolume", "driver"},
                                    Needs{"azureFile", "secretName"},
                                    Needs{"azureFile", "shareName"},
                                    Needs{"azureDisk", "diskName"},
                                    Needs{"azureDisk", "diskURI"},
                                    Needs{"cephfs", "monitors"},
                                    Needs{"rbd", "monitors"},
                                    Needs{"rbd", "image"},
                                    Needs{"ephemeral", "volumeClaimTemplate"}};
  for (const Needs& each : needs)
    if (each.kind == kind) check_required(source, {each.name}, here, errors);
  if (kind == "emptyDir" && !source["sizeLimit"].is_null() && is_negative(source["sizeLimit"]))
    errors.push_back(
        field_forbidden(here + ".sizeLimit", "SizeLimit field must be a valid resource quantity"));
  if (kind == "hostPath") check_host_path(source, here, errors);
  if (kind == "nfs") check_nfs(source, here, errors);
  if (kind == "secret") check_files(source, "secretName", here, errors);
  if (kind == "configMap") check_files(source, "name", here, errors);
  if (kind == "projected") check_projected(source, here, errors);
  if (kind == "downwardAPI") {
    check_mode(source["defaultMode"], here + ".defaultMode", errors);
    check_downward_items(source["items"], here, errors);
  }
  if (kind == "ephemeral" && source["volumeClaimTemplate"].is_object())
    check_claim_spec(source["volumeClaimTemplate"]["spec"], here + ".volumeClaimTemplate.spec", errors);
}

void check_volume(const Json& volume, const std::string& here, Errors& errors) {
  bool found = false;
  for (const auto& [name, source] : volume.as_object()) {
    if (name == "name" || !source.is_object()) continue;
    if (found)
      errors.push_back(field_forbidden(here + "." + name, "may not specify more than 1 volume type"));
    else
      check_volume_source(name, source, here + "." + name, errors);
    found = true;
  }
  if (!found) errors.push_back(field_required(here, "must specify a volume type"));
}

/// Returns the names of valid volumes; true for those that may be block devices.
VolumeNames check_volumes(const Json& volumes, const std::string& path, Errors& errors) {
  VolumeNames names;
  for (std::size_t i = 0; i < volumes.size(); ++i) {
    const std::string here = indexed(path, i);
    const std::string name = volumes[i]["name"].string_or("");
    Errors problems;
    check_volume(volumes[i], here, problems);
    if (name.empty())
      problems.push_back(field_required(here + ".name"));
    else
      check_label(name, here + ".name", problems);
    if (names.contains(name)) problems.push_back(field_duplicate(here + ".name", volumes[i]["name"]));
    if (problems.empty())
      names[name] = volumes[i]["persistentVolumeClaim"].is_object() || volumes[i]["ephemeral"].is_object();
    append(errors, problems);
  }
  return names;
}

void check_node_requirement(const Json& rule, const std::string& here, Errors& errors) {
  const std::string how = rule["operator"].string_or("");
  const std::size_t values = rule["values"].size();
  const std::string field = here + ".values";
  if ((how == "In" || how == "NotIn") && values == 0)
    errors.push_back(field_required(field, "must be specified when `operator` is 'In' or 'NotIn'"));
  if ((how == "Exists" || how == "DoesNotExist") && values > 0)
    errors.push_back(
        field_forbidden(field, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"));
  if ((how == "Gt" || how == "Lt") && values != 1)
    errors.push_back(field_required(field, "must be specified single value when `operator` is 'Lt' or 'Gt'"));
  static constexpr std::array known = {"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"};
  if (std::find(known.begin(), known.end(), how) == known.end())
    errors.push_back(field_invalid(here + ".operator", how, "not a valid selector operator"));
  const std::string key = rule["key"].string_or("");
  add_all(here + ".key", key, qualified_name_problems(key), errors);
  for (std::size_t i = 0; i < values; ++i) {
    const std::string value = rule["values"][i].string_or("");
    add_all(indexed(field, i), value, label_value_problems(value), errors);
  }
}

void check_node_term(const Json& term, const std::string& here, Errors& errors) {
  for (std::size_t i = 0; i < term["matchExpressions"].size(); ++i)
    check_node_requirement(term["matchExpressions"][i], indexed(here + ".matchExpressions", i), errors);
}

void check_weight(const Json& weight, const std::string& field, Errors& errors) {
  const std::int64_t number = weight.integer_or(0);
  if (number < 1 || number > 100)
    errors.push_back(field_invalid(field, Json(number), "must be in the range 1-100"));
}

void check_node_affinity(const Json& affinity, const std::string& here, Errors& errors) {
  if (!affinity.is_object()) return;
  const Json& required = affinity["requiredDuringSchedulingIgnoredDuringExecution"];
  if (required.is_object())
    check_node_selector(required, here + ".requiredDuringSchedulingIgnoredDuringExecution", errors);
  const std::string preferred = "preferredDuringSchedulingIgnoredDuringExecution";
  for (std::size_t i = 0; i < affinity[preferred].size(); ++i) {
    const std::string at = indexed(here + "." + preferred, i);
    check_weight(affinity[preferred][i]["weight"], at + ".weight", errors);
    check_node_term(affinity[preferred][i]["preference"], at + ".preference", errors);
  }
}

void check_pod_term(const Json& term, const std::string& here, Errors& errors) {
  for (const char* name : {"labelSelector", "namespaceSelector"})
    append(errors, selector_problems(term[name], here + "." + name));
  for (std::size_t i = 0; i < term["namespaces"].size(); ++i)
    check_label(term["namespaces"][i].string_or(""), here + ".namespace", errors);
  const std::string key = term["topologyKey"].string_or("");
  if (key.empty()) errors.push_back(field_required(here + ".topologyKey", "can not be empty"));
  add_all(here + ".topologyKey", key, qualified_name_problems(key), errors);
}

void check_pod_affinity(const Json& affinity, const std::string& here, Errors& errors) {
  if (!affinity.is_object()) return;
  const std::string required = "requiredDuringSchedulingIgnoredDuringExecution";
  for (std::size_t i = 0; i < affinity[required].size(); ++i)
    check_pod_term(affinity[required][i], indexed(here + "." + required, i), errors);
  const std::string preferred = "preferredDuringSchedulingIgnoredDuringExecution";
  for (std::size_t i = 0; i < affinity[preferred].size(); ++i) {
    const std::string at = indexed(here + "." + preferred, i);
    check_weight(affinity[preferred][i]["weight"], at + ".weight", errors);
    check_pod_term(affinity[preferred][i]["podAffinityTerm"], at + ".podAffinityTerm", errors);
  }
}

void check_toleration(const Json& toleration, const std::string& here, Errors& errors) {
  const std::string key = toleration["key"].string_or("");
  const std::string how = toleration["operator"].string_or("");
  const std::string value = toleration["value"].string_or("");
  if (!key.empty()) add_all(here + ".key", key, qualified_name_problems(key), errors);
  if (key.empty() && how != "Exists")
    errors.push_back(field_invalid(here + ".operator", Json(how),
                                   "operator must be Exists when `key` is empty, which means \"match all "
                                   "values and all keys\""));
  if (!toleration["tolerationSeconds"].is_null() && toleration["effect"] != Json("NoExecute"))
    errors.push_back(field_invalid(here + ".effect", Json(toleration["effect"].string_or("")),
                                   "effect must be 'NoExecute' when `tolerationSeconds` is set"));
  if (how == "Exists" && !value.empty())
    errors.push_back(
        field_invalid(here + ".operator", Json(value), "value must be empty when `operator` is 'Exists'"));
  if (how.empty() || how == "Equal") add_all(here + ".operator", value, label_value_problems(value), errors);
}

void check_spread(const Json& constraints, const std::string& path, Errors& errors) {
  for (std::size_t i = 0; i < constraints.size(); ++i) {
    const Json& constraint = constraints[i];
    const std::string here = indexed(path, i);
    if (const std::int64_t skew = constraint["maxSkew"].integer_or(0); skew <= 0)
      errors.push_back(field_invalid(here + ".maxSkew", Json(skew), "must be greater than zero"));
    if (is_empty(constraint["topologyKey"]))
      errors.push_back(field_required(here + ".topologyKey", "can not be empty"));
    check_one_of(constraint["whenUnsatisfiable"], here + ".whenUnsatisfiable",
                 {Json("DoNotSchedule"), Json("ScheduleAnyway")}, errors);
    append(errors, selector_problems(constraint["labelSelector"], here + ".labelSelector"));
  }
}

void check_dns(const Json& spec, const std::string& path, Errors& errors) {
  const Json& config = spec["dnsConfig"];
  const std::string here = path + ".dnsConfig";
  if (spec["dnsPolicy"] == Json("None") && !config.is_object())
    errors.push_back(field_required(here, "must provide `dnsConfig` when `dnsPolicy` is None"));
  else if (spec["dnsPolicy"] == Json("None") && is_empty(config["nameservers"]))
    errors.push_back(field_required(here + ".nameservers",
                                    "must provide at least one DNS nameserver when `dnsPolicy` is None"));
  if (config["nameservers"].size() > 3)
    errors.push_back(
        field_invalid(here + ".nameservers", config["nameservers"], "must not have more than 3 nameservers"));
  for (std::size_t i = 0; i < config["nameservers"].size(); ++i)
    if (const std::string address = config["nameservers"][i].string_or(""); !is_address(address))
      errors.push_back(field_invalid(indexed(here + ".nameservers", i), address, address_text));
  for (std::size_t i = 0; i < config["options"].size(); ++i)
    if (is_empty(config["options"][i]["name"]))
      errors.push_back(field_required(indexed(here + ".options", i), "must not be empty"));
}

void check_host_aliases(const Json& aliases, const std::string& path, Errors& errors) {
  for (std::size_t i = 0; i < aliases.size(); ++i) {
    const std::string here = indexed(path, i);
    if (const std::string address = aliases[i]["ip"].string_or(""); !is_address(address))
      errors.push_back(field_invalid(here + ".ip", address, address_text));
    for (std::size_t j = 0; j < aliases[i]["hostnames"].size(); ++j)
      check_subdomain(aliases[i]["hostnames"][j].string_or(""), indexed(here + ".hostnames", j), errors);
  }
}

/// Ports of a pod in its node's network are the node's.
void check_host_ports(const Json& spec, const std::string& path, Errors& errors) {
  if (!spec["hostNetwork"].bool_or(false)) return;
  for (const char* list : {"containers", "initContainers"})
    for (std::size_t i = 0; i < spec[list].size(); ++i)
      for (std::size_t j = 0; j < spec[list][i]["ports"].size(); ++j) {
        const Json& port = spec[list][i]["ports"][j];
        const std::int64_t host = port["hostPort"].integer_or(0);
        if (host != 0 && host != port["containerPort"].integer_or(0))
          errors.push_back(field_invalid(indexed(indexed(path + "." + list, i) + ".ports", j) + ".hostPort",
                                         Json(host),
                                         "must match `containerPort` when `hostNetwork` is true"));
      }
}

void check_names(const Json& spec, const std::string& path, Errors& errors) {
  for (const char* name : {"nodeName", "serviceAccountName", "priorityClassName", "runtimeClassName"})
    if (const std::string text = spec[name].string_or(""); !text.empty())
      check_subdomain(text, path + "." + name, errors);
  for (const char* name : {"hostname", "subdomain"})
    if (const std::string text = spec[name].string_or(""); !text.empty())
      check_label(text, path + "." + name, errors);
  const Json& deadline = spec["activeDeadlineSeconds"];
  if (deadline.is_integer() && (deadline.as_integer() < 1 || deadline.as_integer() > 2147483647))
    errors.push_back(field_invalid(path + ".activeDeadlineSeconds", deadline,
                                   "must be between 1 and 2147483647, inclusive"));
}

}  // namespace

void check_no_backsteps(const Json& path, const std::string& field, Errors& errors) {
  std::string_view rest = path.is_string() ? std::string_view(path.as_string()) : std::string_view();
  while (true) {
    const std::size_t slash = rest.find('/');
    if (rest.substr(0, slash) == "..")
      return errors.push_back(field_invalid(field, path, "must not contain '..'"));
    if (slash == std::string_view::npos) return;
    rest.remove_prefix(slash + 1);
  }
}

void check_node_selector(const Json& selector, const std::string& here, Errors& errors) {
  const Json& terms = selector["nodeSelectorTerms"];
  if (is_empty(terms))
    errors.push_back(
        field_required(here + ".nodeSelectorTerms", "must have at least one node selector term"));
  for (std::size_t i = 0; i < terms.size(); ++i)
    check_node_term(terms[i], indexed(here + ".nodeSelectorTerms", i), errors);
}

void check_pod_spec(const Json& spec, const std::string& path, Errors& errors) {
  const VolumeNames volumes = check_volumes(spec["volumes"], path + ".volumes", errors);
  if (is_empty(spec["containers"])) errors.push_back(field_required(path + ".containers"));
  std::set<std::string> names;
  check_containers(spec["containers"], ContainerList::regular, volumes, names, path + ".containers", errors);
  check_containers(spec["initContainers"], ContainerList::init, volumes, names, path + ".initContainers",
                   errors);
  check_names(spec, path, errors);
  check_labels(spec["nodeSelector"], path + ".nodeSelector", errors);
  check_security(spec["securityContext"], path + ".securityContext", errors);
  check_node_affinity(spec["affinity"]["nodeAffinity"], path + ".affinity.nodeAffinity", errors);
  check_pod_affinity(spec["affinity"]["podAffinity"], path + ".affinity.podAffinity", errors);
  check_pod_affinity(spec["affinity"]["podAntiAffinity"], path + ".affinity.podAntiAffinity", errors);
  for (std::size_t i = 0; i < spec["tolerations"].size(); ++i)
    check_toleration(spec["tolerations"][i], indexed(path + ".tolerations", i), errors);
  check_spread(spec["topologySpreadConstraints"], path + ".topologySpreadConstraints", errors);
  check_dns(spec, path, errors);
  check_host_aliases(spec["hostAliases"], path + ".hostAliases", errors);
  check_host_ports(spec, path, errors);
}

}  // namespace apiserver::checks
}  // namespace v0
}  // namespace evenkeel
