// SPDX-License-Identifier: Apache-2.0
// Bodies, patches and applies at the edges of what a server takes. Expected: a real kube-apiserver 1.36.
#include <gtest/gtest.h>

#include "core_fixture.hpp"

namespace evenkeel::apiserver::tests {
namespace {

class CorePatchTest : public CoreFixture {
 protected:
  void install(const std::string& spec) {
    install_ships(R"({"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":)"
                  R"({"type":"object","properties":{"spec":)" +
                  spec + "}}}}");
  }
  CoreReply apply_spec(const std::string& spec) {
    return apply(
        ships + "/a?fieldManager=m",
        R"({"apiVersion":"example.com/v1","kind":"Ship","metadata":{"name":"a"},"spec":)" + spec + "}");
  }
  static std::string causes(const CoreReply& reply) {
    std::string out = std::to_string(reply.status);
    const Json& list = reply.body.at({"details", "causes"});
    for (std::size_t i = 0; i < list.size(); ++i)
      out += " " + list[i]["reason"].string_or("") + " " + list[i]["field"].string_or("");
    return out;
  }
  CoreReply patch(const std::string& target, const std::string& body, const std::string& form) {
    return send(http::Method::patch, target, body, "application/" + form);
  }

  const std::string deployments = "/apis/apps/v1/namespaces/default/deployments";
};

TEST_F(CorePatchTest, AnApplyWithNullsIsInvalid) {
  install(
      R"({"type":"object","properties":{"s":{"type":"string"},"o":{"type":"object",)"
      R"("properties":{"x":{"type":"string"}}},"d":{"type":"string","default":"q"},"n":{"type":"string",)"
      R"("nullable":true},"any":{"x-kubernetes-preserve-unknown-fields":true},)"
      R"("p":{"x-kubernetes-int-or-string":true},"m":{"type":"object","additionalProperties":{"type":"string"}}}})");
  for (const char* live : {"none", "owned"}) {
    SCOPED_TRACE(live);
    EXPECT_EQ(causes(apply_spec(R"({"s":null})")), "422 FieldValueTypeInvalid spec.s");
    EXPECT_EQ(causes(apply_spec(R"({"o":null})")), "422 FieldValueTypeInvalid spec.o");
    EXPECT_EQ(causes(apply_spec(R"({"o":{"x":null}})")), "422 FieldValueTypeInvalid spec.o.x");
    EXPECT_EQ(causes(apply_spec(R"({"m":{"a":null}})")), "422 FieldValueTypeInvalid spec.m.a");
    EXPECT_EQ(causes(apply_spec(R"({"p":null})")), "422 FieldValueTypeInvalid spec.p");
    EXPECT_EQ(apply_spec(R"({"d":null,"n":null,"any":null})")["spec"], Json::parse(R"({"d":"q","n":null})"));
    EXPECT_LE(apply_spec(R"({"s":"1","o":{"x":"1"},"m":{"a":"1"}})").status, 201);
  }
  // Its owner empties an object: the merge leaves null.
  EXPECT_EQ(causes(apply_spec(R"({"s":"1","o":{},"m":{"a":"1"}})")), "422 FieldValueTypeInvalid spec.o");
  EXPECT_EQ(apply_spec(R"({"s":"1","m":{"a":"1"}})")["spec"],
            Json::parse(R"({"d":"q","m":{"a":"1"},"s":"1"})"));
  // Other writes take nulls for fields that are not set.
  EXPECT_EQ(merge(ships + "/a", R"({"spec":{"s":null,"o":{"x":null}}})")["spec"],
            Json::parse(R"({"d":"q","m":{"a":"1"},"o":{}})"));
}

TEST_F(CorePatchTest, AnApplyPrunesUnknownFieldsBelowAPreservingObject) {
  install(
      R"({"type":"object","properties":{"t":{"type":"object","x-kubernetes-preserve-unknown-fields":true,)"
      R"("properties":{"m":{"type":"object","properties":{"x":{"type":"string"}}}}},)"
      R"("port":{"x-kubernetes-int-or-string":true},"time":{"type":"string","format":"date-time"}}})");
  EXPECT_EQ(apply_spec(R"({"t":{"m":{"x":"1","zz":2},"q":3}})")["spec"],
            Json::parse(R"({"t":{"m":{"x":"1"},"q":3}})"));
  EXPECT_EQ(causes(apply_spec(R"({"port":["a"]})")), "422 FieldValueTypeInvalid spec.port");
  EXPECT_EQ(causes(apply_spec(R"({"port":{"a":1}})")), "422 FieldValueTypeInvalid spec.port");
  EXPECT_EQ(causes(apply_spec(R"({"time":5})")), "422 FieldValueTypeInvalid spec.time");
}

TEST_F(CorePatchTest, TheTypeInThePatchedDocumentIsChecked) {
  install_ships();
  post(ships, ship("a"));
  post(maps, config_map("a"));
  for (const char* body : {R"({"kind":null})", R"({"kind":""})", R"({"kind":5})", R"({"apiVersion":5})",
                           R"({"apiVersion":"a/b/c"})", R"({"apiVersion":null,"kind":null})"})
    EXPECT_EQ(causes(merge(ships + "/a", body)), "422 FieldValueInvalid patch") << body;
  EXPECT_EQ(causes(patch(ships + "/a", R"([{"op":"remove","path":"/kind"}])", "json-patch+json")),
            "422 FieldValueInvalid patch");
  const CoreReply both = merge(ships + "/a", R"({"kind":"ConfigMap","apiVersion":"v1"})");
  EXPECT_EQ(causes(both), "422 FieldValueInvalid kind FieldValueInvalid apiVersion");
  EXPECT_EQ(both.message(),
            "ConfigMap \"a\" is invalid: [kind: Invalid value: \"ConfigMap\": must be Ship, apiVersion: "
            "Invalid value: \"v1\": must be example.com/v1]");
  EXPECT_EQ(merge(ships + "/a", R"({"apiVersion":null})").message(),
            "Internal error occurred: Object 'apiVersion' is missing in 'object has no apiVersion field'");
  EXPECT_EQ(merge(maps + "/a", R"({"kind":null})").status, 200);
  EXPECT_EQ(causes(merge(maps + "/a", R"({"kind":["x"]})")), "422 FieldValueInvalid patch");
  const CoreReply unnamed = merge(maps + "/a", R"({"apiVersion":null})");
  EXPECT_EQ(unnamed.status, 400);
  EXPECT_EQ(unnamed.message(),
            "the name of the object (a based on URL) was undeterminable: name must be provided");
  EXPECT_EQ(causes(merge(maps + "/a?fieldValidation=Strict", R"({"apiVersion":"","kind":""})")),
            "422 FieldValueInvalid patch");
}

TEST_F(CorePatchTest, BodiesAreReadLikeGo) {
  const auto status = [&](const std::string& body, const std::string& type = "application/json") {
    return send(http::Method::post, maps + "?dryRun=All", body, type).status;
  };
  EXPECT_EQ(status(R"({"kind":"ConfigMap","metadata":{"name":"x"}})"), 201);
  EXPECT_EQ(status(R"({"apiVersion":"","kind":"ConfigMap","metadata":{"name":"x"}})"), 201);
  EXPECT_EQ(status(R"({"apiVersion":"v1","metadata":{"name":"x"}})"), 201);
  EXPECT_EQ(status(R"({"kind":"Secret","metadata":{"name":"x"}})"), 400);
  const std::string object = R"({"kind":"ConfigMap","metadata":{"name":"x"},"data":{"k":"\ud83d!"}})";
  EXPECT_EQ(send(http::Method::post, maps, object)["data"]["k"], Json("\xef\xbf\xbd!"));
  EXPECT_EQ(merge(maps + "/x", R"({"data":{"k":"\ude00"}})")["data"]["k"], Json("\xef\xbf\xbd"));
  EXPECT_EQ(
      patch(maps + "/x", R"([{"op":"test","path":"/data/k","value":"\ude00"}])", "json-patch+json").status,
      422);
  EXPECT_EQ(status("\xef\xbb\xbf" + object), 400);
  EXPECT_EQ(merge(maps + "/x", "\xef\xbb\xbf{}").message(),
            "error decoding patch: parse error at line 1, column 1: a byte order mark");
  // Go's YAML decoder refuses all escapes of surrogates.
  const std::string pair =
      R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"y"},"data":{"k":"\ud83d\ude00"}})";
  EXPECT_EQ(status(pair), 201);
  EXPECT_EQ(status(pair, "application/yaml"), 400);
  EXPECT_EQ(apply(maps + "/y?fieldManager=m", pair).status, 400);
}

