// SPDX-License-Identifier: Apache-2.0
#include "apiserver/schema/schema_validation.hpp"

#include <gtest/gtest.h>

#include "apiserver/schema/defaults.hpp"
#include "schema_fixture.hpp"

namespace evenkeel::apiserver {
namespace {

std::string told(const std::vector<FieldError>& errors) {
  std::string text;
  for (const FieldError& error : errors) text += error.reason + " " + error.text() + "\n";
  return text;
}

constexpr const char* rules_not_checked =
    "FieldValueInvalid <nil>: Invalid value: null: some validation rules were not checked because the object "
    "was "
    "invalid; correct the existing errors to complete validation\n";

class Validation : public ::testing::Test {
 protected:
  std::string of_widget(std::string_view spec) {
    Json object = widget(spec);
    apply_defaults(object, *shapes.widget);
    return told(validate(object, *shapes.widget));
  }
  /// Returns the errors of a value of a property with this schema.
  std::string of(std::string_view schema, std::string_view value) {
    const auto kind =
        shapes.with_spec(R"({"type": "object", "properties": {"v": )" + std::string(schema) + "}}");
    return told(validate(Json::object({{"spec", Json::object({{"v", parse(value)}})}}), *kind));
  }
  Shapes shapes;
};

TEST_F(Validation, HasTheErrorsOfTheServer) {  // scenario create-cr-invalid
  EXPECT_EQ(
      of_widget(R"({"size": 0, "color": "pink", "label": "TOOLONGLABEL1"})"),
      "FieldValueNotSupported spec.color: Unsupported value: \"pink\": supported values: \"red\", \"green\", "
      "\"blue\"\n"
      "FieldValueTooLong spec.label: Too long: may not be more than 10 bytes\n"
      "FieldValueInvalid spec.size: Invalid value: 0: spec.size in body should be greater than or equal to "
      "1\n" +
          std::string(rules_not_checked));
  EXPECT_EQ(of_widget("{}"),
            "FieldValueRequired spec.size: Required value\n" + std::string(rules_not_checked));
  EXPECT_EQ(of_widget(R"({"size": "big"})"),
            "FieldValueTypeInvalid spec.size: Invalid value: \"string\": spec.size in body must be of type "
            "integer: "
            "\"string\"\n" +
                std::string(rules_not_checked));
  Json without_spec = widget("{}");
  without_spec.erase("spec");
  EXPECT_EQ(told(validate(without_spec, *shapes.widget)),
            "FieldValueRequired spec: Required value\n" + std::string(rules_not_checked));
  EXPECT_EQ(of_widget(R"({"size": 3, "port": "http", "free": {"x": [1]}, "note": null})"), "");
}

TEST_F(Validation, FindsDuplicatesInSetsAndMaps) {  // scenario create-duplicate-list-keys
  EXPECT_EQ(of_widget(R"({"size": 3, "parts": [{"name": "a"}, {"name": "a"}, {"name": "a"}]})"),
            "FieldValueDuplicate spec.parts[1]: Duplicate value: {\"name\":\"a\"}\n");
  EXPECT_EQ(of_widget(R"({"size": 3, "tags": ["a", "b", "a"]})"),
            "FieldValueDuplicate spec.tags[2]: Duplicate value: \"a\"\n");
}

TEST_F(Validation, EvaluatesRules) {  // scenario create-cr-cel
  EXPECT_EQ(of_widget(R"({"size": 3, "color": "blue"})"),
            "FieldValueInvalid spec: Invalid value: blue widgets are large\n");
  EXPECT_EQ(of_widget(R"({"size": 30, "color": "blue"})"), "");
}

TEST_F(Validation, ChecksBounds) {
  EXPECT_EQ(of(R"({"type": "integer", "minimum": 2, "exclusiveMinimum": true})", "2"),
            "FieldValueInvalid spec.v: Invalid value: 2: spec.v in body should be greater than 2\n");
  EXPECT_EQ(
      of(R"({"type": "number", "maximum": 2.5})", "2.6"),
      "FieldValueInvalid spec.v: Invalid value: 2.6: spec.v in body should be less than or equal to 2.5\n");
  EXPECT_EQ(of(R"({"type": "integer", "multipleOf": 5})", "7"),
            "FieldValueInvalid spec.v: Invalid value: 7: spec.v in body should be a multiple of 5\n");
  EXPECT_EQ(of(R"({"type": "integer", "multipleOf": 5})", "-10"), "");
  EXPECT_EQ(of(R"({"type": "integer", "format": "int32"})", "3000000000"),
            "FieldValueInvalid <nil>: Invalid value: \"\": Checked value must be of type integer with format "
            "int32 in "
            "spec.v\n");
}

TEST_F(Validation, ChecksSizes) {
  EXPECT_EQ(
      of(R"({"type": "string", "minLength": 3})", R"("äö")"),
      "FieldValueInvalid spec.v: Invalid value: \"äö\": spec.v in body should be at least 3 chars long\n");
  EXPECT_EQ(of(R"({"type": "string", "maxLength": 2})", R"("äö")"), "");
  EXPECT_EQ(of(R"({"type": "array", "items": {"type": "integer"}, "maxItems": 1})", "[1, 2]"),
            "FieldValueTooMany spec.v: Too many: 2: must have at most 1 item\n");
  EXPECT_EQ(of(R"({"type": "array", "items": {"type": "integer"}, "minItems": 3})", "[1, 2]"),
            "FieldValueInvalid spec.v: Invalid value: 2: spec.v in body should have at least 3 items\n");
  EXPECT_EQ(of(R"({"type": "object", "additionalProperties": {"type": "string"}, "maxProperties": 1})",
               R"({"a": "", "b": ""})"),
            "FieldValueTooMany spec.v: Too many: 2: must have at most 1 item\n");
  EXPECT_EQ(of(R"({"type": "object", "additionalProperties": {"type": "string"}, "minProperties": 1})", "{}"),
            "FieldValueInvalid spec.v: Invalid value: 0: spec.v in body should have at least 1 properties\n");
}

TEST_F(Validation, ChecksPatternsAndFormats) {
  EXPECT_EQ(of(R"({"type": "string", "pattern": "^a+$"})", R"("ab")"),
            "FieldValueInvalid spec.v: Invalid value: \"ab\": spec.v in body should match '^a+$'\n");
  EXPECT_EQ(
      of(R"({"type": "string", "format": "date-time"})", R"("today")"),
      "FieldValueTypeInvalid spec.v: Invalid value: \"today\": spec.v in body must be of type date-time: "
      "\"today\"\n");
  EXPECT_EQ(of(R"({"type": "string", "format": "made-up"})", R"("today")"), "");
  // kube-apiserver 1.36 takes lists where strings with a format that it knows are.
  EXPECT_EQ(of(R"({"type": "string", "format": "date-time"})", R"(["today", 1])"), "");
  EXPECT_EQ(of(R"({"type": "string", "format": "made-up"})", R"(["today"])"),
            "FieldValueTypeInvalid spec.v: Invalid value: \"array\": spec.v in body must be of type string: "
            "\"array\"\n");
}

TEST_F(Validation, GoesDownIntoListsAndMaps) {
  EXPECT_EQ(
      of(R"({"type": "array", "items": {"type": "object", "required": ["a"], "properties": {"a": {"type": "string"}}}})",
         R"([{"a": "x"}, {}, {"a": 1}])"),
      "FieldValueRequired spec.v[1].a: Required value\n"
      "FieldValueTypeInvalid spec.v[2].a: Invalid value: \"integer\": spec.v[2].a in body must be of type "
      "string: \"integer\"\n");
  EXPECT_EQ(
      of(R"({"type": "object", "additionalProperties": {"type": "integer"}})", R"({"k": "x"})"),
      "FieldValueTypeInvalid spec.v.k: Invalid value: \"string\": spec.v.k in body must be of type integer: "
      "\"string\"\n");
}

TEST_F(Validation, TakesWholeNumbersAsIntegersAndRefusesNulls) {
  EXPECT_EQ(of(R"({"type": "integer"})", "2.0"), "");
  EXPECT_NE(of(R"({"type": "integer"})", "2.5"), "");
  EXPECT_EQ(of(R"({"type": "string", "nullable": true})", "null"), "");
  EXPECT_EQ(of(R"({"type": "string"})", "null"),
            "FieldValueTypeInvalid spec.v: Invalid value: \"null\": spec.v in body must be of type string: "
            "\"null\"\n");
  EXPECT_EQ(of(R"({"x-kubernetes-int-or-string": true})", "true"),
            "FieldValueTypeInvalid spec.v: Invalid value: \"boolean\": spec.v in body must be of type "
            "integer,string: "
            "\"boolean\"\n");
}

TEST_F(Validation, CombinesSchemas) {
  const char* one_of = R"({"type": "object", "x-kubernetes-preserve-unknown-fields": true,
    "oneOf": [{"required": ["a"]}, {"required": ["b"]}]})";
  EXPECT_EQ(of(one_of, R"({"a": 1})"), "");
  EXPECT_EQ(of(one_of, R"({"a": 1, "b": 1})"),
            "FieldValueInvalid <nil>: Invalid value: \"\": \"spec.v\" must validate one and only one schema "
            "(oneOf). "
            "Found 2 valid alternatives\n");
  EXPECT_EQ(of(one_of, "{}"),
            "FieldValueInvalid <nil>: Invalid value: \"\": \"spec.v\" must validate one and only one schema "
            "(oneOf). "
            "Found none valid\nFieldValueRequired spec.v.a: Required value\n");
  EXPECT_EQ(of(R"({"type": "integer", "not": {"minimum": 5}})", "6"),
            "FieldValueInvalid <nil>: Invalid value: \"\": \"spec.v\" must not validate the schema (not)\n");
  EXPECT_EQ(
      of(R"({"type": "integer", "anyOf": [{"maximum": 1}, {"minimum": 5}]})", "3"),
      "FieldValueInvalid <nil>: Invalid value: \"\": \"spec.v\" must validate at least one schema (anyOf)\n"
      "FieldValueInvalid spec.v: Invalid value: 3: spec.v in body should be less than or equal to 1\n");
  EXPECT_EQ(
      of(R"({"type": "integer", "allOf": [{"maximum": 1}]})", "3"),
      "FieldValueInvalid spec.v: Invalid value: 3: spec.v in body should be less than or equal to 1\n"
      "FieldValueInvalid <nil>: Invalid value: \"\": \"spec.v\" must validate all the schemas (allOf). None "
      "validated\n");
}

