// SPDX-License-Identifier: Apache-2.0
#include "http/wire_check.hpp"

#include <stdexcept>

#include <gtest/gtest.h>

#include <evenkeel/http/curl_transport.hpp>

#include "http/plain_http.hpp"
#include "scripted_server.hpp"

namespace evenkeel::http {
namespace {

using detail::escape_header_name;
using detail::header_name_problem;
using detail::header_value_problem;
using detail::is_exposed;
using detail::is_loopback;
using tests::Connection;
using tests::ScriptedServer;

TEST(HeaderCheck, RefusesEachControlByteButTheTabInAValue) {
  for (int byte = 0; byte < 256; ++byte) {
    const std::string value = std::string("ab") + static_cast<char>(byte) + "c";
    EXPECT_EQ(header_value_problem(value).empty(), (byte >= 0x20 && byte != 0x7f) || byte == 0x09) << byte;
  }
  EXPECT_EQ(header_value_problem("bob\r\nImpersonate-Group: system:masters"),
            "holds control byte 0x0d at position 3");
  EXPECT_EQ(header_value_problem("\x7f"), "holds control byte 0x7f at position 0");
}

TEST(HeaderCheck, ANameIsAToken) {
  for (int byte = 0; byte < 256; ++byte) {
    const bool letter = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
    const bool token = letter || (byte >= '0' && byte <= '9') ||
                       (byte != 0 && std::string_view("!#$%&'*+-.^_`|~").find(static_cast<char>(byte)) !=
                                         std::string_view::npos);
    EXPECT_EQ(header_name_problem(std::string("X") + static_cast<char>(byte)).empty(), token) << byte;
  }
  EXPECT_EQ(header_name_problem(""), "is empty");
  EXPECT_EQ(header_name_problem("A b"), "holds byte 0x20 at position 1");
}

// client-go's headerKeyEscape, with the cases of its TestHeaderEscapeRoundTrip.
TEST(HeaderCheck, EscapesPartsOfNamesAsClientGoDoes) {
  EXPECT_EQ(escape_header_name("alice"), "alice");
  EXPECT_EQ(escape_header_name("alice!"), "alice!");
  EXPECT_EQ(escape_header_name("alice@example.com"), "alice%40example.com");
  EXPECT_EQ(escape_header_name("example.com/team"), "example.com%2Fteam");
  EXPECT_EQ(escape_header_name("100%"), "100%25");
  EXPECT_EQ(escape_header_name("\xe1\xbd\x80"), "%E1%BD%80");
}

/// Returns the error of a request, which must not reach the server.
std::string refusal_of(Request request) {
  ScriptedServer server([](Connection& connection) {
    while (connection.read_request()) connection.respond(200, "");
  });
  const auto transport = make_curl_transport({.server = server.url(), .proxy = ""});
  std::string refusal = "sent";
  try {
    transport->fetch(std::move(request));
  } catch (const std::invalid_argument& error) {
    refusal = error.what();
  }
  EXPECT_EQ(server.connections(), refusal == "sent" ? 1 : 0);
  return refusal;
}

TEST(CurlTransportHeadersConcurrency, NothingLeavesThatWouldBeAnotherHeader) {
  EXPECT_EQ(refusal_of({.target = "/", .headers = {{"X-Fine", "a b"}}}), "sent");
  EXPECT_EQ(refusal_of({.target = "/", .headers = {{"Impersonate-User", "bob\r\nImpersonate-Group: x"}}}),
            "GET /: header \"Impersonate-User\": the value holds control byte 0x0d at position 3");
  EXPECT_EQ(refusal_of({.target = "/", .headers = {{"X\r\nY", "z"}}}),
            "GET /: header \"X\\r\\nY\": the name holds byte 0x0d at position 1");
  EXPECT_EQ(refusal_of({.target = "/a HTTP/1.1\r\nX: y"}),
            "GET /a HTTP/1.1\\r\\nX: y: the target holds byte 0x20 at position 2, which must be "
            "percent-encoded");
  // Appended to "http://127.0.0.1:80" it would turn that into a user name.
  EXPECT_EQ(refusal_of({.target = "@elsewhere/"}), "GET @elsewhere/: the target must begin with '/'");
}

TEST(CurlTransportHeadersConcurrency, AStreamIsCheckedLikeARequest) {
  class Nobody final : public StreamHandler {
    void on_response(int, const Headers&) override {}
    void on_data(std::string_view) override {}
    void on_end(std::exception_ptr) override {}
  };
  const auto transport = make_curl_transport({.server = "http://127.0.0.1:1", .proxy = ""});
  EXPECT_THROW(transport->stream({.target = "/", .headers = {{"X", "a\nb"}}}, std::make_shared<Nobody>()),
               std::invalid_argument);
}

TEST(CurlTransportHeadersConcurrency, TheUserAgentIsChecked) {
  try {
    make_curl_transport({.server = "http://127.0.0.1:1", .user_agent = "a\nb"});
    FAIL() << "made";
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), "CurlTransportOptions.user_agent: holds control byte 0x0a at position 1");
  }
}