TEST_F(CorePatchTest, NumbersOfBuiltInKindsAreConvertedLikeGo) {
  const auto deployment = [](const std::string& replicas) {
    return R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},"spec":{"replicas":)" +
           replicas +
           R"(,"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},)"
           R"("spec":{"containers":[{"name":"c","image":"i","ports":[{"containerPort":80}]}]}}}})";
  };
  EXPECT_EQ(send(http::Method::post, deployments, deployment("3.0")).status, 400);
  EXPECT_EQ(send(http::Method::post, deployments, deployment("2.0"), "application/yaml")["spec"]["replicas"],
            Json(2));
  const auto strategic = [&](const std::string& body) {
    return patch(deployments + "/d", body, "strategic-merge-patch+json");
  };
  EXPECT_EQ(strategic(R"({"spec":{"replicas":3.0}})")["spec"]["replicas"], Json(3));
  EXPECT_EQ(strategic(R"({"spec":{"replicas":4294967297}})")["spec"]["replicas"], Json(1));
  EXPECT_EQ(causes(strategic(R"({"spec":{"replicas":2.5}})")), "422 FieldValueInvalid patch");
  EXPECT_EQ(causes(strategic(R"({"spec":{"template":{"spec":{"containers":[{"name":null}]}}}})")),
            "422 FieldValueRequired spec.template.spec.containers[0].name FieldValueRequired "
            "spec.template.spec.containers[0].image");
  const std::string target = deployments + "/d?fieldManager=m&force=true";
  EXPECT_EQ(apply(target, deployment("5.0"))["spec"]["replicas"], Json(5));
  EXPECT_EQ(apply(target, deployment("4294967298"))["spec"]["replicas"], Json(2));
}

