// SPDX-License-Identifier: Apache-2.0
#include "client/config/credential_check.hpp"

#include <gtest/gtest.h>

#include <evenkeel/client/client.hpp>

#include "fake_transport.hpp"
#include "widget.hpp"

namespace evenkeel {
namespace {

using tests::FakeTransport;
using tests::Widget;

/// Returns the error of a client with this configuration.
std::string refusal_of(Config config) {
  if (config.server.empty()) config.server = "https://10.0.0.1:6443";
  const auto transport = std::make_shared<FakeTransport>();
  try {
    const Client client(std::move(config), {.transport = transport});
  } catch (const ConfigError& error) {
    EXPECT_TRUE(transport->requests().empty());
    return error.what();
  }
  return "accepted";
}

TEST(CredentialCheck, NamesTheFieldThatWouldBecomeAnotherHeader) {
  const std::string evil = "bob\r\nImpersonate-Group: system:masters";
  const std::string problem = "holds control byte 0x0d at position 3";
  EXPECT_EQ(refusal_of({.token = evil}), "Config: token: " + problem);
  EXPECT_EQ(refusal_of({.username = evil, .password = "p"}), "Config: username: " + problem);
  EXPECT_EQ(refusal_of({.username = "me", .password = evil}), "Config: password: " + problem);
  EXPECT_EQ(refusal_of({.username = "me:too", .password = "p"}), "Config: username: must not hold a colon");
  EXPECT_EQ(refusal_of({.impersonate = {.user = evil}}), "Config: impersonate.user: " + problem);
  EXPECT_EQ(refusal_of({.impersonate = {.user = "u", .uid = evil}}), "Config: impersonate.uid: " + problem);
  EXPECT_EQ(refusal_of({.impersonate = {.user = "u", .groups = {"a", evil}}}),
            "Config: impersonate.groups[1]: " + problem);
  EXPECT_EQ(refusal_of({.impersonate = {.user = "u", .extra = {{"k\n", {"v", evil}}}}}),
            "Config: impersonate.extra[k%0A]: " + problem);
  EXPECT_EQ(refusal_of({.impersonate = {.user = "u", .extra = {{"", {"v"}}}}}),
            "Config: impersonate.extra: a key is empty");
  EXPECT_EQ(refusal_of({.token = "t\n", .origin = "pod"}),
            "pod: token: holds control byte 0x0a at position 1");
  EXPECT_EQ(refusal_of({.token = "t", .impersonate = {.user = "J\xc3\xbcrgen", .groups = {"a b"}}}),
            "accepted");
}

TEST(CredentialCheck, AKeyOfExtraCannotEndItsHeader) {
  const auto transport = std::make_shared<FakeTransport>();
  transport->reply(200, R"({"kind":"Widget","metadata":{"name":"a","namespace":"d"}})");
  const Client client(
      {.server = "https://h", .impersonate = {.user = "u", .extra = {{"a\r\nb/c@d!", {"v"}}}}},
      {.transport = transport});
  client.get<Widget>({"d", "a"});
  EXPECT_EQ(*transport->last().headers.find("Impersonate-Extra-a%0D%0Ab%2Fc%40d!"), "v");
}

TEST(CredentialCheck, AHeaderThatACallerGivesIsChecked) {
  const auto transport = std::make_shared<FakeTransport>();
  const Client client({.server = "https://h"}, {.transport = transport});
  const RestRequest request{.resource = Widget::resource, .name = "a", .accept = "text/plain\r\nX-Evil: 1"};
  try {
    client.raw(request);
    FAIL() << "sent";
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(),
                 "GET /apis/test.dev/v1/widgets/a: header \"Accept\": the value holds control byte 0x0d at "
                 "position 10");
  }
  EXPECT_TRUE(transport->requests().empty());
}

TEST(CredentialCheck, NoCredentialGoesOverPlainHttpToAnotherMachine) {
  const std::string server = "http://10.0.0.1:8080";
  const std::string problem = server +
                              " is neither https nor a loopback address, and it would be sent in the clear; "
                              "use https, or set Config.credentials_in_clear";
  EXPECT_EQ(refusal_of({.server = server, .token = "t"}), "Config: token: " + problem);
  EXPECT_EQ(refusal_of({.server = server, .token_file = "/t"}), "Config: token_file: " + problem);
  EXPECT_EQ(refusal_of({.server = server, .username = "u", .password = "p"}), "Config: password: " + problem);
  EXPECT_EQ(refusal_of({.server = server, .exec = {.command = "x"}}), "Config: exec: " + problem);
  EXPECT_EQ(refusal_of({.server = server, .token = "t", .credentials_in_clear = true}), "accepted");
  EXPECT_EQ(refusal_of({.server = server}), "accepted");
  EXPECT_EQ(refusal_of({.server = "http://127.0.0.1:8080", .token = "t"}), "accepted");
  EXPECT_EQ(refusal_of({.server = "http://localhost", .token = "t"}), "accepted");
  EXPECT_EQ(
      refusal_of({.server = "http://localhost", .proxy = "http://10.0.0.2:3128", .token = "t"}),
      "Config: token: http://localhost is neither https nor a loopback address, and it would be sent in "
      "the clear through a proxy; use https, or set Config.credentials_in_clear");
}

}  // namespace
}  // namespace evenkeel
