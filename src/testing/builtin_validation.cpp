// SPDX-License-Identifier: Apache-2.0
#include "testing/builtin_validation.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "testing/formats.hpp"
#include "testing/metadata_validation.hpp"
#include "testing/regular_expression.hpp"

namespace evenkeel::inline v0::testing {

namespace {

using Errors = std::vector<FieldError>;

constexpr std::string_view dns_label_problem =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start "
    "and end "
    "with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')";

constexpr std::string_view config_key_problem =
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or "
    "'KEY_NAME',  "
    "or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";

bool is_config_key(const std::string& text) {
  static const RegularExpression expression("^[-._a-zA-Z0-9]+$");
  return expression.found_in(text);
}

bool is_dns_label(const std::string& text) {
  return has_format(text, "k8s-short-name");
}

std::string lower(std::string text) {
  for (char& letter : text) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  }
  return text;
}

bool is_empty(const Json& value) {
  return value.is_null() || (value.is_string() && value.as_string().empty()) ||
         ((value.is_array() || value.is_object()) && value.empty());
}

std::string indexed(const std::string& path, std::size_t index) {
  return path + "[" + std::to_string(index) + "]";
}

/// Lists of a built-in enum, for strings that are set. Status is the controllers' own business.
void check_enums(const Json& value, const Schema& schema, const std::string& path, Errors& errors) {
  if (value.is_string() && schema.constraints && !schema.constraints->allowed.empty() &&
      !value.as_string().empty()) {
    const Json::Array& allowed = schema.constraints->allowed;
    if (std::find(allowed.begin(), allowed.end(), value) == allowed.end())
      errors.push_back(field_not_supported(path, value, allowed));
  }
  if (value.is_array() && schema.items != nullptr) {
    for (std::size_t i = 0; i < value.size(); ++i)
      check_enums(value[i], *schema.items, indexed(path, i), errors);
  }
  if (!value.is_object() || schema.opaque) return;
  for (const auto& [name, member] : value.as_object()) {
    const Schema* known = schema.member(name);
    if (known == nullptr || (path.empty() && (name == "status" || name == "metadata"))) continue;
    check_enums(member, *known, path.empty() ? name : path + "." + name, errors);
  }
}

void check_named_list(const Json& list, const std::string& path, Errors& errors) {
  std::set<std::string> names;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Json& name = list[i]["name"];
    const std::string field = indexed(path, i) + ".name";
    if (is_empty(name)) {
      errors.push_back(field_required(field));
    } else if (!is_dns_label(name.string_or(""))) {
      errors.push_back(field_invalid(field, name, dns_label_problem));
    } else if (!names.insert(name.string_or("")).second) {
      errors.push_back(field_duplicate(field, name));
    }
  }
}

void check_containers(const Json& list, const std::string& path, Errors& errors) {
  check_named_list(list, path, errors);
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Json& container = list[i];
    const std::string here = indexed(path, i);
    if (is_empty(container["image"])) errors.push_back(field_required(here + ".image"));
    const Json& ports = container["ports"];
    for (std::size_t j = 0; j < ports.size(); ++j) {
      const std::string field = indexed(here + ".ports", j) + ".containerPort";
      const std::int64_t port = ports[j]["containerPort"].integer_or(0);
      if (port == 0)
        errors.push_back(field_required(field));
      else if (port < 1 || port > 65535)
        errors.push_back(field_invalid(field, Json(port), "must be between 1 and 65535, inclusive"));
    }
    const Json& variables = container["env"];
    for (std::size_t j = 0; j < variables.size(); ++j) {
      if (is_empty(variables[j]["name"]))
        errors.push_back(field_required(indexed(here + ".env", j) + ".name"));
    }
    const Json& mounts = container["volumeMounts"];
    for (std::size_t j = 0; j < mounts.size(); ++j) {
      if (is_empty(mounts[j]["name"]))
        errors.push_back(field_required(indexed(here + ".volumeMounts", j) + ".name"));
      if (is_empty(mounts[j]["mountPath"]))
        errors.push_back(field_required(indexed(here + ".volumeMounts", j) + ".mountPath"));
    }
  }
}

