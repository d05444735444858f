// SPDX-License-Identifier: Apache-2.0
// Servers that answer never, without end, in single bytes, or nonsense: each call ends with an error that
// says so, memory is bounded, and other calls of the transport are not affected.
#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/http/curl_transport.hpp>

#include "certificates.hpp"
#include "scripted_server.hpp"

namespace evenkeel::http {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using tests::Authority;
using tests::Connection;
using tests::ScriptedServer;

/// Ways to make the same request.
enum class Form : unsigned char { fetch, send, stream };

struct Case {
  Form form;
  bool tls;
};

std::string failure_of(const std::exception_ptr& error) {
  static constexpr const char* names[] = {"resolve",     "connect",  "tls",   "timeout",
                                          "interrupted", "protocol", "closed"};
  try {
    if (error) std::rethrow_exception(error);
    return "no error";
  } catch (const TransportError& broken) {
    return std::string(names[static_cast<int>(broken.code())]) + ": " + broken.what();
  } catch (const std::exception& other) {
    return other.what();
  }
}

/// Collects a stream with the limit that a splitter of lists would have.
class Collector final : public StreamHandler {
 public:
  void on_response(int, const Headers&) override {}
  void on_data(std::string_view piece) override {
    bytes_ += piece.size();
    if (bytes_ > (std::size_t{1} << 20)) throw std::length_error("the consumer's limit");
  }
  void on_end(std::exception_ptr error) override { ended.set_value(failure_of(error)); }
  std::promise<std::string> ended;

 private:
  std::size_t bytes_ = 0;
};

class HostileServer : public ::testing::TestWithParam<Case> {
 protected:
  /// Starts a server that answers "/good" properly and everything else by `script`.
  void serve(std::function<void(Connection&)> script) {
    transport_.reset();
    server_.reset();
    tests::ScriptedServerOptions options;
    if (GetParam().tls) {
      const tests::Pem pem = authority_.issue_server("IP:127.0.0.1");
      options = {.cert = pem.cert, .key = pem.key};
    }
    server_ = std::make_unique<ScriptedServer>(
        [script = std::move(script)](Connection& connection) {
          while (auto request = connection.read_request()) {
            if (request->target != "/good") return script(connection);
            connection.respond(200, "good");
          }
        },
        options);
    transport_ = make_curl_transport({.server = server_->url(),
                                      .tls = {.ca_data = authority_.pem()},
                                      .proxy = "",
                                      .max_body_bytes = std::size_t{1} << 20});
  }
  static bool is_stream() { return GetParam().form == Form::stream; }
  /// Returns the error without method and URL, and checks that other calls are answered at the same time.
  std::string problem(Duration deadline = 10min) {
    std::future<std::string> asked =
        ask({.target = "/bad", .deadline = std::chrono::steady_clock::now() + deadline});
    EXPECT_EQ(transport_->fetch({.target = "/good"}).body, "good");
    std::string error = asked.get();
    EXPECT_EQ(transport_->fetch({.target = "/good"}).body, "good");
    const std::string url = "GET " + server_->url() + "/bad: ";
    if (const auto at = error.find(url); at != std::string::npos) error.erase(at, url.size());
    return error;
  }

 private:
  std::future<std::string> ask(Request request) {
    if (GetParam().form == Form::fetch) {
      return std::async(std::launch::async, [this, request = std::move(request)] {
        try {
          return "answered: " + transport_->fetch(request).body;
        } catch (...) {
          return failure_of(std::current_exception());
        }
      });
    }
    if (GetParam().form == Form::send) {
      const auto ended = std::make_shared<std::promise<std::string>>();
      transport_->send(std::move(request), [ended](Outcome<Response> outcome) {
        ended->set_value(outcome.ok() ? "answered: " + outcome.value().body : failure_of(outcome.error()));
      });
      return ended->get_future();
    }
    const auto collector = std::make_shared<Collector>();
    transport_->stream(std::move(request), collector);
    return collector->ended.get_future();
  }