TEST_F(Validation, DoesNotJudgeAgainWhatDidNotChange) {
  const Json old = widget(R"({"size": 0, "color": "red", "tags": ["a", "a"]})");
  Json object = old;
  EXPECT_EQ(told(validate(object, *shapes.widget, old)), "");
  object["spec"]["color"] = "green";
  EXPECT_EQ(told(validate(object, *shapes.widget, old)), "");
  object["spec"]["size"] = -1;
  EXPECT_EQ(told(validate(object, *shapes.widget, old)),
            "FieldValueInvalid spec.size: Invalid value: -1: spec.size in body should be greater than or "
            "equal to 1\n");
}

class BuiltinValidation : public ::testing::Test {
 protected:
  std::string of(std::string_view group, std::string_view kind, std::string_view object,
                 const Json& old = {}) {
    const auto shape = shapes.catalog.builtin(group, "v1", kind);
    return told(validate(parse(object), *shape, old));
  }
  Shapes shapes;
};

TEST_F(BuiltinValidation, OfDeployments) {
  EXPECT_EQ(
      of("apps", "Deployment", R"({"kind": "Deployment", "spec": {"selector": {"matchLabels": {"a": "b"}},
    "template": {"metadata": {"labels": {"a": "c"}}, "spec": {"containers": [{"name": "c"}, {"image": "x"},
    {"name": "c", "image": "x"}]}}}})"),
      "FieldValueInvalid spec.template.metadata.labels: Invalid value: {\"a\":\"c\"}: `selector` does not "
      "match "
      "template `labels`\n"
      "FieldValueRequired spec.template.spec.containers[0].image: Required value\n"
      "FieldValueRequired spec.template.spec.containers[1].name: Required value\n"
      "FieldValueDuplicate spec.template.spec.containers[2].name: Duplicate value: \"c\"\n");
  EXPECT_EQ(of("apps", "Deployment",
               R"({"kind": "Deployment", "spec": {"selector": {}, "template": {"spec": {}}}})"),
            "FieldValueInvalid spec.selector: Invalid value: {}: empty selector is invalid for deployment\n"
            "FieldValueRequired spec.template.spec.containers: Required value\n");
}