void check_mounts(const Json& spec, const std::string& path, Errors& errors) {
  std::set<std::string> volumes;
  for (std::size_t i = 0; i < spec["volumes"].size(); ++i)
    volumes.insert(spec["volumes"][i]["name"].string_or(""));
  for (const char* list : {"containers", "initContainers"}) {
    for (std::size_t i = 0; i < spec[list].size(); ++i) {
      const Json& mounts = spec[list][i]["volumeMounts"];
      for (std::size_t j = 0; j < mounts.size(); ++j) {
        const std::string name = mounts[j]["name"].string_or("");
        if (!name.empty() && !volumes.contains(name)) {
          FieldError error{"FieldValueNotFound", "Not found: " + mounts[j]["name"].dump(),
                           indexed(indexed(path + "." + list, i) + ".volumeMounts", j) + ".name"};
          errors.push_back(std::move(error));
        }
      }
    }
  }
}

void check_pod_spec(const Json& spec, const std::string& path, Errors& errors) {
  check_named_list(spec["volumes"], path + ".volumes", errors);
  if (is_empty(spec["containers"])) errors.push_back(field_required(path + ".containers"));
  check_containers(spec["containers"], path + ".containers", errors);
  check_containers(spec["initContainers"], path + ".initContainers", errors);
  check_mounts(spec, path, errors);
}

/// Whether the labels of a template fit a LabelSelector's matchLabels and expressions of the simple kinds.
bool selects(const Json& selector, const Json& labels) {
  if (selector["matchLabels"].is_object()) {
    for (const auto& [name, value] : selector["matchLabels"].as_object()) {
      if (labels[name] != value) return false;
    }
  }
  for (std::size_t i = 0; i < selector["matchExpressions"].size(); ++i) {
    const Json& rule = selector["matchExpressions"][i];
    const Json* label = labels.find(rule["key"].string_or(""));
    const std::string what = rule["operator"].string_or("");
    bool listed = false;
    for (std::size_t j = 0; j < rule["values"].size(); ++j)
      listed |= label != nullptr && rule["values"][j] == *label;
    if ((what == "In" && !listed) || (what == "NotIn" && listed) || (what == "Exists" && label == nullptr) ||
        (what == "DoesNotExist" && label != nullptr))
      return false;
  }
  return true;
}

void check_not_negative(const Json& value, const std::string& field, Errors& errors) {
  if (value.is_integer() && value.as_integer() < 0)
    errors.push_back(field_invalid(field, value, "must be greater than or equal to 0"));
}

/// Deployments, ReplicaSets, StatefulSets and DaemonSets.
void check_workload(const Json& object, const Json& old, Errors& errors) {
  const Json& spec = object["spec"];
  const Json& selector = spec["selector"];
  const Json& labels = spec.at({"template", "metadata", "labels"});
  check_not_negative(spec["replicas"], "spec.replicas", errors);
  if (selector.is_null()) {
    errors.push_back(field_required("spec.selector"));
  } else if (is_empty(selector["matchLabels"]) && is_empty(selector["matchExpressions"])) {
    errors.push_back(
        field_invalid("spec.selector", selector,
                      "empty selector is invalid for " + lower(object["kind"].string_or("workload"))));
  } else if (!selects(selector, labels)) {
    errors.push_back(field_invalid("spec.template.metadata.labels",
                                   labels.is_null() ? Json::object() : labels,
                                   "`selector` does not match template `labels`"));
  }
  check_pod_spec(spec["template"]["spec"], "spec.template.spec", errors);
  const Json& restart = spec.at({"template", "spec", "restartPolicy"});
  if (restart.is_string() && restart.as_string() != "Always")
    errors.push_back(field_not_supported("spec.template.spec.restartPolicy", restart, {Json("Always")}));
  if (!old.is_null() && !selector.is_null() && old["spec"]["selector"] != selector)
    errors.push_back(field_invalid("spec.selector", selector, "field is immutable"));
}