  Authority authority_{"ca"};
  std::unique_ptr<ScriptedServer> server_;
  std::shared_ptr<Transport> transport_;
};

void forever(Connection& connection, std::string_view bytes) {
  while (connection.write(bytes)) {
  }
}

TEST_P(HostileServer, NeverAnswers) {
  serve([](Connection& connection) { connection.wait_until_closed(); });
  EXPECT_EQ(problem(20ms),
            is_stream() ? "timeout: deadline exceeded" : "timeout: no answer before the deadline");
}

TEST_P(HostileServer, StopsWithinAnAnswer) {
  for (const char* part : {"HTTP/1.1 200 OK\r\nConte", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf",
                           "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nha"}) {
    serve([part](Connection& connection) {
      connection.write(part);
      connection.wait_until_closed();
    });
    EXPECT_EQ(problem(20ms),
              is_stream() ? "timeout: deadline exceeded" : "timeout: no answer before the deadline")
        << part;
  }
}

TEST_P(HostileServer, AnswersWithoutEnd) {
  for (const char* head : {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\n",
                           "HTTP/1.1 200 OK\r\nContent-Length: 9000000000000000000\r\n\r\n"}) {
    const bool chunked = std::string_view(head).find("chunked") != std::string_view::npos;
    serve([head, chunked](Connection& connection) {
      connection.write(head);
      forever(connection,
              chunked ? "1000\r\n" + std::string(0x1000, 'x') + "\r\n" : std::string(0x1000, 'x'));
    });
    EXPECT_EQ(problem(), is_stream() ? "the consumer's limit" : "protocol: the answer exceeds 1048576 bytes")
        << head;
  }
}

TEST_P(HostileServer, SendsAHeadWithoutEnd) {
  for (const char* more : {"X-More: yes\r\n", "HTTP/1.1 103 Early Hints\r\n\r\n"}) {
    const bool is_header = *more == 'X';
    serve([more, is_header](Connection& connection) {
      if (is_header) connection.write("HTTP/1.1 200 OK\r\n");
      forever(connection, more);
    });
    EXPECT_EQ(problem(), "protocol: the answer's headers exceed 262144 bytes") << more;
  }
}

TEST_P(HostileServer, SendsAHeaderOf10Megabytes) {
  for (const char* start : {"X-Long: ", ""}) {
    serve([start](Connection& connection) {
      connection.write("HTTP/1.1 200 OK\r\n" + std::string(start) + std::string(10'000'000, 'x') +
                       "\r\n\r\n");
    });
    EXPECT_EQ(problem(), "protocol: a line of the answer's head is too long, or memory is short");
  }
}

TEST_P(HostileServer, SendsTrailersWithoutEnd) {
  serve([](Connection& connection) {
    connection.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n");
    forever(connection, "X-More: yes\r\n");
  });
  EXPECT_THAT(problem(), HasSubstr("protocol: "));
}

TEST_P(HostileServer, SendsSingleBytes) {
  serve([](Connection& connection) {
    for (const char byte :
         std::string_view("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\ndone\r\n0\r\n\r\n"))
      connection.write({&byte, 1});
  });
  EXPECT_EQ(problem(), is_stream() ? "no error" : "answered: done");
}

TEST_P(HostileServer, SendsSizesThatAreNone) {
  for (const char* size :
       {"-1", "0x5", "zz", "fffffffffffffffff", "ffffffffffffffff", "7fffffffffffffff0", ""}) {
    serve([size](Connection& connection) {
      connection.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + std::string(size) +
                       "\r\nhello\r\n");
    });
    EXPECT_THAT(problem(), ::testing::AllOf(StartsWith("protocol: "), HasSubstr("chunked-encod"))) << size;
  }
  for (const char* length : {"-1", "99999999999999999999999", "5x", "one", "5\r\nContent-Length: 6"}) {
    serve([length](Connection& connection) {
      connection.write("HTTP/1.1 200 OK\r\nContent-Length: " + std::string(length) + "\r\n\r\nhello");
    });
    EXPECT_THAT(problem(), ::testing::AllOf(StartsWith("protocol: "), HasSubstr("Content-Length"))) << length;
  }
}

// The transport does not ask for compression, and so does not expand what comes.
TEST_P(HostileServer, SendsACompressedBodyUnasked) {
  serve([](Connection& connection) {
    connection.respond(200, "\x1f\x8b\x08 not expanded", "Content-Encoding: gzip\r\n");
  });
  EXPECT_EQ(problem(), is_stream() ? "no error" : "answered: \x1f\x8b\x08 not expanded");
}

TEST_P(HostileServer, ClosesWithinAnAnswer) {
  for (const bool reset : {false, true}) {
    serve([reset](Connection& connection) {
      connection.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf");
      if (reset) connection.reset_at_end();
    });
    EXPECT_THAT(problem(), HasSubstr("interrupted: "));
  }
}

std::string name_of(const ::testing::TestParamInfo<Case>& info) {
  static constexpr const char* forms[] = {"Fetch", "Send", "Stream"};
  return std::string(forms[static_cast<int>(info.param.form)]) + (info.param.tls ? "Tls" : "");
}

constexpr Case cases[] = {{Form::fetch, false}, {Form::send, false}, {Form::stream, false},
                          {Form::fetch, true},  {Form::send, true},  {Form::stream, true}};

INSTANTIATE_TEST_SUITE_P(, HostileServer, ::testing::ValuesIn(cases), name_of);

// ---- Within the handshake of TLS ----

/// Serves without TLS what an https URL leads to.
std::string handshake_error(std::function<void(Connection&)> script, CurlTransportOptions options = {}) {
  const ScriptedServer server(std::move(script));
  options.server = "https://127.0.0.1:" + std::to_string(server.port());
  options.proxy = "";
  const auto transport = make_curl_transport(options);
  try {
    transport->fetch({.target = "/x"});
  } catch (...) {
    const std::string error = failure_of(std::current_exception());
    return error.substr(0, error.find(": ")) + error.substr(error.rfind(": "));
  }
  return "no error";
}

TEST(HostileHandshake, NeverAnswers) {
  EXPECT_THAT(handshake_error([](Connection& connection) { connection.wait_until_closed(); },
                              {.connect_timeout = 20ms}),
              HasSubstr("connect: "));
}

TEST(HostileHandshake, Breaks) {
  for (const bool reset : {false, true}) {
    EXPECT_EQ(handshake_error([reset](Connection& connection) {
                connection.read_exactly(100);
                connection.write("\x16\x03\x03");
                if (reset) connection.reset_at_end();
              }),
              "interrupted: the connection broke within the TLS handshake");
  }
}

TEST(HostileHandshake, IsNoTls) {
  EXPECT_THAT(handshake_error([](Connection& connection) { connection.write("SSH-2.0-OpenSSH_9.2\r\n"); }),
              HasSubstr("tls: "));
}

}  // namespace
}  // namespace evenkeel::http
