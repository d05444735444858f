// SPDX-License-Identifier: Apache-2.0
// The server of the operator's own endpoints, over real sockets.
#include <atomic>
#include <cstdio>
#include <deque>
#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <sys/resource.h>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/base/error.hpp>
#include <evenkeel/http/curl_transport.hpp>
#include <evenkeel/serve/server.hpp>
#include <evenkeel/testing/log_recorder.hpp>

#include "../support/await.hpp"
#include "../support/raw_client.hpp"
#include "../support/resident_memory.hpp"
#include "../support/sanitized.hpp"
#include "../support/sockets.hpp"
#include "apiserver/shell/tls_certificates.hpp"

namespace evenkeel::http {
namespace {

using evenkeel::apiserver::CertifiedKey;
using evenkeel::testing::LogRecorder;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;
using tests::await;
using tests::RawClient;

Response echo(const ServerCall& call) {
  return {.status = 200,
          .headers = {{"Content-Type", "text/plain"}},
          .body = std::string(method_name(call.request.method)) + " " + call.target.path + " [" +
                  std::string(call.rest) + "] " + call.request.body};
}

class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "evenkeel-serve-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
    path_ = name;
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string path(const std::string& name) const { return path_ + "/" + name; }
  /// Replaces the file atomically, as in mounted Secrets.
  std::string put(const std::string& name, const std::string& text) const {
    std::ofstream(path(name + ".new")) << text;
    std::filesystem::rename(path(name + ".new"), path(name));
    return path(name);
  }

 private:
  std::string path_;
};

class ServerTest : public ::testing::Test {
 protected:
  void serve(SiteOptions site = {}, ServerOptions options = {}) {
    options.log = Log(log_);
    server_ = std::make_unique<Server>(std::move(options));
    server_->add_site(std::move(site));
    server_->route(0, "/echo", echo, {.methods = {Method::get, Method::put, Method::post}});
    server_->route(0, "/below/", echo);
    server_->start();
  }
  RawClient client() { return RawClient(server_->port(0)); }
  std::string ask(const std::string& request) {
    RawClient one = client();
    one.send(request);
    return one.read_answer();
  }
  std::shared_ptr<Transport> transport(const std::string& authority) {
    return make_curl_transport({.server = server_->url(0), .tls = {.ca_data = authority}, .proxy = ""});
  }

