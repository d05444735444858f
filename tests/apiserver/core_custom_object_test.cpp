// SPDX-License-Identifier: Apache-2.0
// Custom resources as they are read back, and what else a real server does with them.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core_fixture.hpp"

namespace evenkeel::apiserver::tests {
namespace {

class CustomObjectsTest : public CoreFixture {
 protected:
  /// Returns version v1 with these properties of the object, and more members.
  static std::string version(const std::string& properties, const std::string& more = "") {
    return R"({"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object",)"
           R"("properties":)" +
           properties + "}}" + (more.empty() ? "" : "," + more) + "}";
  }
  static Json ship_with(const std::string& spec) {
    Json out = ship("a");
    out["spec"] = Json::parse(spec);
    return out;
  }
  /// Returns the causes of an answer as "reason field: message", one per line.
  static std::string causes_of(const CoreReply& reply) {
    std::string out;
    const Json& causes = reply.body.at({"details", "causes"});
    for (std::size_t i = 0; i < causes.size(); ++i)
      out += causes[i]["reason"].string_or("") + " " + causes[i]["field"].string_or("") + ": " +
             causes[i]["message"].string_or("") + "\n";
    return out;
  }
  static std::vector<std::string> warnings_of(const CoreReply& reply) {
    std::vector<std::string> out;
    for (const auto& [name, value] : reply.headers)
      if (name == "Warning") out.push_back(value);
    return out;
  }
};

// A create drops the status, and the stored object has none; a real server sets defaults whenever it decodes.
class StatusDefaultTest : public CustomObjectsTest {
 protected:
  StatusDefaultTest() {
    install_ships(version(R"({"spec":{"type":"object","properties":{"crew":{"type":"integer"}}},)"
                          R"("status":{"type":"object","default":{"observed":-1},"properties":{)"
                          R"("observed":{"type":"integer"},"phase":{"type":"string"},)"
                          R"("ready":{"type":"boolean","default":false}}}})",
                          R"("subresources":{"status":{}},"additionalPrinterColumns":[{"name":"Observed",)"
                          R"("type":"integer","jsonPath":".status.observed"}])"));
  }
  const Json standard = Json::parse(R"({"observed":-1,"ready":false})");
  const std::string one = ships + "/a";
};

TEST_F(StatusDefaultTest, IsInEveryAnswer) {
  const CoreReply stream = get(ships + "?watch=true");
  Json with_status = ship("a");
  with_status["status"] = Json::parse(R"({"phase":"given"})");
  EXPECT_EQ(post(ships + "?dryRun=All", with_status)["status"], standard);
  EXPECT_EQ(post(ships, with_status)["status"], standard);
  EXPECT_EQ(get(one)["status"], standard);
  EXPECT_EQ(get(one + "/status")["status"], standard);
  EXPECT_EQ(get(ships)["items"][std::size_t{0}]["status"], standard);
  EXPECT_EQ(get(ships + "?fieldSelector=metadata.name%3Da")["items"][std::size_t{0}]["status"], standard);
  EXPECT_EQ(events(stream).at(0).at({"object", "status"}), standard);
  const CoreReply table = get(ships, "application/json;as=Table;v=v1;g=meta.k8s.io");
  EXPECT_EQ(table["rows"][std::size_t{0}]["cells"], Json::parse(R"(["a",-1])"));
  EXPECT_EQ(apply(ships + "/b?fieldManager=m", ship("b").dump())["status"], standard);
  EXPECT_EQ(remove(one + "?dryRun=All").status, 200);
  events(stream);
  remove(one);
  EXPECT_EQ(events(stream).at(0).at({"object", "status"}), standard);
}

TEST_F(StatusDefaultTest, IsWhatTheFirstPatchChanges) {
  post(ships, ship("a"));
  const CoreReply patched = merge(one + "/status", R"({"status":{"phase":"q"}})");
  EXPECT_EQ(patched["status"], Json::parse(R"({"observed":-1,"phase":"q","ready":false})"));
  EXPECT_EQ(patched.body.at({"metadata", "managedFields", "1", "fieldsV1"}),
            Json::parse(R"({"f:status":{"f:phase":{}}})"));
  EXPECT_EQ(merge(one + "/status", R"({"status":null})")["status"], standard);
  EXPECT_EQ(get(one)["status"], standard);
}

// A real server compares the bytes in etcd, which change.
TEST_F(StatusDefaultTest, IsStoredByTheNextWrite) {
  const CoreReply made = post(ships, ship("a"));
  const CoreReply first = merge(one, R"({"metadata":{"labels":null}})");
  EXPECT_NE(first.version(), made.version());
  EXPECT_EQ(first.body.at({"metadata", "generation"}), Json(1));
  EXPECT_EQ(merge(one, R"({"metadata":{"labels":null}})").version(), first.version());
}

// Regression: the answer had the defaults of the version of the request.
TEST_F(CustomObjectsTest, DryRunOfAnotherVersionAnswersLikeTheWrite) {
  const auto with_default = [](const std::string& name, bool storage) {
    return R"({"name":")" + name + R"(","served":true,"storage":)" + (storage ? "true" : "false") +
           R"(,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{)"
           R"("crew":{"type":"integer"},"both":{"type":"string","default":")" +
           name + R"("},"only1":{"type":"string")" + (name == "v1" ? R"(,"default":"one")" : "") +
           R"(},"only2":{"type":"string")" + (name == "v2" ? R"(,"default":"two")" : "") + "}}}}}}}";
  };
  install_ships(with_default("v1", true) + "," + with_default("v2", false));
  const std::string two = "/apis/example.com/v2/namespaces/default/ships";
  Json sent = ship("a");
  sent["apiVersion"] = "example.com/v2";
  const Json wanted = Json::parse(R"({"both":"v2","crew":1,"only1":"one","only2":"two"})");
  EXPECT_EQ(post(two + "?dryRun=All", sent)["spec"], wanted);
  EXPECT_EQ(apply(two + "/a?fieldManager=m&dryRun=All", sent.dump())["spec"], wanted);
  EXPECT_EQ(post(two, sent)["spec"], wanted);
  EXPECT_EQ(merge(two + "/a?dryRun=All", R"({"spec":{"crew":2}})")["spec"]["only1"], Json("one"));
}

