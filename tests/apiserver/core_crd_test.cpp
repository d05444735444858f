// SPDX-License-Identifier: Apache-2.0
// Definitions: those made of types, and the schemas that a server takes, refuses and changes. The answers are
// those of a server of 1.36.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/api/crd.hpp>

#include "../api/rich.hpp"
#include "core_fixture.hpp"

namespace evenkeel::apiserver::tests {

class CrdOfATypeTest : public CoreFixture {};

// Regression: ek::embedded_object on ek::Json had no type, and on a map did not keep fields: 422.
TEST_F(CrdOfATypeTest, IsTakenWithAllAttributes) {
  const CoreReply reply = post(crds, crd_for<crd_types::Rich>());
  EXPECT_EQ(reply.status, 201) << reply.text;
}

/// Answers to definitions of one version.
class CrdSchemaTest : public CoreFixture {
 protected:
  struct Case {
    std::string schema;  ///< Members of the root schema beside its type.
    std::string answer;  ///< The schema that is stored, or status and causes; S is the path of the root.
  };

  static Json crd(const std::string& versions, const std::string& more = "") {
    return Json::parse(R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
      "metadata":{"name":"things.example.com"},"spec":{"group":"example.com","scope":"Namespaced",
      "names":{"plural":"things","kind":"Thing"},"versions":)" +
                       versions + more + "}}");
  }
  static Json crd_of(const std::string& schema, const std::string& version = "") {
    const std::string type = schema.find("\"type\":\"string\"") == 0 ? "" : R"("type":"object",)";
    return crd(R"([{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{)" + type + schema +
               "}}" + version + "}]");
  }

  /// Returns the causes of a refusal: "422; FieldValueRequired spec.group".
  static std::string refusal_of(const CoreReply& reply) {
    std::vector<std::string> causes;
    const Json& given = reply.body.at({"details", "causes"});
    for (std::size_t i = 0; i < given.size(); ++i) {
      std::string field = given[i]["field"].string_or("");
      const std::string root = "spec.validation.openAPIV3Schema";
      if (field.starts_with(root)) field.replace(0, root.size(), "S");
      causes.push_back("; " + given[i]["reason"].string_or("") + " " + field);
    }
    std::sort(causes.begin(), causes.end());
    causes.erase(std::unique(causes.begin(), causes.end()), causes.end());
    std::string text = std::to_string(reply.status);
    for (const std::string& cause : causes) text += cause;
    return text;
  }

  CoreReply create(const Json& crd, const std::string& query = "") {
    return post(crds + "?dryRun=All" + query, crd);
  }
  std::string answer_to(const Json& crd, const std::string& query = "") {
    const CoreReply reply = create(crd, query);
    if (reply.status != 201) return refusal_of(reply);
    return reply.body.at({"spec", "versions"})[0].at({"schema", "openAPIV3Schema"}).dump();
  }

