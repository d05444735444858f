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

/// A Deployment or DaemonSet with these parameters of a rolling update.
Json rolling(const std::string& strategy, const Json& surge, const Json& unavailable) {
  Json object = Json::parse(R"({"metadata": {"name": "n"}, "spec": {"selector": {"matchLabels": {"a": "b"}},
    "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}}})");
  object["spec"][strategy]["rollingUpdate"] =
      Json::object({{"maxSurge", surge}, {"maxUnavailable", unavailable}});
  return object;
}

/// The causes of a refusal, as "field: message" in order.
std::string causes_of(const CoreReply& reply) {
  std::string out = std::to_string(reply.status);
  const Json& causes = reply.body["details"]["causes"];
  for (std::size_t i = 0; i < causes.size(); ++i)
    out += "\n" + causes[i]["field"].string_or("") + ": " + causes[i]["message"].string_or("");
  return out;
}

constexpr const char* percentage =
    "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex "
    "used "
    "for validation is '[0-9]+%')";

TEST_F(BuiltinKinds, DeploymentsMaySurgeAboveAllPods) {
  const auto answer = [this](const Json& surge, const Json& unavailable) {
    return causes_of(post("/apis/apps/v1/namespaces/default/deployments?dryRun=All",
                          rolling("strategy", surge, unavailable)));
  };
  const std::string at = "spec.strategy.rollingUpdate.";
  EXPECT_EQ(answer("150%", 0), "201");
  EXPECT_EQ(answer("0%", "00%"),
            "422\n" + at + R"(maxUnavailable: Invalid value: "00%": may not be 0 when `maxSurge` is 0)");
  EXPECT_EQ(answer(0, "101%"),
            "422\n" + at + R"(maxUnavailable: Invalid value: "101%": must not be greater than 100%)");
  EXPECT_EQ(answer("", "25%"), "422\n" + at + R"(maxSurge: Invalid value: "": )" + percentage);
  EXPECT_EQ(answer("abc", 0), "422\n" + at + R"(maxSurge: Invalid value: "abc": )" + percentage + "\n" + at +
                                  "maxUnavailable: Invalid value: 0: may not be 0 when `maxSurge` is 0");
  EXPECT_EQ(answer(Json(), Json()), "201");
}

TEST_F(BuiltinKinds, DaemonSetsReplaceAtMostAllPods) {
  const auto answer = [this](const Json& surge, const Json& unavailable) {
    return causes_of(post("/apis/apps/v1/namespaces/default/daemonsets?dryRun=All",
                          rolling("updateStrategy", surge, unavailable)));
  };
  const std::string at = "spec.updateStrategy.rollingUpdate.";
  EXPECT_EQ(answer("150%", 0),
            "422\n" + at + R"(maxSurge: Invalid value: "150%": must not be greater than 100%)");
  EXPECT_EQ(answer(0, "101%"),
            "422\n" + at + R"(maxUnavailable: Invalid value: "101%": must not be greater than 100%)");
  EXPECT_EQ(answer(0, -1),
            "422\n" + at + "maxUnavailable: Invalid value: -1: must be greater than or equal to 0");
  EXPECT_EQ(answer("0%", 0), "422\n" + at + "maxUnavailable: Required value: cannot be 0 when maxSurge is 0");
  EXPECT_EQ(answer("0%", Json()), "201");
  EXPECT_EQ(answer("80", 0), "422\n" + at + R"(maxSurge: Invalid value: "80": )" + percentage);
  EXPECT_EQ(
      answer("10%", "10%"),
      "422\n" + at + R"(maxSurge: Invalid value: "10%": may not be set when maxUnavailable is non-zero)");
}

TEST_F(BuiltinKinds, NullItemsAreZeroStructs) {
  Json object = rolling("strategy", 1, 0);
  pod_spec(object)["volumes"] = Json::array({Json()});
  EXPECT_EQ(causes_of(post("/apis/apps/v1/namespaces/default/deployments", object)),
            "422\nspec.template.spec.volumes[0].name: Required value");
  const CoreReply policy =
      post("/apis/networking.k8s.io/v1/namespaces/default/networkpolicies", Json::parse(R"({
    "metadata": {"name": "n"}, "spec": {"podSelector": {}, "ingress": [null, {"ports": [null]}]}})"));
  EXPECT_EQ(policy.body["spec"]["ingress"], Json::parse(R"([{}, {"ports": [{"protocol": "TCP"}]}])"))
      << policy.text;
}

