// SPDX-License-Identifier: Apache-2.0
// Types against a real API server: each built-in kind is created, read, changed and deleted as its C++ type,
// and loses no field that the server has; the schema of a type admits what the type encodes, and nothing
// else.
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/api/codec.hpp>
#include <evenkeel/api/fields.hpp>
#include <evenkeel/api/kinds/apps.hpp>
#include <evenkeel/api/kinds/autoscaling.hpp>
#include <evenkeel/api/kinds/batch.hpp>
#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/api/kinds/events.hpp>
#include <evenkeel/api/kinds/networking.hpp>
#include <evenkeel/api/kinds/pods.hpp>
#include <evenkeel/api/kinds/rbac.hpp>
#include <evenkeel/api/patch.hpp>
#include <evenkeel/client/client.hpp>
#include <evenkeel/client/resource_client.hpp>

#include "real_environment.hpp"

namespace real_kinds {

namespace ek = evenkeel;
using ek::Json;
using ek::tests::environment;
using ::testing::HasSubstr;

enum class Glow { dim, very_bright };
EVENKEEL_ENUM(Glow, dim, (very_bright, "VeryBright"))

struct LampSpec {
  Glow glow = Glow::dim;
  std::string mode = "steady";
  std::optional<int> watts = {};
  std::optional<std::string> shade = {};
};
EVENKEEL_FIELDS(LampSpec, glow, (mode, ek::one_of("steady", "blinking")),
                (watts, ek::nullable, ek::minimum(1)), shade)

struct Lamp {
  static constexpr ek::ResourceInfo resource{
      .group = "kinds.evenkeel.dev", .version = "v1", .kind = "Lamp", .plural = "lamps"};
  ek::ObjectMeta metadata = {};
  LampSpec spec = {};
};
EVENKEEL_FIELDS(Lamp, metadata, spec)

namespace {

/// Adds to `lost` the paths of values in `all` that `part` does not have. Nulls, empty objects and lists, and
/// what only the server writes, do not count.
void find_lost(const Json& all, const Json* part, const std::string& path, std::vector<std::string>& lost) {
  if (path == "/metadata/managedFields" || path == "/kind" || path == "/apiVersion" || all.is_null()) return;
  if (all.is_object()) {
    for (const auto& [name, value] : all.as_object())
      find_lost(value, part != nullptr ? part->find(name) : nullptr, path + "/" + name, lost);
  } else if (all.is_array() && part != nullptr && part->is_array() && part->size() == all.size()) {
    for (std::size_t i = 0; i < all.size(); ++i)
      find_lost(all[i], &(*part)[i], path + "/" + std::to_string(i), lost);
  } else if (!(all.is_array() && all.size() == 0) && (part == nullptr || *part != all)) {
    lost.push_back(path + " = " + all.dump());
  }
}

std::vector<std::string> lost(const Json& all, const Json& part) {
  std::vector<std::string> found;
  find_lost(all, &part, "", found);
  return found;
}

/// A kind with documents of what to create, to change, and to change in its status (empty: nothing).
struct BuiltIn {
  std::string name;
  std::string document;
  std::string change;
  std::string status;
  void (*play)(const ek::Client& client, const std::string& space, const BuiltIn& kind);
};
std::ostream& operator<<(std::ostream& out, const BuiltIn& kind) {
  return out << kind.name;
}

std::string replaced(std::string text, const std::string& space) {
  for (std::size_t at = 0; (at = text.find("SPACE", at)) != std::string::npos; at += space.size())
    text.replace(at, 5, space);
  return text;
}

template <class T>
T merged(const T& object, const Json& change) {
  return ek::from_json<T>(ek::apply_merge_patch(Json::parse(ek::to_json(object)), change).dump(), "merged");
}

template <class T>
void play(const ek::Client& client, const std::string& space, const BuiltIn& kind) {
  const bool namespaced = T::resource.scope == ek::Scope::namespaced;
  const ek::ObjectKey key{namespaced ? space : "", space + "-web"};
  Json document = Json::parse(replaced(kind.document, space));
  document["metadata"]["name"] = key.name;
  if (namespaced) document["metadata"]["namespace"] = space;
  const auto created = client.create(ek::from_json<T>(document.dump(), kind.name));
  EXPECT_THAT(lost(document, Json::parse(created.raw())), ::testing::IsEmpty()) << created.raw();
  const auto read = client.get<T>(key);
  EXPECT_THAT(lost(Json::parse(read.raw()), Json::parse(ek::to_json(*read))), ::testing::IsEmpty());
  EXPECT_FALSE(read->metadata.uid.empty());

  const Json change = Json::parse(kind.change);
  const auto changed = client.patch(read, [&](T& object) { object = merged(object, change); });
  EXPECT_THAT(lost(change, Json::parse(changed.raw())), ::testing::IsEmpty()) << changed.raw();
  if constexpr (requires { read->status; }) {
    if (!kind.status.empty()) {
      const Json status = Json::object({{"status", Json::parse(kind.status)}});
      const auto with_status = client.patch_status(
          changed, [&](auto& present) { present = merged(T{.status = present}, status).status; });
      EXPECT_THAT(lost(status, Json::parse(with_status.raw())), ::testing::IsEmpty()) << with_status.raw();
      EXPECT_THAT(lost(Json::parse(with_status.raw()), Json::parse(ek::to_json(*with_status))),
                  ::testing::IsEmpty());
    }
  }
  client.remove<T>(key, {.propagation = ek::Propagation::background});
  if (const auto ending = client.find<T>(key)) {  // a finalizer of the server holds it
    client.patch(ending, [](T& object) { object.metadata.finalizers.clear(); });
  }
  EXPECT_FALSE(client.find<T>(key));
}

constexpr const char* pods = R"("selector": {"matchLabels": {"app": "a"},
    "matchExpressions": [{"key": "tier", "operator": "In", "values": ["x", "y"]}]},
  "template": {"metadata": {"labels": {"app": "a", "tier": "x"}, "annotations": {"n": "1"}},
    "spec": {"terminationGracePeriodSeconds": 5, "nodeSelector": {"disk": "ssd"},
      "tolerations": [{"key": "k", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 30}],
      "volumes": [{"name": "v", "configMap": {"name": "m", "items": [{"key": "k", "path": "p", "mode": 256}]}}],
      "containers": [{"name": "c", "image": "i", "args": ["-x"],
        "env": [{"name": "N", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.name"}}}],
        "ports": [{"containerPort": 80, "name": "http", "protocol": "TCP"}],
        "livenessProbe": {"httpGet": {"path": "/", "port": "http", "scheme": "HTTP"}, "periodSeconds": 7},
        "resources": {"limits": {"cpu": "500m", "memory": "1Gi"}, "requests": {"cpu": "100m"}},
        "volumeMounts": [{"name": "v", "mountPath": "/v", "readOnly": true}],
        "securityContext": {"runAsUser": 1000, "capabilities": {"drop": ["ALL"]}}}]}})";

constexpr const char* condition = R"({"type": "Tried", "status": "True", "reason": "R", "message": "M",
  "lastTransitionTime": "2026-01-02T03:04:05Z"})";

