// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/client/client.hpp>
#include <evenkeel/client/subresources.hpp>

#include "fake_transport.hpp"

namespace evenkeel {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class Subresources : public ::testing::Test {
 protected:
  std::string sent() {
    const http::Request last = transport->last();
    return std::string(http::method_name(last.method)) + " " + last.target;
  }
  Json body() { return Json::parse(transport->last().body, "request"); }

  std::shared_ptr<tests::FakeTransport> transport = std::make_shared<tests::FakeTransport>();
  Client client{Config{.server = "https://h"}, {.transport = transport, .field_owner = "tester"}};
  const ObjectKey web{"default", "web-0"};
};

TEST_F(Subresources, EvictSendsTheOptionsOfTheDeletion) {
  transport->reply(201, R"({"kind":"Status","status":"Success"})");
  client.run(calls::evict(web));
  EXPECT_EQ(sent(), "POST /api/v1/namespaces/default/pods/web-0/eviction?fieldManager=tester");
  EXPECT_EQ(body(), Json::parse(R"({"apiVersion":"policy/v1","kind":"Eviction",)"
                                R"("metadata":{"name":"web-0","namespace":"default"}})"));
  transport->reply(201, "{}");
  client.with({.dry_run = true}).run(calls::evict(web, {.grace_period_seconds = 5, .uid = "u"}));
  EXPECT_THAT(sent(), HasSubstr("dryRun=All"));
  EXPECT_EQ(body()["deleteOptions"],
            Json::parse(R"({"apiVersion":"v1","kind":"DeleteOptions","gracePeriodSeconds":5,)"
                        R"("preconditions":{"uid":"u"}})"));
}

TEST_F(Subresources, AnEvictionThatIsRefusedIsAnError) {
  transport->reply(429,
                   R"({"kind":"Status","status":"Failure","reason":"TooManyRequests","message":"budget",)"
                   R"("code":429})");
  try {
    client.with({.max_retries = 0}).run(calls::evict(web));
    ADD_FAILURE() << "no error";
  } catch (const ApiError& error) {
    EXPECT_STREQ(error.what(), "create Pod/eviction default/web-0: 429 TooManyRequests: budget");
  }
}

// Regression: it was taken for an eviction. client-go fails, too: rest/request.go, Result.Into.
TEST_F(Subresources, AFailureIsAnErrorWhateverTheCodeOfTheAnswer) {
  transport->reply(201,
                   R"({"kind":"Status","status":"Failure","message":"more than one budget","code":500})");
  try {
    client.run(calls::evict(web));
    ADD_FAILURE() << "no error";
  } catch (const ApiError& error) {
    EXPECT_STREQ(error.what(), "create Pod/eviction default/web-0: 500 InternalError: more than one budget");
  }
}

TEST_F(Subresources, ATokenHasItsTimeOfExpiry) {
  transport->reply(201, R"({"kind":"TokenRequest","status":{"token":"abc",)"
                        R"("expirationTimestamp":"2026-01-02T15:04:05Z"}})");
  const ServiceAccountToken token =
      client.run(calls::create_token({"default", "robot"}, {.audiences = {"vault"}, .expires_after = 10min}));
  EXPECT_EQ(token.token, "abc");
  EXPECT_EQ(token.expires_at, "2026-01-02T15:04:05Z");
  EXPECT_THAT(sent(), HasSubstr("POST /api/v1/namespaces/default/serviceaccounts/robot/token"));
  EXPECT_EQ(body()["spec"], Json::parse(R"({"audiences":["vault"],"expirationSeconds":600})"));
  transport->reply(201, R"({"kind":"TokenRequest"})");
  EXPECT_THROW(client.run(calls::create_token({"default", "robot"})), DecodeError);
}

TEST_F(Subresources, BindNamesTheNode) {
  transport->reply(201, "{}");
  client.run(calls::bind(web, "node-1"));
  EXPECT_THAT(sent(), HasSubstr("POST /api/v1/namespaces/default/pods/web-0/binding"));
  EXPECT_EQ(body()["target"], Json::parse(R"({"apiVersion":"v1","kind":"Node","name":"node-1"})"));
}

TEST_F(Subresources, AnyOtherIsJson) {
  const ResourceId deployments{"apps", "v1", "Deployment", "deployments"};
  transport->reply(200, R"({"kind":"Scale","spec":{"replicas":3}})");
  EXPECT_EQ(client.run(calls::get_subresource(deployments, web, "scale")).at({"spec", "replicas"}), Json(3));
  EXPECT_EQ(sent(), "GET /apis/apps/v1/namespaces/default/deployments/web-0/scale");
  transport->reply(201, R"({"kind":"Any"})");
  EXPECT_EQ(client.run(calls::create_subresource(deployments, web, "rollback", Json::object()))["kind"],
            Json("Any"));
  EXPECT_THROW(client.run(calls::get_subresource(deployments, {"default", ""}, "scale")),
               std::invalid_argument);
}

}  // namespace
}  // namespace evenkeel
