// SPDX-License-Identifier: Apache-2.0
// Admission: the review documents, defaults as patches, verdicts with causes.
#include <stdexcept>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/api/bytes.hpp>
#include <evenkeel/testing/admit.hpp>
#include <evenkeel/webhook/answer.hpp>
#include <evenkeel/webhook/webhook.hpp>

#include "base/limits.hpp"
#include "website.hpp"

namespace evenkeel::webhook_tests {
namespace admission {

using evenkeel::testing::admit;
using evenkeel::testing::AdmitOptions;
using ::testing::ElementsAre;

constexpr const char* document = R"({"apiVersion":"demo.example.com/v2","kind":"Website",
  "metadata":{"name":"web","namespace":"default","labels":{"a":"b"}},
  "spec":{"image":"nginx","ports":[{"name":"http","port":80,"protocol":"TCP"}],"future":{"x":1}}})";

Webhook webhook() {
  return webhook_for<Website>()
      .defaults([](Website& site, const AdmissionRequest& request) {
        if (!site.spec.replicas) site.spec.replicas = 1;
        if (site.spec.image == "stamp") site.spec.image = "by-" + request.user.name;
        for (SitePort& port : site.spec.ports) {
          if (port.port == 80) port.port = 8080;
        }
      })
      .validates(
          [](const Validation<Website>& it) {
            ValidationResult result;
            if (it.request.operation == AdmissionOperation::remove)
              return it.object.metadata.labels.contains("keep") ? ValidationResult::deny("it is kept")
                                                                : ValidationResult::allow();
            if (it.object.spec.image.empty()) result.required("spec.image", "it has no default");
            if (it.object.spec.replicas.value_or(0) > 10)
              result.invalid("spec.replicas", "must be at most 10");
            if (it.old != nullptr && it.old->spec.image != it.object.spec.image)
              result.warn("the image\nchanges");
            if (it.object.spec.image == "throw") throw std::runtime_error("no database");
            return result;
          },
          {.operations = {AdmissionOperation::create, AdmissionOperation::update,
                          AdmissionOperation::remove}});
}

Json edited(const char* member, Json value) {
  Json object = Json::parse(document);
  object["spec"][member] = std::move(value);
  return object;
}

http::Response post(const Webhook& to, WebhookVerb verb, std::string body,
                    std::string type = "application/json") {
  std::string failure;
  return answer_admission(
      to, verb,
      {.method = http::Method::post, .headers = {{"Content-Type", std::move(type)}}, .body = std::move(body)},
      failure);
}

TEST(Webhook, DefaultsKeepFieldsThatTheTypeLacks) {
  const auto result = admit(webhook(), Json::parse(document));
  EXPECT_TRUE(result.allowed);
  Json expected = edited("replicas", 1);
  expected["spec"]["ports"][0]["port"] = 8080;
  EXPECT_EQ(result.object.dump(), expected.dump());
}

TEST(Webhook, PatchesNothingWhenTheDefaultsChangeNothing) {
  Json object = edited("replicas", 3);
  object["spec"]["ports"] = Json::array();
  EXPECT_TRUE(admit(webhook(), object).patch.is_null());
  const Json answer = admission_review(AdmissionResponse{.uid = "u"});
  EXPECT_EQ(
      answer.dump(),
      R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"allowed":true,"uid":"u"}})");
}

TEST(Webhook, SendsThePatchAsBase64) {
  AdmissionRequest request{
      .uid = "u", .resource = ResourceId(Website::resource), .name = "web", .namespace_ = "default"};
  request.object = edited("replicas", 3);
  const Json response =
      Json::parse(post(webhook(), WebhookVerb::mutate, admission_review(request).dump()).body)["response"];
  EXPECT_EQ(response["patchType"].as_string(), "JSONPatch");
  EXPECT_EQ(Bytes::from_base64(response["patch"].as_string())->value(),
            R"([{"op":"replace","path":"/spec/ports/0/port","value":8080}])");
}

TEST(Webhook, GivesTheUserToTheDefaults) {
  EXPECT_EQ(admit(webhook(), edited("image", "stamp"), {.user = {.name = "ada"}}).as<Website>().spec.image,
            "by-ada");
}