  void expect(const std::vector<Case>& cases, const std::string& version = "") {
    for (const Case& each : cases)
      EXPECT_EQ(answer_to(crd_of(each.schema, version)), each.answer) << each.schema;
  }
};

TEST_F(CrdSchemaTest, ValuesOfKeywordsHaveTheTypesOfGoAtEachLevel) {
  for (
      const char* schema : {
          R"("properties":{"a":{"type":"array","items":{"type":"string","nullable":"yes"}}})",
          R"("properties":{"a":{"type":"array","items":{"type":"string","maxLength":1.5}}})",
          R"("properties":{"a":{"type":"array","items":{"type":"string","exclusiveMinimum":5}}})",
          R"("properties":{"a":{"type":"array","items":{"type":"string","required":[5]}}})",
          R"("properties":{"a":{"type":"array","items":{"type":"string","description":5}}})",
          R"("properties":{"a":{"type":"array","items":{"type":"string","x-kubernetes-preserve-unknown-fields":"true"}}})",
          R"("properties":{"a":{"type":"array","items":{"type":"string","enum":"a"}}})",
          R"("properties":{"a":{"type":"array","items":{"type":"string","not":[]}}})",
          R"("properties":{"a":{"type":"array","items":{"type":"string","allOf":{}}}})",
          R"("properties":{"a":{"type":"array","items":{"type":"string","properties":[]}}})",
          R"("properties":{"a":{"type":"array","items":{"type":"string","x-kubernetes-validations":[{"rule":5}]}}})",
          R"("properties":{"a":{"type":"array","items":{"type":"string","x-kubernetes-list-type":5}}})",
          R"("properties":{"a":{"type":"array","items":{"type":"string","additionalProperties":"a"}}})",
          R"("properties":{"a":{"type":"array","items":{"type":"string","minimum":"5"}}})",
          R"("properties":{"a":{"type":"array","items":{"type":"string","externalDocs":{"url":5}}}})",
          R"("properties":{"a":{"type":"object","additionalProperties":{"type":"string","maxLength":"5"}}})",
          R"("properties":{"a":{"type":"object","properties":{"b":{"type":"object","properties":{"c":{"type":"string","pattern":5}}}}}})",
          R"("properties":{"a":{"type":"array","items":[{"type":5}]}})",
          R"("anyOf":[{"maxProperties":1.5}])",
      })
    EXPECT_EQ(answer_to(crd_of(schema)), "400") << schema;
  EXPECT_EQ(
      create(crd_of(R"("properties":{"a":{"type":"array","items":{"type":"string","nullable":"yes"}}})"))
          .message(),
      "CustomResourceDefinition in version \"v1\" cannot be handled as a CustomResourceDefinition: "
      "spec.versions[0].schema.openAPIV3Schema.properties.a.items.nullable: expected a boolean, got "
      "\"yes\"");
}

TEST_F(CrdSchemaTest, IsStoredAsGoWritesIt) {
  expect({
      {R"("properties":{"a":{"type":"array","items":{"type":"string","zzz":1}}})",
       R"({"properties":{"a":{"items":{"type":"string"},"type":"array"}},"type":"object"})"},
      {R"("properties":{"a":{"type":"array","items":{"type":"string","nullable":false}}})",
       R"({"properties":{"a":{"items":{"type":"string"},"type":"array"}},"type":"object"})"},
      {R"("properties":{"a":{"type":"array","items":{"type":"string","description":null}}})",
       R"({"properties":{"a":{"items":{"type":"string"},"type":"array"}},"type":"object"})"},
      {R"("properties":{"a":{"type":"array","items":{"type":"string","enum":[]}}})",
       R"({"properties":{"a":{"items":{"type":"string"},"type":"array"}},"type":"object"})"},
      {R"("properties":{"a":{"type":"array","items":{"type":"string","title":""}}})",
       R"({"properties":{"a":{"items":{"type":"string"},"type":"array"}},"type":"object"})"},
      {R"("properties":{"a":{"type":"array","items":{"type":"string","items":"x"}}})",
       R"({"properties":{"a":{"items":{"type":"string"},"type":"array"}},"type":"object"})"},
      {R"("properties":{"a":{"type":"array","items":{"type":"string","items":[]}}})",
       R"({"properties":{"a":{"items":{"type":"string"},"type":"array"}},"type":"object"})"},
      {R"("properties":{"a":{"type":"array","items":{"type":"string","maximum":5.0}}})",
       R"({"properties":{"a":{"items":{"maximum":5,"type":"string"},"type":"array"}},"type":"object"})"},
      {R"("properties":{"a":{"type":"array","items":{"type":"string","maximum":1.5}}})",
       R"({"properties":{"a":{"items":{"maximum":1.5,"type":"string"},"type":"array"}},"type":"object"})"},
      {R"("properties":{"a":{"type":"array","items":{"type":"string","required":null}}})",
       R"({"properties":{"a":{"items":{"type":"string"},"type":"array"}},"type":"object"})"},
      {R"("properties":{"a":{"type":"array","items":{"type":"string","default":null}}})",
       R"({"properties":{"a":{"items":{"type":"string"},"type":"array"}},"type":"object"})"},
      {R"("properties":{"a":{"type":"array","items":{"type":"string","x-kubernetes-preserve-unknown-fields":null}}})",
       R"({"properties":{"a":{"items":{"type":"string"},"type":"array"}},"type":"object"})"},
      {R"("properties":{"a":{"type":"array","items":{"type":"string","externalDocs":{}}}})",
       R"({"properties":{"a":{"items":{"externalDocs":{},"type":"string"},"type":"array"}},"type":"object"})"},
      {R"("properties":{"a":{"type":"array","items":{"type":"string","enum":[null,"a"]}}})",
       R"({"properties":{"a":{"items":{"enum":[null,"a"],"type":"string"},"type":"array"}},"type":"object"})"},
      {R"("properties":{"a":{"type":"array","items":{"type":"string","properties":{}}}})",
       R"({"properties":{"a":{"items":{"type":"string"},"type":"array"}},"type":"object"})"},
      {R"("properties":{"a":{"type":"object","additionalProperties":{"type":"string","Type":"x","uniqueItems":false}}})",
       R"({"properties":{"a":{"additionalProperties":{"type":"string"},"type":"object"}},"type":"object"})"},
      {R"("properties":null)", R"({"type":"object"})"},
      {R"("anyOf":[null])", R"({"anyOf":[{}],"type":"object"})"},
      {R"("required":[null])", R"({"required":[""],"type":"object"})"},
      {R"("properties":{"spec":{"type":"string","x-kubernetes-validations":[{"rule":"true","reason":null,"message":"","zzz":1}]}})",
       R"({"properties":{"spec":{"type":"string","x-kubernetes-validations":[{"rule":"true"}]}},"type":"object"})"},
      {R"("additionalProperties":null)", R"({"type":"object"})"},
      {R"("properties":{"spec":{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":true}})",
       R"({"properties":{"spec":{"additionalProperties":true,"properties":{"a":{"type":"string"}},"type":"object"}},"type":"object"})"},
      {R"("properties":{"spec":{"type":"object","additionalProperties":{"type":"string","default":["a"]}}})",
       R"({"properties":{"spec":{"additionalProperties":{"default":["a"],"type":"string"},"type":"object"}},"type":"object"})"},
      {R"("properties":{"metadata":{"type":"object","properties":{"name":{"type":"string","maxLength":5}}}})",
       R"({"properties":{"metadata":{"properties":{"name":{"maxLength":5,"type":"string"}},"type":"object"}},"type":"object"})"},
  });
}

