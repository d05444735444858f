// SPDX-License-Identifier: Apache-2.0
// The Kubernetes store on the embedded API server, through sockets: the suite of all stores in both forms,
// and its own features: the choice of objects, lost answers, foreign edits, limits.
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/apiserver/api_server.hpp>
#include <evenkeel/coordination/kubernetes_store.hpp>

#include "kubernetes_profile.hpp"
#include "kubernetes_reads.hpp"

namespace evenkeel::tests {
namespace {

using namespace std::chrono_literals;
using apiserver::FaultDrop;
using apiserver::FaultRule;
using coordination::Commit;
using coordination::CommitResult;
using coordination::KubernetesObjects;
using coordination::KubernetesStore;
using coordination::KubernetesStoreOptions;

Client client_of_the_suites_server() {
  static apiserver::ApiServer server;
  return Client(server.config());
}

const auto profiles =
    ::testing::Values(kubernetes_profile("ByScope", client_of_the_suites_server, KubernetesObjects::by_scope),
                      kubernetes_profile("One", client_of_the_suites_server, KubernetesObjects::one));
INSTANTIATE_TEST_SUITE_P(Embedded, StoreSuite, profiles);
INSTANTIATE_TEST_SUITE_P(Embedded, StoreSuiteConcurrency, profiles);

struct KubernetesStoreTest : ::testing::Test {
  KubernetesStore store(KubernetesObjects objects = KubernetesObjects::by_scope,
                        std::size_t bytes = 1048576) {
    return {Client(server.config(), {.seed = 1}),
            {.namespace_ = "default",
             .name = "db",
             .root = "/db",
             .objects = objects,
             .max_object_bytes = bytes}};
  }
  Snapshot<ConfigMap> map(const std::string& name) { return client.find<ConfigMap>({"default", name}); }
  /// Adds fault rules for the next writes of the store's objects, one after the other.
  void fail_writes(FaultRule rule) {
    for (const char* verb : {"create", "update"}) {
      rule.verb = verb;
      rule.resource = "configmaps";
      faults.push_back(server.inject(rule));
    }
  }
  std::uint64_t failed_writes() {
    std::uint64_t fired = 0;
    for (const apiserver::FaultId id : faults) fired += server.fault_counts(id).fired;
    return fired;
  }

