// SPDX-License-Identifier: Apache-2.0
// Compressed answers: asked for where an option says so, expanded within the limits of plain ones, and clear
// errors for those that are cut, corrupt or explode.
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <zlib.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/http/curl_transport.hpp>

#include "scripted_server.hpp"

namespace evenkeel::http::compression_tests {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using tests::Connection;
using tests::ScriptedServer;

constexpr std::size_t limit = std::size_t{1} << 20;

std::string gzipped(std::string_view text) {
  z_stream stream = {};
  deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

/// Text that is neither random nor uniform.
std::string words(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += "object-" + std::to_string(i * 7919 % 10007) + ";";
  return text;
}

std::string failure_of(const std::exception_ptr& error) {
  static constexpr const char* names[] = {"resolve",     "connect",  "tls",   "timeout",
                                          "interrupted", "protocol", "closed"};
  try {
    std::rethrow_exception(error);
  } catch (const TransportError& broken) {
    return std::string(names[static_cast<int>(broken.code())]) + ": " + broken.what();
  } catch (const std::exception& other) {
    return other.what();
  }
}

/// Parameter: sent by the transport's thread instead of the caller's.
class Compression : public ::testing::TestWithParam<bool> {
 protected:
  void serve(std::function<void(Connection&, const Request&)> script,
             std::optional<bool> compression = true) {
    serve_connections(
        [script = std::move(script)](Connection& connection) {
          while (const auto request = connection.read_request()) script(connection, *request);
        },
        compression);
  }
  void serve_connections(ScriptedServer::Script script, std::optional<bool> compression = true) {
    transport_.reset();
    server_ = std::make_unique<ScriptedServer>(std::move(script));
    transport_ = make_curl_transport(
        {.server = server_->url(), .proxy = "", .max_body_bytes = limit, .compression = compression});
  }
  void answer_with(const std::string& body) {
    serve([body](Connection& connection, const Request&) {
      connection.respond(200, body, "Content-Encoding: gzip\r\n");
    });
  }
  Response ask(Request request = {.target = "/x"}) {
    if (!GetParam()) return transport_->fetch(std::move(request));
    std::promise<Outcome<Response>> ended;
    transport_->send(std::move(request),
                     [&ended](Outcome<Response> outcome) { ended.set_value(std::move(outcome)); });
    return ended.get_future().get().value();
  }
  /// Returns the error of a request without method and URL.
  std::string problem() {
    try {
      return "answered with " + std::to_string(ask().body.size()) + " bytes";
    } catch (...) {
      std::string error = failure_of(std::current_exception());
      const std::string url = "GET " + server_->url() + "/x: ";
      if (const auto at = error.find(url); at != std::string::npos) error.erase(at, url.size());
      return error;
    }
  }

  std::unique_ptr<ScriptedServer> server_;
  std::shared_ptr<Transport> transport_;
};

TEST_P(Compression, IsAskedForAndExpanded) {
  const std::string text = words(20'000);
  serve([&text](Connection& connection, const Request& request) {
    const std::string* const accepted = request.headers.find("accept-encoding");
    EXPECT_EQ(accepted == nullptr ? "" : *accepted, "gzip");
    connection.respond(200, gzipped(text), "Content-Encoding: gzip\r\nVary: Accept-Encoding\r\n");
  });
  const Response response = ask();
  EXPECT_EQ(response.body, text);
  EXPECT_EQ(response.headers.find("Content-Encoding"), nullptr) << "the caller's body is not compressed";
  EXPECT_EQ(response.headers.find("Content-Length"), nullptr);
  EXPECT_EQ(*response.headers.find("Vary"), "Accept-Encoding");
}

TEST_P(Compression, IsNotAskedForOnLoopbackOrIfSwitchedOff) {
  for (const std::optional<bool> compression : {std::optional<bool>(), std::optional(false)}) {
    serve(
        [](Connection& connection, const Request& request) {
          EXPECT_EQ(request.headers.find("accept-encoding"), nullptr);
          connection.respond(200, "\x1f\x8b\x08 not expanded", "Content-Encoding: gzip\r\n");
        },
        compression);
    const Response response = ask();
    EXPECT_EQ(response.body, "\x1f\x8b\x08 not expanded");
    EXPECT_EQ(*response.headers.find("Content-Encoding"), "gzip");
  }
}

TEST_P(Compression, LeavesWhatTheCallerHasAskedForToTheCaller) {
  serve([](Connection& connection, const Request& request) {
    EXPECT_EQ(*request.headers.find("accept-encoding"), "gzip");
    connection.respond(200, "raw", "Content-Encoding: gzip\r\n");
  });
  EXPECT_EQ(ask({.target = "/x", .headers = {{"Accept-Encoding", "gzip"}}}).body, "raw");
}

TEST_P(Compression, LeavesPlainAndUnknownAnswersAsTheyAre) {
  serve([](Connection& connection, const Request& request) {
    connection.respond(200, "as it is", request.target == "/x" ? "" : "Content-Encoding: br\r\n");
  });
  EXPECT_EQ(ask().body, "as it is");
  EXPECT_EQ(ask({.target = "/br"}).body, "as it is");
}

TEST_P(Compression, ExpandsErrorsSeveralMembersAndNothing) {
  serve([](Connection& connection, const Request& request) {
    std::string body;
    if (request.target == "/error") body = gzipped("no");
    if (request.target == "/two") body = gzipped("one") + gzipped("two");
    connection.respond(request.target == "/error" ? 500 : 200, body, "content-encoding: gzip\r\n");
  });
  const Response error = ask({.target = "/error"});
  EXPECT_EQ(error.status, 500);
  EXPECT_EQ(error.body, "no");
  EXPECT_EQ(ask({.target = "/two"}).body, "onetwo");
  EXPECT_EQ(ask({.target = "/none"}).body, "");
}

TEST_P(Compression, ExpandsSingleBytes) {
  serve([](Connection& connection, const Request&) {
    connection.start_chunked(200, "Content-Encoding: gzip\r\n");
    for (const char byte : gzipped("hello")) connection.chunk({&byte, 1});
    connection.chunk("");
  });
  EXPECT_EQ(ask().body, "hello");
}

// The limit is the one of the expanded body: a thousandth of it on the wire is too much.
TEST_P(Compression, ABodyThatExplodesIsBounded) {
  answer_with(gzipped(std::string(limit, 'x')));
  EXPECT_EQ(ask().body.size(), limit);
  const std::string bomb = gzipped(std::string(200 * limit, '\0'));
  EXPECT_LT(bomb.size(), limit);
  answer_with(bomb);
  EXPECT_EQ(problem(), "protocol: the answer exceeds 1048576 bytes");
  const std::string small = gzipped(std::string(limit + 1, 'x'));
  EXPECT_LT(small.size(), limit / 100);
  answer_with(small);
  EXPECT_EQ(problem(), "protocol: the answer exceeds 1048576 bytes");
}

TEST_P(Compression, ACorruptBodyIsNamed) {
  const std::string good = gzipped(words(1000));
  answer_with("plain text");
  EXPECT_EQ(problem(), "protocol: the answer's compressed body is corrupt: incorrect header check");
  answer_with(good + "more");
  EXPECT_EQ(problem(), "protocol: the answer's compressed body is corrupt: incorrect header check");
  std::string other = good;
  other[good.size() - 8] = static_cast<char>(~other[good.size() - 8]);
  answer_with(other);
  EXPECT_EQ(problem(), "protocol: the answer's compressed body is corrupt: incorrect data check");
  // A changed byte is never expanded to something else without an error.
  for (std::size_t at = 10; at < good.size(); at += 97) {
    other = good;
    other[at] = static_cast<char>(~other[at]);
    answer_with(other);
    EXPECT_THAT(problem(), ::testing::AnyOf(StartsWith("protocol: the answer's compressed body is corrupt: "),
                                            "interrupted: the answer ended within its compressed body"))
        << at;
  }
}

// The response is complete as HTTP, so that only the compressed body itself shows that something is missing.
TEST_P(Compression, ABodyThatEndsInsideIsIncompleteAtEveryByte) {
  const std::string good = gzipped(words(20));
  std::size_t bytes = 0;
  serve([&](Connection& connection, const Request&) {
    connection.respond(200, std::string_view(good).substr(0, bytes), "Content-Encoding: gzip\r\n");
  });
  for (bytes = 1; bytes < good.size(); ++bytes)
    EXPECT_EQ(problem(), "interrupted: the answer ended within its compressed body") << bytes;
  EXPECT_EQ(ask().body, words(20));
}

TEST_P(Compression, AConnectionThatBreaksInsideIsThatError) {
  serve_connections([](Connection& connection) {
    if (!connection.read_request()) return;
    const std::string body = gzipped(words(1000));
    connection.write("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: " +
                     std::to_string(body.size()) + "\r\n\r\n" + body.substr(0, 100));
    connection.reset_at_end();
  });
  EXPECT_THAT(problem(), StartsWith("interrupted: "));
}

INSTANTIATE_TEST_SUITE_P(, Compression, ::testing::Bool(),
                         [](const auto& param) { return param.param ? "Send" : "Fetch"; });

// A compressor between the server and the client would hold events of a watch back.
TEST(CompressionOfStreams, IsNeverAskedFor) {
  std::promise<bool> asked;
  const ScriptedServer server([&asked](Connection& connection) {
    const auto request = connection.read_request();
    asked.set_value(request->headers.find("accept-encoding") != nullptr);
    connection.respond(200, "");
  });
  struct Ignore final : StreamHandler {
    void on_response(int, const Headers&) override {}
    void on_data(std::string_view) override {}
    void on_end(std::exception_ptr) override {}
  };
  const auto transport = make_curl_transport({.server = server.url(), .proxy = "", .compression = true});
  transport->stream({.target = "/x?watch=1"}, std::make_shared<Ignore>());
  EXPECT_FALSE(asked.get_future().get());
}

}  // namespace
}  // namespace evenkeel::http::compression_tests
