// SPDX-License-Identifier: Apache-2.0
#include "client/request/retry_core.hpp"

#include <gtest/gtest.h>

namespace evenkeel::detail {
namespace {

using namespace std::chrono_literals;
using http::Method;

std::optional<Duration> after(Method method, int code, std::optional<Duration> retry_after = {}) {
  RetryCore core({}, method, 1);
  return core.on_refused(Status{.code = code, .retry_after = retry_after});
}

TEST(RetryCore, WhatTheServerDidNotBeginIsSentAgainByAnyMethod) {
  for (const Method method : {Method::get, Method::post, Method::put, Method::patch, Method::delete_}) {
    EXPECT_EQ(after(method, 429, 3s), Duration(3s));
    EXPECT_EQ(after(method, 429), Duration(1s));
    EXPECT_EQ(after(method, 503, 2s), Duration(2s));
  }
}

TEST(RetryCore, WhatItMayHaveBegunIsSentAgainOnlyIfItReads) {
  for (const int code : {500, 502, 503, 504}) {
    EXPECT_TRUE(after(Method::get, code)) << code;
    for (const Method method : {Method::post, Method::put, Method::patch, Method::delete_}) {
      EXPECT_FALSE(after(method, code)) << code;
    }
  }
  EXPECT_EQ(after(Method::get, 500, 4s), Duration(4s));
  EXPECT_FALSE(after(Method::post, 500, 4s));
}

TEST(RetryCore, RefusalsAreFinal) {
  for (const int code : {400, 401, 403, 404, 405, 409, 410, 415, 422}) {
    EXPECT_FALSE(after(Method::get, code)) << code;
    EXPECT_FALSE(after(Method::get, code, 1s)) << code;
  }
}

TEST(RetryCore, OnlyABrokenReadIsSentAgain) {
  for (const auto code :
       {TransportErrorCode::resolve, TransportErrorCode::connect, TransportErrorCode::tls,
        TransportErrorCode::timeout, TransportErrorCode::protocol, TransportErrorCode::closed}) {
    EXPECT_FALSE(RetryCore({}, Method::get, 1).on_broken(code));
  }
  EXPECT_TRUE(RetryCore({}, Method::get, 1).on_broken(TransportErrorCode::interrupted));
  EXPECT_FALSE(RetryCore({}, Method::post, 1).on_broken(TransportErrorCode::interrupted));
}

TEST(RetryCore, BlindRetriesDoubleWithJitterAndEnd) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    RetryCore core({}, Method::get, seed);
    for (const Duration expected : {Duration(100ms), Duration(200ms), Duration(400ms), Duration(800ms)}) {
      const auto delay = core.on_broken(TransportErrorCode::interrupted);
      ASSERT_TRUE(delay);
      EXPECT_GE(*delay, expected * 8 / 10);
      EXPECT_LE(*delay, expected * 12 / 10);
    }
    EXPECT_FALSE(core.on_broken(TransportErrorCode::interrupted));
    EXPECT_TRUE(core.on_refused(Status{.code = 429})) << "the server's own word still counts";
  }
}

TEST(RetryCore, RetriesAfterRetryAfterAreLimitedToo) {
  RetryCore core({.max_retries = 3}, Method::post, 1);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(core.on_refused(Status{.code = 429}));
  EXPECT_FALSE(core.on_refused(Status{.code = 429}));
}

TEST(RetryCore, JitterSpreadsBothWays) {
  std::uint64_t random = 7;
  Duration least = 1h, most{};
  for (int i = 0; i < 1000; ++i) {
    const Duration delay = jittered(1000ms, 0.2, random);
    least = std::min(least, delay);
    most = std::max(most, delay);
  }
  EXPECT_GE(least, 800ms);
  EXPECT_LT(least, 810ms);
  EXPECT_LE(most, 1200ms);
  EXPECT_GT(most, 1190ms);
}

}  // namespace
}  // namespace evenkeel::detail
