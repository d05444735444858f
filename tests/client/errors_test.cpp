// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <evenkeel/client/errors.hpp>

namespace evenkeel {
namespace {

using namespace std::chrono_literals;

constexpr const char* not_found =
    R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"configmaps \"web\" not found",)"
    R"("reason":"NotFound","details":{"name":"web","kind":"configmaps"},"code":404})";

TEST(Status, DecodesTheServersStatus) {
  const Status status = Status::decode(
      422,
      R"({"kind":"Status","message":"bad","reason":"Invalid","details":{"name":"a","kind":"pods","causes":[)"
      R"({"reason":"FieldValueInvalid","message":"must be positive","field":"spec.replicas"}],)"
      R"("retryAfterSeconds":7},"code":422})");
  EXPECT_EQ(status.code, 422);
  EXPECT_EQ(status.reason, "Invalid");
  EXPECT_EQ(status.message, "bad");
  EXPECT_EQ(status.kind, "pods");
  EXPECT_EQ(status.name, "a");
  ASSERT_EQ(status.causes.size(), 1U);
  EXPECT_EQ(status.causes[0], (StatusCause{"FieldValueInvalid", "must be positive", "spec.replicas"}));
  EXPECT_EQ(status.retry_after, Duration(7s));
}

TEST(Status, TakesAnythingElseAsText) {
  EXPECT_EQ(Status::decode(503, "<html>\n  <b>Bad\tgateway</b>\r\n</html>\n").message,
            "<html> <b>Bad gateway</b> </html>");
  EXPECT_EQ(Status::decode(404, "404 page not found\n").message, "404 page not found");
  EXPECT_EQ(Status::decode(404, "404 page not found\n").reason, "NotFound");
  EXPECT_EQ(Status::decode(500, "").reason, "InternalError");
  EXPECT_EQ(Status::decode(418, "").reason, "Unknown");
  EXPECT_EQ(Status::decode(401, R"({"type":"error","message":"must authenticate"})").message,
            "must authenticate");
  EXPECT_EQ(Status::decode(429, R"({"error":"slow down"})").message, "slow down");
  EXPECT_EQ(Status::decode(500, std::string(100'000, 'x')).message.size(), 2048U);
}

// It may be a Secret, or a piece of one.
TEST(Status, DoesNotShowAnObject) {
  for (const std::string body :
       {R"({"kind":"Secret","data":{"password":"aHVudGVyMg=="}})",
        R"({"kind":"Secret","data":{"password":"aHVu)", R"({"data":{"error":"x"},"message":"aHVudGVyMg=="})",
        R"([{"password":"aHVudGVyMg=="}])", R"("aHVudGVyMg==")", R"(aHVudGVyMg=="},"type":"Opaque"})",
        "kind: Secret\ndata:\n  password: aHVudGVyMg==\n", R"({"kind":"Status","message":)"}) {
    EXPECT_EQ(Status::decode(500, body).message, std::to_string(body.size()) + " bytes that are not a Status")
        << body;
  }
}

TEST(Status, NullAndWronglyTypedFieldsReadAsAbsent) {
  const Status status = Status::decode(
      409,
      R"({"kind":"Status","message":null,"reason":5,"details":{"causes":[null,{"field":3}],"name":null}})");
  EXPECT_EQ(status.reason, "Conflict");
  EXPECT_EQ(status.message, "");
  ASSERT_EQ(status.causes.size(), 2U);
  EXPECT_EQ(status.causes[1], StatusCause{});
}

TEST(Status, RetryAfterHeaderWinsIfItIsANumber) {
  const auto decode = [](const char* value) {
    return Status::decode({.status = 429, .headers = {{"Retry-After", value}}, .body = ""}).retry_after;
  };
  EXPECT_EQ(decode("3"), Duration(3s));
  EXPECT_EQ(decode("Wed, 21 Oct 2026 07:28:00 GMT"), std::nullopt);
  EXPECT_EQ(decode("-1"), std::nullopt);
  EXPECT_EQ(decode("3 apples"), std::nullopt);
  EXPECT_EQ(decode("0"), Duration(0s));
  EXPECT_EQ(decode("86400"), Duration(24h));
  for (const char* much : {"86401", "9223372037", "9223372036854775807", "99999999999999999999"})
    EXPECT_EQ(decode(much), Duration(24h)) << much;
}

