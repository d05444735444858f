// SPDX-License-Identifier: Apache-2.0
#include "apiserver/schema/strict_fields.hpp"

#include <gtest/gtest.h>

#include "apiserver/merge/strategic_merge.hpp"
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

/// Returns the error of one value of a Pod's limit, volume or status.
std::string pod_error(const KindSchema& pod, std::string_view text) {
  return decode_error(parse(text), pod).value_or("");
}

TEST(DecodeError, ReadsQuantitiesAsGoDoes) {
  Shapes shapes;
  const auto of = [&](const Json& cpu) {
    Json object = parse(R"({"spec": {"containers": [{"resources": {"limits": {}}}]}})");
    object["spec"]["containers"][0]["resources"]["limits"]["cpu"] = cpu;
    return decode_error(object, *shapes.pod).value_or("");
  };
  for (const char* good : {"1", "1.5", "2Gi", "1e3", "1E3", "12E", "-1", "+5", " 1 ", ".", "-", "e3", "m",
                           "5.", ".5", "00100", "1e-4", "1n"})
    EXPECT_EQ(of(Json(good)), "") << good;
  for (const char* bad : {"", "1K", "500mi", "1ki", "12e", "1Mi1", "1m1", "1..5", "1.5.", "1 GB", "1gi",
                          "0x10", "1e3Mi", "1e-+5", "1e", "1i", "1nu", "\t1", "1_000"})
    EXPECT_EQ(of(Json(bad)),
              "spec.containers[0].resources.limits.cpu: expected a quantity (100m, 1.5, 2Gi), got " +
                  Json(bad).dump());
  EXPECT_EQ(of(Json(1.5)), "");
  EXPECT_EQ(of(Json(true)),
            "spec.containers[0].resources.limits.cpu: expected a quantity (100m, 1.5, 2Gi), got true");
  EXPECT_EQ(of(Json::array()),
            "spec.containers[0].resources.limits.cpu: expected a quantity (100m, 1.5, 2Gi), got an array");
}

TEST(DecodeError, ReadsTimesThatExist) {
  Shapes shapes;
  const auto of = [&](const std::string& time) {
    return pod_error(*shapes.pod, R"({"status": {"startTime": ")" + time + R"("}})");
  };
  for (const char* good : {"2020-02-29T00:00:00Z", "2020-01-01T5:04:05Z", "2020-01-01T00:00:00.5+24:00",
                           "2020-01-01T00:00:00,5Z", "0000-01-01T00:00:00Z", "9999-12-31T23:59:59-01:00",
                           "2020-01-01T00:00:00-23:60"})
    EXPECT_EQ(of(good), "") << good;
  for (const char* bad : {"2020-13-01T00:00:00Z", "2021-02-29T00:00:00Z", "2020-01-00T00:00:00Z",
                          "2020-01-01T24:00:00Z", "2020-01-01T23:60:00Z", "2020-01-01T23:59:60Z",
                          "2020-01-01T00:00:00+25:00", "2020-01-01T00:00:00+23:61", "2020-01-01T00:00:00.Z",
                          "2020-01-01T00:00:00+0100", "2020-01-01t00:00:00Z", "2020-1-01T00:00:00Z", ""})
    EXPECT_EQ(of(bad),
              "status.startTime: expected a time (2006-01-02T15:04:05Z), got \"" + std::string(bad) + "\"");
}

TEST(DecodeError, ReadsBytesFromLinesAndLists) {
  Shapes shapes;
  const auto of = [&](std::string_view value) {
    return decode_error(parse(R"({"binaryData": {"k": )" + std::string(value) + "}}"), *shapes.config_map)
        .value_or("");
  };
  for (const char* good : {R"("aGVs\nbG8=")", R"("aGVs\r\nbG8=\n")", R"("aGk\n=")", R"("aGl=")", R"("")",
                           "[1, 255]", "[null]", "[]", "null"})
    EXPECT_EQ(of(good), "") << good;
  EXPECT_EQ(of(R"("aGVs bG8=")"), R"(binaryData.k: expected base64, got "aGVs bG8=")");
  EXPECT_EQ(of(R"("aGk")"), R"(binaryData.k: expected base64, got "aGk")");
  EXPECT_EQ(of("[256]"), "binaryData.k: expected a string, got an array");
  EXPECT_EQ(of("5"), "binaryData.k: expected a string, got 5");
}

TEST(DecodeError, ReadsIntegersOf32BitsOrTexts) {
  Shapes shapes;
  const auto budget = shapes.catalog.builtin("policy", "v1", "PodDisruptionBudget");
  const auto of = [&](std::string_view value) {
    return decode_error(parse(R"({"spec": {"minAvailable": )" + std::string(value) + "}}"), *budget)
        .value_or("");
  };
  for (const char* good : {"80", "-2147483648", "2147483647", "\"\"", "\"80%\"", "null"})
    EXPECT_EQ(of(good), "");
  for (const char* bad : {"80.5", "2147483648", "-2147483649", "true"})
    EXPECT_EQ(of(bad),
              "spec.minAvailable: expected an integer of 32 bits or a string, got " + std::string(bad));
  EXPECT_FALSE(of("80.0").empty());
}

TEST(ConvertIntegers, WrapAndLoseEmptyFractions) {
  Shapes shapes;
  Json object = parse(R"({"spec": {"replicas": 4294967298, "minReadySeconds": 80.0, "paused": true,
    "progressDeadlineSeconds": 1.5, "strategy": {"rollingUpdate": {"maxSurge": 2.0, "maxUnavailable": 2147483648}}}})");
  convert_integers(object, shapes.deployment->root());
  EXPECT_EQ(object, parse(R"({"spec": {"replicas": 2, "minReadySeconds": 80, "paused": true,
    "progressDeadlineSeconds": 1.5, "strategy": {"rollingUpdate": {"maxSurge": 2, "maxUnavailable": 2147483648}}}})"));
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
