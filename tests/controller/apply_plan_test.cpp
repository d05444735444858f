// SPDX-License-Identifier: Apache-2.0
#include "controller/apply_plan.hpp"

#include <string>

#include <gtest/gtest.h>

namespace evenkeel {
namespace {
namespace apply_plan {

using detail::applied_annotation;
using detail::applied_hash;
using detail::has_applied;
using detail::is_immutable;

bool applied(const char* document, const char* current) {
  return has_applied(Json::parse(document), Json::parse(current));
}

ApiError refusal(int code, const std::string& message, const std::string& cause = {}) {
  Status status{.code = code, .reason = "Invalid", .message = message};
  if (!cause.empty()) status.causes.push_back({.message = cause});
  return ApiError("apply", status);
}

TEST(ApplyPlan, FieldsOfOthersDoNotMatter) {
  EXPECT_TRUE(applied(R"({"data":{"a":"1"}})", R"({"data":{"a":"1","b":"2"},"immutable":false})"));
  EXPECT_TRUE(applied(R"({"metadata":{"labels":{"a":"1"}}})",
                      R"({"metadata":{"labels":{"a":"1","b":"2"},"uid":"u","resourceVersion":"7"}})"));
  EXPECT_TRUE(applied(R"({"apiVersion":"v1","kind":"ConfigMap","status":{"ready":1}})", "{}"))
      << "an apply of the object does not set its status";
}

TEST(ApplyPlan, EachAppliedFieldMustBeThere) {
  EXPECT_FALSE(applied(R"({"data":{"a":"1"}})", R"({"data":{"a":"2"}})"));
  EXPECT_FALSE(applied(R"({"data":{"a":"1"}})", R"({"data":{}})"));
  EXPECT_FALSE(applied(R"({"data":{"a":"1"}})", "{}"));
  EXPECT_FALSE(applied(R"({"metadata":{"labels":{"a":"1"}}})", R"({"metadata":{}})"));
  EXPECT_FALSE(applied("7", "{}")) << "not an object";
  EXPECT_FALSE(applied(R"({"spec":{"emptyDir":{}}})", R"({"spec":{}})"))
      << "an empty object chooses a kind of volume";
}

TEST(ApplyPlan, WhatIsAppliedAsNullIsAbsent) {
  EXPECT_TRUE(applied(R"({"spec":{"a":null}})", R"({"spec":{"b":1}})"));
  EXPECT_FALSE(applied(R"({"spec":{"a":null}})", R"({"spec":{"a":1}})"));
}

TEST(ApplyPlan, ListsAreEqualInOrderExceptInTheMetadata) {
  EXPECT_TRUE(
      applied(R"({"spec":{"l":[{"n":"a"},{"n":"b"}]}})", R"({"spec":{"l":[{"n":"a","d":1},{"n":"b"}]}})"));
  EXPECT_FALSE(applied(R"({"spec":{"l":[{"n":"a"}]}})", R"({"spec":{"l":[{"n":"a"},{"n":"b"}]}})"));
  EXPECT_FALSE(applied(R"({"spec":{"l":["a","b"]}})", R"({"spec":{"l":["b","a"]}})"));
  EXPECT_TRUE(applied(R"({"metadata":{"finalizers":["a"]}})", R"({"metadata":{"finalizers":["b","a"]}})"));
  EXPECT_FALSE(applied(R"({"metadata":{"finalizers":["a"]}})", R"({"metadata":{"finalizers":["b"]}})"));
}

TEST(ApplyPlan, SelectorsAreAppliedAsAWhole) {
  EXPECT_FALSE(applied(R"({"spec":{"selector":{"app":"web"}}})",
                       R"({"spec":{"selector":{"app":"web","tier":"x"},"type":"ClusterIP"}})"));
  EXPECT_TRUE(applied(R"({"spec":{"selector":{"app":"web"}}})",
                      R"({"spec":{"selector":{"app":"web"},"type":"ClusterIP"}})"));
}

TEST(ApplyPlan, TheRecordIsOfAllButTheStatus) {
  const Json one = Json::parse(R"({"data":{"a":"1","b":"2"}})");
  EXPECT_EQ(applied_hash(one), applied_hash(Json::parse(R"({"status":{"x":1},"data":{"b":"2","a":"1"}})")));
  EXPECT_NE(applied_hash(one), applied_hash(Json::parse(R"({"data":{"a":"1"}})")));
  EXPECT_EQ(applied_hash(Json::object()), "8f44b07b5901a25") << "stored in objects: it must not change";
}

TEST(ApplyPlan, TheRecordDoesNotDependOnTheServerNorOnRecords) {
  const char* const plain = R"({"metadata":{"name":"web"},"data":{"a":"1"}})";
  const char* const read = R"({"metadata":{"name":"web","uid":"u","resourceVersion":"7","generation":2,
      "annotations":{"applied.evenkeel.dev/my-operator":"12"}},"data":{"a":"1"}})";
  EXPECT_EQ(applied_hash(Json::parse(plain)), applied_hash(Json::parse(read)));
}

TEST(ApplyPlan, EachFieldOwnerHasAnAnnotation) {
  EXPECT_EQ(applied_annotation("my-operator"), "applied.evenkeel.dev/my-operator");
  const std::string odd = applied_annotation("team/my operator");
  EXPECT_EQ(odd.find("applied.evenkeel.dev/"), 0u);
  EXPECT_EQ(odd.find(' '), std::string::npos) << odd;
  EXPECT_NE(odd, applied_annotation("team/other operator"));
}

TEST(ApplyPlan, TheServersWordsForImmutableFieldsAreKnown) {
  EXPECT_TRUE(
      is_immutable(refusal(422, "Deployment.apps \"web\" is invalid: spec.selector: field is immutable")));
  EXPECT_TRUE(is_immutable(refusal(422, "invalid", "may not change once set"))) << "clusterIP of a Service";
  EXPECT_TRUE(is_immutable(refusal(422,
                                   "spec: Forbidden: updates to statefulset spec for fields other than "
                                   "'replicas' are forbidden")));
  EXPECT_TRUE(is_immutable(refusal(422, "spec: Forbidden: spec is immutable after creation")));
  EXPECT_FALSE(is_immutable(refusal(422, "spec.replicas: must be greater than or equal to 0")));
  EXPECT_FALSE(is_immutable(refusal(422,
                                    "ConfigMap \"immutable-web\" is invalid: data[a b]: Invalid value: "
                                    "\"field is immutable\": a valid key must consist of")));
  EXPECT_TRUE(is_immutable(refusal(422, "invalid", "Invalid value: {\"a\":\"b\"}: field is immutable")));
  ApiError two = refusal(422, "invalid", "Invalid value: {\"a\":\"b\"}: field is immutable");
  Status both = two.status();
  both.causes.push_back({.message = "Invalid value: -1: must be greater than or equal to 0"});
  EXPECT_FALSE(is_immutable(ApiError("apply", both))) << "a new object would be refused, too";
  EXPECT_FALSE(is_immutable(refusal(403, "field is immutable")));
}

}  // namespace apply_plan
}  // namespace
}  // namespace evenkeel