// Go's decoder of schemas below lists and maps ignores unknown keywords without a word.
TEST_F(CrdSchemaTest, UnknownKeywordsBelowItemsAreNotReported) {
  const std::string strict = "&fieldValidation=Strict";
  EXPECT_EQ(
      answer_to(crd_of(R"("properties":{"a":{"type":"array","items":{"type":"string","x":1}}})"), strict),
      R"({"properties":{"a":{"items":{"type":"string"},"type":"array"}},"type":"object"})");
  EXPECT_EQ(answer_to(crd_of(R"("properties":{"a":{"type":"string","x":1}})"), strict), "400");
  const Json status = crd_of(R"("title":"t")", R"(,"subresources":{"status":{"a":1}})");
  EXPECT_EQ(answer_to(status, strict), "400");
  EXPECT_EQ(create(status).body.at({"spec", "versions"})[0]["subresources"].dump(), R"({"status":{}})");
}

TEST_F(CrdSchemaTest, RefusesWhatIsNotStructural) {
  expect({
      {R"("properties":{"spec":{"type":"array","items":{"type":"string"},"x-kubernetes-list-type":""}})",
       "422; FieldValueNotSupported S.properties[spec].x-kubernetes-list-type"},
      {R"("properties":{"spec":{"type":"string","x-kubernetes-list-type":""}})",
       "422; FieldValueInvalid S.properties[spec].type; FieldValueNotSupported "
       "S.properties[spec].x-kubernetes-list-type"},
      {R"("properties":{"spec":{"type":"string","x-kubernetes-map-type":""}})",
       "422; FieldValueInvalid S.properties[spec].type; FieldValueNotSupported "
       "S.properties[spec].x-kubernetes-map-type"},
      {R"("properties":{"spec":{"type":"object","additionalProperties":{"type":"string","x-kubernetes-validations":[{"rule":"true","reason":"Foo"}]}}})",
       "422; FieldValueNotSupported "
       "S.properties[spec].additionalProperties.x-kubernetes-validations[0].reason"},
      {R"("properties":{"spec":{"type":"string","x-kubernetes-validations":[{"rule":"true","reason":"Foo"}]}})",
       "422; FieldValueNotSupported S.properties[spec].x-kubernetes-validations[0].reason"},
      {R"("properties":{"spec":{"type":"array","items":{"type":"string","x-kubernetes-validations":[{"rule":"true","reason":""}]}}})",
       "422; FieldValueNotSupported S.properties[spec].items.x-kubernetes-validations[0].reason"},
      {R"("properties":{"spec":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"string","maxLength":3,"x-kubernetes-validations":[{"rule":"self == oldSelf"}]},"maxItems":3}})",
       "422; FieldValueInvalid S.properties[spec].items.x-kubernetes-validations[0].rule"},
      {R"("properties":{"spec":{"type":"array","maxItems":3,"x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["a"],"items":{"type":"object","required":["a"],"properties":{"a":{"type":"string","maxLength":3,"x-kubernetes-validations":[{"rule":"self == oldSelf"}]}}}}})",
       R"({"properties":{"spec":{"items":{"properties":{"a":{"maxLength":3,"type":"string","x-kubernetes-validations":[{"rule":"self == oldSelf"}]}},"required":["a"],"type":"object"},"maxItems":3,"type":"array","x-kubernetes-list-map-keys":["a"],"x-kubernetes-list-type":"map"}},"type":"object"})"},
      {R"("properties":{"spec":{"type":"string","x-kubernetes-validations":[{"rule":"true","optionalOldSelf":false}]}})",
       "422; FieldValueInvalid S.properties[spec].x-kubernetes-validations[0].optionalOldSelf"},
      {R"("properties":{"spec":{"type":"string","x-kubernetes-validations":[{"rule":"true\n&& true"}]}})",
       "422; FieldValueRequired S.properties[spec].x-kubernetes-validations[0].message"},
      {R"("properties":{"spec":{"type":"string","x-kubernetes-validations":[{"rule":" true\n","message":"a\n"}]}})",
       R"({"properties":{"spec":{"type":"string","x-kubernetes-validations":[{"message":"a\n","rule":" true\n"}]}},"type":"object"})"},
      {R"("properties":{"spec":{"type":"string","x-kubernetes-validations":[{"rule":"true","message":"a\nb"}]}})",
       "422; FieldValueInvalid S.properties[spec].x-kubernetes-validations[0].message"},
      {R"("properties":{"spec":{"type":"string","x-kubernetes-validations":[{"rule":"true","messageExpression":" "}]}})",
       "422; FieldValueRequired S.properties[spec].x-kubernetes-validations[0].messageExpression"},
      {R"("properties":{"spec":{"type":"string","x-kubernetes-validations":[{"rule":"true","fieldPath":"\n"}]}})",
       "422; FieldValueInvalid S.properties[spec].x-kubernetes-validations[0].fieldPath"},
      {R"("nullable":true)", "422; FieldValueForbidden S.nullable"},
      {R"("$schema":"x")", "422; FieldValueInvalid S"},
      {R"("properties":{"spec":{"type":"string","$schema":"x"}})", "422; FieldValueInvalid S"},
      {R"("properties":{"spec":{"type":"string","$ref":""}})",
       "422; FieldValueForbidden S.properties[spec].$ref"},
      {R"("dependencies":{})", "422; FieldValueForbidden S.dependencies"},
      {R"("properties":{"spec":{"type":"string","additionalItems":true}})",
       "422; FieldValueForbidden S.properties[spec].additionalItems"},
      {R"("properties":{"spec":{"type":"array","items":{"type":"string","nullable":true},"x-kubernetes-list-type":"set"}})",
       "422; FieldValueForbidden S.properties[spec].items.nullable"},
      {R"("properties":{"spec":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["a"],"items":{"type":"object","required":["a"],"properties":{"a":{"type":"string","nullable":true}}}}})",
       "422; FieldValueForbidden S.properties[spec].items.properties[a].nullable"},
      {R"("properties":{"spec":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["a"]}})",
       "422; FieldValueRequired S.properties[spec].items"},
      {R"("properties":{"spec":{"type":"object","x-kubernetes-list-map-keys":["a"]}})",
       "422; FieldValueRequired S.properties[spec].x-kubernetes-list-type"},
      {R"("properties":{"spec":{"x-kubernetes-int-or-string":true,"x-kubernetes-preserve-unknown-fields":true}})",
       "422; FieldValueInvalid S.properties[spec].x-kubernetes-preserve-unknown-fields"},
      {R"("properties":{"spec":{"x-kubernetes-int-or-string":true,"allOf":[{"anyOf":[{"type":"integer"},{"type":"string"}]},{"pattern":"a"}]}})",
       R"({"properties":{"spec":{"allOf":[{"anyOf":[{"type":"integer"},{"type":"string"}]},{"pattern":"a"}],"x-kubernetes-int-or-string":true}},"type":"object"})"},
      {R"("properties":{"spec":{"x-kubernetes-int-or-string":true,"allOf":[{"pattern":"a"},{"anyOf":[{"type":"integer"},{"type":"string"}]}]}})",
       "422; FieldValueForbidden S.properties[spec].allOf[1].anyOf[0].type; FieldValueForbidden "
       "S.properties[spec].allOf[1].anyOf[1].type"},
      {R"("properties":{"spec":{"type":"object","x-kubernetes-embedded-resource":true,"additionalProperties":{"type":"string"}}})",
       "422; FieldValueForbidden S.properties[spec].additionalProperties; FieldValueRequired "
       "S.properties[spec].properties"},
      {R"("properties":{"spec":{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}})",
       "422; FieldValueForbidden S.properties[spec].additionalProperties"},
      {R"("properties":{"spec":{"type":"string","anyOf":[{"default":false}]}})",
       "422; FieldValueForbidden S.properties[spec].anyOf[0].default"},
      {R"("properties":{"spec":{"type":"object","anyOf":[{"additionalProperties":false}]}})",
       R"({"properties":{"spec":{"anyOf":[{"additionalProperties":false}],"type":"object"}},"type":"object"})"},
      {R"("properties":{"spec":{"type":"object","anyOf":[{"additionalProperties":{"maxLength":1}}]}})",
       "422; FieldValueForbidden S.properties[spec].anyOf[0].additionalProperties"},
      {R"("properties":{"spec":{"type":"string","allOf":[{"x-kubernetes-validations":[{"rule":"true"}]}]}})",
       "422; FieldValueForbidden S.properties[spec].allOf[0].x-kubernetes-validations"},
      {R"("properties":{"spec":{"type":"object","properties":{"metadata":{"type":"object"}},"oneOf":[{"properties":{"metadata":{"maxProperties":1}}}]}})",
       "422; FieldValueForbidden S.properties[spec].oneOf[0].properties[metadata]"},
      {R"("properties":{"spec":{"type":"object","properties":{"a":{"type":"string"}},"not":{"properties":{"q":{"enum":["a"]}}}}})",
       R"({"properties":{"spec":{"not":{"properties":{"q":{"enum":["a"]}}},"properties":{"a":{"type":"string"}},"type":"object"}},"type":"object"})"},
      {R"("properties":{"spec":{"type":"string"}},"not":{"properties":{"q":{"enum":["a"]}}})",
       "422; FieldValueRequired S.properties[q]"},
      {R"("properties":{"spec":{"type":"string"}},"oneOf":[{"properties":{"spec":{"items":{"maxLength":1}}}}])",
       "422; FieldValueRequired S.properties[spec].items"},
      {R"("properties":{"metadata":{"type":"object","description":"x"}})",
       "422; FieldValueForbidden S.properties[metadata]"},
      {R"("properties":{"metadata":{"type":"object","nullable":true}})",
       "422; FieldValueForbidden S.properties[metadata]"},
      {R"("properties":{"metadata":{"type":"object","required":["name"]}})",
       "422; FieldValueForbidden S.properties[metadata]"},
      {R"("properties":{"metadata":{"type":"object","x-kubernetes-map-type":"atomic"}})",
       "422; FieldValueForbidden S.properties[metadata]"},
      {R"("properties":{"metadata":{"type":"object","default":{}}})",
       "422; FieldValueForbidden S.properties[metadata].default"},
      {R"("properties":{"kind":{"type":"string","default":"x"}})",
       "422; FieldValueForbidden S.properties[kind].default"},
      {R"("properties":{"metadata":{"type":"object","properties":{"labels":{"type":"object"}}}})",
       "422; FieldValueForbidden S.properties[metadata]"},
      {R"("properties":{"metadata":{"type":"object","additionalProperties":false}})",
       "422; FieldValueForbidden S.properties[metadata]"},
  });
}