std::vector<BuiltIn> built_in_kinds() {
  const std::string pod_template = pods, conditions = R"("conditions": [)" + std::string(condition) + "]";
  const std::string rules = R"({"rules": [{"apiGroups": [""], "resources": ["pods", "pods/log"],
    "resourceNames": ["a"], "verbs": ["get", "list"]}]})";
  const std::string more =
      R"({"rules": [{"apiGroups": ["apps"], "resources": ["deployments"], "verbs": ["watch"]}]})";
  const std::string subjects = R"("subjects": [
    {"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": "eve"},
    {"kind": "ServiceAccount", "namespace": "SPACE", "name": "robot"}])";
  const std::string group =
      R"({"subjects": [{"kind": "Group", "apiGroup": "rbac.authorization.k8s.io", "name": "g"}]})";
  return {
      {"ReplicaSet", R"({"spec": {"replicas": 0, "minReadySeconds": 3, )" + pod_template + "}}",
       R"({"spec": {"minReadySeconds": 5}})", "", &play<ek::ReplicaSet>},
      {"DaemonSet",
       R"({"spec": {"revisionHistoryLimit": 4, "updateStrategy": {"type": "RollingUpdate",
         "rollingUpdate": {"maxUnavailable": "30%", "maxSurge": 0}}, )" +
           pod_template + "}}",
       R"({"spec": {"minReadySeconds": 5}})",
       R"({"currentNumberScheduled": 1, "numberMisscheduled": 2, "desiredNumberScheduled": 3, "numberReady": 1,
         "observedGeneration": 1, )" +
           conditions + "}",
       &play<ek::DaemonSet>},
      {"Job",
       R"({"spec": {"parallelism": 2, "completions": 4, "backoffLimit": 3, "activeDeadlineSeconds": 60,
         "ttlSecondsAfterFinished": 100, "completionMode": "Indexed", "suspend": true,
         "podFailurePolicy": {"rules": [{"action": "FailJob",
           "onExitCodes": {"containerName": "c", "operator": "In", "values": [42]}}]},
         "template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}}})",
       R"({"spec": {"parallelism": 3}})", "", &play<ek::Job>},
      {"Node",
       R"({"metadata": {"labels": {"a": "b"}}, "spec": {"podCIDR": "10.1.0.0/24", "podCIDRs": ["10.1.0.0/24"],
         "providerID": "x://1"}})",
       R"({"spec": {"unschedulable": true, "taints": [{"key": "k", "value": "v", "effect": "NoSchedule"}]}})",
       R"({"capacity": {"cpu": "4", "memory": "8Gi", "pods": "110"}, "allocatable": {"cpu": "3800m"},
         "addresses": [{"type": "InternalIP", "address": "10.0.0.1"}],
         "conditions": [{"type": "Ready", "status": "True", "reason": "R", "message": "M",
           "lastHeartbeatTime": "2026-01-02T03:04:05Z", "lastTransitionTime": "2026-01-02T03:04:05Z"}],
         "images": [{"names": ["i"], "sizeBytes": 123456789012}]})",
       &play<ek::Node>},
      {"PersistentVolumeClaim",
       R"({"spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "s", "volumeMode": "Filesystem",
         "resources": {"requests": {"storage": "1Gi"}}, "selector": {"matchLabels": {"a": "b"}}}})",
       R"({"metadata": {"labels": {"x": "y"}}})",
       R"({"phase": "Bound", "accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"}})",
       &play<ek::PersistentVolumeClaim>},
      {"ServiceAccount",
       R"({"secrets": [{"name": "s"}], "imagePullSecrets": [{"name": "p"}], "automountServiceAccountToken": false})",
       R"({"automountServiceAccountToken": true})", "", &play<ek::ServiceAccount>},
      {"Role", rules, more, "", &play<ek::rbac_v1::Role>},
      {"ClusterRole", rules, R"({"rules": [{"nonResourceURLs": ["/metrics"], "verbs": ["get"]}]})", "",
       &play<ek::rbac_v1::ClusterRole>},
      {"RoleBinding",
       R"({"roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "r"}, )" + subjects +
           "}",
       group, "", &play<ek::rbac_v1::RoleBinding>},
      {"ClusterRoleBinding",
       R"({"roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "SPACE"}, )" +
           subjects + "}",
       group, "", &play<ek::rbac_v1::ClusterRoleBinding>},
      {"Ingress",
       R"({"spec": {"ingressClassName": "nginx", "tls": [{"hosts": ["a.dev"], "secretName": "s"}],
         "defaultBackend": {"service": {"name": "d", "port": {"number": 80}}},
         "rules": [{"host": "a.dev", "http": {"paths": [{"path": "/x", "pathType": "Prefix",
           "backend": {"service": {"name": "w", "port": {"name": "http"}}}}]}}]}})",
       R"({"spec": {"ingressClassName": "other"}})",
       R"({"loadBalancer": {"ingress": [{"ip": "10.0.0.1", "ports": [{"port": 80, "protocol": "TCP"}]}]}})",
       &play<ek::networking_v1::Ingress>},
      {"NetworkPolicy",
       R"({"spec": {"podSelector": {"matchLabels": {"a": "b"}}, "policyTypes": ["Ingress", "Egress"],
         "ingress": [{"from": [{"ipBlock": {"cidr": "10.0.0.0/8", "except": ["10.1.0.0/16"]}},
           {"namespaceSelector": {"matchLabels": {"t": "x"}}, "podSelector": {"matchLabels": {"a": "c"}}}],
           "ports": [{"protocol": "TCP", "port": 80, "endPort": 90}, {"protocol": "TCP", "port": "http"}]}],
         "egress": [{"to": [{"podSelector": {"matchLabels": {"a": "c"}}}]}]}})",
       R"({"spec": {"policyTypes": ["Ingress"], "egress": null}})", "",
       &play<ek::networking_v1::NetworkPolicy>},
      {"HorizontalPodAutoscaler",
       R"({"spec": {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"},
         "minReplicas": 2, "maxReplicas": 7, "metrics": [
           {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 60}}},
           {"type": "External", "external": {"metric": {"name": "q", "selector": {"matchLabels": {"a": "b"}}},
             "target": {"type": "AverageValue", "averageValue": "30"}}}],
         "behavior": {"scaleDown": {"stabilizationWindowSeconds": 60, "selectPolicy": "Min",
           "policies": [{"type": "Percent", "value": 10, "periodSeconds": 15}]}}}})",
       R"({"spec": {"maxReplicas": 9}})",
       R"({"currentReplicas": 1, "desiredReplicas": 2, "lastScaleTime": "2026-01-02T03:04:05Z",
         "currentMetrics": [{"type": "Resource", "resource": {"name": "cpu",
           "current": {"averageUtilization": 40, "averageValue": "100m"}}}], )" +
           conditions + "}",
       &play<ek::autoscaling_v2::HorizontalPodAutoscaler>},
      {"Event",
       R"({"involvedObject": {"kind": "ConfigMap", "apiVersion": "v1", "namespace": "SPACE", "name": "m"},
         "reason": "R", "message": "M", "type": "Normal", "count": 2, "source": {"component": "c", "host": "h"},
         "firstTimestamp": "2026-01-02T03:04:05Z", "lastTimestamp": "2026-01-02T03:04:06Z"})",
       R"({"count": 3})", "", &play<ek::core_v1::Event>},
      {"EventOfTheNewGroup",
       R"({"eventTime": "2026-01-02T03:04:05.123456Z", "reason": "R", "action": "A", "type": "Warning",
         "regarding": {"kind": "ConfigMap", "apiVersion": "v1", "namespace": "SPACE", "name": "m"},
         "reportingController": "x.dev/c", "reportingInstance": "i", "note": "N"})",
       R"({"series": {"count": 2, "lastObservedTime": "2026-01-02T03:04:06.123456Z"}})", "",
       &play<ek::events_v1::Event>},
  };
}

