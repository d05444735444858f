// SPDX-License-Identifier: Apache-2.0
// Conversion through a hub, and CustomResourceDefinitions of several versions.
#include <string>

#include <gtest/gtest.h>

#include <evenkeel/webhook/configuration.hpp>
#include <evenkeel/webhook/conversion.hpp>

#include "base/limits.hpp"
#include "website.hpp"

namespace evenkeel::webhook_tests {
namespace conversion {

Conversion websites() {
  return conversion_through<Website>().converts<OldWebsite>(
      [](const OldWebsite& from, Website& to) {
        to.spec.replicas = from.spec.size;
        to.spec.image = from.spec.image;
      },
      [](const Website& from, OldWebsite& to) {
        to.spec.size = from.spec.replicas.value_or(1);
        to.spec.image = from.spec.image;
        to.metadata.annotations["ports"] = std::to_string(from.spec.ports.size());
        to.metadata.uid = "forged";
      });
}

Json old_site() {
  return Json::parse(R"({"apiVersion":"demo.example.com/v1","kind":"Website",
    "metadata":{"name":"web","namespace":"default","uid":"u","future":"kept","labels":{"a":"b"}},
    "spec":{"size":3,"image":"nginx"}})");
}

Json review(const Json& objects, const char* version) {
  Json document = Json::object({{"apiVersion", "apiextensions.k8s.io/v1"}, {"kind", "ConversionReview"}});
  document["request"] = Json::object({{"uid", "r-1"}, {"desiredAPIVersion", version}, {"objects", objects}});
  return document;
}

TEST(Conversion, ConvertsToTheHubAndBack) {
  const Json hub = websites().convert(old_site(), "demo.example.com/v2");
  EXPECT_EQ(hub["apiVersion"].as_string(), "demo.example.com/v2");
  EXPECT_EQ(hub["spec"].dump(), R"({"image":"nginx","replicas":3})");
  const Json back = websites().convert(hub, "demo.example.com/v1");
  EXPECT_EQ(back["spec"].dump(), R"({"image":"nginx","size":3})");
}

TEST(Conversion, ChangesOnlyLabelsAndAnnotationsOfTheMetadata) {
  const Json hub = websites().convert(old_site(), "demo.example.com/v2");
  const Json back = websites().convert(hub, "demo.example.com/v1");
  EXPECT_EQ(
      back["metadata"].dump(),
      R"({"annotations":{"ports":"0"},"future":"kept","labels":{"a":"b"},"name":"web","namespace":"default","uid":"u"})");
}

TEST(Conversion, AnswersAReviewInTheOrderOfItsObjects) {
  Json second = old_site();
  second["metadata"]["name"] = "other";
  std::string failure;
  const Json answer = answer_conversion_review(
      {websites()}, review(Json::array({old_site(), second}), "demo.example.com/v2"), failure);
  EXPECT_EQ(failure, "");
  EXPECT_EQ(answer["response"]["uid"].as_string(), "r-1");
  EXPECT_EQ(answer["response"]["result"]["status"].as_string(), "Success");
  EXPECT_EQ(answer["response"]["convertedObjects"][1]["metadata"]["name"].as_string(), "other");
}

TEST(Conversion, NamesTheObjectThatFails) {
  Json broken = old_site();
  broken["metadata"]["name"] = "broken";
  broken["spec"]["size"] = "many";
  std::string failure;
  const Json answer = answer_conversion_review(
      {websites()}, review(Json::array({old_site(), broken}), "demo.example.com/v2"), failure);
  EXPECT_EQ(answer["response"]["result"]["status"].as_string(), "Failure");
  EXPECT_EQ(answer["response"]["result"]["message"].as_string(),
            "Website default/broken: demo.example.com/v1 to demo.example.com/v2: spec.size: expected "
            "integer, found string \"many\"");
  EXPECT_EQ(answer["response"]["convertedObjects"].size(), 0U);
}

TEST(Conversion, NamesAVersionThatItDoesNotHave) {
  std::string failure;
  answer_conversion_review({websites()}, review(Json::array({old_site()}), "demo.example.com/v9"), failure);
  EXPECT_EQ(
      failure,
      "Website default/web: demo.example.com/v1 to demo.example.com/v9: there is no conversion of version "
      "demo.example.com/v9");
  answer_conversion_review({}, review(Json::array({old_site()}), "demo.example.com/v2"), failure);
  EXPECT_EQ(failure,
            "Website default/web: demo.example.com/v1 to demo.example.com/v2: there is no conversion of "
            "this kind");
}

TEST(Conversion, QuotesLittleOfALongReview) {
  const std::string version(100'000, 'v');
  std::string failure;
  const Json answer =
      answer_conversion_review({websites()}, review(Json::array({old_site()}), version.c_str()), failure);
  const std::string start = "Website default/web: demo.example.com/v1 to " + version;
  EXPECT_EQ(answer["response"]["result"]["message"].as_string(),
            start.substr(0, limits::shown_bytes) + "... (" + std::to_string(failure.size()) + " bytes)");
}

TEST(Conversion, RefusesAnOldReview) {
  std::string failure;
  const auto answer = answer_conversion(
      {},
      {.headers = {{"Content-Type", "application/json"}},
       .body = R"({"apiVersion":"apiextensions.k8s.io/v1beta1","kind":"ConversionReview"})"},
      failure);
  EXPECT_EQ(answer.status, 400);
  EXPECT_EQ(
      failure,
      "ConversionReview: expected ConversionReview of apiextensions.k8s.io/v1, found \"ConversionReview\" of "
      "\"apiextensions.k8s.io/v1beta1\"; v1beta1 is not served since Kubernetes 1.22: name v1 in the "
      "configuration's conversionReviewVersions");
}

TEST(MergeVersions, PutsTheVersionsOfAKindIntoOneDefinition) {
  const std::vector<Json> merged =
      merge_versions({crd_for<Website>(), crd_for<OldWebsite>(), crd_for<Website>()});
  ASSERT_EQ(merged.size(), 1U);
  const Json& versions = merged[0]["spec"]["versions"];
  ASSERT_EQ(versions.size(), 2U);
  EXPECT_EQ(versions[0]["name"].as_string(), "v2");
  EXPECT_TRUE(versions[0]["storage"].as_bool());
  EXPECT_EQ(versions[1]["name"].as_string(), "v1");
  EXPECT_FALSE(versions[1]["storage"].as_bool());
  EXPECT_TRUE(versions[1]["deprecated"].as_bool());
  EXPECT_EQ(versions[1]["deprecationWarning"].as_string(), "use v2");
}

TEST(MergeVersions, RefusesAKindWithoutExactlyOneStoredVersion) {
  try {
    merge_versions({crd_for<OldWebsite>()});
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(),
                 "merge_versions: of the versions of Website.demo.example.com exactly one must be "
                 "stored, not none; see CrdVersion::storage");
  }
}

}  // namespace conversion
}  // namespace evenkeel::webhook_tests