  apiserver::ApiServer server;
  const Client client{server.config()};
  std::vector<apiserver::FaultId> faults;
};

TEST_F(KubernetesStoreTest, KeepsEachScopeInAnObjectOfItsOwn) {
  KubernetesStore db = store();
  EXPECT_EQ(db.object_of("/db/pendingForRestart/dc1/dc1-log-1"), "db-scope-dc1");
  EXPECT_EQ(db.object_of("/db/processAddresses/dc1/dc1-log-1"), "db-scope-dc1");
  EXPECT_EQ(db.object_of("/db/guard/pendingForRestart/dc1"), "db-scope-dc1");
  EXPECT_EQ(db.object_of("/db/tokens/dc1"), "db-scope-dc1");
  EXPECT_EQ(db.object_of("/db/instances/dc1"), "db-scope-dc1");
  EXPECT_EQ(db.object_of("/db/arbiter/lock"), "db-arbiter");
  EXPECT_EQ(db.object_of("/db/arbiter/tokens/dc1"), "db-arbiter");
  EXPECT_THROW(db.object_of("/other/tokens/dc1"), std::invalid_argument);
  EXPECT_EQ(store(KubernetesObjects::one).object_of("/db/tokens/dc1"), "db");
}

// Scopes that are not valid object names get distinct names.
TEST_F(KubernetesStoreTest, NamesObjectsAfterAnyScope) {
  KubernetesStore db = store();
  const auto name = [&db](const std::string& scope) {
    return db.object_of(coordination::key_of("/db", {"tokens", scope}));
  };
  EXPECT_EQ(name("primary-sat"), "db-scope-primary-sat");
  EXPECT_TRUE(name("DC 1").starts_with("db-scope-dc-1-x")) << name("DC 1");
  EXPECT_NE(name("DC 1"), name("dc 1"));
  EXPECT_NE(name("a/b"), name("a.b"));
  const std::string made_up = name("DC 1").substr(std::string("db-scope-").size());
  EXPECT_NE(name(made_up), name("DC 1")) << "a scope that is called like the object of another";
  const auto result = db.commit({.puts = {{coordination::key_of("/db", {"tokens", "DC 1/ä"}), "1"}}});
  EXPECT_TRUE(std::holds_alternative<coordination::Committed>(result)) << describe(result);
}

TEST_F(KubernetesStoreTest, WritesTextForPeople) {
  KubernetesStore db = store();
  db.commit({.puts = {{"/db/pendingForRestart/dc1/dc1-log-1", R"({"at":1790000000})"}}});
  const auto object = map("db-scope-dc1");
  ASSERT_TRUE(object);
  EXPECT_EQ(object->metadata.labels.at("evenkeel.dev/coordination"), "db");
  EXPECT_EQ(object->data.at("entries"),
            "/db/pendingForRestart/dc1/dc1-log-1 " + object->data.at("version") + " {\"at\":1790000000}\n");
}

TEST_F(KubernetesStoreTest, RefusesRangesOverSeveralObjects) {
  KubernetesStore db = store();
  const auto erase = [&db](const char* prefix) {
    return describe(db.commit({.range_erases = {coordination::prefix_range(prefix)}}));
  };
  EXPECT_TRUE(erase("/db/pendingForRestart/dc1/").starts_with("committed"));
  EXPECT_TRUE(erase("/db/arbiter/upgrades/").starts_with("committed"));
  EXPECT_THROW(erase("/db/pendingForRestart/"), std::invalid_argument);
  EXPECT_THROW(erase("/db/"), std::invalid_argument);
}

// Reads in other objects are compared before the commit.
TEST_F(KubernetesStoreTest, ComparesWhatWasReadInOtherObjects) {
  KubernetesStore db = store();
  db.commit({.puts = {{"/db/tokens/dc1", "1"}}});
  const auto read = db.snapshot()->get("/db/tokens/dc1");
  db.commit({.puts = {{"/db/tokens/dc1", "2"}}});
  const Commit claim{.reads = {{"/db/tokens/dc1", read->version}},
                     .puts = {{"/db/arbiter/claims/restart", "1"}}};
  EXPECT_EQ(describe(db.commit(claim)), "conflict at /db/tokens/dc1");
}

// 'applied once', on the wire: the server executed the request, but its answer was lost.
TEST_F(KubernetesStoreTest, FindsACommitWhoseAnswerWasLost) {
  for (const KubernetesObjects objects : {KubernetesObjects::by_scope, KubernetesObjects::one}) {
    KubernetesStore db = store(objects);
    fail_writes({.count = 1, .drop = FaultDrop::after});
    for (const char* value : {"created", "replaced"}) {
      const CommitResult result = db.commit({.puts = {{"/db/tokens/dc1", value}}});
      EXPECT_TRUE(std::holds_alternative<coordination::Committed>(result)) << describe(result);
      EXPECT_EQ(db.snapshot()->get("/db/tokens/dc1")->value, value);
      EXPECT_EQ(db.snapshot()->get("/db/tokens/dc1")->version,
                std::get<coordination::Committed>(result).version);
    }
  }
  EXPECT_EQ(failed_writes(), 4u);
}

TEST_F(KubernetesStoreTest, SendsACommitAgainThatWasLostOnItsWay) {
  KubernetesStore db = store();
  fail_writes({.count = 2, .drop = FaultDrop::before});
  EXPECT_TRUE(describe(db.commit({.puts = {{"/db/tokens/dc1", "1"}}})).starts_with("committed"));
  EXPECT_TRUE(describe(db.commit({.puts = {{"/db/tokens/dc1", "2"}}})).starts_with("committed"));
  EXPECT_EQ(db.snapshot()->get("/db/tokens/dc1")->value, "2");
  EXPECT_EQ(failed_writes(), 4u);
}

// A 500 of the server does not say whether it wrote.
TEST_F(KubernetesStoreTest, LooksAfterAnErrorOfTheServer) {
  KubernetesStore db = store();
  fail_writes({.count = 1, .status = 500});
  EXPECT_TRUE(describe(db.commit({.puts = {{"/db/tokens/dc1", "1"}}})).starts_with("committed"));
}

TEST_F(KubernetesStoreTest, IsUnknownWhereTheTruthCannotBeRead) {
  KubernetesStore db = store();
  db.commit({.puts = {{"/db/tokens/dc1", "1"}}});
  server.inject({.verb = "update", .resource = "configmaps", .drop = FaultDrop::after});
  server.inject({.verb = "get", .resource = "configmaps", .skip = 1, .status = 403});
  const CommitResult result = db.commit({.puts = {{"/db/tokens/dc1", "2"}}});
  EXPECT_TRUE(std::holds_alternative<coordination::Unknown>(result)) << describe(result);
  server.clear_faults();
  EXPECT_EQ(db.snapshot()->get("/db/tokens/dc1")->value, "2");
}

// 'no answer, no action': a forbidden or undecodable object is not an empty store.
TEST_F(KubernetesStoreTest, IsUnavailableWhereItMayNot) {
  KubernetesStore db = store();
  fail_writes({.count = 1, .status = 403});
  EXPECT_TRUE(describe(db.commit({.puts = {{"/db/tokens/dc1", "1"}}})).starts_with("unavailable: "));
  server.inject({.verb = "list", .resource = "configmaps", .status = 403});
  EXPECT_THROW(db.snapshot(), coordination::StoreUnavailable);
}

TEST_F(KubernetesStoreTest, DoesNotTakeBrokenContentsForNone) {
  KubernetesStore db = store();
  db.commit({.puts = {{"/db/tokens/dc1", "1"}}});
  const auto object = map("db-scope-dc1");
  client.patch(object, [](ConfigMap& edited) { edited.data["entries"] = "/db/tokens/dc1 one 1\n"; });
  try {
    db.snapshot();
    FAIL() << "it must not be read";
  } catch (const coordination::StoreUnavailable& error) {
    EXPECT_STREQ(error.what(), "ConfigMap db-scope-dc1: data.entries, line 1: invalid version: one");
  }
  client.patch(map("db-scope-dc1"), [](ConfigMap& edited) { edited.data.erase("version"); });
  EXPECT_EQ(describe(db.commit({.puts = {{"/db/tokens/dc1", "2"}}})),
            "unavailable: ConfigMap db-scope-dc1: data.version is missing");
}

// 'own scope': write access to the object of one scope must not give access to another scope; otherwise roles
// would be worthless. Keys below another root are ignored.
TEST_F(KubernetesStoreTest, RefusesEntriesThatBelongElsewhere) {
  KubernetesStore db = store();
  db.commit({.puts = {{"/db/tokens/dc2", "1"}}});
  const auto error_text = [&](const std::string& more) -> std::string {
    const std::string before = map("db-scope-dc2")->data.at("entries");
    client.patch(map("db-scope-dc2"), [&](ConfigMap& edited) { edited.data["entries"] = before + more; });
    std::string what = "read";
    try {
      db.snapshot();
    } catch (const coordination::StoreUnavailable& error) {
      what = error.what();
    }
    client.patch(map("db-scope-dc2"), [&](ConfigMap& edited) { edited.data["entries"] = before; });
    return what;
  };
  const std::string object = "ConfigMap db-scope-dc2: data.entries";
  EXPECT_EQ(error_text("/db/pendingForRestart/dc1/log-1 5 {}\n"),
            object + ": /db/pendingForRestart/dc1/log-1 belongs in db-scope-dc1");
  EXPECT_EQ(error_text("/db/pendingForRestart//log-1 5 {}\n"),
            object + ": /db/pendingForRestart//log-1: an element of a key must not be empty");
  EXPECT_EQ(error_text("/db/arbiter/lock 5 {}\n"), object + ": /db/arbiter/lock belongs in db-arbiter");
  EXPECT_EQ(error_text("/db/tokens/dc2 5 {}\n"), object + ", line 2: /db/tokens/dc2 is listed twice");
  EXPECT_EQ(error_text("/db/guard/x/dc2 18446744073709551615 {}\n"),
            object + ", line 2: version 18446744073709551615 is later than data.version");
  EXPECT_EQ(error_text("/other/key 5 {}\n"), "read");
  EXPECT_EQ(error_text(""), "read");
}

TEST_F(KubernetesStoreTest, KeepsForeignMetadata) {
  KubernetesStore db = store();
  db.commit({.puts = {{"/db/tokens/dc1", "1"}}});
  client.patch(map("db-scope-dc1"), [](ConfigMap& edited) { edited.metadata.annotations["team"] = "db"; });
  EXPECT_TRUE(describe(db.commit({.puts = {{"/db/tokens/dc1", "2"}}})).starts_with("committed"));
  EXPECT_EQ(map("db-scope-dc1")->metadata.annotations.at("team"), "db");
}

// Versions are not reused after an object was deleted by hand: otherwise a claim could mistake a new member
// for one that it has consumed.
TEST_F(KubernetesStoreTest, VersionsGrowEvenIfTheObjectWasDeleted) {
  KubernetesStore db = store();
  db.commit({.puts = {{"/db/tokens/dc1", "1"}}});
  const auto before = db.snapshot()->get("/db/tokens/dc1")->version;
  client.remove<ConfigMap>({"default", "db-scope-dc1"});
  EXPECT_EQ(describe(db.commit({.reads = {{"/db/tokens/dc1", before}}, .puts = {{"/db/tokens/dc1", "2"}}})),
            "conflict at /db/tokens/dc1");
  EXPECT_GE(before, 1ULL << 40U) << "it begins with the time";
}

TEST_F(KubernetesStoreTest, RefusesMoreThanAnObjectHolds) {
  KubernetesStore db = store(KubernetesObjects::by_scope, 2000);
  const auto put = [&db](const std::string& unit, std::size_t bytes) {
    return db.commit({.puts = {{"/db/pendingForRestart/dc1/" + unit, std::string(bytes, 'x')}}});
  };
  const CommitResult alone = put("a", 2000);
  ASSERT_TRUE(std::holds_alternative<coordination::TooLarge>(alone)) << describe(alone);
  EXPECT_EQ(std::get<coordination::TooLarge>(alone).limit, "commit_bytes");
  EXPECT_TRUE(describe(put("a", 1000)).starts_with("committed"));
  const CommitResult together = put("b", 1000);
  ASSERT_TRUE(std::holds_alternative<coordination::TooLarge>(together)) << describe(together);
  EXPECT_EQ(std::get<coordination::TooLarge>(together).limit, "object_bytes");
  EXPECT_FALSE(db.snapshot()->get("/db/pendingForRestart/dc1/b"));
}

// Instances need not be allowed to create objects.
TEST_F(KubernetesStoreTest, FillsAnObjectThatWasMadeForIt) {
  client.create(ConfigMap{.metadata = {.name = "db-scope-dc1",
                                       .namespace_ = "default",
                                       .labels = {{"evenkeel.dev/coordination", "db"}}}});
  KubernetesStore db = store();
  EXPECT_TRUE(db.snapshot()->scan_all(coordination::prefix_range("")).empty());
  fail_writes({.count = 1, .drop = FaultDrop::after});
  EXPECT_TRUE(describe(db.commit({.puts = {{"/db/tokens/dc1", "1"}}})).starts_with("committed"));
  EXPECT_EQ(db.snapshot()->get("/db/tokens/dc1")->value, "1");
  EXPECT_GE(db.snapshot()->get("/db/tokens/dc1")->version, 1ULL << 40U);
  EXPECT_EQ(failed_writes(), 1u);
}

// The figure in docs/coordination-kubernetes.md.
TEST_F(KubernetesStoreTest, HoldsTwoHundredGroupsInAnEighthOfAnObject) {
  KubernetesStore db = store();
  Commit wanted;
  for (const std::string set : {"pendingForRemoval", "pendingForExclusion", "readyForExclusion",
                                "pendingForInclusion", "pendingForRestart", "readyForRestart"}) {
    for (int i = 0; i < 200; ++i) {
      wanted.puts.push_back(
          {"/db/" + set + "/dc1/dc1-storage-" + std::to_string(i), R"({"at":1790000000,"kind":"storage"})"});
    }
  }
  EXPECT_TRUE(describe(db.commit(wanted)).starts_with("committed"));
  std::size_t bytes = 0;
  const auto object = map("db-scope-dc1");
  for (const auto& [key, text] : object->data) bytes += text.size();
  RecordProperty("bytes", static_cast<int>(bytes));
  EXPECT_LT(bytes, 1048576U / 8);
}

TEST_F(KubernetesStoreTest, ReadsOnlyWhatHasChanged) {
  expect_reads_of_what_changed(server.config(), 8);
}

// The cache is used only for objects whose version the server has confirmed.
TEST_F(KubernetesStoreTest, WhatIsKeptNeverHidesWhatIs) {
  ObservedStore reader(server.config(), "db");
  KubernetesStore db = store();
  for (const char* scope : {"dc1", "dc2", "dc3"}) db.commit(publish_of("/db", scope, 200));
  const auto expect_the_same = [&](const char* after) {
    const auto all = coordination::prefix_range("/");
    EXPECT_EQ(reader.store.snapshot()->scan_all(all), store().snapshot()->scan_all(all)) << after;
  };
  expect_the_same("first");
  client.remove<ConfigMap>({"default", "db-scope-dc2"});
  expect_the_same("an object was deleted");
  db.commit(publish_of("/db", "dc2", 100));
  expect_the_same("it came back");
  db.commit(publish_of("/db", "dc4", 100));
  expect_the_same("another came");
  for (int i = 0; i < 8; ++i) db.commit(publish_of("/db", "dc" + std::to_string(i), 50));
  expect_the_same("all changed");
}

// A snapshot is consistent, even if an object is written while it is read.
TEST_F(KubernetesStoreTest, ReadsAllOfWhatIsWrittenMeanwhile) {
  ObservedStore reader(server.config(), "db");
  KubernetesStore db = store();
  for (const char* scope : {"dc1", "dc2"}) db.commit(publish_of("/db", scope, 200));
  reader.store.snapshot();
  db.commit({.puts = {{"/db/tokens/dc1", "1"}}});
  bool written = false;
  reader.transport->before = [&](const http::Request& request) {
    if (written || request.target.find("/configmaps/db-scope-dc1") == std::string::npos) return;
    written = true;
    db.commit({.puts = {{"/db/tokens/dc2", "2"}}});
    db.commit({.puts = {{"/db/tokens/dc1", "2"}}});
  };
  const auto snapshot = reader.store.snapshot();
  EXPECT_TRUE(written);
  EXPECT_EQ(snapshot->get("/db/tokens/dc1")->value, "2");
  ASSERT_TRUE(snapshot->get("/db/tokens/dc2")) << "it was there before the other";
}

// 'current view': a member that is added between snapshot and claim is detected, unless it is added while the
// claim is being sent.
TEST_F(KubernetesStoreTest, LooksAtRangesRightBeforeItCommits) {
  ObservedStore claimant(server.config(), "db");
  KubernetesStore db = store();
  const auto publish = [&db] { return describe(db.commit({.puts = {{"/db/guard/restart/dc2", ""}}})); };
  const auto claim = [&](coordination::Version read) {
    return describe(claimant.store.commit({.read_version = read,
                                           .read_ranges = {coordination::prefix_range("/db/guard/restart/")},
                                           .puts = {{"/db/arbiter/claims/restart", "1"}}}));
  };
  EXPECT_TRUE(publish().starts_with("committed"));
  const coordination::Version before = claimant.store.snapshot()->version();
  EXPECT_TRUE(publish().starts_with("committed"));
  EXPECT_EQ(claim(before), "conflict at /db/guard/restart/");
  EXPECT_EQ(claim(before + 1), "conflict at /db/guard/restart/") << "no snapshot that it knows";

  const coordination::Version now = claimant.store.snapshot()->version();
  claimant.transport->before = [&](const http::Request& request) {
    if (request.method == http::Method::post || request.method == http::Method::put) publish();
  };
  EXPECT_TRUE(claim(now).starts_with("committed")) << "this is what is left";
}

TEST_F(KubernetesStoreTest, TakesAsMuchAsTheServerDoes) {
  KubernetesStore db = store();
  const auto result = db.commit({.puts = {{"/db/pendingForRestart/dc1/a", std::string(1048000, 'x')}}});
  EXPECT_TRUE(std::holds_alternative<coordination::Committed>(result)) << describe(result);
}

TEST_F(KubernetesStoreTest, RefusesBadOptions) {
  const auto refused = [this](KubernetesStoreOptions options) {
    if (options.namespace_.empty()) options.namespace_ = "hub";
    try {
      const KubernetesStore made(client, options);
      return std::string("taken");
    } catch (const std::invalid_argument& error) {
      return std::string(error.what());
    }
  };
  EXPECT_EQ(refused({.name = "db", .root = "/db"}), "taken");
  EXPECT_EQ(refused({.name = "", .root = "/db"}),
            "KubernetesStore: name must be a DNS label of at most 40 characters");
  EXPECT_EQ(refused({.name = "Db"}), "KubernetesStore: name must be a DNS label of at most 40 characters");
  EXPECT_EQ(refused({.name = "db", .root = "/db/"}), "KubernetesStore: root must not end with '/'");
  EXPECT_EQ(refused({.name = "db", .max_object_bytes = 0}),
            "KubernetesStore: max_object_bytes must be 1 to 1048576");
  EXPECT_EQ(refused({.name = "db", .timeout = 0s}), "KubernetesStore: timeout must be > 0");
  EXPECT_EQ(refused({.name = "db", .watch_retry = 0s}), "KubernetesStore: watch_retry must be > 0");
}

}  // namespace
}  // namespace evenkeel::tests