class RealKinds : public ::testing::TestWithParam<BuiltIn> {};

TEST_P(RealKinds, IsCreatedReadChangedAndDeletedAsItsType) {
  const ek::Client client(environment().config());
  GetParam().play(client, ek::tests::fresh_namespace(client), GetParam());
}

INSTANTIATE_TEST_SUITE_P(Of, RealKinds, ::testing::ValuesIn(built_in_kinds()),
                         [](const auto& parameter) { return parameter.param.name; });

TEST(RealTypes, EnumerationsAndNullsAreWhatTheTypeSays) {
  environment().install<Lamp>();
  const ek::Client client(environment().config());
  const std::string space = ek::tests::fresh_namespace(client);
  Lamp lamp{.metadata = {.name = "lamp", .namespace_ = space},
            .spec = {.glow = Glow::very_bright, .mode = "blinking"}};
  EXPECT_EQ(client.create(lamp)->spec.glow, Glow::very_bright);
  const ek::ResourceClient raw = client.resource(ek::ResourceId(Lamp::resource));
  const auto patched = [&](const char* spec) {
    return raw.patch(ek::ObjectKey{space, "lamp"},
                     ek::Patch{ek::PatchType::json, R"([{"op": "replace", "path": "/spec", "value": )" +
                                                        std::string(spec) + "}]"});
  };
  const auto problem = [&](const char* spec) -> std::string {
    try {
      patched(spec);
    } catch (const ek::ApiError& error) {
      return error.message();
    }
    return "";
  };
  EXPECT_THAT(
      problem(R"({"glow": "Blinding"})"),
      HasSubstr(R"(spec.glow: Unsupported value: "Blinding": supported values: "Dim", "VeryBright")"));
  EXPECT_THAT(problem(R"({"mode": "off"})"),
              HasSubstr(R"(spec.mode: Unsupported value: "off": supported values: "steady", "blinking")"));
  EXPECT_THAT(
      problem(R"({"watts": 0})"),
      HasSubstr("spec.watts: Invalid value: 0: spec.watts in body should be greater than or equal to 1"));

  // A null is kept where it is allowed, and otherwise stands for nothing, or for the default.
  const Json kept = patched(R"({"glow": null, "watts": null, "shade": null})")->body()["spec"];
  EXPECT_EQ(kept.dump(), R"({"glow":"Dim","mode":"steady","watts":null})");
  const auto read = client.get<Lamp>({space, "lamp"});
  EXPECT_EQ(read->spec.glow, Glow::dim);
  EXPECT_EQ(read->spec.watts, std::nullopt);
  const auto lit = client.patch(read, [](Lamp& changed) { changed.spec.watts = 7; });
  EXPECT_EQ(lit->spec.watts, 7);
  EXPECT_EQ(client.patch(lit, [](Lamp& changed) { changed.spec.watts.reset(); })->spec.watts, std::nullopt);
}

}  // namespace
}  // namespace real_kinds