TEST(Webhook, RefusesDefaultsThatAreNotStable) {
  const Webhook unstable = webhook_for<Website>().defaults([](Website& site, const AdmissionRequest&) {
    site.spec.replicas = site.spec.replicas.value_or(0) + 1;
  });
  try {
    admit(unstable, Json::parse(document));
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "Website default/web: the defaults are not stable; called again, they change "
                 R"([{"op":"replace","path":"/spec/replicas","value":2}])");
  }
}

TEST(Webhook, DeniesWithACausePerField) {
  Json object = edited("image", "");
  object["spec"]["replicas"] = 11;
  const auto result = admit(webhook(), object);
  EXPECT_FALSE(result.allowed);
  EXPECT_EQ(result.status.code, 422);
  EXPECT_EQ(result.status.reason, "Invalid");
  EXPECT_EQ(result.status.message,
            "Website.demo.example.com \"web\" is invalid: [spec.image: Required value: it has no default, "
            "spec.replicas: Invalid value: must be at most 10]");
  EXPECT_THAT(
      result.status.causes,
      ElementsAre(StatusCause{"FieldValueRequired", "Required value: it has no default", "spec.image"},
                  StatusCause{"FieldValueInvalid", "Invalid value: must be at most 10", "spec.replicas"}));
}

TEST(Webhook, ComparesWithTheOldObjectAndWarns) {
  const auto result = admit(webhook(), edited("image", "caddy"),
                            {.operation = AdmissionOperation::update, .old_object = Json::parse(document)});
  EXPECT_TRUE(result.allowed);
  EXPECT_THAT(result.warnings, ElementsAre("the image changes"));
}

TEST(Webhook, ValidatesADeletionWithTheObjectThatIsDeleted) {
  Json object = Json::parse(document);
  object["metadata"]["labels"]["keep"] = "1";
  const auto result = admit(webhook(), object, {.operation = AdmissionOperation::remove});
  EXPECT_EQ(result.status.code, 403);
  EXPECT_EQ(result.status.message, "it is kept");
  EXPECT_TRUE(result.patch.is_null());
}

TEST(Webhook, DeniesWithTheErrorOfAFunctionThatThrows) {
  const auto result = admit(webhook(), edited("image", "throw"));
  EXPECT_EQ(result.status.code, 500);
  EXPECT_EQ(result.status.message, "no database");
}

TEST(Webhook, DeniesAnObjectThatDoesNotFitTheType) {
  const auto result = admit(webhook(), edited("replicas", "many"));
  EXPECT_EQ(result.status.code, 400);
  EXPECT_EQ(result.status.message,
            "Website default/web: object: spec.replicas: expected integer, found string \"many\"");
}

TEST(Webhook, PassesTheStatusOfAnApiErrorThrough) {
  const Webhook refusing =
      webhook_for<Website>().validates([](const Validation<Website>&) -> ValidationResult {
        throw ApiError("get", {.code = 409, .reason = "Conflict", .message = "try again"});
      });
  const auto result = admit(refusing, Json::parse(document));
  EXPECT_EQ(result.status.code, 409);
  EXPECT_EQ(result.status.message, "try again");
}

TEST(Webhook, ServesKindsWithoutAType) {
  const Webhook untyped =
      webhook_for(ResourceId("demo.example.com", "v2", "Website", "websites"))
          .defaults([](DynamicObject& object, const AdmissionRequest&) { object.set_label("seen", "yes"); })
          .validates([](const Validation<DynamicObject>& it) {
            return it.object["spec"]["image"] == Json("bad") ? ValidationResult().invalid("spec.image", "bad")
                                                             : ValidationResult::allow();
          });
  EXPECT_EQ(admit(untyped, Json::parse(document)).patch.dump(),
            R"([{"op":"add","path":"/metadata/labels/seen","value":"yes"}])");
  EXPECT_FALSE(admit(untyped, edited("image", "bad")).allowed);
}

TEST(Webhook, HasThePathsOfKubebuilder) {
  EXPECT_EQ(mutate_path(Website::resource), "/mutate-demo-example-com-v2-website");
  EXPECT_EQ(validate_path({"", "v1", "Pod", "pods"}), "/validate--v1-pod");
}

