// SPDX-License-Identifier: Apache-2.0
#include "apiserver/schema/builtin_validation.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "apiserver/schema/builtin_checks.hpp"
#include "apiserver/schema/metadata_validation.hpp"
#include "apiserver/schema/name_rules.hpp"
#include "apiserver/schema/pointer_fields.hpp"
#include "apiserver/text/regular_expression.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

namespace {

using namespace checks;

/// Enums whose values a real server lists in a special order; an empty list leaves the check to the kind's
/// own rule.
struct EnumWords {
  std::string_view type;
  std::string_view field;
  std::string_view words;
};
constexpr std::array enum_words{
    EnumWords{"core.v1.PodSpec", "restartPolicy", "Always OnFailure Never"},
    EnumWords{"core.v1.PodSpec", "dnsPolicy", "ClusterFirstWithHostNet ClusterFirst Default None"},
    EnumWords{"batch.v1.JobSpec", "completionMode", "NonIndexed Indexed"},
    EnumWords{"scheduling.v1.PriorityClass", "preemptionPolicy", "PreemptLowerPriority Never"},
    EnumWords{"networking.v1.NetworkPolicySpec", "policyTypes", "Ingress Egress"},
    EnumWords{"networking.v1.NetworkPolicyPort", "protocol", "TCP UDP SCTP"},
    EnumWords{"apps.v1.StatefulSetSpec", "podManagementPolicy", ""},
    EnumWords{"apps.v1.StatefulSetUpdateStrategy", "type", ""},
    EnumWords{"apps.v1.DaemonSetUpdateStrategy", "type", ""},
    EnumWords{"apps.v1.DeploymentStrategy", "type", ""},
    EnumWords{"core.v1.Toleration", "operator", "Equal Exists"},
    EnumWords{"core.v1.ResourceQuotaSpec", "scopes", ""},
    EnumWords{"core.v1.ScopedResourceSelectorRequirement", "operator", ""},
    EnumWords{"core.v1.ScopedResourceSelectorRequirement", "scopeName", ""},
    EnumWords{"core.v1.NodeSelectorRequirement", "operator", ""},
    EnumWords{"core.v1.TopologySpreadConstraint", "whenUnsatisfiable", ""},
    EnumWords{"core.v1.PersistentVolumeClaimSpec", "accessModes", ""},
    EnumWords{"core.v1.PersistentVolumeSpec", "accessModes", ""},
    EnumWords{"storage.v1.StorageClass", "reclaimPolicy", ""},
    EnumWords{"core.v1.Taint", "effect", ""},
    EnumWords{"admissionregistration.v1.MutatingWebhook", "sideEffects", "None NoneOnDryRun"},
    EnumWords{"admissionregistration.v1.ValidatingWebhook", "sideEffects", "None NoneOnDryRun"},
};

Json::Array words_of(std::string_view text) {
  Json::Array out;
  while (!text.empty()) {
    const auto space = text.find(' ');
    out.emplace_back(text.substr(0, space));
    text = space == std::string_view::npos ? "" : text.substr(space + 1);
  }
  return out;
}

void check_enum(const Json& value, const Schema& schema, const EnumWords* words, const std::string& path,
                Errors& errors) {
  if (!schema.constraints || schema.constraints->allowed.empty()) return;
  const Json::Array allowed = words ? words_of(words->words) : schema.constraints->allowed;
  if (!allowed.empty() && std::find(allowed.begin(), allowed.end(), value) == allowed.end())
    errors.push_back(field_not_supported(path, value, allowed));
}

const EnumWords* words_for(const Schema& type, std::string_view field) {
  for (const EnumWords& known : enum_words)
    if (known.field == field && type.type_name.ends_with(known.type)) return &known;
  return nullptr;
}

/// Checks values of built-in enums: texts that are set, items of lists, and pointers also if they are empty.
/// Status is not checked, as controllers write it.
void check_enums(const Json& value, const Schema& schema, const EnumWords* words, const std::string& path,
                 Errors& errors) {
  if (value.is_string()) check_enum(value, schema, words, path, errors);
  if (value.is_array() && schema.items != nullptr) {
    for (std::size_t i = 0; i < value.size(); ++i)
      check_enums(value[i], *schema.items, words, indexed(path, i), errors);
  }
  if (!value.is_object() || schema.opaque) return;
  for (const auto& [name, member] : value.as_object()) {
    const Schema* known = schema.member(name);
    if (known == nullptr || (path.empty() && (name == "status" || name == "metadata"))) continue;
    if (member == Json("") && !is_pointer_to_text(schema, name)) continue;
    check_enums(member, *known, words_for(schema, name), path.empty() ? name : path + "." + name, errors);
  }
}

/// Returns true if the labels match a LabelSelector's matchLabels and simple expressions.
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

/// The error texts of the kinds of workloads.
struct WorkloadWords {
  std::string_view kind;
  std::string_view controller;   ///< "activeDeadlineSeconds in ReplicaSet is not Supported".
  std::string_view empty;        ///< "empty selector is invalid for deployment".
  bool refuses_selector = true;  ///< The selector as a whole is invalid if it has problems.
  std::string_view whole = "";   ///< Reason for that.
  bool selector_required = true;
};
constexpr std::array workload_words{
    WorkloadWords{"Deployment", "ReplicaSet", "deployment", true, "invalid label selector", true},
    WorkloadWords{"ReplicaSet", "ReplicaSet", "deployment", true, "invalid label selector", true},
    WorkloadWords{"StatefulSet", "StatefulSet", "statefulset", true, "", true},
    WorkloadWords{"DaemonSet", "DaemonSet", "daemonset", false, "", false},
};

const WorkloadWords& words_of_kind(const Json& object) {
  for (const WorkloadWords& words : workload_words)
    if (object["kind"] == Json(words.kind)) return words;
  return workload_words.front();
}

void check_selector(const Json& spec, const WorkloadWords& words, Errors& errors) {
  const Json& selector = spec["selector"];
  const Json& labels = spec.at({"template", "metadata", "labels"});
  const Errors problems = selector_problems(selector, "spec.selector");
  if (selector.is_null() && words.selector_required) errors.push_back(field_required("spec.selector"));
  errors.insert(errors.end(), problems.begin(), problems.end());
  if (!problems.empty()) {
    if (words.refuses_selector) errors.push_back(field_invalid("spec.selector", selector, words.whole));
    return;
  }
  if (!selector.is_null() && is_empty(selector["matchLabels"]) && is_empty(selector["matchExpressions"]))
    errors.push_back(field_invalid("spec.selector", selector,
                                   "empty selector is invalid for " + std::string(words.empty)));
  else if (selector.is_null() || !selects(selector, labels))
    errors.push_back(field_invalid("spec.template.metadata.labels", labels,
                                   "`selector` does not match template `labels`"));
}

/// Replaces the parts that the StatefulSet controller sets in each pod: its names, and a volume for each
/// claim template, which replaces a volume with the same name. Source: kubernetes apps validation
/// ValidateStatefulSetSpec and volumesToAddForTemplates.
Json stateful_pod_spec(const Json& spec) {
  Json pod = spec["template"]["spec"];
  if (!pod.is_object()) return pod;
  pod.erase("hostname");
  pod.erase("subdomain");
  const Json& templates = spec["volumeClaimTemplates"];
  if (is_empty(templates)) return pod;
  Json volumes = Json::array();
  std::set<std::string> names;
  for (std::size_t i = 0; i < templates.size(); ++i) {
    const Json& name = templates[i]["metadata"]["name"];
    if (!names.insert(name.string_or("")).second) continue;
    volumes.push_back(
        Json::object({{"name", name}, {"persistentVolumeClaim", Json::object({{"claimName", name}})}}));
  }
  const Json& own = std::as_const(pod)["volumes"];
  for (std::size_t i = 0; i < own.size(); ++i)
    if (!names.contains(own[i]["name"].string_or(""))) volumes.push_back(own[i]);
  pod["volumes"] = std::move(volumes);
  return pod;
}

void check_template(const Json& spec, const WorkloadWords& words, Errors& errors) {
  const Json& labels = spec.at({"template", "metadata", "labels"});
  check_labels(labels, "spec.template.labels", errors);
  if (words.kind == "StatefulSet") check_labels(labels, "spec.template.labels", errors);  // as in the source
  check_pod_spec(words.kind == "StatefulSet" ? stateful_pod_spec(spec) : spec["template"]["spec"],
                 "spec.template.spec", errors);
  const Json& restart = spec.at({"template", "spec", "restartPolicy"});
  if (restart.is_string() && restart.as_string() != "Always")
    errors.push_back(field_not_supported("spec.template.spec.restartPolicy", restart, {Json("Always")}));
  if (!spec.at({"template", "spec", "activeDeadlineSeconds"}).is_null())
    errors.push_back(
        field_forbidden("spec.template.spec.activeDeadlineSeconds",
                        "activeDeadlineSeconds in " + std::string(words.controller) + " is not Supported"));
}

/// Checks Deployments, ReplicaSets, StatefulSets and DaemonSets.
void check_workload(const Json& object, const Json&, Errors& errors) {
  const Json& spec = object["spec"];
  const WorkloadWords& words = words_of_kind(object);
  check_not_negative(spec["replicas"], "spec.replicas", errors);
  check_not_negative(spec["minReadySeconds"], "spec.minReadySeconds", errors);
  if (words.kind != "StatefulSet")
    check_not_negative(spec["revisionHistoryLimit"], "spec.revisionHistoryLimit", errors);
  check_selector(spec, words, errors);
  check_template(spec, words, errors);
  check_not_negative(object["status"]["observedGeneration"], "status.observedGeneration", errors);
}

void check_scaled(const Json& object, const Json& old, Errors& errors) {
  check_workload(object, old, errors);
  if (!old.is_null())
    check_immutable(object["spec"]["selector"], old["spec"]["selector"], "spec.selector", errors);
}

/// Checks the selector, which is a map for ReplicationControllers. Source: kubernetes core validation
/// ValidateReplicationControllerSpec.
void check_replication_controller(const Json& object, const Json&, Errors& errors) {
  const Json& spec = object["spec"];
  check_not_negative(spec["minReadySeconds"], "spec.minReadySeconds", errors);
  check_not_negative(spec["replicas"], "spec.replicas", errors);
  const Json& selector = spec["selector"];
  if (is_empty(selector)) errors.push_back(field_required("spec.selector"));
  const Json& pod = spec["template"];
  if (!pod.is_object()) return errors.push_back(field_required("spec.template"));
  const Json& labels = pod["metadata"]["labels"];
  if (selector.is_object() && !selects(Json::object({{"matchLabels", selector}}), labels))
    errors.push_back(field_invalid("spec.template.metadata.labels", labels,
                                   "`selector` does not match template `labels`"));
  check_labels(labels, "spec.template.labels", errors);
  check_pod_spec(pod["spec"], "spec.template.spec", errors);
  const Json& restart = pod["spec"]["restartPolicy"];
  if (restart.string_or("Always") != "Always")
    errors.push_back(field_not_supported("spec.template.spec.restartPolicy", restart, {Json("Always")}));
  if (!pod["spec"]["activeDeadlineSeconds"].is_null())
    errors.push_back(field_forbidden("spec.template.spec.activeDeadlineSeconds",
                                     "activeDeadlineSeconds in ReplicationController is not Supported"));
}

void check_pod_template(const Json& object, const Json&, Errors& errors) {
  check_labels(object.at({"template", "metadata", "labels"}), "template.labels", errors);
  check_pod_spec(object["template"]["spec"], "template.spec", errors);
}

/// Formats a strategy like Go's %v of its struct; `rolling` is the formatted rollingUpdate.
std::string printed_strategy(const Json& strategy, const std::string& rolling) {
  return "{\"Type\":" + strategy["type"].dump() + ",\"RollingUpdate\":" + rolling + "}";
}

std::string printed_partition(const Json& rolling) {
  return "{\"Partition\":" + rolling["partition"].dump() + ",\"MaxUnavailable\":null}";
}

bool is_percentage(const Json& share) {
  static const RegularExpression form("^[0-9]+%$");
  return share.is_string() && form.found_in(share.as_string());
}

/// Returns the number of a percentage, or of an integer; 0 for other texts, as in the source.
std::int64_t share_of(const Json& share) {
  if (!share.is_string()) return share.integer_or(0);
  std::string_view digits = share.as_string();
  if (is_percentage(share)) digits.remove_suffix(1);
  if (digits.starts_with('+')) digits.remove_prefix(1);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (end != digits.data() + digits.size()) return 0;
  return error == std::errc::result_out_of_range ? INT64_MAX : number;
}

/// Checks a number or a percentage. Source: kubernetes apps validation ValidatePositiveIntOrPercent.
void check_share(const Json& share, const std::string& field, Errors& errors) {
  if (!share.is_string()) return check_not_negative(share, field, errors);
  if (!is_percentage(share))
    errors.push_back(
        field_invalid(field, share,
                      "a valid percent string must be a numeric string followed by an ending '%' "
                      "(e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')"));
}

/// Source: kubernetes apps validation IsNotMoreThan100Percent.
void check_part(const Json& share, const std::string& field, Errors& errors) {
  if (is_percentage(share) && share_of(share) > 100)
    errors.push_back(field_invalid(field, share, "must not be greater than 100%"));
}

void check_deployment_strategy(const Json& strategy, Errors& errors) {
  const std::string type = strategy["type"].string_or("");
  const Json& rolling = strategy["rollingUpdate"];
  const std::string at = "spec.strategy.rollingUpdate";
  if (type == "Recreate") {
    if (!rolling.is_null())
      errors.push_back(field_forbidden(at, "may not be specified when strategy `type` is 'Recreate'"));
    return;
  }
  if (type.empty()) return;
  if (type != "RollingUpdate") {
    errors.push_back({"FieldValueNotSupported",
                      "Unsupported value: " + printed_strategy(strategy, "null") +
                          ": supported values: \"Recreate\", \"RollingUpdate\"",
                      "spec.strategy"});
    return;
  }
  const Json& unavailable = rolling["maxUnavailable"];
  check_share(unavailable, at + ".maxUnavailable", errors);
  check_share(rolling["maxSurge"], at + ".maxSurge", errors);
  if (share_of(unavailable) == 0 && share_of(rolling["maxSurge"]) == 0)
    errors.push_back(field_invalid(at + ".maxUnavailable", unavailable, "may not be 0 when `maxSurge` is 0"));
  check_part(unavailable, at + ".maxUnavailable", errors);
}

void check_deployment(const Json& object, const Json& old, Errors& errors) {
  check_scaled(object, old, errors);
  const Json& spec = object["spec"];
  check_deployment_strategy(spec["strategy"], errors);
  const Json& deadline = spec["progressDeadlineSeconds"];
  if (deadline.is_integer() && deadline.as_integer() <= spec["minReadySeconds"].integer_or(0))
    errors.push_back(
        field_invalid("spec.progressDeadlineSeconds", deadline, "must be greater than minReadySeconds"));
}

/// Immutable fields are validated in new StatefulSets only.
void check_new_claims(const Json& spec, Errors& errors) {
  for (std::size_t i = 0; i < spec["volumeClaimTemplates"].size(); ++i)
    check_claim_spec(spec["volumeClaimTemplates"][i]["spec"],
                     indexed("spec.volumeClaimTemplates", i) + ".spec", errors);
  if (const std::string name = spec["serviceName"].string_or(""); !name.empty())
    check_label(name, "spec.serviceName", errors);
}

void check_stateful_set(const Json& object, const Json& old, Errors& errors) {
  const Json& spec = object["spec"];
  const std::string policy = spec["podManagementPolicy"].string_or("");
  if (!policy.empty() && policy != "OrderedReady" && policy != "Parallel")
    errors.push_back(
        field_invalid("spec.podManagementPolicy", policy, "must be 'OrderedReady' or 'Parallel'"));
  const Json& strategy = spec["updateStrategy"];
  const Json& rolling = strategy["rollingUpdate"];
  const std::string printed = rolling.is_object() ? printed_partition(rolling) : "null";
  if (strategy["type"] == Json("OnDelete")) {
    if (rolling.is_object())
      errors.push_back({"FieldValueInvalid",
                        "Invalid value: " + printed + ": only allowed for updateStrategy 'RollingUpdate'",
                        "spec.updateStrategy.rollingUpdate"});
  } else if (strategy["type"] == Json("RollingUpdate")) {
    check_not_negative(rolling["partition"], "spec.updateStrategy.rollingUpdate.partition", errors);
  } else if (strategy.is_object()) {
    errors.push_back(
        {"FieldValueInvalid",
         "Invalid value: " + printed_strategy(strategy, printed) + ": must be 'RollingUpdate' or 'OnDelete'",
         "spec.updateStrategy"});
  }
  for (const char* name : {"whenDeleted", "whenScaled"})
    check_one_of(spec["persistentVolumeClaimRetentionPolicy"][name],
                 std::string("spec.persistentVolumeClaimRetentionPolicy.") + name,
                 {Json("Retain"), Json("Delete")}, errors);
  check_not_negative(spec["ordinals"]["start"], "spec.ordinals.start", errors);
  check_workload(object, old, errors);
  if (old.is_null()) return check_new_claims(spec, errors);
  static constexpr std::array free = {"replicas",
                                      "ordinals",
                                      "template",
                                      "updateStrategy",
                                      "revisionHistoryLimit",
                                      "persistentVolumeClaimRetentionPolicy",
                                      "minReadySeconds"};
  Json now = spec;
  Json before = old["spec"];
  for (const char* name : free) now.erase(name), before.erase(name);
  if (now != before)
    errors.push_back(field_forbidden("spec",
                                     "updates to statefulset spec for fields other than 'replicas', "
                                     "'ordinals', 'template', 'updateStrategy', "
                                     "'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and "
                                     "'minReadySeconds' are forbidden"));
}

void check_daemon_set(const Json& object, const Json& old, Errors& errors) {
  check_scaled(object, old, errors);
  const Json& strategy = object["spec"]["updateStrategy"];
  const std::string type = strategy["type"].string_or("");
  if (type.empty() || type == "OnDelete") return;
  if (type != "RollingUpdate") {
    errors.push_back({"FieldValueNotSupported",
                      "Unsupported value: " + printed_strategy(strategy, "null") +
                          ": supported values: \"RollingUpdate\", \"OnDelete\"",
                      "spec.updateStrategy"});
    return;
  }
  const std::string at = "spec.updateStrategy.rollingUpdate.";
  const Json& rolling = strategy["rollingUpdate"];
  for (const auto check : {check_share, check_part})
    for (const char* name : {"maxUnavailable", "maxSurge"}) check(rolling[name], at + name, errors);
  const bool unavailable = share_of(rolling["maxUnavailable"]) != 0;
  const bool surge = share_of(rolling["maxSurge"]) != 0;
  if (!unavailable && !surge)
    errors.push_back(field_required(at + "maxUnavailable", "cannot be 0 when maxSurge is 0"));
  if (unavailable && surge)
    errors.push_back(field_invalid(at + "maxSurge", rolling["maxSurge"],
                                   "may not be set when maxUnavailable is non-zero"));
}

/// Source: kubernetes core validation ValidateAppArmorProfileFormat.
void check_app_armor(const Json& annotations, Errors& errors) {
  if (!annotations.is_object()) return;
  for (const auto& [key, value] : annotations.as_object()) {
    const std::string text = value.string_or("");
    if (!key.starts_with("container.apparmor.security.beta.kubernetes.io/") || text.empty() ||
        text == "runtime/default" || text == "unconfined" || text.starts_with("localhost/"))
      continue;
    errors.push_back(field_invalid("metadata.annotations[" + key + "]", value,
                                   "invalid AppArmor profile name: " + value.dump()));
  }
}

void check_pod(const Json& object, const Json& old, Errors& errors) {
  check_app_armor(object["metadata"]["annotations"], errors);
  check_pod_spec(object["spec"], "spec", errors);
  if (old.is_null() || object["spec"] == old["spec"]) return;
  const Json& deadline = object["spec"]["activeDeadlineSeconds"];
  const Json& before = old["spec"]["activeDeadlineSeconds"];
  if (before.is_integer() && deadline.is_null())
    errors.push_back(field_invalid("spec.activeDeadlineSeconds", deadline,
                                   "must not update from a positive integer to nil value"));
  else if (before.is_integer() && deadline.integer_or(0) > before.as_integer())
    errors.push_back(field_invalid("spec.activeDeadlineSeconds", deadline,
                                   "must be less than or equal to previous value"));
  // Only images, deadlines, tolerations and (shorter) grace periods of a Pod may change.
  const auto fixed = [](Json spec) {
    for (const char* list : {"containers", "initContainers"}) {
      if (Json* items = spec.find(list); items != nullptr && items->is_array()) {
        for (Json& item : items->as_array()) item.erase("image"), item.erase("resources");
      }
    }
    for (const char* name : {"activeDeadlineSeconds", "tolerations", "schedulingGates", "ephemeralContainers",
                             "nodeSelector", "affinity"})
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

/// Rejects a Job without the labels and the selector that the server generates. Source: kubernetes batch
/// validation validateGeneratedSelector.
void check_generated_selector(const Json& object, Errors& errors) {
  const Json& spec = object["spec"];
  const bool missing = spec["selector"].is_null();
  if (missing) errors.push_back(field_required("spec.selector"));
  const Errors problems = selector_problems(spec["selector"], "spec.selector");
  errors.insert(errors.end(), problems.begin(), problems.end());
  const Json& labels = spec.at({"template", "metadata", "labels"});
  if (missing || (problems.empty() && !selects(spec["selector"], labels)))
    errors.push_back(field_invalid("spec.template.metadata.labels", labels,
                                   "`selector` does not match template `labels`"));
  if (missing || spec["manualSelector"].bool_or(false)) return;
  Json expected = Json::object();
  for (const char* prefix : {"", "batch.kubernetes.io/"}) {
    expected[prefix + std::string("controller-uid")] = object["metadata"]["uid"];
    expected[prefix + std::string("job-name")] = object["metadata"]["name"];
  }
  for (const auto& [name, value] : std::as_const(expected).as_object()) {
    const std::string field = "spec.template.metadata.labels[" + name + "]";
    const std::string text = "must be '" + value.string_or("") + "'";
    if (!labels.contains(name))
      errors.push_back(field_required(field, text));
    else if (labels[name] != value)
      errors.push_back(field_invalid(field, labels, text));
  }
  if (problems.empty() && !selects(spec["selector"], expected))
    errors.push_back(field_invalid("spec.selector", spec["selector"], "`selector` not auto-generated"));
}

/// Returns the template of a Job without the parts that may change while it is suspended.
Json fixed_template(const Json& spec, bool suspended) {
  Json pod = spec["template"];
  if (!suspended || !pod.is_object()) return pod;
  if (Json* metadata = pod.find("metadata"); metadata != nullptr && metadata->is_object())
    metadata->erase("labels"), metadata->erase("annotations");
  if (Json* inner = pod.find("spec"); inner != nullptr && inner->is_object()) {
    for (const char* name : {"nodeSelector", "affinity", "tolerations", "schedulingGates"})
      inner->erase(name);
    for (const char* list : {"containers", "initContainers"})
      if (Json* items = inner->find(list); items != nullptr && items->is_array())
        for (Json& item : items->as_array()) item.erase("resources");
  }
  return pod;
}

void check_exit_codes(const Json& codes, const std::string& here, Errors& errors) {
  const Json& values = codes["values"];
  if (is_empty(codes["operator"]))
    errors.push_back(field_required(here + ".operator", "valid values: [\"In\" \"NotIn\"]"));
  if (is_empty(values))
    errors.push_back(field_invalid(here + ".values", values, "at least one value is required"));
  bool ordered = true;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::int64_t value = values[i].integer_or(0);
    if (codes["operator"] == Json("In") && value == 0)
      errors.push_back(
          field_invalid(indexed(here + ".values", i), Json(0), "must not be 0 for the In operator"));
    for (std::size_t j = 0; j < i; ++j)
      if (values[j] == values[i]) {
        errors.push_back(field_duplicate(indexed(here + ".values", i), values[i]));
        break;
      }
    ordered = ordered && (i == 0 || values[i - 1].integer_or(0) <= value);
  }
  if (!ordered) errors.push_back(field_invalid(here + ".values", values, "must be ordered"));
}

/// Source: kubernetes batch validation validatePodFailurePolicyRule.
void check_failure_rule(const Json& rule, const std::string& here, Errors& errors) {
  static const Json::Array statuses = {Json("False"), Json("True"), Json("Unknown")};
  if (is_empty(rule["action"]))
    errors.push_back(
        field_required(here + ".action", "valid values: [\"Count\" \"FailIndex\" \"FailJob\" \"Ignore\"]"));
  const Json& codes = rule["onExitCodes"];
  const Json& conditions = rule["onPodConditions"];
  if (codes.is_object()) check_exit_codes(codes, here + ".onExitCodes", errors);
  for (std::size_t i = 0; i < conditions.size(); ++i) {
    const std::string at = indexed(here + ".onPodConditions", i);
    const std::string type = conditions[i]["type"].string_or("");
    add_all(at + ".type", type, qualified_name_problems(type), errors);
    check_one_of(conditions[i]["status"], at + ".status", statuses, errors);
  }
  if (codes.is_object() && !is_empty(conditions))
    errors.push_back({"FieldValueInvalid",
                      "Invalid value: specifying both OnExitCodes and OnPodConditions is not supported",
                      here});
  if (!codes.is_object() && is_empty(conditions))
    errors.push_back({"FieldValueInvalid",
                      "Invalid value: specifying one of OnExitCodes and OnPodConditions is required", here});
}

/// Checks the parts of a Job's spec that are not its template.
void check_job_spec(const Json& spec, const std::string& path, Errors& errors) {
  for (const char* name : {"parallelism", "completions", "activeDeadlineSeconds", "backoffLimit",
                           "ttlSecondsAfterFinished", "backoffLimitPerIndex", "maxFailedIndexes"})
    check_not_negative(spec[name], path + "." + name, errors);
  if (spec["completionMode"] == Json("Indexed") && spec["completions"].is_null())
    errors.push_back(field_required(path + ".completions", "when completion mode is Indexed"));
  const Json& rules = spec["podFailurePolicy"]["rules"];
  for (std::size_t i = 0; i < rules.size(); ++i)
    check_failure_rule(rules[i], indexed(path + ".podFailurePolicy.rules", i), errors);
}

/// Pods of an indexed Job are named after it. Source: kubernetes batch validation ValidateJob.
void check_indexed_name(const Json& job, Errors& errors) {
  const Json& spec = job["spec"];
  const std::int64_t count = spec["completions"].integer_or(0);
  if (spec["completionMode"] != Json("Indexed") || count <= 0) return;
  const Json name(job["metadata"]["name"].string_or(""));
  const std::string last = name.as_string() + "-" + std::to_string(count - 1);
  if (!name_problems(last, NameRule::dns_label).empty())
    errors.push_back(
        field_invalid("metadata.name", name, "will not able to create pod with invalid DNS label: " + last));
}

void check_job(const Json& object, const Json& old, Errors& errors) {
  const Json& spec = object["spec"];
  check_generated_selector(object, errors);
  check_job_spec(spec, "spec", errors);
  check_indexed_name(object, errors);
  check_labels(spec.at({"template", "metadata", "labels"}), "spec.template.labels", errors);
  check_pod_spec(spec["template"]["spec"], "spec.template.spec", errors);
  const Json& restart = spec.at({"template", "spec", "restartPolicy"});
  if (restart.string_or("Always") == "Always") {
    errors.push_back(
        field_required("spec.template.spec.restartPolicy", "valid values: \"OnFailure\", \"Never\""));
  }
  if (old.is_null()) return;
  const bool suspended = old["spec"]["suspend"].bool_or(false);
  if (fixed_template(spec, suspended) != fixed_template(old["spec"], suspended))
    errors.push_back(field_invalid("spec.template", spec["template"], immutable_text));
  for (const char* name : {"completionMode", "selector"})
    check_immutable(spec[name], old["spec"][name], std::string("spec.") + name, errors);
  if (spec["completionMode"] != Json("Indexed"))
    check_immutable(spec["completions"], old["spec"]["completions"], "spec.completions", errors);
}

/// Checks the number of fields of a schedule; the controllers validate their content.
void check_schedule(const std::string& schedule, Errors& errors) {
  const auto refuse = [&](const std::string& problem) {
    errors.push_back(field_invalid("spec.schedule", schedule, problem));
  };
  if (schedule.find("TZ") != std::string::npos)
    return refuse("cannot use TZ or CRON_TZ in schedule, use timeZone field instead");
  if (schedule.starts_with('@')) return;
  std::string fields;
  std::size_t count = 0;
  for (std::size_t at = 0; at < schedule.size();) {
    const std::size_t start = schedule.find_first_not_of(' ', at);
    if (start == std::string::npos) break;
    at = std::min(schedule.find(' ', start), schedule.size());
    fields += (fields.empty() ? "" : " ") + schedule.substr(start, at - start);
    ++count;
  }
  if (count != 5) refuse("expected exactly 5 fields, found " + std::to_string(count) + ": [" + fields + "]");
}

/// Checks the form of a time zone's name; the controllers look it up. Source: kubernetes batch validation
/// validateTimeZone.
void check_time_zone(const Json& zone, Errors& errors) {
  static const RegularExpression form("^[A-Za-z_][A-Za-z0-9_+-]*(/[A-Za-z0-9_+][A-Za-z0-9_+-]*)*$");
  static const RegularExpression local("(?i)^local$");
  const std::string field = "spec.timeZone";
  if (!zone.is_string()) return;
  const std::string& name = zone.as_string();
  if (name.empty())
    errors.push_back(field_invalid(field, zone, "timeZone must be nil or non-empty string"));
  else if (local.found_in(name))
    errors.push_back(field_invalid(
        field, zone, "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones"));
  else if (!form.found_in(name))
    errors.push_back(field_invalid(field, zone, "unknown time zone " + name));
}

void check_cron_job(const Json& object, const Json&, Errors& errors) {
  const Json& spec = object["spec"];
  if (is_empty(spec["schedule"]))
    errors.push_back(field_required("spec.schedule"));
  else
    check_schedule(spec["schedule"].as_string(), errors);
  check_time_zone(spec["timeZone"], errors);
  for (const char* name : {"startingDeadlineSeconds", "successfulJobsHistoryLimit", "failedJobsHistoryLimit"})
    check_not_negative(spec[name], std::string("spec.") + name, errors);
  if (const std::string name = object.at({"metadata", "name"}).string_or(""); name.size() > 52)
    errors.push_back(field_invalid("metadata.name", name, "must be no more than 52 characters"));
  const Json& restart = spec.at({"jobTemplate", "spec", "template", "spec", "restartPolicy"});
  if (restart.string_or("Always") == "Always")
    errors.push_back(field_required("spec.jobTemplate.spec.template.spec.restartPolicy",
                                    "valid values: \"OnFailure\", \"Never\""));
  check_labels(object.at({"spec", "jobTemplate", "spec", "template", "metadata", "labels"}),
               "spec.jobTemplate.spec.template.labels", errors);
  check_job_spec(object.at({"spec", "jobTemplate", "spec"}), "spec.jobTemplate.spec", errors);
  check_pod_spec(object.at({"spec", "jobTemplate", "spec", "template", "spec"}),
                 "spec.jobTemplate.spec.template.spec", errors);
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

void check_budget(const Json& object, const Json&, Errors& errors) {
  const Json& spec = object["spec"];
  for (const char* name : {"minAvailable", "maxUnavailable"})
    for (const auto check : {check_share, check_part}) check(spec[name], std::string("spec.") + name, errors);
  if (!spec["minAvailable"].is_null() && !spec["maxUnavailable"].is_null())
    errors.push_back({"FieldValueInvalid",
                      "Invalid value: {\"MinAvailable\":" + spec["minAvailable"].dump() +
                          ",\"Selector\":null,\"MaxUnavailable\":" + spec["maxUnavailable"].dump() +
                          ",\"UnhealthyPodEvictionPolicy\":null}: minAvailable and maxUnavailable cannot be "
                          "both set",
                      "spec"});
  const Errors problems = selector_problems(spec["selector"], "spec.selector");
  errors.insert(errors.end(), problems.begin(), problems.end());
}

struct KindRules {
  std::string_view group;
  std::string_view kind;
  void (*check)(const Json& object, const Json& old, Errors& errors);
};

constexpr std::array kind_rules{
    KindRules{"", "Namespace", check_namespace},
    KindRules{"", "Pod", check_pod},
    KindRules{"", "ReplicationController", check_replication_controller},
    KindRules{"", "PodTemplate", check_pod_template},
    KindRules{"", "Service", check_service},
    KindRules{"", "ConfigMap", check_config_map},
    KindRules{"", "Event", check_event},
    KindRules{"events.k8s.io", "Event", check_event},
    KindRules{"", "PersistentVolume", check_volume},
    KindRules{"", "Secret", check_secret},
    KindRules{"", "ResourceQuota", check_quota},
    KindRules{"", "PersistentVolumeClaim", check_claim},
    KindRules{"apps", "Deployment", check_deployment},
    KindRules{"apps", "ReplicaSet", check_scaled},
    KindRules{"apps", "StatefulSet", check_stateful_set},
    KindRules{"apps", "DaemonSet", check_daemon_set},
    KindRules{"batch", "Job", check_job},
    KindRules{"batch", "CronJob", check_cron_job},
    KindRules{"autoscaling", "HorizontalPodAutoscaler", check_autoscaler},
    KindRules{"policy", "PodDisruptionBudget", check_budget},
    KindRules{"discovery.k8s.io", "EndpointSlice", check_slice},
    KindRules{"networking.k8s.io", "Ingress", check_ingress},
    KindRules{"networking.k8s.io", "NetworkPolicy", check_network_policy},
    KindRules{"networking.k8s.io", "IngressClass", check_ingress_class},
    KindRules{"", "LimitRange", check_limit_range},
    KindRules{"", "Endpoints", check_endpoints},
    KindRules{"", "Node", check_node},
    KindRules{"coordination.k8s.io", "Lease", check_lease},
    KindRules{"rbac.authorization.k8s.io", "RoleBinding", check_role_binding},
    KindRules{"rbac.authorization.k8s.io", "ClusterRoleBinding", check_cluster_role_binding},
    KindRules{"rbac.authorization.k8s.io", "Role", check_role},
    KindRules{"rbac.authorization.k8s.io", "ClusterRole", check_cluster_role},
    KindRules{"scheduling.k8s.io", "PriorityClass", check_priority_class},
    KindRules{"storage.k8s.io", "StorageClass", check_storage_class},
    KindRules{"storage.k8s.io", "CSIDriver", check_csi_driver},
    KindRules{"admissionregistration.k8s.io", "MutatingWebhookConfiguration", check_webhooks},
    KindRules{"admissionregistration.k8s.io", "ValidatingWebhookConfiguration", check_webhooks},
};

}  // namespace

std::vector<FieldError> validate_builtin(const Json& object, const KindSchema& kind, const Json& old) {
  Errors errors;
  // The rules of a definition name their fields themselves (crd_validation.cpp).
  if (kind.kind != "CustomResourceDefinition") check_enums(object, kind.root(), nullptr, "", errors);
  for (const KindRules& known : kind_rules) {
    if (known.kind == kind.kind && known.group == kind.group) known.check(object, old, errors);
  }
  return errors;
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
