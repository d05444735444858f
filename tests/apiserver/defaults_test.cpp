// SPDX-License-Identifier: Apache-2.0
#include "apiserver/schema/defaults.hpp"

#include <gtest/gtest.h>

#include "apiserver/schema/pruning.hpp"
#include "schema_fixture.hpp"

namespace evenkeel::apiserver {
namespace {

Json defaulted(Json object, const KindSchema& kind) {
  apply_defaults(object, kind);
  Json again = object;
  apply_defaults(again, kind);
  EXPECT_EQ(again, object) << "defaulting twice";
  return object;
}

Json stored(Json object, const KindSchema& kind) {
  prune(object, kind);
  object = defaulted(std::move(object), kind);
  canonicalize(object, kind);
  Json again = object;
  EXPECT_TRUE(prune(again, kind).empty());
  canonicalize(again, kind);
  EXPECT_EQ(again, object) << "canonicalizing twice";
  return object;
}

TEST(Defaults, FillAbsentMembersAndNullsThatMayNotBe) {
  Shapes shapes;
  EXPECT_EQ(
      defaulted(widget(R"({"size": 3, "color": null, "note": null, "parts": [{"name": "a"}]})"),
                *shapes.widget)["spec"],
      parse(
          R"({"size": 3, "color": "red", "note": null, "replicas": 1, "parts": [{"name": "a", "count": 1}]})"));
}

TEST(Defaults, GoDownIntoDefaults) {
  Shapes shapes;
  const auto kind = shapes.with_spec(R"({"type": "object", "default": {}, "properties": {
    "a": {"type": "object", "default": {"x": 1}, "properties": {"y": {"type": "integer", "default": 2}}}}})");
  EXPECT_EQ(defaulted(parse(R"({"metadata": {"name": "a"}})"), *kind)["spec"],
            parse(R"({"a": {"x": 1, "y": 2}})"));
}

TEST(Defaults, LeaveMetadataOfCustomObjectsAlone) {
  Shapes shapes;
  const Json object = widget(R"({"size": 1})");
  EXPECT_EQ(defaulted(object, *shapes.widget)["metadata"], object["metadata"]);
}

TEST(Defaults, OfDeployments) {  // scenario strategic-patch
  Shapes shapes;
  const Json object =
      stored(parse(R"({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"},
    "spec": {"replicas": 1, "selector": {"matchLabels": {"a": "b"}}, "template": {"metadata": {"labels": {"a": "b"}},
    "spec": {"containers": [{"name": "c", "image": "x:1", "env": [{"name": "A", "value": "1"}]}]}}}})"),
             *shapes.deployment);
  EXPECT_EQ(object, parse(R"({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"},
    "spec": {"replicas": 1, "selector": {"matchLabels": {"a": "b"}}, "template": {"metadata": {"labels": {"a": "b"}},
    "spec": {"containers": [{"name": "c", "image": "x:1", "env": [{"name": "A", "value": "1"}], "resources": {},
    "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File",
    "imagePullPolicy": "IfNotPresent"}], "restartPolicy": "Always", "terminationGracePeriodSeconds": 30,
    "dnsPolicy": "ClusterFirst", "securityContext": {}, "schedulerName": "default-scheduler"}},
    "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": "25%"}},
    "revisionHistoryLimit": 10, "progressDeadlineSeconds": 600}, "status": {}})"));
}

TEST(Defaults, PullAlwaysWhatHasNoTag) {
  Shapes shapes;
  const auto policy = [&](const std::string& image) {
    Json pod = parse(R"({"spec": {"containers": [{"name": "c"}]}})");
    pod["spec"]["containers"][std::size_t{0}]["image"] = image;
    return defaulted(pod, *shapes.pod)["spec"]["containers"][std::size_t{0}]["imagePullPolicy"].string_or("");
  };
  EXPECT_EQ(policy("x"), "Always");
  EXPECT_EQ(policy("x:latest"), "Always");
  EXPECT_EQ(policy("host:5000/x"), "Always");
  EXPECT_EQ(policy("host:5000/x:1"), "IfNotPresent");
  EXPECT_EQ(policy("x@sha256:0"), "IfNotPresent");
}

