// SPDX-License-Identifier: Apache-2.0
// Which reviews a request needs, and how long their results hold, in virtual time.
#include "manager/access_core.hpp"

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace evenkeel {
namespace access_core_test {
namespace {

using namespace std::chrono_literals;
using detail::AccessActions;
using detail::AccessCore;
using detail::AccessResult;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const http::AccessQuestion metrics{.token = "t", .verb = "get", .path = "/metrics"};
const Json ann = Json::parse(R"({"authenticated":true,"user":{"username":"ann","groups":["dev"]}})");
const Json yes = Json::parse(R"({"allowed":true})");
const Json no = Json::parse(R"({"allowed":false})");

class AccessCoreTest : public ::testing::Test {
 protected:
  // Returns the result for a request whose reviews are answered at once; counts the reviews.
  AccessResult ask(const http::AccessQuestion& question, const Json& token_status, const Json& right_status) {
    AccessActions actions = core.on_request(++request, question, now);
    if (!actions.token_reviews.empty()) {
      ++token_reviews;
      actions = core.on_token_review(actions.token_reviews[0], token_status, now);
    }
    if (!actions.rights_reviews.empty()) {
      ++rights_reviews;
      actions = core.on_rights_review(actions.rights_reviews[0], right_status, now);
    }
    EXPECT_THAT(actions.verdicts, SizeIs(1));
    return actions.verdicts.at(0).result;
  }

  AccessCore core;
  TimePoint now{1h};
  std::uint64_t request = 0;
  int token_reviews = 0;
  int rights_reviews = 0;
};

TEST_F(AccessCoreTest, AsksForTokenAndRightOnceAndRemembersTheTokenForAMinute) {
  EXPECT_EQ(ask(metrics, ann, yes), AccessResult::allowed);
  now += 59s;
  EXPECT_EQ(ask(metrics, ann, yes), AccessResult::allowed);
  EXPECT_EQ(token_reviews, 1);
  now += 1s;
  EXPECT_EQ(ask(metrics, ann, yes), AccessResult::allowed);
  EXPECT_EQ(token_reviews, 2);
  EXPECT_EQ(rights_reviews, 1);
}

TEST_F(AccessCoreTest, RemembersAPermissionForFiveMinutes) {
  ask(metrics, ann, yes);
  now += 5min - 1ns;
  EXPECT_EQ(ask(metrics, ann, no), AccessResult::allowed);
  now += 1ns;
  EXPECT_EQ(ask(metrics, ann, no), AccessResult::denied);
  EXPECT_EQ(rights_reviews, 2);
}

TEST_F(AccessCoreTest, RemembersADenialForThirtySeconds) {
  EXPECT_EQ(ask(metrics, ann, no), AccessResult::denied);
  now += 30s - 1ns;
  EXPECT_EQ(ask(metrics, ann, yes), AccessResult::denied);
  now += 1ns;
  EXPECT_EQ(ask(metrics, ann, yes), AccessResult::allowed);
}

TEST_F(AccessCoreTest, AsksForEachPathAndVerb) {
  ask(metrics, ann, yes);
  EXPECT_EQ(ask({.token = "t", .verb = "put", .path = "/metrics"}, ann, no), AccessResult::denied);
  EXPECT_EQ(ask({.token = "t", .verb = "get", .path = "/console/api/overview"}, ann, no),
            AccessResult::denied);
  EXPECT_EQ(rights_reviews, 3);
  EXPECT_EQ(token_reviews, 1);
}

TEST_F(AccessCoreTest, TheQuestionNamesTheUserWithAllThatTheTokenReviewSaid) {
  const Json user =
      Json::parse(R"({"username":"ann","uid":"7","groups":["dev"],"extra":{"scopes":["a"]},"other":1})");
  EXPECT_EQ(detail::rights_question(user, "get", "/metrics").dump(),
            R"({"extra":{"scopes":["a"]},"groups":["dev"],"nonResourceAttributes":{"path":"/metrics",)"
            R"("verb":"get"},"uid":"7","user":"ann"})");
}

TEST_F(AccessCoreTest, RefusesWithoutATokenOrWithATooLongOneWithoutAReview) {
  EXPECT_EQ(ask({.token = "", .verb = "get", .path = "/metrics"}, ann, yes), AccessResult::no_token);
  EXPECT_EQ(ask({.token = std::string((16u << 10) + 1, 'x'), .verb = "get", .path = "/metrics"}, ann, yes),
            AccessResult::unknown);
  EXPECT_EQ(token_reviews, 0);
}

TEST_F(AccessCoreTest, RemembersAnUnknownTokenAndOneWithoutAName) {
  EXPECT_EQ(ask(metrics, Json::object(), yes), AccessResult::unknown);
  EXPECT_EQ(ask(metrics, ann, yes), AccessResult::unknown);
  EXPECT_EQ(ask({.token = "nameless", .verb = "get", .path = "/metrics"},
                Json::parse(R"({"authenticated":true,"user":{}})"), yes),
            AccessResult::unknown);
  now += 1min;
  EXPECT_EQ(ask(metrics, ann, yes), AccessResult::allowed);
}

TEST_F(AccessCoreTest, RemembersNoFailure) {
  EXPECT_EQ(ask(metrics, Json(), yes), AccessResult::failed);
  EXPECT_EQ(ask(metrics, ann, Json()), AccessResult::failed);
  EXPECT_EQ(ask(metrics, ann, yes), AccessResult::allowed);
}

TEST_F(AccessCoreTest, ADenialOverrulesAPermission) {
  EXPECT_EQ(ask(metrics, ann, Json::parse(R"({"allowed":true,"denied":true})")), AccessResult::denied);
}

TEST_F(AccessCoreTest, RequestsAtTheSameTimeShareTheirReviews) {
  EXPECT_THAT(core.on_request(1, metrics, now).token_reviews, ElementsAre("t"));
  EXPECT_THAT(core.on_request(2, metrics, now).token_reviews, IsEmpty());
  const AccessActions known = core.on_token_review("t", ann, now);
  ASSERT_THAT(known.rights_reviews, SizeIs(1));
  const AccessActions end = core.on_rights_review(known.rights_reviews[0], yes, now);
  ASSERT_THAT(end.verdicts, SizeIs(2));
  EXPECT_EQ(end.verdicts[0].request, 1U);
  EXPECT_EQ(end.verdicts[1].request, 2U);
  EXPECT_EQ(end.verdicts[1].result, AccessResult::allowed);
}

TEST_F(AccessCoreTest, ItsMemoryIsBounded) {
  for (int at = 0; at < 2000; ++at) {
    now += 20ms;
    ask({.token = "t" + std::to_string(at), .verb = "get", .path = "/" + std::to_string(at)}, ann, yes);
  }
  EXPECT_EQ(core.tokens(), 256U);
  EXPECT_EQ(core.rights(), 1024U);
}

TEST_F(AccessCoreTest, RefusesWhenTooManyReviewsRun) {
  for (std::uint64_t at = 1; at <= 24; ++at) {
    core.on_request(at, {.token = "t" + std::to_string(at), .verb = "get", .path = "/"}, now);
  }
  const AccessActions full = core.on_request(999, metrics, now);
  ASSERT_THAT(full.verdicts, SizeIs(1));
  EXPECT_EQ(full.verdicts[0].result, AccessResult::busy);
  core.on_token_review("t1", Json(), now);
  EXPECT_THAT(core.on_request(1000, metrics, now).token_reviews, ElementsAre("t"));
}

// ---- Floods

http::AccessQuestion random_token(int number) {
  return {.token = "random-" + std::to_string(number), .verb = "get", .path = "/metrics"};
}

// Regression: unknown tokens pushed out the accepted one, and took the reviews that it needed then.
TEST_F(AccessCoreTest, AFloodOfUnknownTokensDoesNotDisturbAnAcceptedOne) {
  EXPECT_EQ(ask(metrics, ann, yes), AccessResult::allowed);
  int number = 0;
  for (int second = 0; second < 300; ++second) {
    std::vector<std::string> running;
    for (int i = 0; i < 500; ++i) {
      for (std::string& token : core.on_request(++request, random_token(++number), now).token_reviews)
        running.push_back(std::move(token));
    }
    ASSERT_EQ(ask(metrics, ann, yes), AccessResult::allowed) << "second " << second;
    for (const std::string& token : running) core.on_token_review(token, Json::object(), now);
    now += 1s;
  }
  EXPECT_LE(token_reviews, 6);
  EXPECT_LE(core.tokens(), 512U);
}

TEST_F(AccessCoreTest, ReviewsOfFirstTokensHaveARate) {
  int number = 0;
  std::size_t reviews = 0;
  for (int tenth = 0; tenth < 100; ++tenth) {
    for (int i = 0; i < 1000; ++i) {
      const AccessActions actions = core.on_request(++request, random_token(++number), now);
      reviews += actions.token_reviews.size();
      for (const std::string& token : actions.token_reviews) core.on_token_review(token, Json::object(), now);
      if (actions.token_reviews.empty()) {
        EXPECT_EQ(actions.verdicts.at(0).result, AccessResult::busy);
      }
    }
    now += 100ms;
  }
  EXPECT_EQ(reviews, 100U + 50 * 10 - 5);
}

TEST_F(AccessCoreTest, AFloodOfPathsDoesNotDisturbARightOfOthers) {
  const Json eve = Json::parse(R"({"authenticated":true,"user":{"username":"eve"}})");
  EXPECT_EQ(ask(metrics, ann, yes), AccessResult::allowed);
  ask({.token = "e", .verb = "get", .path = "/debug/explain/a"}, eve, no);
  int number = 0;
  for (int second = 0; second < 900; ++second) {
    std::vector<std::string> running;
    for (int i = 0; i < 100; ++i) {
      const http::AccessQuestion path{
          .token = "e", .verb = "get", .path = "/debug/explain/" + std::to_string(++number)};
      AccessActions actions = core.on_request(++request, path, now);
      if (!actions.token_reviews.empty()) actions = core.on_token_review("e", eve, now);
      for (std::string& spec : actions.rights_reviews) running.push_back(std::move(spec));
    }
    ASSERT_EQ(ask(metrics, ann, yes), AccessResult::allowed) << "second " << second;
    for (const std::string& spec : running) core.on_rights_review(spec, no, now);
    now += 1s;
  }
  EXPECT_LE(core.rights(), 2048U);
}

TEST_F(AccessCoreTest, ATokenThatIsNotAcceptedAnyMoreHasNoReservedReview) {
  ask(metrics, ann, yes);
  now += 1min;
  EXPECT_EQ(ask(metrics, Json::object(), yes), AccessResult::unknown);
  now += 1min;
  for (int number = 0; number < 24; ++number) core.on_request(++request, random_token(number), now);
  EXPECT_EQ(core.on_request(++request, metrics, now).verdicts.at(0).result, AccessResult::busy);
}

}  // namespace
}  // namespace access_core_test
}  // namespace evenkeel
