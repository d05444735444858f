// SPDX-License-Identifier: Apache-2.0
// EtcdStore with real etcds, 3.4 of Debian and 3.6 of the control plane: the store suite, assumptions about
// etcd, and a comparison of the stand-in's responses.
#include <atomic>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/api/bytes.hpp>
#include <evenkeel/coordination/etcd_store.hpp>
#include <evenkeel/coordination/transact.hpp>
#include <evenkeel/testing/etcd_server.hpp>

#include "../coordination/etcd_profile.hpp"
#include "../coordination/etcd_rollout.hpp"
#include "../coordination/history_replay.hpp"
#include "real_etcd.hpp"

namespace evenkeel::tests {
namespace {

using coordination::Commit;
using coordination::CommitResult;
using coordination::Committed;
using coordination::EtcdStore;
using coordination::EtcdStoreOptions;
using coordination::StoreSnapshot;
using coordination::TooLarge;
using coordination::transact;
using coordination::Transacted;
using coordination::Unavailable;
using ::testing::HasSubstr;

RealEtcd& debians() {
  static RealEtcd shared(old_etcd());
  return shared;
}
RealEtcd& control_planes() {
  static RealEtcd shared(new_etcd());
  return shared;
}

// ---- The suite ----

const auto profiles = ::testing::Values(etcd_profile("Etcd34", [] { return debians().url(); }),
                                        etcd_profile("Etcd36", [] { return control_planes().url(); }));

struct ByName {
  template <class Info>
  std::string operator()(const Info& one) const {
    return one.param.name;
  }
};
INSTANTIATE_TEST_SUITE_P(Etcd, StoreSuite, profiles, ByName());
INSTANTIATE_TEST_SUITE_P(Etcd, StoreSuiteConcurrency, profiles, ByName());

// ---- Facts of etcd ----

struct Program {
  const char* name;
  RealEtcd& (*shared)();
  std::string (*program)();
};
std::ostream& operator<<(std::ostream& out, const Program& program) {
  return out << program.name;
}

class EtcdFacts : public ::testing::TestWithParam<Program> {
 protected:
  RealEtcd& etcd() const { return GetParam().shared(); }
};
INSTANTIATE_TEST_SUITE_P(Etcd, EtcdFacts,
                         ::testing::Values(Program{"Etcd34", debians, old_etcd},
                                           Program{"Etcd36", control_planes, new_etcd}),
                         ByName());

TEST_P(EtcdFacts, TheVersionsAreThoseThatWeSay) {
  const std::string version = etcd().version();
  std::cout << "etcd " << version << '\n';
  EXPECT_THAT(version, HasSubstr(std::string(GetParam().name) == "Etcd34" ? "3.4." : "3.6."));
}

// Everything at its limit at once: operations, conditions and bytes.
TEST_P(EtcdFacts, TakesWhatTheLimitsSayAllAtOnce) {
  EtcdStore store({.endpoints = {etcd().url()}});
  const coordination::Limits limits = store.limits();
  constexpr std::size_t key_size = 24;
  Commit commit;
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < limits.conditions; ++i) {
    std::string key = "/full/absent/" + std::to_string(10000 + i);
    key.resize(key_size, 'k');
    bytes += key.size();
    commit.reads.push_back({std::move(key), 0});
  }
  const std::size_t each = (limits.commit_bytes - bytes) / limits.operations;
  for (std::size_t i = 0; i < limits.operations; ++i) {
    std::string key = "/full/" + std::to_string(10000 + i);
    key.resize(key_size, 'k');
    commit.puts.push_back({std::move(key), std::string(each - key_size, 'v')});
  }
  const CommitResult result = store.commit(commit);
  EXPECT_TRUE(std::holds_alternative<Committed>(result)) << describe(result);
  EXPECT_EQ(store.snapshot()->scan_all(coordination::prefix_range("/full/")).size(), limits.operations);
  commit.puts.clear();
  commit.range_erases = {coordination::prefix_range("/full/")};
  EXPECT_TRUE(std::holds_alternative<Committed>(store.commit(commit)));
}

// A server with smaller limits reports that, which does not count as a lost response.
TEST_P(EtcdFacts, ASmallerServerSaysTooLarge) {
  const RealEtcd small(GetParam().program(),
                       {"--unsafe-no-fsync", "--max-txn-ops=20", "--max-request-bytes=100000"});
  EtcdStore store({.endpoints = {small.url()}});
  EXPECT_TRUE(std::holds_alternative<TooLarge>(store.commit({.puts = {{"/a", std::string(200000, 'v')}}})));
  Commit many;
  for (int i = 0; i < 21; ++i) many.puts.push_back({"/a" + std::to_string(i), ""});
  EXPECT_TRUE(std::holds_alternative<TooLarge>(store.commit(many)));
  EtcdStore fitting({.endpoints = {small.url()}, .max_txn_ops = 20, .max_request_bytes = 100000});
  const CommitResult result = fitting.commit(many);
  EXPECT_TRUE(std::holds_alternative<Committed>(result)) << describe(result);
}

// Roles by prefix, and tokens that expire.
TEST_P(EtcdFacts, UsersLogIn) {
  const RealEtcd etcd(GetParam().program());
  const auto post = [&etcd](const std::string& path, const Json& body) {
    const http::Response answer = etcd.post("/v3/auth/" + path, body.dump());
    EXPECT_EQ(answer.status, 200) << path << " " << answer.body;
  };
  for (const char* name : {"root", "operator"}) {
    post("user/add", Json::object({{"name", name}, {"password", "secret"}}));
    post("role/add", Json::object({{"name", name}}));
    post("user/grant", Json::object({{"user", name}, {"role", name}}));
  }
  const Json permission = Json::object(
      {{"permType", "READWRITE"}, {"key", Bytes("/db/").base64()}, {"range_end", Bytes("/db0").base64()}});
  post("role/grant", Json::object({{"name", "operator"}, {"perm", permission}}));
  post("enable", Json::object());
  EtcdStoreOptions options{.endpoints = {etcd.url()}};
  EtcdStore nobody(options);
  EXPECT_TRUE(std::holds_alternative<Unavailable>(nobody.commit({.puts = {{"/db/a", "1"}}})));
  options.user = "operator";
  options.password = "secret";
  options.revision_key = "/db/";
  EtcdStore store(options);
  CommitResult result = store.commit({.puts = {{"/db/a", "1"}}});
  EXPECT_TRUE(std::holds_alternative<Committed>(result)) << describe(result);
  EXPECT_EQ(store.snapshot()->scan_all(coordination::prefix_range("/db/")).size(), 1u);
  result = store.commit({.puts = {{"/other", "1"}}});
  EXPECT_THAT(describe(result), HasSubstr("permission denied"));
  EXPECT_TRUE(std::holds_alternative<Unavailable>(result));
  options.password = "guess";
  EtcdStore wrong(options);
  EXPECT_THAT(describe(wrong.commit({.puts = {{"/db/a", "1"}}})), HasSubstr("operator cannot log in"));
}

// 'applied once', 'no answer, no action': a server that is killed repeatedly during writes.
TEST_P(EtcdFacts, ACrashLosesAndDoublesNothing) {
  RealEtcd etcd(GetParam().program(), {});
  EtcdStore store({.endpoints = {etcd.url()}});
  const auto increment = [](StoreSnapshot& snapshot) -> Commit {
    const auto entry = snapshot.get("/n");
    return {.reads = {{"/n", entry ? entry->version : 0}},
            .puts = {{"/n", std::to_string(entry ? std::stoi(entry->value) + 1 : 1)}}};
  };
  std::atomic<int> applied = 0;
  std::atomic<int> unclear = 0;
  std::atomic<int> refused = 0;
  std::atomic<unsigned> unknowns = 0;
  {
    const std::jthread writer([&](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        const Transacted done = transact(store, increment, {.token_key = "/token"});
        unknowns += done.unknowns;
        ++(done.committed()                                              ? applied
           : std::holds_alternative<coordination::Unknown>(done.outcome) ? unclear
                                                                         : refused);
      }
    });
    for (int crash = 0; crash < 4; ++crash) {
      const int before = applied;
      await("commits", [&] { return applied > before + 20; });
      etcd.kill();
      const int noticed = refused + unclear;
      await("the crash to be noticed", [&] { return refused + unclear > noticed; });
      etcd.start();
    }
    const int before = applied;
    await("commits after the last crash", [&] { return applied > before; });
  }
  const int value = std::stoi(store.snapshot()->get("/n")->value);
  std::cout << "applied " << applied << ", unclear " << unclear << ", refused " << refused
            << ", lost answers " << unknowns << ", value " << value << '\n';
  EXPECT_GE(value, applied);
  EXPECT_LE(value, applied + unclear);
}

