// SPDX-License-Identifier: Apache-2.0
// Rules of built-in kinds: the responses of a real server to objects that operators commonly create.
#include "core_fixture.hpp"

namespace evenkeel::apiserver::tests {
namespace {

class BuiltinKinds : public CoreFixture {
 protected:
  const std::string stateful_sets = "/apis/apps/v1/namespaces/default/statefulsets";

  /// A StatefulSet whose container mounts the claim template "data".
  static Json stateful_set() {
    return Json::parse(R"({
      "metadata": {"name": "db"},
      "spec": {
        "serviceName": "db",
        "selector": {"matchLabels": {"app": "db"}},
        "template": {
          "metadata": {"labels": {"app": "db"}},
          "spec": {"containers": [{"name": "db", "image": "db:1",
                                   "volumeMounts": [{"name": "data", "mountPath": "/data"}]}]}},
        "volumeClaimTemplates": [{
          "metadata": {"name": "data"},
          "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}]}})");
  }
  static Json& pod_spec(Json& object) { return object["spec"]["template"]["spec"]; }
};

TEST_F(BuiltinKinds, StatefulSetsMountTheirClaimTemplates) {
  const CoreReply made = post(stateful_sets, stateful_set());
  EXPECT_EQ(made.status, 201) << made.text;
  EXPECT_TRUE(made.body.at({"spec", "template", "spec", "volumes"}).is_null()) << made.text;
  EXPECT_EQ(merge(stateful_sets + "/db", R"({"spec":{"replicas":3}})").status, 200);
  Json other = stateful_set();
  other["apiVersion"] = "apps/v1";
  other["kind"] = "StatefulSet";
  other["metadata"]["name"] = "other";
  EXPECT_EQ(apply(stateful_sets + "/other?fieldManager=one", other.dump()).status, 201);
}

TEST_F(BuiltinKinds, StatefulSetsMountOnlyClaimTemplatesAndVolumes) {
  Json object = stateful_set();
  pod_spec(object)["containers"][0]["volumeMounts"].push_back(
      Json::parse(R"({"name": "logs", "mountPath": "/logs"})"));
  EXPECT_EQ(post(stateful_sets, object).message(),
            R"(StatefulSet.apps "db" is invalid: spec.template.spec.containers[0].volumeMounts[1].name: Not )"
            R"(found: "logs")");
  pod_spec(object)["volumes"] = Json::parse(R"([{"name": "logs", "emptyDir": {}}])");
  EXPECT_EQ(post(stateful_sets, object).status, 201);
}

TEST_F(BuiltinKinds, ClaimTemplatesReplaceVolumesOfTheirName) {
  Json object = stateful_set();
  pod_spec(object)["volumes"] = Json::parse(R"([{"name": "data", "secret": {}}])");
  EXPECT_EQ(post(stateful_sets, object).status, 201);
}

TEST_F(BuiltinKinds, HostNamesOfStatefulSetsAreTheControllers) {
  Json object = stateful_set();
  pod_spec(object)["hostname"] = "Not a name";
  pod_spec(object)["subdomain"] = "Not one either";
  EXPECT_EQ(post(stateful_sets, object).status, 201);
}

TEST_F(BuiltinKinds, ClaimTemplatesAreClaims) {
  Json object = stateful_set();
  object["spec"]["volumeClaimTemplates"][0]["spec"].erase("accessModes");
  EXPECT_EQ(post(stateful_sets, object).message(),
            R"(StatefulSet.apps "db" is invalid: spec.volumeClaimTemplates[0].spec.accessModes: Required )"
            R"(value: at least 1 access mode is required)");
}

TEST_F(BuiltinKinds, EventsLieInTheNamespaceOfTheirObject) {
  const auto made_in = [this](const std::string& own, const std::string& space, bool timed) {
    Json event = Json::parse(R"({"metadata":{"generateName":"e-"},"involvedObject":{"kind":"Node","name":"n"},
                                 "reason":"R","message":"text","type":"Normal"})");
    if (!space.empty()) event["involvedObject"]["namespace"] = space;
    if (timed) {
      event["eventTime"] = "2026-01-02T03:04:05.000001Z";
      event["reportingComponent"] = "example.com/c";
      event["reportingInstance"] = "i";
      event["action"] = "A";
    }
    return post("/api/v1/namespaces/" + own + "/events", event);
  };
  // Objects without a namespace have their events in `default`; events with an eventTime may be in
  // `kube-system`, too.
  EXPECT_EQ(made_in("default", "", false).status, 201);
  EXPECT_EQ(made_in("kube-system", "", false).status, 422);
  EXPECT_EQ(made_in("default", "", true).status, 201);
  EXPECT_EQ(made_in("kube-system", "", true).status, 201);
  EXPECT_EQ(made_in("kube-public", "", true).status, 422);
  EXPECT_EQ(made_in("kube-public", "kube-public", false).status, 201);
  const CoreReply other = made_in("default", "kube-public", false);
  EXPECT_EQ(other.status, 422);
  EXPECT_EQ(other.body.at({"details", "causes"})[0]["message"],
            Json(R"(Invalid value: "kube-public": does not match event.namespace)"));
}

class ServerObjects : public CoreFixture {
 protected:
  const std::string service = "/api/v1/namespaces/default/services/kubernetes";
  const std::string endpoints = "/api/v1/namespaces/default/endpoints/kubernetes";
  const std::string slice = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes";
};

TEST_F(ServerObjects, ServiceOfTheServerIsThere) {
  const CoreReply found = get(service);
  EXPECT_EQ(found.body.at({"spec", "clusterIP"}), Json("10.0.0.1"));
  EXPECT_EQ(found.body.at({"metadata", "labels"}),
            Json::parse(R"({"component":"apiserver","provider":"kubernetes"})"));
  EXPECT_EQ(found.body.at({"metadata", "managedFields"})[std::size_t{0}]["manager"], Json("kube-apiserver"));
  EXPECT_EQ(get(endpoints).body.at({"metadata", "labels", "endpointslice.kubernetes.io/skip-mirror"}),
            Json("true"));
  const CoreReply points = get(slice);
  EXPECT_EQ(points.body.at({"metadata", "labels", "kubernetes.io/service-name"}), Json("kubernetes"));
  EXPECT_EQ(points.body["ports"], Json::parse(R"([{"name":"https","port":6443,"protocol":"TCP"}])"));
}

TEST_F(ServerObjects, ComeBackWhenTheyAreDeleted) {
  for (const std::string& path : {service, endpoints, slice}) {
    const std::string uid = get(path).uid();
    EXPECT_EQ(remove(path).status, 200);
    EXPECT_EQ(get(path).status, 404);
    core.on_timeout(now);
    EXPECT_EQ(get(path).status, 200);
    EXPECT_NE(get(path).uid(), uid);
  }
}

TEST_F(ServerObjects, FirstNamespacesAreTheServersOwn) {
  const CoreReply found = get("/api/v1/namespaces/default");
  EXPECT_EQ(found.body.at({"metadata", "managedFields"})[std::size_t{0}]["manager"], Json("kube-apiserver"));
  EXPECT_EQ(found.body["spec"], Json::parse(R"({"finalizers":["kubernetes"]})"));
  EXPECT_EQ(found.body["status"], Json::parse(R"({"phase":"Active"})"));
}

}  // namespace
}  // namespace evenkeel::apiserver::tests