void check_pod(const Json& object, const Json& old, Errors& errors) {
  check_pod_spec(object["spec"], "spec", errors);
  if (old.is_null() || object["spec"] == old["spec"]) return;
  // Only images, deadlines, tolerations and (shorter) grace periods of a Pod may change.
  const auto fixed = [](Json spec) {
    for (const char* list : {"containers", "initContainers"}) {
      if (Json* items = spec.find(list); items != nullptr && items->is_array()) {
        for (Json& item : items->as_array()) item.erase("image"), item.erase("resources");
      }
    }
    for (const char* name :
         {"activeDeadlineSeconds", "tolerations", "terminationGracePeriodSeconds", "schedulingGates",
          "ephemeralContainers", "nodeName", "nodeSelector", "affinity"})
      spec.erase(name);
    return spec;
  };
  if (fixed(object["spec"]) != fixed(old["spec"])) {
    errors.push_back(field_forbidden(
        "spec",
        "pod updates may not change fields other than `spec.containers[*].image`,"
        "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to "
        "existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was "
        "previously negative)"));
  }
}

void check_job(const Json& object, const Json& old, Errors& errors) {
  const Json& spec = object["spec"];
  for (const char* name :
       {"parallelism", "completions", "backoffLimit", "activeDeadlineSeconds", "ttlSecondsAfterFinished"})
    check_not_negative(spec[name], std::string("spec.") + name, errors);
  check_pod_spec(spec["template"]["spec"], "spec.template.spec", errors);
  const Json& restart = spec.at({"template", "spec", "restartPolicy"});
  if (restart == Json("Always")) {
    errors.push_back(
        field_required("spec.template.spec.restartPolicy", "valid values: \"OnFailure\", \"Never\""));
  }
  if (!old.is_null() && old["spec"]["completionMode"] != spec["completionMode"])
    errors.push_back(field_invalid("spec.completionMode", spec["completionMode"], "field is immutable"));
}

void check_cron_job(const Json& object, const Json&, Errors& errors) {
  if (is_empty(object["spec"]["schedule"])) errors.push_back(field_required("spec.schedule"));
  check_pod_spec(object.at({"spec", "jobTemplate", "spec", "template", "spec"}),
                 "spec.jobTemplate.spec.template.spec", errors);
}

void check_keys(const Json& map, const std::string& path, Errors& errors) {
  if (!map.is_object()) return;
  for (const auto& [name, value] : map.as_object()) {
    const std::string field = path + "[" + name + "]";
    if (!is_config_key(name)) errors.push_back(field_invalid(field, Json(name), config_key_problem));
    if (name.size() > 253)
      errors.push_back(field_invalid(field, Json(name), "must be no more than 253 characters"));
  }
}

/// Immutable ConfigMaps and Secrets, and the names of what they hold.
void check_data(const Json& object, const Json& old, Errors& errors) {
  check_keys(object["data"], "data", errors);
  check_keys(object["binaryData"], "binaryData", errors);
  if (old.is_null() || !old["immutable"].bool_or(false)) return;
  if (!object["immutable"].bool_or(false))
    errors.push_back(field_forbidden("immutable", "field is immutable when `immutable` is set"));
  for (const char* name : {"data", "binaryData"}) {
    if (object[name] != old[name])
      errors.push_back(field_forbidden(name, "field is immutable when `immutable` is set"));
  }
}

void check_secret(const Json& object, const Json& old, Errors& errors) {
  check_data(object, old, errors);
  if (object["data"].is_object()) {
    for (const auto& [name, value] : object["data"].as_object()) {
      if (!has_format(value.string_or(""), "byte"))
        errors.push_back(field_invalid("data[" + name + "]", Json("<contents>"), "must be base64"));
    }
  }
  if (!old.is_null() && object["type"] != old["type"])
    errors.push_back(field_invalid("type", object["type"], "field is immutable"));
}

void check_service(const Json& object, const Json& old, Errors& errors) {
  const Json& spec = object["spec"];
  const Json& ports = spec["ports"];
  const std::string type = spec["type"].string_or("");
  if (is_empty(ports) && type != "ExternalName" && spec["clusterIP"].string_or("") != "None")
    errors.push_back(field_required("spec.ports"));
  for (std::size_t i = 0; i < ports.size(); ++i) {
    const std::int64_t port = ports[i]["port"].integer_or(0);
    const std::string here = indexed("spec.ports", i);
    if (port < 1 || port > 65535)
      errors.push_back(field_invalid(here + ".port", Json(port), "must be between 1 and 65535, inclusive"));
    if (ports.size() > 1 && is_empty(ports[i]["name"])) errors.push_back(field_required(here + ".name"));
  }
  if (!old.is_null() && type != "ExternalName" && !is_empty(old["spec"]["clusterIP"]) &&
      old["spec"]["type"] != Json("ExternalName") && spec["clusterIP"] != old["spec"]["clusterIP"])
    errors.push_back(
        field_invalid("spec.clusterIPs[0]", Json(Json::Array{spec["clusterIP"]}), "may not change once set"));
}