// Runs the histories of the simulation in memory, with its invariants.
TEST_P(EtcdFacts, SimulatedHistoriesGoAsInMemory) {
  const RealEtcd etcd(GetParam().program());
  const EtcdStoreOptions options{.endpoints = {etcd.url()}};
  replay_histories([&](const std::string&) { return std::make_shared<EtcdStore>(options); }, 6);
}

// The figures of docs/coordination-etcd.md.
TEST_P(EtcdFacts, ARolloutCostsNoMoreThanInstancesTimesUnits) {
  const RealEtcd etcd(GetParam().program());
  expect_modest_growth(etcd.url(), std::getenv("EVENKEEL_COORDINATION_LARGE") != nullptr);
}

// ---- Comparison with the stand-in ----

/// Removes the parts of a response that differ between any two servers.
void strip(Json& json) {
  if (json.is_array()) {
    for (Json& item : json.as_array()) strip(item);
  } else if (json.is_object()) {
    json.erase("header");
    for (auto& [name, value] : json.as_object()) strip(value);
  }
}

std::string comparable(const http::Response& answer) {
  Json json = Json::parse(answer.body);
  // The status differs between versions: 412 or 400 where authentication is off.
  if (answer.status != 200) return "refused " + json["code"].dump() + " " + json["message"].dump();
  strip(json);
  return json.dump();
}