TEST_F(CorePatchTest, ApplyOfAScale) {
  const std::string deployment =
      R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},"spec":{)"
      R"("selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},)"
      R"("spec":{"containers":[{"name":"c","image":"i"}]}}}})";
  ASSERT_EQ(apply(deployments + "/d?fieldManager=m", deployment).status, 201);
  const auto scaled = [&](const std::string& rest, const std::string& query = "") {
    return apply(deployments + "/d/scale?fieldManager=s" + query,
                 R"({"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"d"})" + rest + "}");
  };
  EXPECT_EQ(
      scaled(R"(,"spec":{"replicas":3})").message(),
      "Apply failed with 1 conflict: conflict with \"before-first-apply\" with subresource \"scale\" using "
      "autoscaling/v1: .spec.replicas");
  EXPECT_EQ(scaled(R"(,"spec":{"replicas":3.0})", "&force=true")["spec"], Json::parse(R"({"replicas":3})"));
  EXPECT_EQ(scaled(R"(,"spec":null)")["spec"], Json::parse("{}"));
  EXPECT_EQ(get(deployments + "/d")["spec"]["replicas"], Json(0));
  EXPECT_EQ(
      scaled(R"(,"spec":{"replicas":"3"})").message(),
      "failed to create typed patch object (/d; autoscaling/v1, Kind=Scale): .spec.replicas: expected a "
      "number, got \"3\"");
  EXPECT_EQ(scaled(R"(,"spec":{"zz":3})").status, 500);
  EXPECT_EQ(apply(deployments + "/d/scale?fieldManager=s", "metadata: {name: d}\n").message(),
            "invalid object type: /, Kind=");
  EXPECT_EQ(merge(deployments + "/d/scale", R"({"spec":{"replicas":4}})")["spec"]["replicas"], Json(4));
  EXPECT_EQ(scaled(R"(,"spec":{})", "&force=true")["spec"], Json::parse(R"({"replicas":4})"));
  EXPECT_EQ(causes(merge(deployments + "/d/scale", R"({"spec":{"replicas":"x"}})")),
            "422 FieldValueInvalid patch");
  EXPECT_EQ(
      patch(deployments + "/d/scale", R"({"spec":{"replicas":6.0}})", "strategic-merge-patch+json")["spec"],
      Json::parse(R"({"replicas":6})"));
}

}  // namespace
}  // namespace evenkeel::apiserver::tests