TEST_F(CrdSchemaTest, HasAPlainRootIfTheStatusIsASubresource) {
  expect(
      {
          {R"("enum":[{}])", "422; FieldValueInvalid S"},
          {R"("not":{"required":["a"]})", "422; FieldValueInvalid S"},
          {R"("oneOf":[{"required":["a"]}])", "422; FieldValueInvalid S"},
          {R"("nullable":true)", "422; FieldValueForbidden S.nullable; FieldValueInvalid S"},
          {R"("x-kubernetes-map-type":"atomic")", "422; FieldValueInvalid S"},
          {R"("x-kubernetes-embedded-resource":true)",
           "422; FieldValueInvalid S; FieldValueRequired S.properties"},
          {R"("minProperties":1)", "422; FieldValueInvalid S"},
          {R"("default":{})",
           "422; FieldValueInvalid S; FieldValueRequired S.default.apiVersion; FieldValueRequired "
           "S.default.kind"},
          {R"("$ref":"")", "422; FieldValueForbidden S.$ref; FieldValueInvalid S"},
          {R"("additionalProperties":false)",
           "422; FieldValueForbidden S.additionalProperties; FieldValueInvalid S"},
          {R"("title":"t")", R"({"title":"t","type":"object"})"},
          {R"("example":5)", R"({"example":5,"type":"object"})"},
          {R"("maxItems":5)", R"({"maxItems":5,"type":"object"})"},
          {R"("x-kubernetes-validations":[{"rule":"true"}])",
           R"({"type":"object","x-kubernetes-validations":[{"rule":"true"}]})"},
          {R"("uniqueItems":false)", R"({"type":"object"})"},
          {R"("type":"string")", "422; FieldValueInvalid S.type"},
          {R"("type":"string","nullable":true)",
           "422; FieldValueForbidden S.nullable; FieldValueInvalid S.type"},
      },
      R"(,"subresources":{"status":{}})");
}