TEST(CurlTransportHeadersConcurrency, AHeaderOfBlanksIsSentEmptyAndNotLeftOut) {
  bool arrived = false;
  {
    ScriptedServer server([&](Connection& connection) {
      while (const auto request = connection.read_request()) {
        const std::string* value = request->headers.find("X-Blank");
        arrived = value != nullptr && value->empty();
        connection.respond(200, "");
      }
    });
    const auto transport = make_curl_transport({.server = server.url(), .proxy = ""});
    transport->fetch({.target = "/", .headers = {{"X-Blank", "  "}}});
  }
  EXPECT_TRUE(arrived);
}

TEST(PlainHttp, KnowsLoopbackAddressesAsAWhole) {
  for (const char* host :
       {"localhost", "LocalHost", "127.0.0.1", "127.3.2.1", "::1", "[::1]", "::ffff:127.0.0.1"})
    EXPECT_TRUE(is_loopback(host)) << host;
  for (const char* host : {"", "127.evil.example", "127.0.0.1.evil.example", "localhost.evil.example",
                           "128.0.0.1", "0.0.0.0", "::", "10.0.0.1", "::ffff:10.0.0.1"})
    EXPECT_FALSE(is_loopback(host)) << host;
}

TEST(PlainHttp, IsExposedUnlessTlsOrThisMachine) {
  EXPECT_TRUE(is_exposed("http://10.0.0.1:8080/path"));
  EXPECT_TRUE(is_exposed("HTTP://api.example"));
  EXPECT_TRUE(is_exposed("http://127.0.0.1@api.example/"));  // a user name
  EXPECT_FALSE(is_exposed("https://10.0.0.1"));
  EXPECT_FALSE(is_exposed("http://127.0.0.1:8080"));
  EXPECT_FALSE(is_exposed("http://[::1]:8080"));
  EXPECT_FALSE(is_exposed(""));
}

TEST(PlainHttpConcurrency, ACredentialIsNotSentToAnotherMachine) {
  const Request request{.target = "/api", .headers = {{"Authorization", "Bearer secret"}}};
  const auto refusal = [&](CurlTransportOptions options) -> std::string {
    const auto transport = make_curl_transport(std::move(options));
    try {
      transport->send(request, [](Outcome<Response>) {})->cancel();
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "sent";
  };
  EXPECT_EQ(
      refusal({.server = "http://192.0.2.1:8080", .proxy = ""}),
      "GET http://192.0.2.1:8080/api: http://192.0.2.1:8080 is neither https nor a loopback address, and "
      "header \"Authorization\" would be sent in the clear; use https, or set "
      "CurlTransportOptions.credentials_in_clear");
  EXPECT_NE(refusal({.server = "http://127.0.0.1:1", .proxy = "http://192.0.2.1:3128"}), "sent");
  EXPECT_EQ(refusal({.server = "http://127.0.0.1:1", .proxy = ""}), "sent");
  EXPECT_EQ(refusal({.server = "http://127.0.0.1:1", .proxy = "", .credentials_in_clear = true}), "sent");
  EXPECT_EQ(refusal({.server = "https://127.0.0.1:1", .proxy = ""}), "sent");
}

}  // namespace
}  // namespace evenkeel::http
