// SPDX-License-Identifier: Apache-2.0
// Failures of EtcdStore: lost answers, dead members, expired tokens, cut watches. The store suite has the
// tests of every store.
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <variant>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/apiserver/api_server.hpp>
#include <evenkeel/coordination/etcd_store.hpp>
#include <evenkeel/coordination/transact.hpp>
#include <evenkeel/serve/server.hpp>
#include <evenkeel/testing/etcd_server.hpp>

#include "../support/await.hpp"

namespace evenkeel::tests {
namespace {

using apiserver::FaultDrop;
using apiserver::FaultEnding;
using apiserver::FaultId;
using apiserver::FaultRule;
using coordination::Commit;
using coordination::CommitResult;
using coordination::Committed;
using coordination::etcd_options;
using coordination::EtcdStore;
using coordination::EtcdStoreOptions;
using coordination::StoreSnapshot;
using coordination::StoreUnavailable;
using coordination::Transacted;
using coordination::Unavailable;
using coordination::Unknown;
using ::testing::ElementsAre;
using testing::EtcdServer;
using ::testing::HasSubstr;

constexpr char dead_endpoint[] = "http://127.0.0.1:1";

class EtcdStoreTest : public ::testing::Test {
 protected:
  EtcdStoreOptions options() const { return {.endpoints = {server_.url()}}; }
  static Commit put(const std::string& key, const std::string& value) { return {.puts = {{key, value}}}; }
  static std::string value(EtcdStore& store, const std::string& key) {
    const auto entry = store.snapshot()->get(key);
    return entry ? entry->value : "(absent)";
  }
  static Transacted increment(EtcdStore& store) {
    return transact(store,
                    [](StoreSnapshot& snapshot) -> Commit {
                      const auto entry = snapshot.get("/n");
                      return {.reads = {{"/n", entry ? entry->version : 0}},
                              .puts = {{"/n", std::to_string(entry ? std::stoi(entry->value) + 1 : 1)}}};
                    },
                    {.token_key = "/token", .delay = Duration::zero()});
  }