TEST_F(CrdSchemaTest, VersionsAreCompleted) {
  const Json versions = create(crd(R"([{"name":"v1","served":null,"storage":true,"schema":{"openAPIV3Schema":
    {"type":"object"}}}])"))
                            .body.at({"spec", "versions"});
  EXPECT_EQ(versions[0].dump(),
            R"({"name":"v1","schema":{"openAPIV3Schema":{"type":"object"}},"served":false,"storage":true})");
  EXPECT_EQ(
      answer_to(crd("[null]")),
      "422; FieldValueInvalid spec.versions; FieldValueInvalid spec.versions[0].name; FieldValueInvalid "
      "status.storedVersions; FieldValueRequired spec.versions[0].schema.openAPIV3Schema");
}

TEST_F(CrdSchemaTest, DeprecationWarningsArePrintable) {
  const auto answer = [&](const std::string& warning) {
    return answer_to(
        crd_of(R"("title":"t")", R"(,"deprecated":true,"deprecationWarning":")" + warning + "\""));
  };
  const std::string refused = "422; FieldValueInvalid spec.versions[0].deprecationWarning";
  EXPECT_EQ(answer("a\\nb"), refused);
  EXPECT_EQ(answer("a\u00a0b"), refused);  // a space that does not break
  EXPECT_EQ(answer("\u00e9\U0001f600 b"), R"({"title":"t","type":"object"})");
}

