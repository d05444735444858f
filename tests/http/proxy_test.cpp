// SPDX-License-Identifier: Apache-2.0
#include "http/proxy.hpp"

#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/http/event_loop.hpp>

#include "base/shown_url.hpp"

namespace evenkeel::http::detail {
namespace {

using Environment = std::map<std::string, std::string>;

std::string chosen(const CurlTransportOptions& options, const Environment& environment) {
  try {
    return choose_proxy(options, [&](const char* name) {
      const auto found = environment.find(name);
      return found == environment.end() ? nullptr : found->second.c_str();
    });
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
}

constexpr const char* proxy = "http://proxy.example:3128";

struct Case {
  std::string server;
  std::string no_proxy;
  bool direct;
};

// The tables of httpproxy's proxy_test.go, and what was reported of other clients.
TEST(Proxy, IsUsedUnlessNoProxyExcludesTheServer) {
  const std::vector<Case> cases = {
      {"https://10.99.0.1:6443", "", false},
      {"https://10.99.0.1:6443", "10.0.0.0/8", true},
      {"https://10.99.0.1:6443", " 192.168.0.0/16 , 10.0.0.0/8 ", true},
      {"https://10.99.0.1:6443", "10.99.0.0/31", true},
      {"https://10.99.0.2:6443", "10.99.0.0/31", false},
      {"https://10.99.0.1:6443", "0.0.0.0/0", true},
      {"https://10.99.0.1:6443", "::/0", false},
      {"https://10.99.0.1:6443", "10.0.0.0/33", false},
      {"https://10.99.0.1:6443", "10.99.0.1", true},
      {"https://10.99.0.1:6443", "10.99.0.1:6443", true},
      {"https://10.99.0.1:6443", "10.99.0.1:443", false},
      {"https://10.99.0.1", "10.99.0.1:443", true},
      {"http://10.99.0.1", "10.99.0.1:80", true},
      {"https://10.99.0.1:6443", "10.99", false},
      {"https://10.99.0.1:6443", ".0.1", false},
      {"https://10.99.0.1:6443", "*", true},
      {"https://10.99.0.1:6443", "a.example,*", true},
      {"https://[fd00::1]:6443", "fd00::/8", true},
      {"https://[fd00::1]:6443", "fe80::/10", false},
      {"https://[fd00::1]:6443", "0.0.0.0/0", false},
      {"https://[fd00::1]:6443", "fd00::1", true},
      {"https://[fd00::1]:6443", "FD00:0::1", true},
      {"https://[fd00::1]:6443", "[fd00::1]:6443", true},
      {"https://[fd00::1]:6443", "[fd00::1]:443", false},
      {"https://[::ffff:10.99.0.1]:6443", "10.0.0.0/8", true},
      {"https://api.example:6443", "api.example", true},
      {"https://API.Example:6443", "api.EXAMPLE", true},
      {"https://api.example:6443", "example", true},
      {"https://api.example:6443", ".example", true},
      {"https://api.example:6443", "*.example", true},
      {"https://example:6443", "*.example", false},
      {"https://example:6443", ".example", false},
      {"https://example:6443", "example", true},
      {"https://api.example:6443", "api.example:6443", true},
      {"https://api.example:6443", "*.example:6443", true},
      {"https://api.example:6443", "*.example:443", false},
      {"https://api.example:6443", ":6443", false},
      {"https://notexample:6443", "example", false},
      {"https://api.example.com:6443", "example", false},
      {"https://api.example:6443", ",,", false},
      {"https://localhost:6443", "", true},
      {"https://127.3.2.1:6443", "", true},
      {"https://[::1]:6443", "", true},
  };
  for (const auto& [server, no_proxy, direct] : cases) {
    for (const char* spelling : {"NO_PROXY", "no_proxy"}) {
      EXPECT_EQ(
          chosen({.server = server}, {{"HTTPS_PROXY", proxy}, {"http_proxy", proxy}, {spelling, no_proxy}}),
          direct ? "" : proxy)
          << server << " with " << spelling << "=" << no_proxy;
      EXPECT_EQ(chosen({.server = server, .proxy = "http://own.example:1"},
                       {{"HTTPS_PROXY", proxy}, {"http_proxy", proxy}, {spelling, no_proxy}}),
                "http://own.example:1")
          << server << " with a proxy of its own";
    }
  }
}

TEST(Proxy, IsTheOneOfTheServersScheme) {
  const Environment both = {{"HTTPS_PROXY", "http://s:1"}, {"HTTP_PROXY", "http://p:1"}};
  EXPECT_EQ(chosen({.server = "https://10.0.0.1"}, both), "http://s:1");
  EXPECT_EQ(chosen({.server = "http://10.0.0.1"}, both), "http://p:1");
  EXPECT_EQ(chosen({.server = "https://10.0.0.1"}, {{"HTTP_PROXY", "http://p:1"}}), "");
  EXPECT_EQ(
      chosen({.server = "https://10.0.0.1"}, {{"ALL_PROXY", "http://p:1"}, {"all_proxy", "http://p:1"}}), "");
  EXPECT_EQ(
      chosen({.server = "https://10.0.0.1"}, {{"HTTPS_PROXY", "http://s:1"}, {"https_proxy", "http://l:1"}}),
      "http://s:1");
  EXPECT_EQ(chosen({.server = "https://10.0.0.1"}, {{"HTTPS_PROXY", ""}, {"https_proxy", "http://l:1"}}),
            "http://l:1");
  EXPECT_EQ(chosen({.server = "https://10.0.0.1", .proxy = ""}, both), "");
  EXPECT_EQ(chosen({.server = "https://10.0.0.1", .event_loop = std::make_shared<EventLoop>()}, both), "");
}

// The name that the certificate must have is not where the connection goes.
TEST(Proxy, IsDecidedByTheAddressOfTheServer) {
  const CurlTransportOptions options{.server = "https://10.99.0.1:7751",
                                     .tls = {.server_name = "api.example"}};
  EXPECT_EQ(chosen(options, {{"HTTPS_PROXY", proxy}, {"NO_PROXY", "10.0.0.0/8"}}), "");
  EXPECT_EQ(chosen(options, {{"HTTPS_PROXY", proxy}, {"NO_PROXY", "api.example"}}), proxy);
}

TEST(Proxy, HasTheFormsThatGoTakes) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"proxy.example:3128", "http://proxy.example:3128"},
      {"proxy.example", "http://proxy.example:80"},
      {"10.0.0.9", "http://10.0.0.9:80"},
      {"HTTP://proxy.example/", "http://proxy.example:80"},
      {"https://proxy.example", "https://proxy.example:443"},
      {"socks5://proxy.example", "socks5h://proxy.example:1080"},
      {"socks5h://proxy.example:9", "socks5h://proxy.example:9"},
      {"http://[fd00::9]:3128", "http://[fd00::9]:3128"},
      {"http://bob:hunter2@proxy.example:3128", "http://bob:hunter2@proxy.example:3128"},
      {"http://bob:h%40%3a2@proxy.example", "http://bob:h%40%3a2@proxy.example:80"},
      {"http://bob:h@@2@proxy.example", "http://bob:h%40%402@proxy.example:80"},
      {"bob:hunter2@proxy.example:3128", "http://bob:hunter2@proxy.example:3128"},
  };
  for (const auto& [text, url] : cases)
    EXPECT_EQ(chosen({.server = "https://10.0.0.1"}, {{"https_proxy", text}}), url) << text;
}