  EtcdServer server_;
};

template <class Expected>
void expect(const CommitResult& result, const std::string& why) {
  ASSERT_TRUE(std::holds_alternative<Expected>(result)) << describe(result);
  EXPECT_THAT(std::get<Expected>(result).why, HasSubstr(why));
}

// 'applied once': a lost answer is Unknown, whether the commit was applied or not.
TEST_F(EtcdStoreTest, ALostAnswerIsUnknown) {
  EtcdStore store(options());
  server_.inject({.resource = "kv/txn", .count = 1, .drop = FaultDrop::after});
  expect<Unknown>(store.commit(put("/a", "1")), "/v3/kv/txn");
  EXPECT_EQ(value(store, "/a"), "1");
  server_.inject({.resource = "kv/txn", .count = 1, .drop = FaultDrop::before, .ending = FaultEnding::reset});
  expect<Unknown>(store.commit(put("/a", "2")), "/v3/kv/txn");
  EXPECT_EQ(value(store, "/a"), "1");
}

// 'applied once', through sockets: half of all answers are lost, on each side of the commit.
TEST_F(EtcdStoreTest, TransactionsAreAppliedOnceWhateverIsLost) {
  EtcdStore store(options());
  server_.inject({.resource = "kv/txn", .probability = 0.3, .seed = 7, .drop = FaultDrop::after});
  server_.inject({.resource = "kv/txn", .probability = 0.3, .seed = 8, .drop = FaultDrop::before});
  unsigned unknowns = 0;
  int applied = 0;
  for (int i = 0; i < 100; ++i) {
    const Transacted done = increment(store);
    unknowns += done.unknowns;
    ASSERT_TRUE(done.committed()) << describe(done.outcome);
    ++applied;
  }
  server_.clear_faults();
  EXPECT_EQ(value(store, "/n"), std::to_string(applied));
  EXPECT_GT(unknowns, 20u);
}

TEST_F(EtcdStoreTest, AServerThatFallsSilentIsUnknown) {
  EtcdStoreOptions short_tempered = options();
  short_tempered.request_timeout = std::chrono::milliseconds{200};
  EtcdStore store(short_tempered);
  server_.inject(
      {.resource = "kv/txn", .count = 1, .drop = FaultDrop::after, .ending = FaultEnding::silence});
  expect<Unknown>(store.commit(put("/a", "1")), "/v3/kv/txn");
  server_.inject({.resource = "kv/range", .drop = FaultDrop::after, .ending = FaultEnding::silence});
  EXPECT_THROW(store.snapshot(), StoreUnavailable);
}

TEST_F(EtcdStoreTest, AStopEndsWhatWaits) {
  EtcdStore store(options());
  for (const std::string resource : {"kv/txn", "kv/range"}) {
    const FaultId silence =
        server_.inject({.resource = resource, .drop = FaultDrop::before, .ending = FaultEnding::silence});
    std::stop_source stop;
    const std::jthread stopper([&] {
      await("the request", [&] { return server_.fault_counts(silence).fired > 0; });
      stop.request_stop();
    });
    if (resource == "kv/txn") {
      expect<Unknown>(store.commit(put("/a", "1"), stop.get_token()), "cancelled");
    } else {
      EXPECT_THROW(store.snapshot(stop.get_token()), Cancelled);
    }
  }
}

// A proxy that times out does not report the outcome of a request; one that refuses does.
TEST_F(EtcdStoreTest, ProxiesAnswersAreToldApart) {
  EtcdStore store(options());
  const auto answer = [&](FaultRule rule) {
    rule.resource = "kv/txn";
    rule.count = 1;
    server_.inject(std::move(rule));
    return store.commit(put("/a", "1"));
  };
  expect<Unknown>(answer({.status = 502}), "502");
  expect<Unknown>(answer({.status = 504}), "504");
  expect<Unavailable>(answer({.status = 403}), "403");
  expect<Unknown>(answer({.body = apiserver::FaultBody::garbage}), "/v3/kv/txn: not a response of etcd");
  EXPECT_EQ(value(store, "/a"), "1") << "the garbage came in place of an answer";
  server_.inject({.resource = "kv/range", .body = apiserver::FaultBody::html});
  try {
    store.snapshot();
    FAIL() << "HTML is no answer";
  } catch (const StoreUnavailable& error) {
    EXPECT_THAT(error.what(),
                HasSubstr(server_.url() + "/v3/kv/range: not a response of etcd (is this its "));
  }
}

TEST_F(EtcdStoreTest, ReadsGoOnWhereAConnectionBroke) {
  EtcdStore store(options());
  ASSERT_TRUE(std::holds_alternative<Committed>(store.commit(put("/a", "1"))));
  server_.inject(
      {.resource = "kv/range", .count = 1, .drop = FaultDrop::before, .ending = FaultEnding::reset});
  EXPECT_EQ(value(store, "/a"), "1");
}

TEST_F(EtcdStoreTest, GoesToTheNextMember) {
  EtcdStore store({.endpoints = {dead_endpoint, server_.url()}});
  EXPECT_TRUE(std::holds_alternative<Committed>(store.commit(put("/a", "1")))) << "nothing was sent before";
  EXPECT_EQ(value(store, "/a"), "1");
  EXPECT_EQ(store.name(), "etcd http://127.0.0.1:1 " + server_.url());
}

TEST_F(EtcdStoreTest, LeavesAMemberThatIsCutOff) {
  EtcdServer other;
  EtcdStore store({.endpoints = {other.url(), server_.url()}});
  other.inject({.status = 503});
  expect<Unknown>(store.commit(put("/a", "1")), "503");
  EXPECT_TRUE(std::holds_alternative<Committed>(store.commit(put("/a", "2"))));
  EXPECT_EQ(value(store, "/a"), "2");
}

// 'no answer, no action'
TEST_F(EtcdStoreTest, SaysWhyNobodyAnswers) {
  EtcdStore store({.endpoints = {dead_endpoint}});
  expect<Unavailable>(store.commit(put("/a", "1")), "POST http://127.0.0.1:1/v3/kv/txn: Connection refused");
  try {
    store.snapshot();
    FAIL() << "nobody is there";
  } catch (const StoreUnavailable& error) {
    EXPECT_THAT(error.what(), HasSubstr("Connection refused"));
  }
}

TEST_F(EtcdStoreTest, SaysThatThisIsNoEtcd) {
  const apiserver::ApiServer other;
  EtcdStore store({.endpoints = {other.url()}});
  expect<Unavailable>(store.commit(put("/a", "1")), "404");
}

TEST_F(EtcdStoreTest, KeepsNoEndlessAnswer) {
  http::Server endless;
  endless.add_site({});
  endless.route(0, "/v3/",
                [](const http::ServerCall&) {
                  return http::Response{.status = 200, .headers = {}, .body = std::string(17u << 20, ' ')};
                },
                {.methods = {http::Method::post}});
  endless.start();
  EtcdStore store({.endpoints = {endless.url(0)}});
  expect<Unknown>(store.commit(put("/a", "1")), "the answer exceeds 16777216 bytes");
}

/// Gives the same response to each read, whatever was asked for: the keys /w/b and /w/c, and that there are
/// more.
class SamePageTransport final : public http::Transport {
 public:
  std::shared_ptr<http::Call> send(http::Request, http::Completion) override { return nullptr; }
  std::shared_ptr<http::Call> stream(http::Request, std::shared_ptr<http::StreamHandler>) override {
    return nullptr;
  }
  http::Response fetch(http::Request, std::stop_token) override {
    return {.status = 200,
            .body = R"({"header": {"revision": "9"}, "more": true, "kvs": [)"
                    R"({"key": "L3cvYg==", "value": "", "mod_revision": "7"},)"
                    R"({"key": "L3cvYw==", "value": "", "mod_revision": "8"}]})"};
  }
};

TEST_F(EtcdStoreTest, KeysThatWereNotAskedForAreRefused) {
  EtcdStoreOptions strange = options();
  strange.transport = [](const std::string&) { return std::make_shared<SamePageTransport>(); };
  EtcdStore store(strange);
  const auto snapshot = store.snapshot();
  const auto error_text = [](const std::function<void()>& read) -> std::string {
    try {
      read();
    } catch (const StoreUnavailable& error) {
      return error.what();
    }
    return "read";
  };
  EXPECT_THAT(error_text([&] { snapshot->scan_all(coordination::prefix_range("/w/")); }),
              HasSubstr("a read of /w/c"))
      << "the page behind /w/c is the same";
  EXPECT_THAT(error_text([&] { snapshot->scan(coordination::prefix_range("/v/")); }),
              HasSubstr("contains the key /w/b, which is not in the range"));
  EXPECT_THAT(error_text([&] { snapshot->get("/w/a"); }), HasSubstr("contains the key /w/b"));
  EXPECT_EQ(error_text([&] { snapshot->scan(coordination::prefix_range("/w/")); }), "read");
}

class EtcdLoginTest : public EtcdStoreTest {
 protected:
  EtcdStoreOptions login(const std::string& password) const {
    EtcdStoreOptions with = {.endpoints = {guarded_.url()}};
    with.user = "operator";
    with.password = password;
    return with;
  }
  EtcdServer guarded_{{.users = {{"operator", "secret"}}}};
};

TEST_F(EtcdLoginTest, LogsInAndDoesSoAgain) {
  EtcdStore store(login("secret"));
  EXPECT_TRUE(std::holds_alternative<Committed>(store.commit(put("/a", "1"))));
  guarded_.forget_tokens();
  EXPECT_TRUE(std::holds_alternative<Committed>(store.commit(put("/a", "2"))));
  guarded_.forget_tokens();
  EXPECT_EQ(value(store, "/a"), "2");
}

TEST_F(EtcdLoginTest, SaysWhyItCannot) {
  EtcdStore wrong(login("guess"));
  expect<Unavailable>(wrong.commit(put("/a", "1")),
                      "user operator cannot log in: " + guarded_.url() +
                          "/v3/auth/authenticate: 400 etcdserver: authentication failed");
  EXPECT_THROW(wrong.snapshot(), StoreUnavailable);
  EtcdStore nobody({.endpoints = {guarded_.url()}});
  expect<Unavailable>(nobody.commit(put("/a", "1")), "user name is empty");
}

TEST_F(EtcdLoginTest, NeedsNoneWhereThereIsNone) {
  EtcdStoreOptions with = options();
  with.user = "operator";
  with.password = "secret";
  EtcdStore store(with);
  EXPECT_TRUE(std::holds_alternative<Committed>(store.commit(put("/a", "1"))));
  EXPECT_EQ(value(store, "/a"), "1");
}

TEST_F(EtcdStoreTest, AWatchBeginsAgain) {
  EtcdStoreOptions quick = options();
  quick.watch_retry = std::chrono::milliseconds{1};
  EtcdStore store(quick);
  std::atomic<int> hints = 0;
  const auto watch = store.watch(coordination::prefix_range("/w/"), [&hints] { ++hints; });
  await("the hint that it runs", [&] { return hints == 1; });
  store.commit(put("/other", "1"));
  store.commit(put("/w/a", "1"));
  await("the hint of a change", [&] { return hints == 2; });
  EXPECT_EQ(server_.cut_watches(), 1u);
  await("the hint that it runs again", [&] { return hints == 3; });
  store.commit({.erases = {"/w/a"}});
  await("the hint of a removal", [&] { return hints == 4; });
  server_.inject({.verb = "watch", .count = 2, .status = 503});
  EXPECT_EQ(server_.cut_watches(), 1u);
  await("the hint after two refusals", [&] { return hints == 5; });
}

TEST_F(EtcdStoreTest, AWatchThatEndsDoesNotReturnToAMemberThatWasLeft) {
  EtcdServer other;
  EtcdStoreOptions both = {.endpoints = {other.url(), server_.url()}};
  both.watch_retry = std::chrono::milliseconds{1};
  EtcdStore store(both);
  std::atomic<int> hints = 0;
  const auto watch = store.watch(coordination::prefix_range("/w/"), [&hints] { ++hints; });
  await("the hint that it runs", [&] { return hints == 1; });
  const FaultId away = other.inject({.status = 503});
  EXPECT_EQ(value(store, "/a"), "(absent)") << "read from the second member";
  EXPECT_EQ(other.cut_watches(), 1u);
  await("the hint that it runs again", [&] { return hints == 2; });
  EXPECT_EQ(other.fault_counts(away).fired, 1u);
}

TEST(EtcdOptions, AreReadFromAUrl) {
  EXPECT_THAT(etcd_options("etcd://127.0.0.1:2379").endpoints, ElementsAre("http://127.0.0.1:2379"));
  const EtcdStoreOptions all = etcd_options("etcds://me:a%3Ab%40c@one:2379,[::1]:2379");
  EXPECT_THAT(all.endpoints, ElementsAre("https://one:2379", "https://[::1]:2379"));
  EXPECT_EQ(all.user, "me");
  EXPECT_EQ(all.password, "a:b@c");
  for (const char* bad : {"http://a:1", "etcd://", "etcd://a:1,", "etcd://a:1/x", "etcd://me@a:1",
                          "etcd://:x@a:1", "etcd://me:secret@", "etcd:a:1"}) {
    try {
      etcd_options(bad);
      ADD_FAILURE() << bad;
    } catch (const std::invalid_argument& error) {
      EXPECT_STREQ(error.what(), "expected etcd://host:port or etcds://user:password@host:port,host:port");
    }
  }
}

TEST(EtcdOptions, AreChecked) {
  const auto problem = [](const EtcdStoreOptions& options) -> std::string {
    try {
      const EtcdStore store(options);
      return "";
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
  };
  EXPECT_EQ(problem({.endpoints = {}}), "EtcdStoreOptions: endpoints must not be empty");
  EXPECT_EQ(problem({.request_timeout = {}}), "EtcdStoreOptions: request_timeout must be positive");
  EXPECT_EQ(problem({.page_entries = 0}), "EtcdStoreOptions: page_entries must be positive");
  EXPECT_EQ(problem({.max_txn_ops = 15}), "EtcdStoreOptions: max_txn_ops must be at least 16");
  EXPECT_EQ(problem({.user = "me"}), "EtcdStoreOptions: user and password must be set together");
  EXPECT_NE(problem({.endpoints = {"127.0.0.1:2379"}}), "");
}

}  // namespace
}  // namespace evenkeel::tests
