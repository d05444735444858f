// SPDX-License-Identifier: Apache-2.0
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/api/codec.hpp>
#include <evenkeel/api/kinds.hpp>
#include <evenkeel/api/patch.hpp>

namespace ek = evenkeel;
using ek::Json;

namespace {

template <class... Kinds>
std::vector<const ek::TypeInfo*> infos() {
  static_assert((ek::ObjectType<Kinds> && ...));
  return {&ek::type_info<Kinds>()...};
}

std::vector<const ek::TypeInfo*> all_kinds() {
  return infos<ek::ConfigMap, ek::Secret, ek::Namespace, ek::core_v1::Event, ek::ServiceAccount, ek::Pod,
               ek::Service, ek::Node, ek::PersistentVolumeClaim, ek::Deployment, ek::ReplicaSet,
               ek::StatefulSet, ek::DaemonSet, ek::Job, ek::CronJob, ek::Lease, ek::events_v1::Event,
               ek::rbac_v1::Role, ek::rbac_v1::RoleBinding, ek::rbac_v1::ClusterRole,
               ek::rbac_v1::ClusterRoleBinding, ek::networking_v1::Ingress, ek::networking_v1::NetworkPolicy,
               ek::policy_v1::PodDisruptionBudget, ek::autoscaling_v2::HorizontalPodAutoscaler,
               ek::apiextensions_v1::CustomResourceDefinition>();
}

void check_names(const ek::TypeInfo& type, std::set<const ek::TypeInfo*>& seen) {
  if (!seen.insert(&type).second) return;
  if (type.item != nullptr) check_names(type.item(), seen);
  std::set<std::string_view> names;
  for (const ek::Field& field : type.fields) {
    EXPECT_TRUE(names.insert(field.wire).second) << type.name << " has " << field.wire << " twice";
    check_names(field.type(), seen);
  }
}

TEST(Kinds, FieldsHaveNamesOfTheirOwn) {
  std::set<const ek::TypeInfo*> seen;
  for (const ek::TypeInfo* kind : all_kinds()) check_names(*kind, seen);
  EXPECT_GT(seen.size(), 300U);
}

TEST(Kinds, ClaimNothingUntilSomethingIsSet) {
  for (const ek::TypeInfo* kind : all_kinds()) {
    void* object = kind->record->create();
    const std::string text = ek::to_json(*kind, object);
    kind->record->destroy(object);
    EXPECT_EQ(text, R"({"apiVersion":")" + kind->resource->api_version() + R"(","kind":")" +
                        std::string(kind->resource->kind) + R"(","metadata":{}})");
  }
}

TEST(Kinds, AreWrittenAsInTheReadme) {
  const ek::ConfigMap config{.metadata = {.name = "web", .namespace_ = "default"},
                             .data = {{"image", "nginx"}}};
  EXPECT_EQ(ek::to_json(config),
            R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"web","namespace":"default"},)"
            R"("data":{"image":"nginx"}})");
}

TEST(Kinds, DeploymentRoundTrips) {
  ek::Deployment deployment{.metadata = {.name = "web", .namespace_ = "default"}};
  deployment.spec.replicas = 3;
  deployment.spec.selector = ek::LabelSelector{.match_labels = {{"app", "web"}}};
  deployment.spec.template_.metadata.labels = {{"app", "web"}};
  ek::core_v1::Container container{.name = "web", .image = "nginx:1"};
  container.ports.push_back({.name = "http", .container_port = 80});
  container.resources.limits = {{"cpu", *ek::Quantity::parse("500m")}};
  container.readiness_probe =
      ek::core_v1::Probe{.http_get = ek::core_v1::HTTPGetAction{.path = "/", .port = "http"}};
  deployment.spec.template_.spec.containers.push_back(container);
  const std::string text = ek::to_json(deployment);
  EXPECT_EQ(
      text,
      R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"default"},)"
      R"("spec":{"replicas":3,"selector":{"matchLabels":{"app":"web"}},"template":{"metadata":{"labels":)"
      R"({"app":"web"}},"spec":{"containers":[{"name":"web","image":"nginx:1","ports":[{"name":"http",)"
      R"("containerPort":80}],"readinessProbe":{"httpGet":{"path":"/","port":"http"}},)"
      R"("resources":{"limits":{"cpu":"500m"}}}]}}}})");
  EXPECT_EQ(ek::from_json<ek::Deployment>(text), deployment);
}

