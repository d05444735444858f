// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/api/json.hpp>
#include <evenkeel/coordination/ledger.hpp>
#include <evenkeel/coordination/memory_store.hpp>

namespace evenkeel::coordination {
namespace {

using namespace std::chrono_literals;
using Changes = std::vector<PublishChange>;
using enum PublishChange::Kind;

Domain domain() {
  return {.root = "/db", .actions = {"exclusion", "restart"}, .marks = {"removal"}};
}

LedgerOptions options(std::string scope, std::string incarnation = "run-1") {
  LedgerOptions options;
  options.domain = domain();
  options.identity = {scope, "uid-" + scope, std::move(incarnation)};
  options.transact.delay = 0s;
  options.clock = std::make_shared<ManualClock>();
  return options;
}

DesiredState pending(std::initializer_list<const char*> units) {
  DesiredState desired;
  for (const char* unit : units) desired.add("pendingForRestart", unit, "log");
  return desired;
}

Ledger::Desire say(DesiredState desired) {
  return [desired = std::move(desired)](const OwnState&) { return desired; };
}

std::vector<std::string> keys_below(MemoryStore& store, const std::string& prefix) {
  std::vector<std::string> keys;
  for (const Entry& entry : store.snapshot()->scan_all(prefix_range(prefix))) keys.push_back(entry.key);
  return keys;
}
using Keys = std::vector<std::string>;

TEST(Sets, AreNamedAsInTheDocument) {
  EXPECT_EQ(pending_set("restart"), "pendingForRestart");
  EXPECT_EQ(ready_set("exclusion"), "readyForExclusion");
  EXPECT_THROW(pending_set(""), std::invalid_argument);
  EXPECT_EQ(domain().sets(), (Keys{"pendingForExclusion", "pendingForRemoval", "pendingForRestart",
                                   "readyForExclusion", "readyForRestart"}));
  EXPECT_THROW((Domain{.actions = {"restart"}, .marks = {"restart"}}.sets()), std::invalid_argument);
}

TEST(Layout, KnowsWhatOneCommitMayWrite) {
  const Layout layout("/db");
  EXPECT_EQ(layout.shard_of(layout.member("pendingForRestart", "dc1", "log-1")), "scope.dc1");
  EXPECT_EQ(layout.shard_of(layout.facts("dc1", "log-1")), "scope.dc1");
  EXPECT_EQ(layout.shard_of(layout.guard("pendingForRestart", "dc1")), "scope.dc1");
  EXPECT_EQ(layout.shard_of(layout.token("dc1")), "scope.dc1");
  EXPECT_EQ(layout.shard_of(layout.instance("dc1")), "scope.dc1");
  EXPECT_EQ(layout.shard_of(layout.claim("restart")), "arbiter");
  EXPECT_EQ(layout.shard_of(layout.targets("restart", "dc1")), "arbiter");
  EXPECT_EQ(layout.shard_of("/other"), "arbiter");
}

TEST(Records, ComeBackAsTheyWere) {
  const auto member =
      decode_member({"k", encode(MemberRecord{.kind = "log", .at = 5, .since = ~Version{0}}), 1});
  EXPECT_EQ(member.kind, "log");
  EXPECT_EQ(member.at, 5);
  EXPECT_EQ(member.since, ~Version{0}) << "all 64 bits";
  EXPECT_EQ(decode_member({"k", "", 1}).kind, "") << "an empty value has no kind";
  const TargetsRecord targets{{{7, {{"a/b", 3}, {"\xff", 4}}}}};
  EXPECT_EQ(decode_targets({"k", encode(targets), 1}).epochs, targets.epochs);
  const ClaimRecord claim{.epoch = 7,
                          .owner = {"dc1", "uid", "run"},
                          .state = ClaimState::settled,
                          .timeout = 120s,
                          .targets = 3,
                          .at = 9,
                          .note = "killed 3"};
  const ClaimRecord read = decode_claim({"k", encode(claim), 1});
  EXPECT_EQ(read.epoch, 7U);
  EXPECT_EQ(read.owner, claim.owner);
  EXPECT_EQ(read.state, ClaimState::settled);
  EXPECT_EQ(read.timeout, 120s);
  EXPECT_EQ(read.note, "killed 3");
}

TEST(Records, SayWhichKeyCannotBeRead) {
  const auto error_text = [](const auto& decode) -> std::string {
    try {
      decode();
    } catch (const DecodeError& error) {
      return error.what();
    }
    return "none";
  };
  EXPECT_EQ(error_text([] { decode_member({"/db/x", "[]", 1}); }), "/db/x: expected an object, found array");
  EXPECT_EQ(error_text([] { decode_targets({"/db/t", R"({"x":{}})", 1}); }), R"(/db/t: "x" is not an epoch)");
  EXPECT_EQ(error_text([] {
              decode_targets({"/db/t", R"({"1":{"":5}})", 1});
            }),
            "/db/t: 1: a unit without a name");
  EXPECT_EQ(error_text([] {
              decode_member({"/db/x", R"({"since":1e99})", 1});
            }),
            "/db/x: since: expected integer, found number");
  const auto claim = [&](const std::string& members) {
    return error_text([&] { decode_claim({"/db/c", "{" + members + "}", 1}); });
  };
  EXPECT_EQ(claim(R"("epoch":"7")"), "/db/c: epoch: expected integer, found string");
  EXPECT_EQ(claim(R"("epoch":1)"), "/db/c: scope: expected string, found null");
  EXPECT_EQ(claim(R"("epoch":1,"scope":"a","instance":"b","incarnation":"c","state":"gone")"),
            R"(/db/c: state: "gone" is not a claim state)");
}

// 'one claim': an epoch that cannot grow would be followed by 0, which means "without agreement"; and a
// timeout that overflows would have passed at once.
TEST(Records, RefuseEpochsAndTimesThatCannotBe) {
  const auto read = [](const std::string& epoch, const std::string& timeout) {
    return decode_claim({"/db/c",
                         R"({"epoch":)" + epoch + R"(,"scope":"a","instance":"b","incarnation":"c",)" +
                             R"("state":"executing","timeoutMs":)" + timeout + "}",
                         1});
  };
  EXPECT_EQ(read("9223372036854775806", "1").epoch, 9223372036854775806U);
  for (const char* epoch : {"0", "-1", "9223372036854775807", "18446744073709551615"}) {
    EXPECT_THROW(read(epoch, "1"), DecodeError) << epoch;
  }
  for (const char* timeout : {"0", "-5", "9223372036855", "9223372036854775807"}) {
    EXPECT_THROW(read("1", timeout), DecodeError) << timeout;
  }
  ClaimRecord endless{.epoch = 1, .owner = {"a", "b", "c"}, .timeout = Duration::max()};
  EXPECT_GT(decode_claim({"/db/c", encode(endless), 1}).timeout, std::chrono::hours{24} * 365 * 200);
}

TEST(Ledger, WritesTheDocumentsKeys) {
  MemoryStore store;
  Ledger ledger(store, options("kube-cluster-1"));
  DesiredState desired;
  desired.add("pendingForExclusion", "kube-cluster-1-storage-1", "storage");
  desired.add("readyForExclusion", "kube-cluster-1-storage-1", "storage");
  desired.set_facts("kube-cluster-1-storage-1", {"10.1.0.2:4501"});
  ASSERT_TRUE(ledger.publish(say(desired)).done());
  EXPECT_EQ(
      keys_below(store, "/db/"),
      (Keys{"/db/guard/pendingForExclusion/kube-cluster-1", "/db/guard/processAddresses/kube-cluster-1",
            "/db/guard/readyForExclusion/kube-cluster-1", "/db/guard/summaryForExclusion/kube-cluster-1",
            "/db/instances/kube-cluster-1", "/db/pendingForExclusion/kube-cluster-1/kube-cluster-1-storage-1",
            "/db/processAddresses/kube-cluster-1/kube-cluster-1-storage-1",
            "/db/readyForExclusion/kube-cluster-1/kube-cluster-1-storage-1", "/db/tokens/kube-cluster-1"}));
  EXPECT_EQ(store.snapshot()->get("/db/processAddresses/kube-cluster-1/kube-cluster-1-storage-1")->value,
            R"(["10.1.0.2:4501"])");
}

// 'no idle writes', 'all or nothing'
TEST(Ledger, WritesOnceWhatIsSaidTwice) {
  MemoryStore store;
  Ledger ledger(store, options("dc1"));
  const Published first = ledger.publish(say(pending({"log-1", "log-2"})));
  EXPECT_EQ(first.changes,
            (Changes{{"pendingForRestart", "log-1", added}, {"pendingForRestart", "log-2", added}}));
  EXPECT_EQ(store.version(), 1U) << "all in one commit";
  const Published second = ledger.publish(say(pending({"log-1", "log-2"})));
  EXPECT_TRUE(second.done());
  EXPECT_FALSE(second.transacted.wrote);
  EXPECT_EQ(store.version(), 1U);
}

TEST(Ledger, WritesOnlyWhatHasChanged) {
  MemoryStore store;
  Ledger ledger(store, options("dc1"));
  ledger.publish(say(pending({"log-1", "log-2"})));
  const Version since = ledger.own().find("pendingForRestart", "log-1")->since;
  const Published next = ledger.publish([](const OwnState& own) {
    DesiredState desired = own.desired();
    desired.remove("pendingForRestart", "log-2");
    desired.add("pendingForRestart", "log-3");
    desired.add("pendingForRestart", "log-1", "another kind");
    desired.add("pendingForRemoval", "log-1");
    return desired;
  });
  EXPECT_EQ(next.changes, (Changes{{"pendingForRemoval", "log-1", added},
                                   {"pendingForRestart", "log-2", removed},
                                   {"pendingForRestart", "log-3", added}}));
  const OwnState own = ledger.own();
  EXPECT_EQ(own.find("pendingForRestart", "log-1")->since, since) << "members keep their since";
  EXPECT_EQ(own.find("pendingForRestart", "log-1")->kind, "log");
  EXPECT_FALSE(own.contains("pendingForRestart", "log-2"));
}

// 'no leftovers'
TEST(Ledger, DropsUnitsThatAreNoMore) {
  MemoryStore store;
  Ledger ledger(store, options("dc1"));
  DesiredState desired = pending({"log-1", "log-2"});
  desired.add("pendingForRemoval", "log-2");
  desired.set_facts("log-2", {"10.1.0.2:4501"});
  ledger.publish(say(desired));
  ledger.publish([](const OwnState& own) {
    DesiredState left = own.desired();
    left.keep_only([](const std::string& unit) { return unit == "log-1"; });
    return left;
  });
  EXPECT_EQ(ledger.own().desired(), pending({"log-1"}));
}

TEST(Ledger, RenewsAConsumedMemberOnce) {
  MemoryStore store;
  Ledger ledger(store, options("dc1"));
  ledger.publish(say(pending({"log-1"})));
  const Version since = ledger.own().find("pendingForRestart", "log-1")->since;
  const auto again = [&](const OwnState& own) {
    DesiredState desired = own.desired();
    desired.renew("pendingForRestart", "log-1", since);
    return desired;
  };
  EXPECT_EQ(ledger.publish(again).changes, (Changes{{"pendingForRestart", "log-1", renewed}}));
  EXPECT_GT(ledger.own().find("pendingForRestart", "log-1")->since, since);
  EXPECT_FALSE(ledger.publish(again).transacted.wrote);
  const OwnMember next = *ledger.own().find("pendingForRestart", "log-1");
  EXPECT_EQ(next.kind, "log");
  ledger.publish([&](const OwnState& own) {
    DesiredState desired = own.desired();
    desired.renew("pendingForRestart", "log-1", next.since, "excluded-7");
    return desired;
  });
  EXPECT_EQ(ledger.own().find("pendingForRestart", "log-1")->kind, "excluded-7");
}

// 'ready implies pending', and sets that the domain does not have.
TEST(Ledger, RefusesWhatMustNotStandThere) {
  MemoryStore store;
  Ledger ledger(store, options("dc1"));
  DesiredState ready;
  ready.add("readyForRestart", "log-1");
  EXPECT_THROW(ledger.publish(say(ready)), std::invalid_argument);
  DesiredState unknown;
  unknown.add("pendingForInclusion", "log-1");
  EXPECT_THROW(ledger.publish(say(unknown)), std::invalid_argument);
  EXPECT_EQ(store.version(), 0U);
  EXPECT_THROW(Ledger(store, options("")), std::invalid_argument);
}

// 'separate scopes': scopes of which one is a prefix of the other, or contains a '/'.
TEST(Ledger, TouchesNoOtherScope) {
  MemoryStore store;
  Ledger dc1(store, options("dc1"));
  Ledger dc10(store, options("dc10"));
  Ledger odd(store, options("dc1/a"));
  dc10.publish(say(pending({"log-1"})));
  odd.publish(say(pending({"log-1"})));
  dc1.publish(say(pending({"log-9"})));
  dc1.publish(say(DesiredState()));
  EXPECT_TRUE(dc1.own().desired() == DesiredState());
  EXPECT_TRUE(dc10.own().contains("pendingForRestart", "log-1"));
  const View view = dc1.view("restart");
  ASSERT_EQ(view.pending.size(), 2U);
  EXPECT_EQ(view.pending[0].ref, (UnitRef{"dc1/a", "log-1"}));
  EXPECT_EQ(view.pending[1].ref, (UnitRef{"dc10", "log-1"}));
}

// Each publish renews the registry record, in the same commit as the members.
TEST(Ledger, RegistersWithItsFirstMember) {
  MemoryStore store;
  Ledger ledger(store, options("dc1"));
  ledger.publish(say(pending({"log-1"})));
  const View view = ledger.view("restart");
  ASSERT_NE(view.instance("dc1"), nullptr);
  EXPECT_EQ(view.instance("dc1")->presence, Presence::live);
  EXPECT_EQ(view.instance("dc1")->record.mode, Mode::global);
}

TEST(Ledger, LeavesAScopeToItsLaterRun) {
  MemoryStore store;
  Ledger old(store, options("dc1", "run-1"));
  Ledger next(store, options("dc1", "run-2"));
  old.publish(say(pending({"log-1"})));
  next.publish(say(pending({"log-1", "log-2"})));
  EXPECT_THROW(old.publish(say(DesiredState())), ScopeTaken);
  EXPECT_EQ(keys_below(store, "/db/pendingForRestart/").size(), 2U);
}

// The record of the first run was written by its registry; its ledger had nothing to write.
TEST(Ledger, LeavesAScopeToItsLaterRunWithoutAWriteOfItsOwn) {
  for (const bool is_told : {false, true}) {
    MemoryStore store;
    Ledger old(store, options("dc1", "run-1"));
    Ledger next(store, options("dc1", "run-2"));
    LivenessRegistry registry(store, Layout("/db"), old.options().identity, {}, {.delay = {}});
    registry.renew(Mode::global);
    if (is_told) {
      old.set_registered();
    } else {
      EXPECT_FALSE(old.publish(say(DesiredState())).transacted.wrote);
    }
    next.publish(say(pending({"log-1"})));
    EXPECT_THROW(old.publish(say(pending({"log-2"}))), ScopeTaken) << is_told;
    EXPECT_EQ(keys_below(store, "/db/pendingForRestart/"), Keys{"/db/pendingForRestart/dc1/log-1"});
  }
}

TEST(Ledger, SeesAgesByItsOwnClock) {
  MemoryStore store;
  LedgerOptions mine = options("dc1");
  const auto clock = std::make_shared<ManualClock>();
  mine.clock = clock;
  Ledger ledger(store, mine);
  Ledger other(store, options("dc2"));
  other.publish(say(pending({"log-1"})));
  clock->advance(100s);
  EXPECT_EQ(ledger.view("restart").pending[0].seen, clock->now()) << "not seen before";
  clock->advance(20s);
  EXPECT_EQ(ledger.view("restart").pending[0].seen, clock->now() - 20s);
  other.publish(say(DesiredState()));
  other.publish(say(pending({"log-1"})));
  EXPECT_EQ(ledger.view("restart").pending[0].seen, clock->now()) << "another membership";
}

TEST(Ledger, NamesWhatItCannotRead) {
  MemoryStore store;
  Ledger ledger(store, options("dc1"));
  store.commit({.puts = {{"/db/pendingForRestart/dc2/log-1", "?"}, {"/db/arbiter/claims/restart", "{}"}}});
  const View view = ledger.view("restart");
  ASSERT_EQ(view.unreadable.size(), 2U);
  EXPECT_TRUE(view.unreadable[0].starts_with("/db/pendingForRestart/dc2/log-1")) << view.unreadable[0];
  EXPECT_TRUE(view.unreadable[1].starts_with("/db/arbiter/claims/restart")) << view.unreadable[1];
}

TEST(Ledger, NamesAMemberWithoutAScopeOrAUnit) {
  for (const std::string key : {"/db/pendingForRestart//log-1", "/db/pendingForRestart/dc2/"}) {
    MemoryStore store;
    Ledger ledger(store, options("dc1"));
    store.commit({.puts = {{key, ""}}});
    const View view = ledger.view("restart");
    EXPECT_EQ(view.unreadable, Keys{key + ": expected a set, a scope and a unit"});
    EXPECT_TRUE(view.pending.empty());
  }
}

// A record of a live instance that this program cannot decode blocks decisions, but not for longer than the
// silence time.
TEST(Ledger, NamesAnInstanceThatItCannotUnderstandWhileItLives) {
  const std::string later = encode(InstanceRecord{
      .instance = "uid-dc2", .incarnation = "run-1", .mode = Mode::global, .schema = known_schema + 1});
  for (const auto& [value, error_text] :
       {std::pair<std::string, std::string>{"{no json", "instances/dc2: parse error"},
        {R"({"instance":"uid","mode":"other"})", R"(instances/dc2: mode: expected local, shadow or global)"},
        {later, "/db/instances/dc2: schema: 2 is newer than 1, the newest that this program supports"}}) {
    MemoryStore store;
    LedgerOptions mine = options("dc1");
    const auto clock = std::make_shared<ManualClock>();
    mine.clock = clock;
    Ledger ledger(store, mine);
    store.commit({.puts = {{"/db/instances/dc2", value}, {"/db/pendingForRestart/dc2/log-1", ""}}});
    const View view = ledger.view("restart");
    ASSERT_EQ(view.unreadable.size(), 1U) << value;
    EXPECT_TRUE(view.unreadable[0].starts_with(error_text)) << view.unreadable[0];
    clock->advance(mine.liveness.silence + 1s);
    EXPECT_TRUE(ledger.view("restart").unreadable.empty()) << "it is gone";
    store.commit({.puts = {{"/db/instances/dc2", value}}});
    EXPECT_EQ(ledger.view("restart").unreadable.size(), 1U) << "it is back";
  }
}

// During a move in several commits, a unit that has been copied counts once.
TEST(Ledger, CountsAMovedMemberOnce) {
  MemoryStore store;
  Ledger ledger(store, options("unicorn"));
  store.commit({.puts = {{"/db/pendingForRestart/dc1/log-1", ""},
                         {"/db/pendingForRestart/dc1/log-2", ""},
                         {"/db/pendingForRestart/unicorn/log-1", R"({"at":1,"since":1})"},
                         {"/db/arbiter/migrating/dc1", R"({"to":"unicorn"})"}}});
  const View view = ledger.view("restart");
  ASSERT_EQ(view.pending.size(), 2U);
  EXPECT_EQ(view.pending[0].ref, (UnitRef{"dc1", "log-2"}));
  EXPECT_EQ(view.pending[1].ref, (UnitRef{"unicorn", "log-1"}));
  EXPECT_EQ(view.pending[1].since, 1U) << "as it was before the move";
}

TEST(Ledger, DoesNotClaimToHaveWrittenWhatTheStoreRefused) {
  MemoryStore small({.limits = {.operations = 3}});
  Ledger ledger(small, options("dc1"));
  const Published published = ledger.publish(say(pending({"log-1", "log-2", "log-3"})));
  EXPECT_FALSE(published.done());
  EXPECT_TRUE(std::holds_alternative<TooLarge>(published.transacted.outcome));
  EXPECT_TRUE(published.changes.empty());
}

}  // namespace
}  // namespace evenkeel::coordination