TEST(Defaults, RequestWhatIsLimited) {
  Shapes shapes;
  const Json pod = defaulted(parse(R"({"spec": {"containers": [{"name": "c", "image": "x", "resources": {
    "limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "500m"}}}]}})"),
                             *shapes.pod);
  EXPECT_EQ(pod["spec"]["containers"][std::size_t{0}]["resources"]["requests"],
            parse(R"({"cpu": "500m", "memory": "1Gi"})"));
}

TEST(Defaults, OfServices) {
  Shapes shapes;
  const auto kind = shapes.catalog.builtin("", "v1", "Service");
  EXPECT_EQ(stored(parse(R"({"metadata": {"name": "s"}, "spec": {"ports": [{"port": 80}]}})"), *kind),
            parse(R"({"metadata": {"name": "s"}, "spec": {"internalTrafficPolicy": "Cluster",
              "ports": [{"port": 80, "protocol": "TCP", "targetPort": 80}], "sessionAffinity": "None",
              "type": "ClusterIP"}, "status": {"loadBalancer": {}}})"));
}

TEST(Defaults, WriteStringDataOfSecretsToData) {
  Shapes shapes;
  const auto kind = shapes.catalog.builtin("", "v1", "Secret");
  EXPECT_EQ(
      stored(
          parse(
              R"({"metadata": {"name": "s"}, "data": {"a": "eA=="}, "stringData": {"a": "hello", "b": "ab", "c": ""}})"),
          *kind),
      parse(
          R"({"metadata": {"name": "s"}, "type": "Opaque", "data": {"a": "aGVsbG8=", "b": "YWI=", "c": ""}})"));
}

TEST(Defaults, OfNamespacesNameThem) {
  Shapes shapes;
  const auto kind = shapes.catalog.builtin("", "v1", "Namespace");
  EXPECT_EQ(stored(parse(R"({"metadata": {"name": "n"}})"), *kind),
            parse(R"({"metadata": {"name": "n", "labels": {"kubernetes.io/metadata.name": "n"}},
              "spec": {}, "status": {"phase": "Active"}})"));
}

TEST(Defaults, OfStatefulSetsJobsAndCustomResourceDefinitions) {
  Shapes shapes;
  const auto set = shapes.catalog.builtin("apps", "v1", "StatefulSet");
  const Json stateful =
      stored(parse(R"({"spec": {"selector": {"matchLabels": {"a": "b"}}, "serviceName": "s"}})"), *set);
  EXPECT_EQ(stateful["spec"]["updateStrategy"],
            parse(R"({"type": "RollingUpdate", "rollingUpdate": {"partition": 0}})"));
  const auto job = shapes.catalog.builtin("batch", "v1", "Job");
  const Json batch = stored(parse(R"({"spec": {"template": {"spec": {"containers": []}}}})"), *job);
  EXPECT_EQ(batch["spec"]["completions"], Json(1));
  EXPECT_EQ(batch["spec"]["backoffLimit"], Json(6));
  const auto crd = shapes.catalog.builtin("apiextensions.k8s.io", "v1", "CustomResourceDefinition");
  const Json definition =
      stored(parse(R"({"spec": {"names": {"plural": "widgets", "kind": "Widget"}}})"), *crd);
  EXPECT_EQ(definition["spec"]["names"],
            parse(R"({"plural": "widgets", "kind": "Widget", "singular": "widget",
    "listKind": "WidgetList"})"));
  EXPECT_EQ(definition["spec"]["conversion"], parse(R"({"strategy": "None"})"));
}

}  // namespace
}  // namespace evenkeel::apiserver