TEST(Kinds, PodOfAServerIsRead) {
  const auto pod = ek::from_json<ek::Pod>(R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"web-0",
    "managedFields":[{"manager":"x","fieldsV1":{"f:a":{}}}]},"spec":{"hostPID":true,"containers":[{"name":"a","image":"b",
    "env":[{"name":"E","valueFrom":{"fieldRef":{"fieldPath":"status.podIP"}}}],"securityContext":{},
    "volumeMounts":[{"name":"v","mountPath":"/v"}]}],"volumes":[{"name":"v","emptyDir":{}}]},
    "status":{"phase":"Running","podIP":"10.0.0.1","podIPs":[{"ip":"10.0.0.1"}],"startTime":"2026-01-01T00:00:00Z",
    "containerStatuses":[{"name":"a","ready":true,"restartCount":2,"image":"b","imageID":"c",
    "state":{"running":{"startedAt":"2026-01-01T00:00:01Z"}}}]}})");
  EXPECT_EQ(pod.spec.host_pid, true);
  EXPECT_EQ(pod.status.pod_ip, "10.0.0.1");
  EXPECT_EQ(pod.status.pod_ips.at(0).ip, "10.0.0.1");
  EXPECT_EQ(pod.status.container_statuses.at(0).restart_count, 2);
  EXPECT_TRUE(pod.status.container_statuses.at(0).ready);
  EXPECT_TRUE(pod.spec.containers.at(0).security_context);
  EXPECT_TRUE(pod.spec.volumes.at(0).empty_dir);
  EXPECT_EQ(ek::to_tree(pod)["spec"]["volumes"].dump(), R"([{"emptyDir":{},"name":"v"}])");
}

TEST(Kinds, SecretsHoldBytes) {
  const auto secret = ek::from_json<ek::Secret>(R"({"data":{"password":"aHVudGVyMg=="}})");
  EXPECT_EQ(secret.data.at("password"), ek::Bytes("hunter2"));
  EXPECT_EQ(ek::to_tree(secret)["data"]["password"], Json("aHVudGVyMg=="));
}

TEST(Kinds, ErrorsNameTheField) {
  try {
    static_cast<void>(ek::from_json<ek::Pod>(
        R"({"spec":{"containers":[{"name":"a","ports":[{"containerPort":1},{"containerPort":"x"}]}]}})",
        "pods/default/web-0"));
    ADD_FAILURE();
  } catch (const ek::DecodeError& error) {
    EXPECT_STREQ(
        error.what(),
        R"(pods/default/web-0: spec.containers[0].ports[1].containerPort: expected integer, found string "x")");
  }
}

TEST(Kinds, ContainersAreMatchedByNameInOverlays) {
  const Json raw = Json::parse(R"({"spec":{"containers":[{"name":"a","zz":1},{"name":"b","image":"x","zz":2}],
      "zz":{"k":"v"}}})");
  const auto before = ek::from_tree<ek::Pod>(raw);
  ek::Pod after = before;
  after.spec.containers.erase(after.spec.containers.begin());
  after.spec.containers.at(0).image = "y";
  EXPECT_EQ(ek::overlay(raw, before, after)["spec"].dump(),
            R"({"containers":[{"image":"y","name":"b","zz":2}],"zz":{"k":"v"}})");
}

TEST(Kinds, ResourcesAreNamedAsByDiscovery) {
  EXPECT_EQ(ek::autoscaling_v2::HorizontalPodAutoscaler::resource.api_version(), "autoscaling/v2");
  EXPECT_EQ(ek::networking_v1::NetworkPolicy::resource.plural, "networkpolicies");
  EXPECT_EQ(ek::rbac_v1::ClusterRole::resource.scope, ek::Scope::cluster);
  EXPECT_EQ(ek::rbac_v1::Role::resource.scope, ek::Scope::namespaced);
  EXPECT_EQ(ek::core_v1::Event::resource.api_version(), "v1");
  EXPECT_EQ(ek::events_v1::Event::resource.api_version(), "events.k8s.io/v1");
}

}  // namespace
