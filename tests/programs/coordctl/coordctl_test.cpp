// SPDX-License-Identifier: Apache-2.0
// The program coordctl, on a stand-in for etcd.
#include <array>
#include <cstdio>
#include <memory>
#include <string>
#include <sys/wait.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/api/json.hpp>
#include <evenkeel/coordination/etcd_store.hpp>
#include <evenkeel/coordination/lease_lock.hpp>
#include <evenkeel/coordination/liveness.hpp>
#include <evenkeel/testing/etcd_server.hpp>

namespace evenkeel::coordination {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const Layout layout("/db");

struct Ended {
  int code = -1;
  std::string text;  ///< Standard output and standard error.
};

class Coordctl : public ::testing::Test {
 protected:
  Ended run(const std::string& arguments) const {
    return run_on("etcd://" + server.url().substr(7), arguments);
  }
  static Ended run_on(const std::string& url, const std::string& arguments) {
    const std::string command =
        std::string(COORDCTL) + " --store=" + url + " --root=/db " + arguments + " 2>&1";
    FILE* pipe = ::popen(command.c_str(), "r");
    Ended ended;
    std::array<char, 4096> buffer{};
    for (std::size_t got = 0; (got = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
      ended.text.append(buffer.data(), got);
    }
    const int status = ::pclose(pipe);
    ended.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return ended;
  }
  std::string ok(const std::string& arguments) const {
    const Ended ended = run(arguments);
    EXPECT_EQ(ended.code, 0) << arguments << ": " << ended.text;
    return ended.text;
  }
  void put(const std::string& key) { store.commit({.puts = {{key, R"({"at":1767225600,"kind":"log"})"}}}); }

  testing::EtcdServer server;
  EtcdStore store{{.endpoints = {server.url()}}};
  LivenessRegistry registry{store, layout, {"dc1", "uid-1", "run-1"}};
};

TEST_F(Coordctl, ShowsWhatThereIs) {
  registry.renew(Mode::global);
  put(layout.member("pendingForRestart", "dc1", "dc1-log-1"));
  put(layout.member("readyForRestart", "dc1", "dc1-log-1"));
  EXPECT_THAT(ok("show"), AllOf(StartsWith("SCOPE"), HasSubstr("dc1    global  live"), HasSubstr("1/1"),
                                HasSubstr("lock  never taken")));
  const Json json = Json::parse(ok("show --json"));
  EXPECT_EQ(json.at({"scopes", "dc1", "readyForRestart", "members"}), Json(1));
  EXPECT_THAT(ok("watch --times=1"), StartsWith("SCOPE"));
}

// The rest of the quiet window, or the scopes that block.
TEST_F(Coordctl, WatchSaysWhatTheGateSays) {
  registry.renew(Mode::global);
  put(layout.member("pendingForRestart", "dc1", "dc1-log-1"));
  put(layout.member("readyForRestart", "dc1", "dc1-log-1"));
  put(layout.member("pendingForRestart", "dc9", "dc9-log-1"));
  EXPECT_THAT(ok("watch --times=1 --quiet-window=1h"),
              HasSubstr("gate   restart: quiet window, 1h0m0s left; without dc9: not registered\n"));
  EXPECT_THAT(ok("watch --times=2 --interval=1ms --quiet-window=1ns"),
              HasSubstr("gate   restart: open for 1 unit; "));
  put(layout.member("pendingForRestart", "dc1", "dc1-log-2"));
  EXPECT_THAT(ok("watch --times=2 --interval=1ms --quiet-window=1ns"),
              HasSubstr("gate   restart: waits for dc1 (1 not ready); "));
  EXPECT_EQ(run("watch --quiet-window=soon").code, 2);
}

TEST_F(Coordctl, DeniesAllowsAndUnlocks) {
  registry.renew(Mode::global);
  LeaseLock lock(store, layout, {"dc1", "uid-1", "run-1"});
  ASSERT_TRUE(lock.take().is_held());
  EXPECT_EQ(ok("deny dc1 --reason='it moves data' --as=alice"), "denied: dc1\n");
  EXPECT_EQ(lock.take().outcome, LockOutcome::denied);
  EXPECT_THAT(ok("show"), HasSubstr("denied  dc1 by alice"));
  EXPECT_EQ(ok("allow dc1"), "denied: none\n");
  EXPECT_TRUE(lock.take().is_held());
  EXPECT_EQ(ok("unlock"), "the lock is free, epoch 1\n");
  EXPECT_EQ(lock.take().epoch, 2U);
}

TEST_F(Coordctl, ShowsWhatATerminalWouldObey) {
  registry.renew(Mode::global);
  ok("deny dc1 --reason=\"$(printf '\\033[2J\\nFORGED')\" --as=\"$(printf '\\033]0;OWNED\\007eve')\"");
  const std::string text = ok("show");
  EXPECT_THAT(text, HasSubstr(R"(denied  dc1 by \x1b]0;OWNED\x07eve, )"));
  EXPECT_THAT(text, HasSubstr(R"(ago: \x1b[2J\nFORGED)"));
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  put(layout.member("pendingForRestart", "d\x1b[2Jc", "log-1"));
  EXPECT_THAT(ok("janitor"), HasSubstr(R"(d\x1b[2Jc: 1 entry, absent)"));
}

TEST_F(Coordctl, MovesAScopeOnlyOnAClearWord) {
  registry.renew(Mode::global);
  put(layout.member("pendingForRestart", "dc1", "dc1-log-1"));
  const Ended refused = run("migrate dc1 unicorn");
  EXPECT_EQ(refused.code, 3);
  EXPECT_EQ(refused.text, "coordctl: dc1 belongs to the instance uid-1\n");
  EXPECT_EQ(ok("migrate dc1 unicorn --any-owner"), "moved 1 entry of dc1 to unicorn, transactions: 1\n");
  EXPECT_TRUE(store.snapshot()->get(layout.member("pendingForRestart", "unicorn", "dc1-log-1")));
  EXPECT_EQ(ok("migrate dc1 unicorn --any-owner"), "dc1 has no entries\n");
  EXPECT_THROW(registry.renew(Mode::global), ScopeTaken);
}

TEST_F(Coordctl, ListsAndRemovesOrphans) {
  EXPECT_EQ(ok("janitor"), "every scope has a live instance\n");
  registry.renew(Mode::global);
  put(layout.member("pendingForRestart", "dc1", "dc1-log-1"));
  put(layout.member("pendingForRestart", "dc9", "dc9-log-1"));
  put(layout.member("readyForRestart", "dc9", "dc9-log-1"));
  EXPECT_EQ(ok("janitor"), "dc9: 2 entries, absent\n");
  const Ended refused = run("janitor --sweep=dc1");
  EXPECT_EQ(refused.code, 3);
  EXPECT_THAT(refused.text, HasSubstr("the instance uid-1 of dc1 is live"));
  EXPECT_EQ(ok("janitor --sweep=dc9"), "removed 2 entries of dc9\n");
  EXPECT_EQ(ok("janitor --sweep=dc1 --silence=200ms --wait"), "removed 1 entry of dc1\n");
  put(layout.member("pendingForRestart", "dc1", "dc1-log-1"));
  EXPECT_EQ(ok("drain dc1"), "removed 1 entry of dc1\n");
}

TEST_F(Coordctl, SaysWhatIsWrong) {
  const auto text_of = [&](const std::string& arguments, int code) {
    const Ended ended = run(arguments);
    EXPECT_EQ(ended.code, code) << ended.text;
    return ended.text;
  };
  EXPECT_THAT(text_of("janitor --silence=soon", 2), HasSubstr("--silence: \"soon\" is not a duration"));
  EXPECT_EQ(run("paint").code, 2);
  EXPECT_EQ(run_on("redis://x", "show").code, 2);
  server.stop();
  EXPECT_THAT(text_of("show", 1), StartsWith("coordctl: "));
}

}  // namespace
}  // namespace evenkeel::coordination