TEST_F(BuiltinValidation, OfWhatMayNotChange) {
  const char* labelled =
      R"({"spec": {"selector": {"matchLabels": {"a": "b"}}, "template": {"metadata": {"labels":
    {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "x"}]}}}})";
  Json old = parse(labelled);
  old["spec"]["selector"]["matchLabels"] = parse(R"({"x": "y"})");
  EXPECT_EQ(of("apps", "Deployment", labelled, old),
            "FieldValueInvalid spec.selector: Invalid value: {\"matchLabels\":{\"a\":\"b\"}}: field is "
            "immutable\n");
  EXPECT_EQ(of("", "ConfigMap", R"({"data": {"k": "w"}, "immutable": true})",
               parse(R"({"data": {"k": "v"}, "immutable": true})")),
            "FieldValueForbidden data: Forbidden: field is immutable when `immutable` is set\n");
  EXPECT_EQ(of("", "Pod", R"({"spec": {"containers": [{"name": "c", "image": "y"}]}})",
               parse(R"({"spec": {"containers": [{"name": "c", "image": "x"}]}})")),
            "");
  EXPECT_EQ(of("", "Pod", R"({"spec": {"containers": [{"name": "d", "image": "x"}]}})",
               parse(R"({"spec": {"containers": [{"name": "c", "image": "x"}]}})"))
                .substr(0, 29),
            "FieldValueForbidden spec: For");
}