// Regression: strict decoding refused, and others lost, the members of maps in lists below untyped fields.
TEST_F(CustomObjectsTest, KeepListsBelowUntypedFields) {
  install_ships(version(R"({"spec":{"type":"object","properties":{)"
                        R"("any":{"x-kubernetes-preserve-unknown-fields":true}}}})"));
  const std::string spec = R"({"any":[{"k":"v"},[{"k":[{"l":1}]}]]})";
  const CoreReply made = post(ships + "?fieldValidation=Strict", ship_with(spec));
  EXPECT_EQ(made.status, 201) << made.text;
  EXPECT_EQ(made["spec"], Json::parse(spec));
  EXPECT_EQ(put(ships + "/a?fieldValidation=Strict", made.body)["spec"], Json::parse(spec));
  EXPECT_EQ(merge(ships + "/a?fieldValidation=Strict", R"({"spec":{"any":[{"b":[{"c":1}]}]}})")["spec"],
            Json::parse(R"({"any":[{"b":[{"c":1}]}]})"));
  EXPECT_EQ(apply(ships + "/b?fieldManager=m&fieldValidation=Strict",
                  R"({"apiVersion":"example.com/v1","kind":"Ship","metadata":{"name":"b"},"spec":)" + spec +
                      "}")["spec"],
            Json::parse(spec));
}