TEST_F(CrdSchemaTest, NamesInListsAreLabels) {
  const auto answer = [&](const std::string& names) {
    Json document = crd_of(R"("title":"t")");
    document["spec"]["names"]["shortNames"] = Json::parse(names);
    return answer_to(document);
  };
  EXPECT_EQ(answer("[null]"), "422; FieldValueInvalid spec.names.shortNames[0]");
  EXPECT_EQ(answer(R"(["a",""])"), "422; FieldValueInvalid spec.names.shortNames[1]");
}

// A real server keeps what all versions share once, and then looks for the schema beside it.
TEST_F(CrdSchemaTest, SelectableFieldsNeedTheirSchemaBesideThem) {
  const auto version = [](const std::string& name, const std::string& more, const std::string& fields) {
    return R"({"name":")" + name + R"(","served":true,"storage":)" + (name == "v1" ? "true" : "false") +
           R"(,"schema":{"openAPIV3Schema":{"type":"object","properties":{"a":{"type":"string"})" + more +
           "}}}" + fields + "}";
  };
  const std::string fields = R"(,"selectableFields":[{"jsonPath":".a"}])",
                    other = R"(,"b":{"type":"string"})";
  const auto answer = [&](const std::string& first, const std::string& second) {
    return refusal_of(create(crd("[" + first + "," + second + "]")));
  };
  EXPECT_EQ(answer(version("v1", "", fields), version("v2", other, fields)),
            "422; FieldValueInvalid spec.selectableFields");
  EXPECT_EQ(answer(version("v1", "", fields), version("v2", "", "")),
            "422; FieldValueInvalid spec.versions[0].selectableFields");
  EXPECT_EQ(answer(version("v1", "", fields), version("v2", "", fields)), "201");
  EXPECT_EQ(answer(version("v1", "", fields), version("v2", other, "")), "201");
  EXPECT_EQ(
      refusal_of(create(crd_of(R"("properties":{"metadata":{"type":"object","properties":{"name":{"type":
    "string"}}}})",
                               R"(,"selectableFields":[{"jsonPath":".metadata.name"}])"))),
      "422; FieldValueInvalid spec.selectableFields[0].jsonPath");
}

