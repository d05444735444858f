// SPDX-License-Identifier: Apache-2.0
#include "apiserver/schema/strict_fields.hpp"

#include <gtest/gtest.h>

#include "apiserver/schema/schema_validation.hpp"
#include "schema_fixture.hpp"

namespace evenkeel::apiserver {
namespace {

using Paths = std::vector<std::string>;

TEST(DuplicateFields, AreNamedOncePerPath) {
  EXPECT_EQ(duplicate_fields(R"({"data":{"a":"1","a":"2","a":"3"},"x":[{"b":1},{"b":1,"b":2}],"data":{}})"),
            (Paths{"data.a", "x[1].b", "data"}));
  EXPECT_EQ(duplicate_fields(R"({"a":{"b":1},"c":{"b":1},"d":["\"","}"],"\u0061":2})"), Paths{"a"});
}

TEST(DuplicateFields, AreFoundUpToAnError) {
  EXPECT_EQ(duplicate_fields(R"({"a":1,"a":2,)"), Paths{"a"});
  for (const char* text : {"", "{", "[", "[1", R"({"a)", R"({"a":)", R"(["\)", "}", R"({"a" 1})", "[,]"})
    EXPECT_TRUE(duplicate_fields(text).empty()) << text;
  EXPECT_TRUE(duplicate_fields(std::string(100000, '[')).empty());
}

TEST(StrictProblems, AreDuplicatesThenUnknownFields) {  // scenarios create-cr-strict, create-strict-builtin
  Shapes shapes;
  const std::string text = R"({"spec":{"size":3,"size":4,"unknown":1}})";
  const auto problems = strict_problems(text, parse(text), *shapes.widget);
  EXPECT_EQ(problems, (Paths{R"(duplicate field "spec.size")", R"(unknown field "spec.unknown")"}));
  EXPECT_EQ(strict_error(problems),
            R"(strict decoding error: duplicate field "spec.size", unknown field "spec.unknown")");
  EXPECT_EQ(warning_header(R"(unknown field "unknown")"), R"(299 - "unknown field \"unknown\"")");
}

TEST(DecodeError, ReadsTimesAndBytesAsGoDoes) {  // scenario lease
  Shapes shapes;
  const auto lease = shapes.catalog.builtin("coordination.k8s.io", "v1", "Lease");
  const auto of = [&](const std::string& time) {
    return decode_error(Json::object({{"spec", Json::object({{"renewTime", time}})}}), *lease).value_or("");
  };
  EXPECT_EQ(of("2025-01-01T00:00:00.000000Z"), "");
  EXPECT_EQ(
      of("yesterday"),
      "spec.renewTime: expected a time with microseconds (2006-01-02T15:04:05.000000Z), got \"yesterday\"");
  EXPECT_EQ(of("2025-01-01T00:00:00Z"),
            "spec.renewTime: expected a time with microseconds (2006-01-02T15:04:05.000000Z), got "
            "\"2025-01-01T00:00:00Z\"");
  const auto secret = shapes.catalog.builtin("", "v1", "Secret");
  EXPECT_EQ(decode_error(parse(R"({"data": {"a": "!!!"}})"), *secret),
            "data.a: expected base64, got another value");
  EXPECT_EQ(
      decode_error(
          parse(R"({"data": {"a": "eA=="}, "metadata": {"creationTimestamp": "2025-01-01T00:00:00Z"}})"),
          *secret),
      std::nullopt);
}

TEST(DecodeError, ReadsTypeAndMetadataOfEmbeddedResources) {
  Shapes shapes;
  const auto kind = shapes.with_spec(R"({"type": "object", "additionalProperties": {"type": "array", "items":
    {"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true}}})");
  const auto problem = [&](std::string_view resource) {
    const Json object =
        parse(R"({"spec": {"k": [{"apiVersion": "v1", "kind": "A"}, )" + std::string(resource) + "]}}");
    return decode_error(object, *kind).value_or("");
  };
  EXPECT_EQ(problem(R"({"kind": 5})"), "spec[k][1].kind: Invalid value: 5: must be a string");
  EXPECT_EQ(problem(R"({"apiVersion": null})"),
            "spec[k][1].apiVersion: Invalid value: null: must be a string");
  EXPECT_EQ(problem(R"({"metadata": []})"),
            "spec[k][1].metadata: Invalid value: []: expected an object, got an array");
  EXPECT_EQ(problem(R"({"metadata": {"labels": {"a": 1}}})"),
            R"(spec[k][1].metadata: Invalid value: {"labels":{"a":1}}: labels.a: expected a string, got 1)");
  EXPECT_EQ(problem(R"({"metadata": null, "spec": 5})"), "");
}

TEST(DecodeError, NamesFieldTypeAndValue) {  // scenario create-wrong-type
  Shapes shapes;
  const auto error = [](std::string_view text, const KindSchema& kind) {
    return decode_error(parse(text), kind).value_or("");
  };
  EXPECT_EQ(error(R"({"data": {"k": 5}})", *shapes.config_map), "data.k: expected a string, got 5");
  EXPECT_EQ(error(R"({"spec": {"replicas": "three"}})", *shapes.deployment),
            "spec.replicas: expected an integer of 32 bits, got \"three\"");
  EXPECT_EQ(error(R"({"spec": {"containers": [{"image": true}]}})", *shapes.pod),
            "spec.containers[0].image: expected a string, got true");
  EXPECT_EQ(error(R"({"spec": {"containers": {}}})", *shapes.pod),
            "spec.containers: expected an array, got an object");
  EXPECT_EQ(error(R"({"metadata": {"labels": {"a": 1}}})", *shapes.widget),
            "metadata.labels.a: expected a string, got 1");
  EXPECT_EQ(error(R"({"data": null, "metadata": {"name": "a"}})", *shapes.config_map), "");
}

}  // namespace
}  // namespace evenkeel::apiserver