TEST(Proxy, ErrorsNameVariableAndHostAndNoPassword) {
  const std::string problem =
      "not the URL of a proxy, such as http://HOST:PORT, https://HOST:PORT or socks5://HOST:PORT; other "
      "characters in a user or password than letters and digits must be percent-encoded";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"http://bob:hunter 2@127.0.0.1:1", "http://127.0.0.1:1"},
      {"http://bob:hunter/2@127.0.0.1:1", "http://127.0.0.1:1"},
      {"http://bob:hunter#2@127.0.0.1:1", "http://127.0.0.1:1"},
      {"http://bob:hunter?2@127.0.0.1:1", "http://127.0.0.1:1"},
      {"http://bob:22771/2@127.0.0.1:1", "http://..."},
      {"http://bob:hunter2@127.0.0.1:99999", "http://127.0.0.1:99999"},
      {"http://bob:hunter2@", "http://"},
      {"http://bob:hunter%0a2@127.0.0.1:1", "http://127.0.0.1:1"},
      {"ftp://bob:hunter2@127.0.0.1", "ftp://127.0.0.1"},
  };
  for (const auto& [text, shown] : cases) {
    EXPECT_EQ(chosen({.server = "https://10.0.0.1"}, {{"https_proxy", text}}),
              "https_proxy \"" + shown + "\": " + problem)
        << text;
    if (text.starts_with("ftp")) continue;
    EXPECT_EQ(chosen({.server = "https://10.0.0.1", .proxy = text}, {}),
              "CurlTransportOptions.proxy \"" + shown + "\": " + problem)
        << text;
    EXPECT_EQ(proxy_problem(text), problem);
  }
  EXPECT_EQ(chosen({.server = "https://10.0.0.1"}, {{"HTTPS_PROXY", "http://bob:a b@c"}, {"NO_PROXY", "*"}}),
            "");
}

// A client of a CGI program sets HTTP_PROXY by a header "Proxy".
TEST(Proxy, OfACgiProgramIsNotUsed) {
  const Environment cgi = {{"HTTP_PROXY", proxy}, {"HTTPS_PROXY", proxy}, {"REQUEST_METHOD", "GET"}};
  EXPECT_EQ(chosen({.server = "http://10.0.0.1"}, cgi),
            "HTTP_PROXY: not used in a CGI program (REQUEST_METHOD is set), whose clients choose it");
  EXPECT_EQ(chosen({.server = "https://10.0.0.1"}, cgi), proxy);
}

TEST(ShownUrl, HasNoCredentials) {
  using evenkeel::detail::shown_url;
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"https://host:6443/path", "https://host:6443/path"},
      {"https://bob:hunter2@host:6443/path", "https://host:6443/path"},
      {"https://token@host", "https://host"},
      {"bob:hunter2@10.0.0.1:6443", "10.0.0.1:6443"},
      {"bob:http://hunter2@10.0.0.1", "..."},
      {"https://h/a@b", "https://..."},
      {"https://h:1?token=a@b", "https://..."},
      {"https://h/v1/traces?token=abc", "https://h/v1/traces..."},
      {"https://h#abc", "https://h..."},
      {"etcds://a:b@h1:1,c:d@h2:2", "etcds://h2:2"},
      {"", ""},
      {"@", ""},
      {"@@a", "a"},
      {"/@", "..."},
  };
  for (const auto& [url, shown] : cases) EXPECT_EQ(shown_url(url), shown) << url;
}

}  // namespace
}  // namespace evenkeel::http::detail