TEST_F(CustomObjectsTest, EmbeddedResourcesHaveAType) {
  install_ships(
      version(R"({"spec":{"type":"object","properties":{"pod":{"type":"object",)"
              R"("x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true}}}})"));
  const auto made = [&](const std::string& pod) {
    return post(ships + "?dryRun=All", ship_with(R"({"pod":)" + pod + "}"));
  };
  for (const char* version : {"a/b/c", "http://x"})
    EXPECT_EQ(causes_of(made(R"({"apiVersion":")" + std::string(version) + R"(","kind":"A"})")),
              "FieldValueInvalid spec.pod.apiVersion: Invalid value: \"" + std::string(version) +
                  "\": unexpected GroupVersion string: " + version + "\n");
  EXPECT_EQ(made(R"({"apiVersion":"/v1","kind":"A"})").status, 201);
  const CoreReply refused = made(R"({"apiVersion":"v1","kind":5})");
  EXPECT_EQ(refused.status, 400);
  EXPECT_EQ(
      refused.message(),
      R"(Ship in version "v1" cannot be handled as a Ship: spec.pod.kind: Invalid value: 5: must be a string)");
}

TEST_F(CustomObjectsTest, PathsOfTheScaleLeadToNumbers) {
  install_ships(version(R"({"spec":{"type":"object","x-kubernetes-preserve-unknown-fields":true},)"
                        R"("status":{"type":"object","x-kubernetes-preserve-unknown-fields":true}})",
                        R"("subresources":{"status":{},"scale":{"specReplicasPath":".spec.a.crew",)"
                        R"("statusReplicasPath":".status.crew","labelSelectorPath":".status.selector"}})"));
  const auto problem = [&](const std::string& spec) {
    return causes_of(post(ships + "?dryRun=All", ship_with(spec)));
  };
  const std::string type =
      "FieldValueTypeInvalid spec: Invalid value: \"integer\": spec in body must be of type object: "
      "\"integer\"\n";
  EXPECT_EQ(
      problem("5"),
      type +
          "FieldValueInvalid .spec.a.crew: Invalid value: 0: .spec.a accessor error: 5 is of the type int64, "
          "expected map[string]interface{}\n");
  EXPECT_EQ(problem(R"({"a":[1,{"b":null,"c":"d"}]})"),
            "FieldValueInvalid .spec.a.crew: Invalid value: 0: .spec.a.crew accessor error: [1 map[b:<nil> "
            "c:d]] is of the type "
            "[]interface {}, expected map[string]interface{}\n");
  EXPECT_EQ(problem(R"({"a":{"crew":null}})"),
            "FieldValueInvalid .spec.a.crew: Invalid value: 0: .spec.a.crew accessor error: <nil> is of the "
            "type <nil>, expected int64\n");
  EXPECT_EQ(problem(R"({"a":{"crew":true}})"),
            "FieldValueInvalid .spec.a.crew: Invalid value: 0: .spec.a.crew accessor error: true is of the "
            "type bool, expected int64\n");
  EXPECT_EQ(problem(R"({"a":null})"), "");
  post(ships, ship_with("{}"));
  EXPECT_EQ(causes_of(merge(ships + "/a/status", R"({"status":{"selector":5}})")),
            "FieldValueInvalid .status.selector: Invalid value: \"\": .status.selector accessor error: 5 is "
            "of the type int64, expected string\n");
}

// scenarios delete-finalizer-add, patch-immutable-metadata
TEST_F(CustomObjectsTest, MetadataIsCheckedTwice) {
  post(maps, config_map("a"));
  const CoreReply refused = merge(maps + "/a", R"({"metadata":{"uid":"other"}})");
  const std::string cause = "FieldValueInvalid metadata.uid: Invalid value: \"other\": field is immutable\n";
  EXPECT_EQ(causes_of(refused), cause + cause);
  EXPECT_EQ(refused.message(),
            R"(ConfigMap "a" is invalid: metadata.uid: Invalid value: "other": field is immutable)");
}