TEST_F(BuiltinKinds, JobsWithoutLabelsShareThoseOfTheirTemplate) {
  const std::string jobs = "/apis/batch/v1/namespaces/default/jobs";
  const auto labels = [this, &jobs](const std::string& own, const std::string& type = "application/json") {
    const CoreReply made = send(http::Method::post, jobs + "?dryRun=All",
                                R"({"apiVersion": "batch/v1", "kind": "Job",
      "metadata": {"name": "j")" + own +
                                    R"(}, "spec": {"template": {"metadata": {"labels": {"x": "y"}}, "spec": {
      "restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}}})",
                                type);
    std::string names;
    for (const auto& [name, value] : made.body["metadata"]["labels"].as_object()) names += name + " ";
    return names;
  };
  const std::string all =
      "batch.kubernetes.io/controller-uid batch.kubernetes.io/job-name controller-uid job-name x ";
  EXPECT_EQ(labels(""), all);
  EXPECT_EQ(labels(R"(, "labels": null)"), all);
  EXPECT_EQ(labels("", "application/yaml"), all);
  EXPECT_EQ(labels(R"(, "labels": {"x": "y"})"), "x ");
}

TEST_F(BuiltinKinds, StrategicPatchesAndAppliesWrapNumbers) {
  const std::string deployments = "/apis/apps/v1/namespaces/default/deployments";
  ASSERT_EQ(post(deployments, rolling("strategy", 1, 0)).status, 201);
  const auto patch = [&](const std::string& spec) {
    return send(http::Method::patch, deployments + "/n", R"({"spec": )" + spec + "}",
                "application/strategic-merge-patch+json");
  };
  EXPECT_EQ(patch(R"({"replicas": 4294967298})").body["spec"]["replicas"], Json(2));
  EXPECT_EQ(patch(R"({"replicas": 3.0})").body["spec"]["replicas"], Json(3));
  EXPECT_EQ(causes_of(patch(R"({"replicas": 2147483648})")),
            "422\nspec.replicas: Invalid value: -2147483648: must be greater than or equal to 0");
  EXPECT_EQ(patch(R"({"replicas": 1.5})").status, 422);
  EXPECT_EQ(
      apply(deployments + "/n?fieldManager=a&force=true", R"({"apiVersion": "apps/v1", "kind": "Deployment",
    "metadata": {"name": "n"}, "spec": {"replicas": 4294967301}})")
          .body["spec"]["replicas"],
      Json(5));
  EXPECT_EQ(merge(deployments + "/n", R"({"spec": {"replicas": 2147483648}})").status, 422);
}

/// An object that is refused, and why.
struct InvalidObject {
  const char* target;
  const char* object;
  const char* causes;
};