  std::shared_ptr<LogRecorder> log_ = std::make_shared<LogRecorder>();
  std::unique_ptr<Server> server_;
};

using ServerConcurrency = ServerTest;

TEST_F(ServerTest, AnswersOneRequestAfterTheOtherOnAConnection) {
  serve();
  RawClient one = client();
  for (const std::string body : {"one", "two"}) {
    one.send("POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\n" + body);
    const std::string answer = one.read_answer();
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nDate: "));
    EXPECT_THAT(answer, EndsWith("\r\n\r\nPOST /echo [] " + body));
  }
  EXPECT_EQ(server_->connections(), 1u);
}

TEST_F(ServerTest, ItsSocketsAreInheritedByNoChild) {
  serve();
  RawClient one = client();
  one.send("GET /echo HTTP/1.1\r\nHost: h\r\n\r\n");
  one.read_answer();
  const tests::SocketCount sockets = tests::sockets_at(server_->port(0), true);
  EXPECT_EQ(sockets.all, 2) << "one listens, one is accepted";
  EXPECT_EQ(sockets.inherited, 0);
}

TEST_F(ServerTest, UnderstandsARequestThatComesByteByByte) {
  serve();
  RawClient one = client();
  const std::string request =
      "PUT /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n";
  for (const char byte : request) ASSERT_TRUE(one.send(std::string_view(&byte, 1)));
  EXPECT_THAT(one.read_answer(), EndsWith("PUT /echo [] abc"));
}

TEST_F(ServerTest, RoutesGetWhatIsBelowThem) {
  serve();
  EXPECT_THAT(ask("GET /below/a/b?c HTTP/1.1\r\nHost: h\r\n\r\n"), EndsWith("GET /below/a/b [a/b] "));
  EXPECT_THAT(ask("GET /nowhere HTTP/1.1\r\nHost: h\r\n\r\n"), StartsWith("HTTP/1.1 404 Not Found\r\n"));
  EXPECT_THAT(ask("DELETE /echo HTTP/1.1\r\nHost: h\r\n\r\n"), HasSubstr("\r\nAllow: GET, PUT, POST\r\n"));
  EXPECT_THAT(ask("OPTIONS /echo HTTP/1.1\r\nHost: h\r\n\r\n"), StartsWith("HTTP/1.1 405 "));
}

TEST_F(ServerTest, HeadIsGetWithoutTheBody) {
  serve();
  RawClient one = client();
  one.send(
      "HEAD /echo HTTP/1.1\r\nHost: h\r\n\r\nGET /below/ HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
  const std::string all = one.read_to_end();
  EXPECT_THAT(all, HasSubstr("Content-Length: 13\r\n\r\nHTTP/1.1 200 OK"));
  EXPECT_THAT(all, HasSubstr("Connection: close"));
}

TEST_F(ServerTest, RefusesInvalidAndOversizedRequests) {
  serve({}, {.max_body = 8, .max_header = 512});
  RawClient noise = client();
  noise.send("what is this\r\n\r\n");
  EXPECT_THAT(noise.read_to_end(), StartsWith("HTTP/1.1 400 Bad Request\r\n"));
  RawClient large = client();
  large.send("PUT /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\n123456789");
  EXPECT_THAT(large.read_to_end(), StartsWith("HTTP/1.1 413 "));
  RawClient wordy = client();
  wordy.send("GET /echo HTTP/1.1\r\nHost: " + std::string(600, 'h') + "\r\n\r\n");
  EXPECT_THAT(wordy.read_to_end(), StartsWith("HTTP/1.1 431 "));
  EXPECT_THAT(ask("GET http://a/echo HTTP/1.1\r\nHost: h\r\n\r\n"), StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(ask("GET /echo HTTP/1.1\r\nHost: h\r\n\r\n"), StartsWith("HTTP/1.1 200 "));
}

constexpr std::string_view chunked_post =
    "POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n";

// Regression: the parser waits for the end of a line between chunks, and of a trailer, without a limit.
TEST_F(ServerTest, ALineOfABodyThatDoesNotEndIsBounded) {
  serve();
  const std::string mebibyte(1u << 20, 'a');
  for (const std::string begun : {"1;", "1;a=\"", "3\r\nabc\r\n2;x=", "0\r\nX-A: ", "0;",
                                  "0\r\nX-A: b\r\nX-B: ", "3\r\nabc\r\n0\r\nY: "}) {
    for (const std::size_t size : {mebibyte.size(), std::size_t{1000}}) {
      SCOPED_TRACE(begun + " in pieces of " + std::to_string(size));
      const tests::ResidentGrowth growth;
      RawClient one = client();
      one.send(chunked_post);
      one.send(begun);
      const std::string_view piece = std::string_view(mebibyte).substr(0, size);
      const std::size_t all = size == mebibyte.size() ? 256u << 20 : 4u << 20;
      for (std::size_t sent = 0; sent < all && one.is_silent() && one.send(piece); sent += size) {
      }
      EXPECT_LT(growth.mebibytes(), 64u);
      EXPECT_THAT(one.read_answer(), StartsWith("HTTP/1.1 431 "));
    }
  }
}

TEST_F(ServerTest, ALineOfABodyMayBeAsLongAsAHead) {
  serve();
  const std::string some(60'000, 'a');
  EXPECT_THAT(ask(std::string(chunked_post) + "3;" + some + "\r\nabc\r\n2;" + some +
                  "\r\nde\r\n0\r\nX: " + some + "\r\n\r\n"),
              EndsWith("POST /echo [] abcde"));
}

// A short field takes a multiple of its bytes, also before the head is complete.
TEST_F(ServerTest, TheFieldsOfAHeadAreCounted) {
  serve();
  std::string fields;
  for (int i = 0; i < 255; ++i) fields += "a:\r\n";
  EXPECT_THAT(ask("GET /echo HTTP/1.1\r\nHost: h\r\n" + fields + "\r\n"), StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(ask("GET /echo HTTP/1.1\r\nHost: h\r\n" + fields + "a:\r\n\r\n"), StartsWith("HTTP/1.1 431 "));
  EXPECT_THAT(ask("GET /echo HTTP/1.1\r\nHost: h\r\n" + fields + "a:\r\na:"), StartsWith("HTTP/1.1 431 "));
}

// A body that a proxy in front delimits in another way becomes a request of its own.
TEST_F(ServerTest, RefusesEveryTransferCodingButChunked) {
  serve();
  const struct {
    const char* head;
    const char* status;
  } cases[] = {
      {"1.1\r\nTransfer-Encoding: xchunked", "501 Not Implemented"},
      {"1.1\r\nTransfer-Encoding: chunked, gzip", "501 Not Implemented"},
      {"1.1\r\nTransfer-Encoding: gzip, chunked", "501 Not Implemented"},
      {"1.1\r\nTransfer-Encoding: chunked, chunked", "501 Not Implemented"},
      {"1.1\r\nTransfer-Encoding: chunked;q=1", "501 Not Implemented"},
      {"1.1\r\nTransfer-Encoding: \"chunked\"", "501 Not Implemented"},
      {"1.1\r\nTransfer-Encoding: identity", "501 Not Implemented"},
      {"1.1\r\nTransfer-Encoding:", "501 Not Implemented"},
      {"1.1\r\nTransfer-Encoding: identity\r\nContent-Length: 0", "400 Bad Request"},
      {"1.1\r\nContent-Length: 0\r\nTransfer-Encoding: xchunked", "400 Bad Request"},
      {"1.1\r\nContent-Length: 0\r\nTransfer-Encoding: chunked", "400 Bad Request"},
      {"1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 0", "400 Bad Request"},
      {"1.1\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: identity", "400 Bad Request"},
      {"1.1\r\nTransfer-Encoding: identity\r\nTransfer-Encoding: chunked", "400 Bad Request"},
      {"1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked", "400 Bad Request"},
      {"1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: identity", "400 Bad Request"},
  };
  for (const auto& [head, status] : cases) {
    SCOPED_TRACE(head);
    RawClient one = client();
    one.send(std::string("POST /echo HTTP/") + head +
             "\r\nHost: h\r\n\r\n0\r\n\r\nGET /echo HTTP/1.1\r\nHost: h\r\n\r\n");
    one.finish();
    const std::string answers = one.read_to_end();
    EXPECT_THAT(answers, StartsWith(std::string("HTTP/1.1 ") + status));
    EXPECT_EQ(answers.find("HTTP/1.1 200"), std::string::npos) << answers;
  }
  EXPECT_THAT(ask("POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: Chunked\r\n\r\n1\r\na\r\n0\r\n\r\n"),
              EndsWith("POST /echo [] a"));
}

TEST_F(ServerTest, FieldsOfATrailerAreNoHeaders) {
  serve({.token = "s3cret"});
  const std::string trailer = "1\r\na\r\n0\r\nAuthorization: Bearer s3cret\r\n\r\n";
  EXPECT_THAT(ask(std::string(chunked_post) + trailer), StartsWith("HTTP/1.1 401 "));
}

TEST_F(ServerTest, BodiesOfAllConnectionsTogetherAreBounded) {
  serve({}, {.max_connections_of_peer = 128, .max_body = 8u << 20});
  const std::string most(7u << 20, 'x');
  const tests::ResidentGrowth growth;
  std::deque<RawClient> slow;
  for (int i = 0; i < 40; ++i) {
    slow.emplace_back(server_->port(0))
        .send("POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 8388608\r\n\r\n");
    slow.back().send(most);
  }
  EXPECT_THAT(ask("POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nsmall"),
              EndsWith("POST /echo [] small"));
  const std::string refused = slow.front().read_answer();
  EXPECT_THAT(refused, StartsWith("HTTP/1.1 503 "));
  EXPECT_THAT(refused, EndsWith("503 too many bytes of requests wait\n"));
  slow.back().send(most.substr(0, 1u << 20));
  EXPECT_THAT(slow.back().read_answer(), StartsWith("HTTP/1.1 200 "));
  EXPECT_LT(growth.mebibytes(), 160u);
  EXPECT_THAT(log_->lines(),
              ElementsAre("WARN too many bytes of requests wait; the longest arriving ones are "
                          "refused limit=67108864"));
}

TEST_F(ServerTest, AnsweredBodiesCountNoMore) {
  serve({}, {.max_body = 8u << 20});
  const std::string request =
      "POST /below/a HTTP/1.1\r\nHost: h\r\nContent-Length: 7340032\r\n\r\n" + std::string(7u << 20, 'x');
  std::deque<RawClient> kept;
  for (int i = 0; i < 12; ++i) {
    kept.emplace_back(server_->port(0)).send(request);
    EXPECT_THAT(kept.back().read_answer(), StartsWith("HTTP/1.1 405 ")) << i;
  }
}

/// Lowers the limit on descriptors to what is in use and `more`.
class FewDescriptors {
 public:
  explicit FewDescriptors(int more) {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    std::vector<int> opened;
    for (int i = 0; i <= more; ++i) opened.push_back(::dup(STDOUT_FILENO));
    const rlimit fewer{.rlim_cur = static_cast<rlim_t>(opened.back()), .rlim_max = before_.rlim_max};
    for (const int file : opened) ::close(file);
    ::setrlimit(RLIMIT_NOFILE, &fewer);
  }
  ~FewDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  FewDescriptors(const FewDescriptors&) = delete;
  FewDescriptors& operator=(const FewDescriptors&) = delete;

 private:
  rlimit before_{};
};

TEST_F(ServerTest, OutOfDescriptorsTheLongestWaitingConnectionGivesWay) {
  if (tests::sanitized) GTEST_SKIP() << "the sanitizers need descriptors of their own";
  serve();
  std::deque<RawClient> silent;
  for (std::size_t i = 1; i <= 3; ++i) {
    silent.emplace_back(server_->port(0));
    await("a connection", [&] { return server_->connection_counts(0).accepted == i; });
  }
  {
    const FewDescriptors few(1);  // for the client's end
    RawClient last = client();
    last.send("GET /echo HTTP/1.1\r\nHost: h\r\n\r\n");
    EXPECT_THAT(last.read_answer(), StartsWith("HTTP/1.1 200 "));
    EXPECT_THAT(silent[0].read_to_end(), IsEmpty());
    silent[0].close();
    RawClient next = client();
    next.send("GET /echo HTTP/1.1\r\nHost: h\r\n\r\n");
    EXPECT_THAT(next.read_answer(), StartsWith("HTTP/1.1 200 "));
    EXPECT_THAT(silent[1].read_to_end(), IsEmpty());
  }
  EXPECT_TRUE(silent[2].is_silent());
  EXPECT_EQ(server_->connection_counts(0).evicted_site_full, 2u);
  EXPECT_THAT(log_->lines(), ElementsAre("ERROR connections cannot be accepted; retrying url=" +
                                             server_->url(0) + " error=Too many open files",
                                         "INFO connections are accepted again url=" + server_->url(0)));
}

TEST_F(ServerTest, ConnectionsTakeAQuarterOfTheDescriptors) {
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  const rlimit fewer{.rlim_cur = 40, .rlim_max = before.rlim_max};
  ::setrlimit(RLIMIT_NOFILE, &fewer);
  serve();
  ::setrlimit(RLIMIT_NOFILE, &before);
  std::deque<RawClient> silent;
  for (std::size_t i = 1; i <= 12; ++i) {
    silent.emplace_back(server_->port(0));
    await("a connection", [&] { return server_->connection_counts(0).accepted == i; });
  }
  EXPECT_EQ(server_->connection_counts(0).open, 10u);
}

TEST_F(ServerTest, RefusesUnknownMethodsAndEndsTheConnection) {
  serve();
  RawClient one = client();
  one.send("BREW /echo HTTP/1.1\r\nHost: h\r\n\r\nGET /echo HTTP/1.1\r\nHost: h\r\n\r\n");
  const std::string all = one.read_to_end();
  EXPECT_THAT(all, StartsWith("HTTP/1.1 405 "));
  EXPECT_THAT(all, HasSubstr("Connection: close\r\n"));
  EXPECT_EQ(all.find("HTTP/1.1 200"), std::string::npos);
}

TEST_F(ServerTest, InvitesABodyThatIsAnnounced) {
  serve();
  RawClient one = client();
  one.send("PUT /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(one.read_to("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  one.send("body");
  EXPECT_THAT(one.read_answer(), StartsWith("HTTP/1.1 "));
}

TEST_F(ServerTest, AHandlerThatThrowsIsAnAnswerAndALine) {
  serve();
  server_->route(0, "/wrong",
                 [](const ServerCall&) -> Response { throw std::runtime_error("no such thing"); });
  server_->route(0, "/strange", [](const ServerCall&) -> Response { throw 7; });
  EXPECT_THAT(ask("GET /wrong HTTP/1.1\r\nHost: h\r\n\r\n"),
              AllOf(StartsWith("HTTP/1.1 500 "), EndsWith("\r\n\r\n500 no such thing\n")));
  EXPECT_THAT(ask("GET /strange HTTP/1.1\r\nHost: h\r\n\r\n"), StartsWith("HTTP/1.1 500 "));
  EXPECT_THAT(
      log_->lines_with("could not be answered"),
      ElementsAre("ERROR a request could not be answered address=127.0.0.1:0 path=/wrong error=no such thing",
                  HasSubstr("an exception that is not a std::exception was thrown")));
}

TEST_F(ServerTest, AHandlerThatKeepsThrowingIsOneLineUntilTheProblemChanges) {
  serve();
  std::string problem = "no figures for 5s";
  server_->route(0, "/figures", [&problem](const ServerCall&) -> Response {
    if (!problem.empty()) throw std::runtime_error(problem);
    return {.status = 200};
  });
  const auto scrape = [this] { return ask("GET /figures HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"); };
  scrape();
  problem = "no figures for 15.5s";
  EXPECT_THAT(scrape(), EndsWith("500 no figures for 15.5s\n"));
  problem = "no disk";
  scrape();
  scrape();
  problem.clear();
  EXPECT_THAT(scrape(), StartsWith("HTTP/1.1 200 "));
  scrape();
  EXPECT_THAT(log_->lines(),
              ElementsAre(HasSubstr("ERROR a request could not be answered address=127.0.0.1:0 path=/figures "
                                    "error=no figures for 5s"),
                          HasSubstr("error=no disk"), HasSubstr("INFO requests are answered again")));
}

TEST_F(ServerTest, NamesTheAddressInUse) {
  serve();
  Server second;
  second.add_site({.address = "127.0.0.1:" + std::to_string(server_->port(0))});
  try {
    second.start();
    FAIL() << "the port was taken twice";
  } catch (const Error& error) {
    EXPECT_EQ(error.what(),
              "cannot listen on 127.0.0.1:" + std::to_string(server_->port(0)) + ": Address already in use");
  }
}

// Regression: its threads were started and never joined.
TEST_F(ServerTest, RefusesToStartAfterItWasStopped) {
  Server server;
  server.add_site({});
  server.stop();
  try {
    server.start();
    FAIL() << "it was started";
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), "Server: stop() was called before start()");
  }
}

TEST_F(ServerTest, NamesTheInvalidFile) {
  const Folder folder;
  const CertifiedKey authority = evenkeel::apiserver::make_authority();
  const CertifiedKey one = evenkeel::apiserver::make_server_certificate(authority, {"localhost"});
  const CertifiedKey two = evenkeel::apiserver::make_server_certificate(authority, {"localhost"});
  const auto problem = [](SiteOptions site) -> std::string {
    try {
      Server server;
      server.add_site(std::move(site));
      server.start();
    } catch (const std::exception& error) {
      return error.what();
    }
    return "none";
  };
  const std::string certificate = folder.put("tls.crt", one.certificate);
  const std::string other_key = folder.put("tls.key", two.key);
  const std::string missing = folder.path("missing");
  EXPECT_EQ(problem({.tls = {missing, other_key}}), missing + " cannot be read: No such file or directory");
  EXPECT_THAT(problem({.tls = {certificate, other_key}}),
              StartsWith("the certificate of " + certificate + " and the key of " + other_key +
                         " cannot be used: key values mismatch"));
  EXPECT_THAT(problem({.tls = {certificate, {}}}), HasSubstr("a certificate file needs a key file"));
  EXPECT_EQ(problem({.token_file = missing}), missing + " cannot be read: No such file or directory");
  const std::string empty = folder.put("token", " \n");
  EXPECT_EQ(problem({.token_file = empty}), empty + " holds no token");
  EXPECT_THAT(problem({.token = "a", .token_file = empty}), HasSubstr("either a token or a file"));
  EXPECT_THAT(problem({.address = "nowhere"}), HasSubstr("\"nowhere\" is not an address"));
}

TEST_F(ServerTest, ATokenIsAskedForAndReadAgainWhenItChanges) {
  const Folder folder;
  serve({.token_file = folder.put("token", "first\n")});
  const auto with = [this](const std::string& token) {
    return ask("GET /echo HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer " + token + "\r\n\r\n").substr(9, 3);
  };
  EXPECT_THAT(ask("GET /echo HTTP/1.1\r\nHost: h\r\n\r\n"), HasSubstr("\r\nWWW-Authenticate: Bearer\r\n"));
  EXPECT_EQ(with("first"), "200");
  folder.put("token", "second\n");
  EXPECT_EQ(with("first"), "401");
  EXPECT_EQ(with("second"), "200");
  std::filesystem::remove(folder.path("token"));
  EXPECT_EQ(with("second"), "200");
  EXPECT_THAT(log_->lines_with("the old one stays"), ElementsAre(HasSubstr("No such file or directory")));
}

TEST_F(ServerTest, CertificatesAreReadAgainWhenTheyChange) {
  const Folder folder;
  const CertifiedKey first = evenkeel::apiserver::make_authority();
  const CertifiedKey second = evenkeel::apiserver::make_authority();
  const auto put = [&](const CertifiedKey& authority) {
    const auto made = evenkeel::apiserver::make_server_certificate(authority, {"127.0.0.1"});
    folder.put("tls.key", made.key);
    folder.put("tls.crt", made.certificate);
  };
  put(first);
  serve({.tls = {folder.path("tls.crt"), folder.path("tls.key")}});
  EXPECT_THAT(server_->url(0), StartsWith("https://127.0.0.1:"));
  const auto old = transport(first.certificate);
  EXPECT_EQ(old->fetch({.target = "/echo"}).body, "GET /echo [] ");

  folder.put("tls.crt", "rubbish");
  EXPECT_EQ(transport(first.certificate)->fetch({.target = "/echo"}).status, 200);
  EXPECT_THAT(log_->lines_with("the old one stays"), ElementsAre(HasSubstr(folder.path("tls.crt"))));

  put(second);
  EXPECT_EQ(transport(second.certificate)->fetch({.target = "/echo"}).status, 200);
  EXPECT_THROW(transport(first.certificate)->fetch({.target = "/echo"}), TransportError);
  // A connection keeps the certificate that it was opened with.
  EXPECT_EQ(old->fetch({.target = "/echo"}).status, 200);
}

TEST_F(ServerTest, ACertificateThatIsSetBeforeTheStartReplacesThatOfTheOptions) {
  const CertifiedKey old_authority = evenkeel::apiserver::make_authority();
  const CertifiedKey authority = evenkeel::apiserver::make_authority();
  const auto pair = [](const CertifiedKey& signer) {
    const auto made = evenkeel::apiserver::make_server_certificate(signer, {"127.0.0.1"});
    return TlsPair{.certificate = made.certificate, .key = made.key};
  };
  server_ = std::make_unique<Server>();
  server_->add_site({.tls_pair = pair(old_authority)});
  server_->route(0, "/echo", echo);
  server_->set_certificate(0, pair(authority));
  server_->start();
  EXPECT_EQ(transport(authority.certificate)->fetch({.target = "/echo"}).status, 200);
}

TEST_F(ServerTest, SeveralSitesOnOneThreadHaveRoutesOfTheirOwn) {
  std::atomic<int> threads = 0;
  server_ = std::make_unique<Server>(ServerOptions{.on_thread_start = [&](std::string_view name) {
    EXPECT_EQ(name, "http");
    ++threads;
  }});
  const std::size_t one = server_->add_site({});
  const std::size_t two = server_->add_site({.address = ":0"});
  server_->route(one, "/one", echo);
  server_->route(two, "/two", echo);
  server_->start();
  const auto status = [this](std::size_t site, const std::string& path) {
    RawClient asks(server_->port(site));
    asks.send("GET " + path + " HTTP/1.1\r\nHost: h\r\n\r\n");
    return asks.read_answer().substr(9, 3);
  };
  EXPECT_EQ(status(one, "/one"), "200");
  EXPECT_EQ(status(one, "/two"), "404");
  EXPECT_EQ(status(two, "/two"), "200");
  EXPECT_EQ(threads.load(), 1);
}

TEST_F(ServerTest, SilentClientsAreCut) {
  serve({}, {.first_byte_timeout = std::chrono::milliseconds{20},
             .request_timeout = std::chrono::milliseconds{20},
             .idle_timeout = std::chrono::milliseconds{20}});
  for (const char* begun :
       {"", "GET /echo HT", "PUT /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\nbody"}) {
    RawClient slow = client();
    slow.send(begun);
    EXPECT_THAT(slow.read_to_end(), IsEmpty()) << begun;
  }
  RawClient idle = client();
  idle.send("GET /echo HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_THAT(idle.read_to_end(), StartsWith("HTTP/1.1 200 "));
  await("no connection", [this] { return server_->connections() == 0; });
  EXPECT_EQ(server_->connection_counts(0).timed_out, 4u);
  EXPECT_EQ(server_->connection_counts(0).accepted, 4u);
}

// A connection has little time for its first byte, but may idle for long between two requests.
TEST_F(ServerTest, TheFirstByteHasALimitOfItsOwn) {
  serve({}, {.first_byte_timeout = std::chrono::milliseconds{20}, .idle_timeout = std::chrono::hours{1}});
  RawClient kept = client();
  kept.send("GET /echo HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_THAT(kept.read_answer(), StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(client().read_to_end(), IsEmpty());  // later than the first byte of `kept` was due
  kept.send("GET /echo HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_THAT(kept.read_answer(), StartsWith("HTTP/1.1 200 "));
}

// Silent clients, slow heads and slow bodies are all evicted for a client that sends a request.
TEST_F(ServerTest, TheLongestWaitingConnectionGivesWayToANewOne) {
  for (const char* begun :
       {"", "GET /echo HTTP/1.1\r\nHo", "PUT /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\nbo"}) {
    SCOPED_TRACE(begun);
    log_ = std::make_shared<LogRecorder>();
    serve({}, {.max_connections = 3});
    std::deque<RawClient> silent;
    for (int i = 0; i < 3; ++i) {
      silent.emplace_back(server_->port(0));
      silent.back().send(begun);
      await("a connection", [&] { return server_->connection_counts(0).accepted == silent.size(); });
    }
    EXPECT_THAT(ask("GET /echo HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"),
                StartsWith("HTTP/1.1 200 "));
    EXPECT_THAT(silent.front().read_to_end(), IsEmpty());
    const ConnectionCounts counts = server_->connection_counts(0);
    EXPECT_EQ(counts.evicted_site_full, 1u);
    EXPECT_EQ(counts.evicted_peer_full + counts.timed_out, 0u);
    EXPECT_THAT(log_->lines(),
                ElementsAre("WARN too many connections; the longest waiting ones are closed url=" +
                            server_->url(0) + " limit=of the address connections=3 peer=127.0.0.1"));
  }
}

// Otherwise clients that come and go in large numbers write a line each time.
TEST_F(ServerTest, AnAddressThatFillsAgainAndAgainIsLoggedOnceAMinute) {
  serve({}, {.max_connections = 2});
  for (int flood = 0; flood < 3; ++flood) {
    const std::uint64_t before = server_->connection_counts(0).accepted;
    std::deque<RawClient> silent;
    for (std::size_t i = 1; i <= 3; ++i) {
      silent.emplace_back(server_->port(0));
      await("a connection", [&] { return server_->connection_counts(0).accepted == before + i; });
    }
    silent.clear();
    await("no connection", [this] { return server_->connections() == 0; });
  }
  EXPECT_EQ(server_->connection_counts(0).evicted_site_full, 3u);
  EXPECT_EQ(log_->lines().size(), 1u);
}

TEST_F(ServerTest, AnAnswerMakesAConnectionYoungAgain) {
  serve({}, {.max_connections = 2});
  RawClient asking = client();
  await("a connection", [this] { return server_->connections() == 1; });
  RawClient silent = client();
  await("two connections", [this] { return server_->connections() == 2; });
  asking.send("GET /echo HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_THAT(asking.read_answer(), StartsWith("HTTP/1.1 200 "));
  asking.send("GET /echo HTTP/1.1\r\nHost: h\r\n\r\n");  // the server has finished the first response
  EXPECT_THAT(asking.read_answer(), StartsWith("HTTP/1.1 200 "));
  const RawClient third = client();
  EXPECT_THAT(silent.read_to_end(), IsEmpty());
  asking.send("GET /echo HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_THAT(asking.read_answer(), StartsWith("HTTP/1.1 200 "));
}

TEST_F(ServerTest, APeerAtItsLimitLosesAConnectionOfItsOwn) {
  serve({}, {.max_connections = 100, .max_connections_of_peer = 2});
  std::deque<RawClient> silent;
  for (std::size_t i = 1; i <= 4; ++i) {
    silent.emplace_back(server_->port(0));
    await("a connection", [&] { return server_->connection_counts(0).accepted == i; });
  }
  EXPECT_THAT(silent[0].read_to_end(), IsEmpty());
  EXPECT_THAT(silent[1].read_to_end(), IsEmpty());
  EXPECT_EQ(server_->connection_counts(0).evicted_peer_full, 2u);
  EXPECT_EQ(server_->connection_counts(0).open, 2u);
  EXPECT_THAT(log_->lines(),
              ElementsAre("WARN too many connections; the longest waiting ones are closed url=" +
                          server_->url(0) + " limit=of one peer connections=2 peer=127.0.0.1"));
}

// Regression: 256 silent connections to the metrics made the kubelet's probes fail until it killed the
// program.
TEST_F(ServerTest, AFullSiteLeavesTheOthersAlone) {
  server_ = std::make_unique<Server>(ServerOptions{.log = Log(log_)});
  for (int site = 0; site < 2; ++site) {
    server_->add_site({});
    server_->route(static_cast<std::size_t>(site), "/echo", echo);
  }
  server_->start();
  RawClient probe(server_->port(1));
  std::deque<RawClient> silent;
  for (std::size_t i = 1; i <= 2 * default_max_connections; ++i) {
    silent.emplace_back(server_->port(0));
    await("a connection", [&] { return server_->connection_counts(0).accepted == i; });
  }
  EXPECT_EQ(server_->connection_counts(0).open, default_max_connections_of_peer);
  EXPECT_EQ(log_->lines().size(), 1u);
  probe.send("GET /echo HTTP/1.1\r\nHost: h\r\n\r\n");  // a connection from before
  EXPECT_THAT(probe.read_answer(), StartsWith("HTTP/1.1 200 "));
  RawClient later(server_->port(1));
  later.send("GET /echo HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_THAT(later.read_answer(), StartsWith("HTTP/1.1 200 "));
}

TEST_F(ServerConcurrency, StopsAtAnyMoment) {
  for (int round = 0; round < 50; ++round) {
    serve();
    std::atomic<bool> asked = false;
    std::jthread asking([&, port = server_->port(0)] {
      try {
        for (;;) {
          RawClient one(port);
          one.send("GET /echo HTTP/1.1\r\nHost: h\r\n\r\n");
          EXPECT_THAT(one.read_answer(), StartsWith("HTTP/1.1 200 "));
          asked = true;
        }
      } catch (const std::runtime_error& closed) {
        EXPECT_TRUE(asked.exchange(true)) << "before it was stopped: " << closed.what();
      }
    });
    await("a request", [&] { return asked.load(); });
    server_->stop();
    server_->stop();
    EXPECT_EQ(server_->connection_counts(0).open, 0u);
  }
}

/// Keeps a worker busy with "GET /slow" until it is released.
class SlowRoute {
 public:
  explicit SlowRoute(Server& server) {
    server.route(0, "/slow", [this, left = leave_.get_future().share()](const ServerCall& call) {
      if (!std::exchange(began_, true)) entered_.set_value();
      left.wait();
      return echo(call);
    });
  }
  void wait() { entered_.get_future().wait(); }
  void release() { leave_.set_value(); }
  static constexpr std::string_view request = "GET /slow HTTP/1.1\r\nHost: h\r\n\r\n";

 private:
  bool began_ = false;  // there is one worker
  std::promise<void> entered_;
  std::promise<void> leave_;
};

// Regression: the answers of running and waiting handlers were thrown away.
TEST_F(ServerConcurrency, StopAnswersTheRequestsThatItHas) {
  serve({}, {.workers = 1});
  SlowRoute slow(*server_);
  RawClient idle = client();
  idle.send("GET /echo HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_THAT(idle.read_answer(), StartsWith("HTTP/1.1 200 "));
  RawClient running = client();
  running.send(SlowRoute::request);
  slow.wait();
  RawClient half = client();
  half.send("GET /echo HTTP/1.1\r\n");
  std::thread stopping([this] { server_->stop(); });
  EXPECT_THAT(idle.read_to_end(), IsEmpty());
  EXPECT_THAT(half.read_to_end(), IsEmpty());
  EXPECT_THROW(client(), std::runtime_error) << "it listens no more";
  EXPECT_TRUE(running.is_silent());
  slow.release();
  const std::string answer = running.read_to_end();
  EXPECT_THAT(answer, AllOf(StartsWith("HTTP/1.1 200 "), HasSubstr("\r\nConnection: close\r\n"),
                            EndsWith("GET /slow [] ")));
  running.close();
  stopping.join();
  EXPECT_EQ(server_->connections(), 0u);
}

TEST_F(ServerConcurrency, StopWaitsForAnswersOnlyForSoLong) {
  serve({}, {.workers = 1, .drain_timeout = std::chrono::milliseconds{1}});
  SlowRoute slow(*server_);
  RawClient running = client();
  running.send(SlowRoute::request);
  slow.wait();
  std::thread stopping([this] { server_->stop(); });
  EXPECT_THAT(running.read_to_end(), IsEmpty());
  slow.release();
  stopping.join();
}

// Regression: a slow handler was followed by those of requests that nobody waited for any more.
TEST_F(ServerConcurrency, ARequestWhoseClientHasLeftIsNotHandled) {
  serve({}, {.workers = 1});
  std::atomic<int> counted = 0;
  server_->route(0, "/count", [&counted](const ServerCall& call) {
    ++counted;
    return echo(call);
  });
  SlowRoute slow(*server_);
  RawClient running = client();
  running.send(SlowRoute::request);
  slow.wait();
  {
    RawClient impatient = client();
    impatient.send("GET /count HTTP/1.1\r\nHost: h\r\n\r\n");
    await("two connections", [this] { return server_->connections() == 2; });
  }
  await("the end of a connection", [this] { return server_->connections() == 1; });
  slow.release();
  EXPECT_THAT(ask("GET /count HTTP/1.1\r\nHost: h\r\n\r\n"), StartsWith("HTTP/1.1 200 "));
  EXPECT_EQ(counted.load(), 1);
}

TEST_F(ServerConcurrency, RequestsThatAWorkerHasNoTimeForAreBounded) {
  serve({}, {.workers = 1, .max_waiting = 1});
  SlowRoute slow(*server_);
  RawClient running = client();
  running.send(SlowRoute::request);
  slow.wait();
  RawClient one = client();
  RawClient two = client();
  for (RawClient* next : {&one, &two}) next->send("GET /echo HTTP/1.1\r\nHost: h\r\n\r\n");
  await("a refusal", [&] { return !one.is_silent() || !two.is_silent(); });
  const bool first = !one.is_silent();
  EXPECT_THAT((first ? one : two).read_answer(), StartsWith("HTTP/1.1 503 "));
  slow.release();
  EXPECT_THAT((first ? two : one).read_answer(), StartsWith("HTTP/1.1 200 "));
  EXPECT_THROW(Server({.max_waiting = 0}), std::invalid_argument);
}

// The worker's session reads while it is busy, and the second request comes then.
TEST_F(ServerConcurrency, ARequestBehindOneThatIsHandledIsHandledOnce) {
  serve({}, {.workers = 1});
  SlowRoute slow(*server_);
  RawClient one = client();
  one.send(SlowRoute::request);
  slow.wait();
  one.send("GET /below/two HTTP/1.1\r\nHost: h\r\n\r\n");
  slow.release();
  EXPECT_THAT(one.read_answer(), EndsWith("GET /slow [] "));
  EXPECT_THAT(one.read_answer(), EndsWith("GET /below/two [two] "));
  one.send("GET /below/three HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_THAT(one.read_answer(), EndsWith("GET /below/three [three] "));
}

TEST_F(ServerConcurrency, RoutesMayBeAddedWhileItServes) {
  serve();
  std::jthread adding([this](const std::stop_token& stop) {
    for (int at = 0; !stop.stop_requested(); ++at) server_->route(0, "/new" + std::to_string(at % 100), echo);
  });
  for (int at = 0; at < 200; ++at) {
    EXPECT_THAT(ask("GET /echo HTTP/1.1\r\nHost: h\r\n\r\n"), StartsWith("HTTP/1.1 200 "));
  }
}

}  // namespace
}  // namespace evenkeel::http