TEST_F(CustomObjectsTest, UnknownFormatsAreWarnedOf) {
  const auto definition = [](const std::string& format) {
    return Json::parse(
        R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",)"
        R"("metadata":{"name":"as.example.com"},"spec":{"group":"example.com","scope":"Cluster",)"
        R"("names":{"plural":"as","kind":"A"},"versions":[{"name":"v1","served":true,"storage":true,)"
        R"("schema":{"openAPIV3Schema":{"type":"object","properties":{)"
        R"("a":{"type":"array","items":{"type":"integer","format":"uint32"}},)"
        R"("b":{"type":"object","additionalProperties":{"type":"string","format":")" +
        format +
        R"("}},"c":{"type":"string","format":"date-time"},)"
        R"("d":{"type":"number","format":"double"}}}}}]}})");
  };
  const CoreReply made = post(crds, definition("binary"));
  EXPECT_EQ(warnings_of(made), (std::vector<std::string>{R"(299 - "unrecognized format \"binary\"")",
                                                         R"(299 - "unrecognized format \"uint32\"")"}));
  Json next = definition("k8s-long-name");
  next["metadata"]["resourceVersion"] = get(crds + "/as.example.com").version();
  const CoreReply known = put(crds + "/as.example.com", next);
  EXPECT_EQ(known.status, 200) << known.text;
  EXPECT_EQ(warnings_of(known), std::vector<std::string>{}) << "those of before are known";
  next = definition("other");
  next["metadata"]["resourceVersion"] = get(crds + "/as.example.com").version();
  EXPECT_EQ(warnings_of(put(crds + "/as.example.com", next)),
            std::vector<std::string>{R"(299 - "unrecognized format \"other\"")"});
}

TEST_F(CustomObjectsTest, ProtectedGroupsTellTheirApproval) {
  const auto made = [&](const std::string& group, const std::string& approval) {
    return post(
        crds,
        Json::parse(R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",)"
                    R"("metadata":{"name":"as.)" +
                    group + R"(","annotations":{"api-approved.kubernetes.io":")" + approval +
                    R"("}},"spec":{"group":")" + group +
                    R"(","scope":"Cluster","names":{"plural":"as","kind":"A"},"versions":[{"name":"v1",)"
                    R"("served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}})"));
  };
  const auto condition = [&](const std::string& group) {
    const CoreReply definition = get(crds + "/as." + group);
    const Json& conditions = definition["status"]["conditions"];
    const Json& last = conditions[conditions.size() - 1];
    return last["type"].string_or("") + " " + last["status"].string_or("") + " " +
           last["reason"].string_or("") + " " + last["message"].string_or("");
  };
  made("a.k8s.io", "https://github.com/kubernetes/kubernetes/pull/1");
  EXPECT_EQ(condition("a.k8s.io"),
            "KubernetesAPIApprovalPolicyConformant True ApprovedAnnotation approved in "
            "https://github.com/kubernetes/kubernetes/pull/1");
  merge(crds + "/as.a.k8s.io",
        R"({"metadata":{"annotations":{"api-approved.kubernetes.io":"unapproved, a test"}}})");
  EXPECT_EQ(
      condition("a.k8s.io"),
      R"(KubernetesAPIApprovalPolicyConformant False UnapprovedAnnotation not approved: "unapproved, a test")");
  EXPECT_EQ(causes_of(merge(crds + "/as.a.k8s.io", R"({"metadata":{"annotations":null}})")),
            "FieldValueRequired metadata.annotations[api-approved.kubernetes.io]: Required value: protected "
            "groups must have approval annotation \"api-approved.kubernetes.io\", see "
            "https://github.com/kubernetes/enhancements/pull/1111\n");
  EXPECT_EQ(
      causes_of(made("b.kubernetes.io", "soon")),
      "FieldValueInvalid metadata.annotations[api-approved.kubernetes.io]: Invalid value: \"soon\": "
      "protected "
      "groups must have approval annotation \"api-approved.kubernetes.io\" with either a URL or a reason "
      "starting with \"unapproved\", see https://github.com/kubernetes/enhancements/pull/1111\n");
  made("example.org", "https://x");
  EXPECT_EQ(condition("example.org").substr(0, 16), "Established True");
}

}  // namespace
}  // namespace evenkeel::apiserver::tests