TEST_F(BuiltinKinds, AreCheckedAsByARealServer) {
  const InvalidObject cases[] = {
      {"/apis/policy/v1/namespaces/default/poddisruptionbudgets",
       R"({"metadata": {"name": "n"}, "spec": {"minAvailable": "200%"}})",
       "spec.minAvailable: Invalid value: \"200%\": must not be greater than 100%"},
      {"/apis/networking.k8s.io/v1/namespaces/default/networkpolicies",
       R"({"metadata": {"name": "n"}, "spec": {"podSelector": {}, "policyTypes": [null]}})",
       R"(spec.policyTypes[0]: Unsupported value: "": supported values: "Ingress", "Egress")"},
      {"/apis/networking.k8s.io/v1/namespaces/default/networkpolicies",
       R"({"metadata": {"name": "n"}, "spec": {"podSelector": {}, "ingress": [{"ports": [{"protocol": ""}]}]}})",
       R"(spec.ingress[0].ports[0].protocol: Unsupported value: "": supported values: "TCP", "UDP", "SCTP")"},
      {"/apis/networking.k8s.io/v1/namespaces/default/networkpolicies",
       R"({"metadata": {"name": "n"}, "spec": {"podSelector": {}, "ingress": [{"ports": [{"port": 80, "endPort": 70}]}]}})",
       "spec.ingress[0].ports[0].endPort: Invalid value: 80: must be greater than or equal to `port`"},
      {"/apis/networking.k8s.io/v1/namespaces/default/networkpolicies",
       R"({"metadata": {"name": "n"}, "spec": {"podSelector": {}, "ingress": [{"from": [{"ipBlock":
         {"cidr": "10.0.0.0/8", "except": ["11.0.0.0/16"]}}]}]}})",
       "spec.ingress[0].from[0].ipBlock.except[0]: Invalid value: \"11.0.0.0/16\": must be a strict subset "
       "of `cidr`"},
      {"/api/v1/namespaces/default/endpoints",
       R"({"metadata": {"name": "n"}, "subsets": [{"addresses": [{"ip": "1.2.3.4"}], "ports": [{"port": 1}, {"port": 2,
         "name": "a"}]}]})",
       "subsets[0].ports[0].name: Required value"},
      {"/apis/discovery.k8s.io/v1/namespaces/default/endpointslices",
       R"({"metadata": {"name": "n"}, "addressType": "IPv4", "endpoints": [], "ports": [{"name": "a"}, {"name": "a"}]})",
       R"(ports[1].name: Duplicate value: "a")"},
      {"/apis/rbac.authorization.k8s.io/v1/clusterroles",
       R"({"metadata": {"name": "n"}, "aggregationRule": {"clusterRoleSelectors": [{"matchExpressions": [
         {"key": "a", "operator": "B"}]}]}})",
       R"(aggregationRule.clusterRoleSelectors[0].matchExpressions[0].operator: Invalid value: "B": not a valid )"
       "selector operator\naggregationRule.clusterRoleSelectors[0]: Invalid value: null: invalid label "
       "selector."},
      {"/api/v1/namespaces/default/limitranges",
       R"({"metadata": {"name": "n"}, "spec": {"limits": [{"type": "1K", "max": {"cpu": "1"}, "default": {"cpu": "2"}}]}})",
       R"(spec.limits[0].type: Invalid value: "1K": must be a standard limit type or fully qualified)"
       "\nspec.limits[0].default[cpu]: Invalid value: \"1\": default value 2 is greater than max value 1"},
      {"/api/v1/namespaces/default/persistentvolumeclaims",
       R"({"metadata": {"name": "n"}, "spec": {"accessModes": ["ReadWriteOnce"], "volumeMode": "",
         "resources": {"requests": {"storage": "-1Gi"}}}})",
       R"(spec.volumeMode: Unsupported value: "": supported values: "Block", "Filesystem")"
       "\nspec.resources[storage]: Invalid value: \"-1Gi\": must be greater than zero"},
      {"/api/v1/namespaces/default/persistentvolumeclaims",
       R"({"metadata": {"name": "n"}, "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage":
         "1Gi"}}, "dataSourceRef": {"apiGroup": "a.b", "kind": "K", "name": ""}}})",
       "spec.dataSource.name: Required value\nspec.dataSourceRef.name: Required value"},
      {"/api/v1/namespaces/default/resourcequotas",
       R"({"metadata": {"name": "n"}, "spec": {"hard": {"count/a.b": "0.5", "cpu": "-1", "storage": "1"}}})",
       R"(spec.hard[count/a.b]: Invalid value: "500m": must be an integer)"
       "\nspec.hard[cpu]: Invalid value: \"-1\": must be greater than or equal to 0"
       "\nspec.hard[storage]: Invalid value: \"storage\": must be a standard resource for quota"},
      {"/api/v1/namespaces/default/resourcequotas",
       R"({"metadata": {"name": "n"}, "spec": {"scopes": ["BestEffort", "NotBestEffort"], "hard": {"services": "1"}}})",
       R"(spec.scopes: Invalid value: ["BestEffort","NotBestEffort"]: unsupported scope applied to resource)"
       "\nspec.scopes: Invalid value: [\"BestEffort\",\"NotBestEffort\"]: unsupported scope applied to "
       "resource"
       "\nspec.scopes: Invalid value: [\"BestEffort\",\"NotBestEffort\"]: conflicting scopes"},
      {"/api/v1/namespaces/default/pods",
       R"({"metadata": {"name": "n"}, "spec": {"containers": [{"name": "c", "image": "i"}], "volumes": [{"name": "v",
         "emptyDir": {"sizeLimit": "-1"}}]}})",
       "spec.volumes[0].emptyDir.sizeLimit: Forbidden: SizeLimit field must be a valid resource quantity"},
      {"/apis/networking.k8s.io/v1/ingressclasses",
       R"({"metadata": {"name": "n"}, "spec": {"controller": "a", "parameters": {"kind": "K"}}})",
       "spec.controller: Invalid value: \"a\": must be a domain-prefixed path (such as \"acme.io/foo\")"
       "\nspec.parameters.name: Required value"},
      {"/apis/storage.k8s.io/v1/storageclasses",
       R"({"metadata": {"name": "n"}, "provisioner": "a.b", "allowedTopologies": [{"matchLabelExpressions": [
         {"key": "k"}]}]})",
       "allowedTopologies[0].matchLabelExpressions[0].values: Required value"},
      {"/api/v1/namespaces/default/services",
       R"({"metadata": {"name": "n"}, "spec": {"ports": [{"port": 80}], "loadBalancerSourceRanges": ["x"]}})",
       "spec.LoadBalancerSourceRanges: Forbidden: may only be used when `type` is 'LoadBalancer'"
       "\nspec.LoadBalancerSourceRanges[0]: Invalid value: \"x\": must be a valid CIDR value, (e.g. "
       "10.9.8.0/24 or "
       "2001:db8::/64)"},
      {"/apis/batch/v1/namespaces/default/cronjobs",
       R"({"metadata": {"name": "n"}, "spec": {"schedule": "* * * * *", "timeZone": "a b", "jobTemplate": {"spec": {
         "template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}}}}})",
       R"(spec.timeZone: Invalid value: "a b": unknown time zone a b)"},
      {"/apis/batch/v1/namespaces/default/jobs",
       R"({"metadata": {"name": "n"}, "spec": {"podFailurePolicy": {"rules": [{"action": "Count"}]}, "template": {"spec": {
         "restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}}})",
       "spec.podFailurePolicy.rules[0]: Invalid value: specifying one of OnExitCodes and OnPodConditions is "
       "required"},
      {"/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers",
       R"({"metadata": {"name": "n"}, "spec": {"maxReplicas": 1, "scaleTargetRef": {"kind": "K", "name": "n"}, "metrics": [
         null, {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization"}}}]}})",
       R"(spec.scaleTargetRef.apiVersion: Invalid value: "": apiVersion must specify API group)"
       "\nspec.metrics[0].type: Required value: must specify a metric source type"
       "\nspec.metrics[0].type: Unsupported value: \"\": supported values: \"ContainerResource\", "
       "\"External\", "
       "\"Object\", \"Pods\", \"Resource\""
       "\nspec.metrics[1].resource.target.averageUtilization: Required value: must set either a target raw "
       "value or a "
       "target utilization"},
  };
  for (const InvalidObject& each : cases)
    EXPECT_EQ(causes_of(post(each.target, Json::parse(each.object))), std::string("422\n") + each.causes);
}

TEST_F(BuiltinKinds, WarnOfFractionsOfBytesAndOldAnnotations) {
  const CoreReply claim = post("/api/v1/namespaces/default/persistentvolumeclaims", Json::parse(R"({
    "metadata": {"name": "n"}, "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1.5"}}}})"));
  EXPECT_EQ(
      *claim.headers.find("Warning"),
      R"(299 - "spec.resources.requests[storage]: fractional byte value \"1500m\" is invalid, must be an integer")");
  Json object = stateful_set();
  object["spec"]["template"]["metadata"]["annotations"]["scheduler.alpha.kubernetes.io/critical-pod"] = "";
  EXPECT_EQ(
      *post(stateful_sets, object).headers.find("Warning"),
      R"(299 - "spec.template.metadata.annotations[scheduler.alpha.kubernetes.io/critical-pod]: non-functional in )"
      R"(v1.16+; use the \"priorityClassName\" field instead")");
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