TEST_F(CrdSchemaTest, ApprovalsAreUrlsOrReasons) {
  const auto answer = [&](const std::string& approval) {
    Json document = crd_of(R"("title":"t")");
    document["metadata"] = Json::object({{"name", "things.x.k8s.io"}});
    document["metadata"]["annotations"]["api-approved.kubernetes.io"] = approval;
    document["spec"]["group"] = "x.k8s.io";
    return refusal_of(create(document));
  };
  EXPECT_EQ(answer("https://example.com/1"), "201");
  EXPECT_EQ(answer("unapproved, for tests"), "201");
  EXPECT_EQ(answer("yes"), "422; FieldValueInvalid metadata.annotations[api-approved.kubernetes.io]");
  EXPECT_EQ(answer(""), "422; FieldValueRequired metadata.annotations[api-approved.kubernetes.io]");
}

TEST_F(CrdSchemaTest, ValuesOfAnyTypeLoseFieldsThatNoSchemaKnows) {
  ASSERT_EQ(
      post(crds, crd_of(R"("properties":{"spec":{"type":"object","additionalProperties":true}})")).status,
      201);
  const CoreReply reply = post("/apis/example.com/v1/namespaces/default/things", Json::parse(R"({
    "apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"a"},
    "spec":{"a":{"b":1},"c":[{"d":1}],"e":5}})"));
  EXPECT_EQ(reply["spec"].dump(), R"({"a":{},"c":[{}],"e":5})") << reply.text;
}

}  // namespace evenkeel::apiserver::tests