TEST(Status, NumbersOfABodyAreBoundedToo) {
  const auto decode = [](const std::string& seconds) {
    return Status::decode(429, R"({"kind":"Status","details":{"retryAfterSeconds":)" + seconds + "}}")
        .retry_after;
  };
  EXPECT_EQ(decode("7"), Duration(7s));
  for (const char* much : {"100000", "9223372037", "9223372036854775807"})
    EXPECT_EQ(decode(much), Duration(24h)) << much;
  for (const char* none : {"0", "-1", "-9223372036854775808", "1e30", "\"5\""})
    EXPECT_EQ(decode(none), std::nullopt) << none;
  const auto code = [](const std::string& number) {
    return Status::decode(0, R"({"kind":"Status","code":)" + number + "}").code;
  };
  EXPECT_EQ(code("410"), 410);
  EXPECT_EQ(code("4294967706"), 0) << "410 in 32 bits";
  EXPECT_EQ(code("-410"), 0);
}

// The object of an ERROR event, whose code stands nowhere else.
TEST(Status, OfAnEventNeedsNoKind) {
  const Status status = Status::decode(0, R"({"code":410,"reason":"Expired","message":"too old"})");
  EXPECT_EQ(status.code, 410);
  EXPECT_EQ(status.reason, "Expired");
  EXPECT_EQ(status.message, "too old");
  EXPECT_EQ(Status::decode(0, R"({"reason":"Expired"})").reason, "Expired");
  EXPECT_EQ(Status::decode(0, R"({"kind":"Event","reason":"Killed"})").reason, "Unknown");
  EXPECT_EQ(Status::decode(500, R"({"code":410,"reason":"Expired"})").reason, "InternalError")
      << "the answer of another program";
}

TEST(ApiError, HasVerbKindKeyCodeReasonAndMessage) {
  const ApiError error("get ConfigMap default/web", Status::decode(404, not_found));
  EXPECT_STREQ(error.what(), "get ConfigMap default/web: 404 NotFound: configmaps \"web\" not found");
  EXPECT_TRUE(error.is_not_found());
  EXPECT_FALSE(error.is_no_such_resource());
  EXPECT_FALSE(error.is_conflict());
}

TEST(ApiError, ItsTextIsBounded) {
  Status status{.code = 500, .reason = std::string(10'000, 'r'), .message = std::string(5'000'000, 'm')};
  const ApiError error("get Pod a/b", status);
  EXPECT_EQ(error.what(), "get Pod a/b: 500 " + std::string(4096, 'r') +
                              "... (10000 bytes): " + std::string(4096, 'm') + "... (5000000 bytes)");
  EXPECT_EQ(error.status().message.size(), 5'000'000U) << "a program may read all of it";
}

TEST(ApiError, DistinguishesAMissingKindFromAMissingObject) {
  EXPECT_TRUE(ApiError("get Demo a", Status::decode(404, "404 page not found\n")).is_no_such_resource());
  EXPECT_TRUE(
      ApiError("get Demo a",
               Status::decode(404, R"({"kind":"Status","reason":"NotFound","details":{},)"
                                   R"("message":"the server could not find the requested resource"})"))
          .is_no_such_resource());
}

TEST(ApiError, DistinguishesAConflictFromAnExistingName) {
  const ApiError exists("create A b", Status::decode(409, R"({"kind":"Status","reason":"AlreadyExists"})"));
  EXPECT_TRUE(exists.is_already_exists());
  EXPECT_FALSE(exists.is_conflict());
  const ApiError conflict("update A b", Status::decode(409, R"({"kind":"Status","reason":"Conflict"})"));
  EXPECT_TRUE(conflict.is_conflict());
  EXPECT_FALSE(conflict.is_already_exists());
}

TEST(ApiError, HasAQuestionForEachCode) {
  const auto error = [](int code) { return ApiError("get A b", Status{.code = code}); };
  EXPECT_TRUE(error(400).is_bad_request());
  EXPECT_TRUE(error(401).is_unauthorized());
  EXPECT_TRUE(error(403).is_forbidden());
  EXPECT_TRUE(error(410).is_gone());
  EXPECT_TRUE(error(422).is_invalid());
  EXPECT_TRUE(error(429).is_too_many_requests());
  EXPECT_TRUE(error(500).is_server_error());
  EXPECT_FALSE(error(404).is_server_error());
}

}  // namespace
}  // namespace evenkeel