/// Sends the same requests to both.
class Beside {
 public:
  explicit Beside(const std::string& program) : real_(program) {}

  void post(const std::string& path, const std::string& body) {
    const http::Request request{.method = http::Method::post, .target = path, .body = body};
    const std::string mine = comparable(own_->fetch(request));
    const std::string theirs = comparable(to_real_->fetch(request));
    EXPECT_EQ(mine, theirs) << path << " " << body;
    if (mine.starts_with('{')) ++accepted;
    if (mine.starts_with("refused")) ++refused;
  }

  int accepted = 0;
  int refused = 0;

 private:
  const RealEtcd real_;
  const testing::EtcdServer stand_in_;
  const std::shared_ptr<http::Transport> own_ = stand_in_.transport();
  const std::shared_ptr<http::Transport> to_real_ =
      http::make_curl_transport({.server = real_.url(), .proxy = ""});
};

TEST_P(EtcdFacts, TheStandInAnswersTheSame) {
  Beside both(GetParam().program());
  const std::vector<std::pair<std::string, std::string>> requests = {
      {"/v3/kv/put", R"({"key":"YQ==","value":"MQ=="})"},
      {"/v3/kv/put", R"({"key":"Yg=="})"},
      {"/v3/kv/put", R"({"key":"YQ==","value":"Mg=="})"},
      {"/v3/kv/put", R"({"value":"Mg=="})"},
      {"/v3/kv/range", R"({"key":"YQ=="})"},
      {"/v3/kv/range", R"({"key":"YQ==","revision":"2"})"},
      {"/v3/kv/range", R"({"key":"YQ==","revision":"99"})"},
      {"/v3/kv/range", R"({"key":"AA==","range_end":"AA==","limit":"1"})"},
      {"/v3/kv/range", R"({"key":"AA==","range_end":"AA==","keys_only":true})"},
      {"/v3/kv/range", R"({"key":"AA==","range_end":"AA==","count_only":true})"},
      {"/v3/kv/range", R"({"key":"AA==","range_end":"AA==","min_mod_revision":"4"})"},
      {"/v3/kv/range", R"({"key":"eA=="})"},
      {"/v3/kv/range", "{}"},
      {"/v3/kv/deleterange", R"({"key":"eA=="})"},
      {"/v3/kv/deleterange", R"({"key":"YQ==","range_end":"Yg=="})"},
      {"/v3/kv/put", R"({"key":"YQ==","value":"Mw=="})"},
      {"/v3/kv/range", R"({"key":"YQ=="})"},
      {"/v3/kv/txn", "{}"},
      {"/v3/kv/txn", R"({"success":[{"request_put":{"key":"YQ=="}},{"request_put":{"key":"YQ=="}}]})"},
      {"/v3/kv/txn",
       R"({"success":[{"request_put":{"key":"YQ=="}},{"request_delete_range":{"key":"YQ=="}}]})"},
      {"/v3/kv/txn", R"({"success":[{"request_range":{"key":"YQ==","revision":"99"}}]})"},
      {"/v3/kv/txn", R"({"compare":[{"target":"VALUE","key":"eA==","value":""}]})"},
      {"/v3/kv/compaction", R"({"revision":"4"})"},
      {"/v3/kv/compaction", R"({"revision":"4"})"},
      {"/v3/kv/compaction", R"({"revision":"99"})"},
      {"/v3/kv/range", R"({"key":"YQ==","revision":"3"})"},
      {"/v3/kv/range", R"({"key":"YQ==","revision":"4"})"},
      {"/v3/auth/authenticate", R"({"name":"a","password":"b"})"}};
  for (const auto& [path, body] : requests) both.post(path, body);
  EXPECT_GT(both.refused, 8);
}