TEST_F(BuiltinValidation, OfNamesTypesAndNumbers) {
  EXPECT_EQ(of("", "ConfigMap", R"({"data": {"a b": ""}})").substr(0, 60),
            "FieldValueInvalid data[a b]: Invalid value: \"a b\": a valid c");
  EXPECT_EQ(of("", "Service", R"({"spec": {"type": "Odd", "ports": [{"port": 80, "targetPort": 80}]}})"),
            "FieldValueNotSupported spec.type: Unsupported value: \"Odd\": supported values: \"ClusterIP\", "
            "\"ExternalName\", \"LoadBalancer\", \"NodePort\"\n");
  EXPECT_EQ(of("", "Service", R"({"spec": {"type": "ClusterIP"}})"),
            "FieldValueRequired spec.ports: Required value\n");
  EXPECT_EQ(of("coordination.k8s.io", "Lease", R"({"spec": {"leaseDurationSeconds": 0}})"),
            "FieldValueInvalid spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0\n");
  EXPECT_EQ(
      of("batch", "Job",
         R"({"spec": {"parallelism": -1, "manualSelector": true, "selector": {"matchLabels": {"a": "b"}},
    "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"restartPolicy": "Always",
    "containers": [{"name": "c", "image": "x"}]}}}})"),
      "FieldValueInvalid spec.parallelism: Invalid value: -1: must be greater than or equal to 0\n"
      "FieldValueRequired spec.template.spec.restartPolicy: Required value: valid values: \"OnFailure\", "
      "\"Never\"\n");
}

}  // namespace
}  // namespace evenkeel::apiserver