TEST(AdmissionReview, RoundTripsARequest) {
  AdmissionRequest request{.uid = "u-1",
                           .resource = ResourceId(Website::resource),
                           .subresource = "status",
                           .name = "web",
                           .namespace_ = "default",
                           .operation = AdmissionOperation::update,
                           .user = {"ada", "7", {"g1", "g2"}, {{"scopes", {"a", "b"}}}},
                           .dry_run = DryRun::yes};
  request.object = Json::parse(document);
  request.old_object = edited("image", "old");
  const AdmissionRequest read = read_admission_review(admission_review(request));
  EXPECT_EQ(admission_review(read).dump(), admission_review(request).dump());
  EXPECT_EQ(read.user, request.user);
  EXPECT_EQ(read.resource, request.resource);
  EXPECT_EQ(read.dry_run, DryRun::yes);
}

TEST(AdmissionReview, NamesTheProblemOfADocument) {
  const auto body = [](std::string text) {
    return post(webhook(), WebhookVerb::validate, std::move(text)).body;
  };
  EXPECT_EQ(body(""), "400 AdmissionReview: the body is empty\n");
  EXPECT_EQ(body("[]"), "400 AdmissionReview: expected object, found array\n");
  EXPECT_EQ(
      body(R"({"apiVersion":"admission.k8s.io/v1beta1","kind":"AdmissionReview"})"),
      "400 AdmissionReview: expected AdmissionReview of admission.k8s.io/v1, found \"AdmissionReview\" of "
      "\"admission.k8s.io/v1beta1\"; v1beta1 is not served since Kubernetes 1.22: name v1 in the "
      "configuration's admissionReviewVersions\n");
  EXPECT_EQ(body(R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u"}})"),
            "400 AdmissionReview: request.kind: expected object, found null\n");
  EXPECT_EQ(body(R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u",
    "kind":{"version":"v1","kind":"Pod"},"resource":{"resource":"pods"},"operation":"PATCH"}})"),
            "400 AdmissionReview: request.operation: expected CREATE, UPDATE, DELETE or CONNECT, found "
            "\"PATCH\"\n");
  const auto plain = post(webhook(), WebhookVerb::validate, "{}", "text/plain");
  EXPECT_EQ(plain.status, 415);
  EXPECT_EQ(plain.body, "415 expected Content-Type application/json, found \"text/plain\"\n");
}

TEST(AdmissionReview, RefusesABodyAboveSevenMebibytes) {
  const auto answer = post(webhook(), WebhookVerb::validate, std::string(max_review_size + 1, ' '));
  EXPECT_EQ(answer.status, 413);
  EXPECT_EQ(answer.body, "413 a body of 7340033 bytes is above the limit of 7340032\n");
}

TEST(AdmissionReview, QuotesLittleOfALongReview) {
  const std::string kind(100'000, 'k');
  const auto answer = post(webhook(), WebhookVerb::validate,
                           R"({"apiVersion":"admission.k8s.io/v1","kind":")" + kind + "\"}");
  const std::string start =
      "AdmissionReview: expected AdmissionReview of admission.k8s.io/v1, found \"" + kind;
  EXPECT_EQ(answer.body, "400 " + start.substr(0, limits::shown_bytes) + "... (100099 bytes)\n");

  const Webhook throws = webhook_for<Website>().validates(
      [&](const Validation<Website>&) -> ValidationResult { throw std::runtime_error(kind); });
  AdmissionRequest request{.resource = ResourceId(Website::resource)};
  request.object = Json::parse(document);
  const AdmissionResponse response = evenkeel::admit(throws, WebhookVerb::validate, request);
  EXPECT_EQ(response.status.message, kind.substr(0, limits::shown_bytes) + "... (100000 bytes)");
}

// The values of a review take a multiple of its bytes.
TEST(AdmissionReview, RefusesABodyOfTooManyValues) {
  std::string lists = R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":[{})";
  for (int i = 0; i < 200'000; ++i) lists += ",{}";
  const auto answer = post(webhook(), WebhookVerb::validate, lists + "]}");
  EXPECT_EQ(answer.status, 400);
  EXPECT_EQ(answer.body, "400 AdmissionReview: more than 200000 values\n");
}

}  // namespace admission
}  // namespace evenkeel::webhook_tests
