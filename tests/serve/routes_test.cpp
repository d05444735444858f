// SPDX-License-Identifier: Apache-2.0
// Choice of the route of a request, and access to it.
#include "serve/routes.hpp"

#include <stdexcept>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "serve/wire.hpp"

namespace evenkeel::http {
namespace {

using detail::from_this_machine;
using detail::parse_address;
using detail::refusal;
using detail::Routes;

Routes::Entry named(const std::string& name) {
  return {.handler = [name](const ServerCall&) { return Response{.status = 200, .body = name}; }};
}

std::string taken(const Routes& routes, std::string_view path) {
  const auto found = routes.find(path);
  if (!found) return "nobody";
  const Request request;
  const Target target;
  const ServerCall call{.request = request, .target = target, .rest = found->rest};
  return found->entry->handler(call).body + "(" + std::string(found->rest) + ")";
}

TEST(Routes, TheLongestOneThatFitsTakesARequest) {
  Routes routes;
  routes.set("/healthz", named("all"));
  routes.set("/healthz/", named("one"));
  routes.set("/debug/", named("debug"));
  routes.set("/debug/explain/", named("explain"));
  EXPECT_EQ(taken(routes, "/healthz"), "all()");
  EXPECT_EQ(taken(routes, "/healthz/ping"), "one(ping)");
  EXPECT_EQ(taken(routes, "/debug/explain/a/b/c"), "explain(a/b/c)");
  EXPECT_EQ(taken(routes, "/debug/other"), "debug(other)");
  EXPECT_EQ(taken(routes, "/debug"), "nobody");
  EXPECT_EQ(taken(routes, "/"), "nobody");
  EXPECT_EQ(taken(routes, ""), "nobody");
}

TEST(Routes, AddressesAreHostAndPort) {
  EXPECT_EQ(parse_address(":8080").host, "");
  EXPECT_EQ(parse_address(":8080").port, 8080);
  EXPECT_EQ(parse_address("127.0.0.1:0").host, "127.0.0.1");
  EXPECT_EQ(parse_address("[::1]:8443").host, "::1");
  EXPECT_EQ(parse_address("localhost:1").host, "localhost");
}

TEST(Routes, InvalidAddressesAreRefusedWithTheExpectedForm) {
  for (const char* wrong :
       {"8080", "", "host", "host:", ":99999", ":80x", "::1:80", "[]:80", "http://a:80"}) {
    try {
      check_address(wrong);
      ADD_FAILURE() << wrong << " was taken";
    } catch (const std::invalid_argument& error) {
      EXPECT_EQ(error.what(),
                "\"" + std::string(wrong) +
                    "\" is not an address such as :8080, 127.0.0.1:8080, [::1]:8080 or localhost:8080");
    }
  }
}

TEST(Routes, TargetsAreDecoded) {
  const Target target = parse_target("/healthz/a%2Fb?exclude=x+y&verbose&exclude=%26#part");
  EXPECT_EQ(target.path, "/healthz/a/b");
  ASSERT_EQ(target.query.size(), 3u);
  EXPECT_EQ(target.query[0], std::pair(std::string("exclude"), std::string("x y")));
  EXPECT_EQ(target.query[2], std::pair(std::string("exclude"), std::string("&")));
  ASSERT_NE(target.find("verbose"), nullptr);
  EXPECT_EQ(*target.find("verbose"), "");
  EXPECT_EQ(target.find("nothing"), nullptr);
}

TEST(Routes, LocalRequestsComeFromALoopbackAddressForALoopbackHost) {
  EXPECT_TRUE(from_this_machine({{"Host", "localhost:8080"}}, true));
  EXPECT_TRUE(from_this_machine({{"Host", "127.0.0.1"}}, true));
  EXPECT_TRUE(from_this_machine({{"Host", "[::1]:8080"}}, true));
  EXPECT_TRUE(from_this_machine({{"Host", "[::1]"}}, true));
  EXPECT_FALSE(from_this_machine({{"Host", "localhost:8080"}}, false));
  EXPECT_FALSE(from_this_machine({{"Host", "evil.example:8080"}}, true));
  EXPECT_FALSE(from_this_machine({}, true));
  EXPECT_FALSE(from_this_machine({{"Host", "localhost"}, {"X-Forwarded-For", "10.0.0.9"}}, true));
  EXPECT_FALSE(from_this_machine({{"Host", "localhost"}, {"Forwarded", "for=10.0.0.9"}}, true));
  EXPECT_TRUE(from_this_machine({{"Host", "localhost"}, {"Origin", "http://localhost:8080"}}, true));
  EXPECT_FALSE(from_this_machine({{"Host", "localhost"}, {"Origin", "https://evil.example"}}, true));
  EXPECT_FALSE(from_this_machine({{"Host", "localhost"}, {"Origin", "null"}}, true)) << "of a sandboxed page";
}

TEST(Routes, AHostIsThisMachineOnlyIfAllOfItIsALoopbackName) {
  for (const char* host : {"localhost", "LocalHost", "localhost.", "localhost:8080", "localhost.:80",
                           "127.0.0.1", "127.0.0.1:18080", "127.255.1.2:1", "[::1]", "[::1]:8080",
                           "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]:80"}) {
    EXPECT_TRUE(from_this_machine({{"Host", host}}, true)) << host;
  }
  for (const char* host : {"127.evil.example",
                           "127.evil.example:18080",
                           "127.0.0.1.evil.example",
                           "127.0.0.1.evil.example:80",
                           "localhost.evil.example",
                           "localhost..",
                           "127.1",
                           "127.0.0.1.",
                           "127.0.0.256",
                           "0127.0.0.1",
                           "2130706433",
                           "0x7f.0.0.1",
                           "128.0.0.1",
                           "::1",
                           "::1:8080",
                           "[::1",
                           "[::2]",
                           "[::1]x",
                           "[::1]8080",
                           "[127.0.0.1]",
                           "[]",
                           "127.0.0.1:",
                           "127.0.0.1:x",
                           "127.0.0.1:80x",
                           "127.0.0.1:65536",
                           "127.0.0.1:80:80",
                           ":8080",
                           "",
                           " ",
                           "localhost@evil.example",
                           "127.0.0.1 ",
                           "127.0.0.1/"}) {
    EXPECT_FALSE(from_this_machine({{"Host", host}}, true)) << '"' << host << '"';
  }
  Headers two;
  two.add("Host", "localhost");
  two.add("host", "evil.example");
  EXPECT_FALSE(from_this_machine(two, true));
}

TEST(Routes, WhatAProxySentOnDoesNotComeFromThisMachine) {
  for (const char* header :
       {"Forwarded", "forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto",
        "x-forwarded-prefix", "Via", "X-Real-IP", "X-Client-IP", "True-Client-IP"}) {
    Headers headers{{"Host", "localhost"}};
    headers.add(header, "127.0.0.1");
    EXPECT_FALSE(from_this_machine(headers, true)) << header;
  }
  EXPECT_TRUE(from_this_machine({{"Host", "localhost"}, {"X-Forward", "1"}}, true));
}

struct Asked {
  RouteAccess access;
  const char* site_token;
  const char* given;  // nullptr: no header
  bool loopback;
  int status;  // 0: access granted
};

TEST(Routes, AccessIsATable) {
  const Asked table[] = {
      {RouteAccess::anyone, "", nullptr, false, 0},     {RouteAccess::anyone, "t", nullptr, false, 0},
      {RouteAccess::token, "", nullptr, false, 0},      {RouteAccess::token, "t", nullptr, true, 401},
      {RouteAccess::token, "t", "Bearer t", false, 0},  {RouteAccess::token, "t", "Bearer tt", false, 401},
      {RouteAccess::token, "t", "Bearer ", false, 401}, {RouteAccess::token, "t", "Basic t", false, 401},
      {RouteAccess::trusted, "", nullptr, false, 403},  {RouteAccess::trusted, "", nullptr, true, 0},
      {RouteAccess::trusted, "t", nullptr, false, 401}, {RouteAccess::trusted, "t", "Bearer t", false, 0},
      {RouteAccess::trusted, "t", nullptr, true, 401},  {RouteAccess::trusted, "", "Bearer ", false, 403}};
  for (const Asked& asked : table) {
    Request request{.headers = {{"Host", "localhost"}}};
    if (asked.given != nullptr) request.headers.add("Authorization", asked.given);
    const auto refused = refusal({.access = asked.access}, request, asked.loopback, asked.site_token);
    EXPECT_EQ(refused ? refused->status : 0, asked.status)
        << static_cast<int>(asked.access) << " " << asked.site_token << " "
        << (asked.given != nullptr ? asked.given : "-") << " " << asked.loopback;
  }
}

TEST(Routes, MethodsThatARouteDoesNotTakeAreRefusedAndNamed) {
  const RouteOptions options{.access = RouteAccess::anyone, .methods = {Method::get, Method::put}};
  EXPECT_FALSE(refusal(options, {.method = Method::put}, false, ""));
  const auto refused = refusal(options, {.method = Method::post}, false, "");
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->status, 405);
  ASSERT_NE(refused->headers.find("Allow"), nullptr);
  EXPECT_EQ(*refused->headers.find("Allow"), "GET, PUT");
}

TEST(ResponseHead, NoValueBeginsAHeaderOfItsOwn) {
  const std::string head = detail::head_of(
      {.status = 200,
       .headers = {{"X-Name", "web\r\nSet-Cookie: a=b\x7f"}, {"X\r\nEvil", "1"}, {"X-Fine", "a b"}},
       .body = {}});
  EXPECT_EQ(head.substr(0, head.find("Date: ")),
            "HTTP/1.1 200 OK\r\nX-Name: web  Set-Cookie: a=b \r\nX-Fine: a b\r\n");
}

}  // namespace
}  // namespace evenkeel::http