/// Random transactions on five keys.
class RandomTransactions {
 public:
  explicit RandomTransactions(std::uint64_t seed) : random_(seed) {}

  Json txn(int depth) {
    Json out = Json::object();
    out["compare"] = list(3, [this] { return compare(); });
    out["success"] = list(3, [this, depth] { return operation(depth); });
    out["failure"] = list(3, [this, depth] { return operation(depth); });
    return out;
  }

 private:
  std::size_t below(std::size_t bound) { return static_cast<std::size_t>(random_() % bound); }

  template <class Make>
  Json list(std::size_t most, Make make) {
    Json out = Json::array();
    for (std::size_t i = below(most + 1); i > 0; --i) out.push_back(make());
    return out;
  }

  std::string key() { return Bytes(std::string(1, static_cast<char>('a' + below(5)))).base64(); }

  Json keys() {
    Json out = Json::object({{"key", key()}});
    if (below(3) == 0) out["range_end"] = below(3) == 0 ? Bytes(std::string(1, '\0')).base64() : key();
    return out;
  }

  Json compare() {
    static const std::vector<std::pair<const char*, const char*>> targets = {
        {"MOD", "mod_revision"}, {"CREATE", "create_revision"}, {"VERSION", "version"}, {"VALUE", "value"}};
    static const std::vector<const char*> results = {"EQUAL", "NOT_EQUAL", "LESS", "GREATER"};
    const auto& [target, member] = targets[below(targets.size())];
    Json out = keys();
    out["target"] = target;
    out["result"] = results[below(results.size())];
    out[member] = out["target"] == Json("VALUE") ? Json(value()) : Json(std::to_string(below(40)));
    return out;
  }

  std::string value() { return Bytes(std::to_string(below(3))).base64(); }

  Json operation(int depth) {
    Json out = Json::object();
    const std::size_t choice = below(depth > 0 ? 5 : 3);
    if (choice == 0) {
      out["request_range"] = keys();
    } else if (choice == 1) {
      out["request_put"] = Json::object({{"key", key()}, {"value", value()}});
    } else if (choice == 2) {
      out["request_delete_range"] = keys();
    } else {
      out["request_txn"] = txn(depth - 1);
    }
    return out;
  }

  std::mt19937_64 random_;
};

TEST_P(EtcdFacts, TheStandInDoesTheSameWithAnyTransaction) {
  constexpr std::uint64_t seed = 4;
  Beside both(GetParam().program());
  RandomTransactions random(seed);
  for (int i = 0; i < 600 && !HasFailure(); ++i) {
    both.post("/v3/kv/txn", random.txn(2).dump());
    if (i % 10 == 0) both.post("/v3/kv/range", R"({"key":"AA==","range_end":"AA=="})");
  }
  std::cout << "accepted " << both.accepted << ", refused " << both.refused << ", seed " << seed << '\n';
  EXPECT_GT(both.accepted, 200);
  EXPECT_GT(both.refused, 50);
}

}  // namespace
}  // namespace evenkeel::tests
