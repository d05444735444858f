// SPDX-License-Identifier: Apache-2.0
#include "testing/operations/known_values.hpp"

#include <algorithm>
#include <initializer_list>

namespace evenkeel {
inline namespace v0 {
namespace testing::detail {
namespace {

using Members = std::initializer_list<std::string_view>;

bool has(const Json& schema, Members members) {
  const Json& properties = schema["properties"];
  return std::all_of(members.begin(), members.end(),
                     [&](std::string_view member) { return properties.contains(member); });
}

bool is_one_of(std::string_view name, Members names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::vector<KnownValues> values_of_pods() {
  constexpr Placement replace = Placement::replace;
  constexpr Placement append = Placement::append;
  return {
      {"affinity",
       replace,
       {R"({"nodeAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":1,"preference":)"
        R"({"matchExpressions":[{"key":"evenkeel.dev/zone","operator":"In","values":["a"]}]}}]}})",
        R"({"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":)"
        R"("kubernetes.io/hostname","labelSelector":{"matchLabels":{"evenkeel.dev/app":"a"}}}]}})"},
       {R"({"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":)"
        R"([{"matchExpressions":[{"key":"evenkeel.dev/zone","operator":"Near","values":["a"]}]}]}}})",
        R"({"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":""}]}})"}},
      {"toleration",
       append,
       {R"({"key":"evenkeel.dev/test","operator":"Exists","effect":"NoSchedule"})"},
       {R"({"key":"evenkeel.dev/test","operator":"Sometimes"})"}},
      {"resources",
       replace,
       {R"({"requests":{"cpu":"100m","memory":"64Mi"},"limits":{"memory":"128Mi"}})",
        R"({"requests":{"cpu":"250m"}})"},
       {R"({"requests":{"memory":"2Gi"},"limits":{"memory":"1Gi"}})",
        R"({"limits":{"memory":"-1Gi"},"requests":{"memory":"-1Gi"}})"}},
      {"securityContext",
       replace,
       {R"({"runAsUser":1000})", R"({"runAsNonRoot":true,"runAsUser":1001})"},
       {R"({"runAsUser":-1})"}},
      {"probe",
       replace,
       {R"({"tcpSocket":{"port":8080},"periodSeconds":20})"},
       {R"({"tcpSocket":{"port":70000}})", R"({"tcpSocket":{"port":8080},"periodSeconds":-1})"}},
      {"env", append, {R"({"name":"EVENKEEL_TEST","value":"a"})"}, {R"({"name":"","value":"a"})"}},
      {"container port",
       append,
       {R"({"name":"evenkeel","containerPort":18080})"},
       {R"({"name":"evenkeel","containerPort":70000})"}},
      {"spread constraint",
       append,
       {R"({"maxSkew":1,"topologyKey":"kubernetes.io/hostname","whenUnsatisfiable":"ScheduleAnyway"})"},
       {R"({"maxSkew":0,"topologyKey":"kubernetes.io/hostname","whenUnsatisfiable":"ScheduleAnyway"})"}},
      {"imagePullPolicy", replace, {R"("Always")", R"("IfNotPresent")"}, {R"("Sometimes")"}},
      {"serviceAccountName", replace, {R"("evenkeel-test")"}, {R"("Not A Name")"}},
  };
}

std::vector<KnownValues> values_of_others() {
  constexpr Placement replace = Placement::replace;
  constexpr Placement merge = Placement::merge;
  return {
      {"claim resources",
       replace,
       {R"({"requests":{"storage":"2Gi"}})", R"({"requests":{"storage":"5Gi"}})"},
       {R"({"requests":{"storage":"-1Gi"}})"}},
      {"accessModes", replace, {R"(["ReadWriteMany"])"}, {R"(["WriteSometimes"])"}},
      {"storageClassName", replace, {R"("evenkeel-fast")"}, {R"("Not A Class")"}},
      {"volumeMode", replace, {R"("Block")", R"("Filesystem")"}, {R"("Tape")"}},
      {"selector",
       replace,
       {R"({"matchLabels":{"evenkeel.dev/app":"a"}})"},
       {R"({"matchExpressions":[{"key":"evenkeel.dev/app","operator":"Near"}]})"}},
      {"labels",
       merge,
       {R"({"evenkeel.dev/test":"a"})", R"({"evenkeel.dev/test":"b"})"},
       {R"({"evenkeel.dev/test":"not a label!"})"}},
      {"annotations", merge, {R"({"evenkeel.dev/test":"any text"})"}, {R"({"not a key!":"a"})"}},
      {"schedule", replace, {R"("*/5 * * * *")", R"("0 3 * * *")"}, {R"("every day")"}},
      {"timeZone", replace, {R"("Etc/UTC")"}, {}},
  };
}

std::vector<KnownValues> make_values() {
  std::vector<KnownValues> values = values_of_pods();
  for (KnownValues& one : values_of_others()) values.push_back(std::move(one));
  return values;
}

const KnownValues* values_of(std::string_view type) {
  for (const KnownValues& values : all_known_values()) {
    if (values.type == type) return &values;
  }
  return nullptr;
}

const KnownValues* values_of_list(const Json& items, std::string_view name) {
  if (name == "tolerations" && has(items, {"key", "operator"})) return values_of("toleration");
  if (name == "env" && has(items, {"name", "value"})) return values_of("env");
  if (name == "ports" && has(items, {"name", "containerPort"})) return values_of("container port");
  if (has(items, {"maxSkew", "topologyKey"})) return values_of("spread constraint");
  return name == "accessModes" ? values_of("accessModes") : nullptr;
}

const KnownValues* values_of_record(const Json& schema, std::string_view name, const Json& parent) {
  if (has(schema, {"nodeAffinity", "podAntiAffinity"})) return values_of("affinity");
  if (has(schema, {"limits", "requests"}))
    return values_of(has(parent, {"accessModes"}) ? "claim resources" : "resources");
  if (name.ends_with("ecurityContext") && has(schema, {"runAsUser"})) return values_of("securityContext");
  if (has(schema, {"tcpSocket", "periodSeconds"})) return values_of("probe");
  return has(schema, {"matchLabels", "matchExpressions"}) ? values_of("selector") : nullptr;
}

}  // namespace

const std::vector<KnownValues>& all_known_values() {
  static const std::vector<KnownValues> values = make_values();
  return values;
}

const KnownValues* known_values(const Json& schema, std::string_view name, const Json& parent) {
  const std::string type = schema["type"].string_or("");
  if (type == "array") return values_of_list(schema["items"], name);
  if (type == "object") {
    if (!schema.contains("additionalProperties")) return values_of_record(schema, name, parent);
    if (is_one_of(name, {"labels", "nodeSelector"})) return values_of("labels");
    return name == "annotations" ? values_of(name) : nullptr;
  }
  if (type != "string" || schema.contains("enum")) return nullptr;
  const bool known = is_one_of(
      name, {"storageClassName", "volumeMode", "imagePullPolicy", "serviceAccountName", "timeZone"});
  return known ? values_of(name) : nullptr;
}

const std::set<std::string_view>* usual_members(const Json& schema) {
  static const std::set<std::string_view> pod_spec{"affinity",           "containers",
                                                   "nodeSelector",       "securityContext",
                                                   "tolerations",        "topologySpreadConstraints",
                                                   "serviceAccountName", "volumeClaimTemplates"};
  static const std::set<std::string_view> container{
      "args",           "env",       "image",          "imagePullPolicy", "livenessProbe", "ports",
      "readinessProbe", "resources", "securityContext"};
  static const std::set<std::string_view> metadata{"annotations", "labels"};
  static const std::set<std::string_view> claim{"accessModes", "resources", "storageClassName", "volumeMode"};
  static const std::set<std::string_view> object{"metadata", "spec"};
  // Types with some of these members are somebody's own, and each member counts.
  if (has(schema, {"containers", "nodeSelector", "dnsPolicy"})) return &pod_spec;
  if (has(schema, {"image", "imagePullPolicy", "terminationMessagePath"})) return &container;
  if (has(schema, {"labels", "annotations", "ownerReferences"})) return &metadata;
  if (has(schema, {"accessModes", "dataSource", "volumeName"})) return &claim;
  return has(schema, {"metadata", "spec", "status"}) ? &object : nullptr;
}

}  // namespace testing::detail
}  // namespace v0
}  // namespace evenkeel