void check_lease(const Json& object, const Json&, Errors& errors) {
  const Json& spec = object["spec"];
  const Json& seconds = spec["leaseDurationSeconds"];
  if (seconds.is_integer() && seconds.as_integer() <= 0)
    errors.push_back(field_invalid("spec.leaseDurationSeconds", seconds, "must be greater than 0"));
  const Json& transitions = spec["leaseTransitions"];
  if (transitions.is_integer() && transitions.as_integer() < 0)
    errors.push_back(
        field_invalid("spec.leaseTransitions", transitions, "must be greater than or equal to 0"));
}

void check_role_binding(const Json& object, const Json& old, Errors& errors) {
  if (is_empty(object["roleRef"]["name"])) errors.push_back(field_required("roleRef.name"));
  if (!old.is_null() && object["roleRef"] != old["roleRef"])
    errors.push_back(field_invalid("roleRef", object["roleRef"], "cannot change roleRef"));
}

void check_claim(const Json& object, const Json& old, Errors& errors) {
  const Json& spec = object["spec"];
  if (is_empty(spec["accessModes"]))
    errors.push_back(field_required("spec.accessModes", "at least 1 access mode is required"));
  if (is_empty(spec.at({"resources", "requests", "storage"})))
    errors.push_back(field_required("spec.resources[storage]"));
  if (!old.is_null() && spec["storageClassName"] != old["spec"]["storageClassName"] &&
      !is_empty(old["spec"]["storageClassName"]))
    errors.push_back(field_forbidden("spec",
                                     "spec is immutable after creation except resources.requests and "
                                     "volumeAttributesClassName for bound claims"));
}

void check_namespace(const Json& object, const Json& old, Errors& errors) {
  const Json& finalizers = object["spec"]["finalizers"];
  for (std::size_t i = 0; i < finalizers.size(); ++i) {
    const std::string path = old.is_null() ? "spec.finalizers" : indexed("spec.finalizers", i);
    check_finalizer_name(finalizers[i].string_or(""), path, errors);
  }
  const bool going = !object.at({"metadata", "deletionTimestamp"}).is_null();
  const Json& phase = object["status"]["phase"];
  if (old.is_null() || is_empty(phase) || phase == Json(going ? "Terminating" : "Active")) return;
  errors.push_back(field_invalid("status.Phase", phase,
                                 going ? "may only be 'Terminating' if `deletionTimestamp` is not empty"
                                       : "may only be 'Active' if `deletionTimestamp` is empty"));
}

struct KindRules {
  std::string_view group;
  std::string_view kind;
  void (*check)(const Json& object, const Json& old, Errors& errors);
};

constexpr std::array kinds{
    KindRules{"", "Namespace", check_namespace},
    KindRules{"", "Pod", check_pod},
    KindRules{"", "Service", check_service},
    KindRules{"", "ConfigMap", check_data},
    KindRules{"", "Secret", check_secret},
    KindRules{"", "PersistentVolumeClaim", check_claim},
    KindRules{"apps", "Deployment", check_workload},
    KindRules{"apps", "ReplicaSet", check_workload},
    KindRules{"apps", "StatefulSet", check_workload},
    KindRules{"apps", "DaemonSet", check_workload},
    KindRules{"batch", "Job", check_job},
    KindRules{"batch", "CronJob", check_cron_job},
    KindRules{"coordination.k8s.io", "Lease", check_lease},
    KindRules{"rbac.authorization.k8s.io", "RoleBinding", check_role_binding},
    KindRules{"rbac.authorization.k8s.io", "ClusterRoleBinding", check_role_binding},
};

}  // namespace

std::vector<FieldError> validate_builtin(const Json& object, const KindSchema& kind, const Json& old) {
  Errors errors;
  check_enums(object, kind.root(), "", errors);
  for (const KindRules& known : kinds) {
    if (known.kind == kind.kind && known.group == kind.group) known.check(object, old, errors);
  }
  return errors;
}

}  // namespace evenkeel::inline v0::testing
