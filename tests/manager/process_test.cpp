// SPDX-License-Identifier: Apache-2.0
// An operator as a process under load, which is stopped, loses leadership and is killed at random moments;
// with the embedded server and, if built with EVENKEEL_REAL_SERVER, a real one.
//
// EVENKEEL_PROCESS_SEED determines the moments (default: a random seed, which is printed),
// EVENKEEL_PROCESS_MOMENTS the number of each kind.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/api/json.hpp>
#include <evenkeel/api/kinds/coordination.hpp>
#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/client/client.hpp>
#include <evenkeel/http/message.hpp>
#ifdef EVENKEEL_REAL_SERVER
#include <evenkeel/testing/environment.hpp>
#else
#include <evenkeel/apiserver/api_server.hpp>
#endif

#include "../support/await.hpp"
#include "child.hpp"

namespace evenkeel {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using tests::await;

#ifdef EVENKEEL_REAL_SERVER
using Server = testing::Environment;
#else
using Server = apiserver::ApiServer;
#endif

constexpr int objects = 20;

std::uint64_t seed() {
  static const std::uint64_t value = [] {
    const char* text = std::getenv("EVENKEEL_PROCESS_SEED");
    const std::uint64_t chosen = text != nullptr ? std::strtoull(text, nullptr, 10) : std::random_device{}();
    std::cout << "[ seed     ] EVENKEEL_PROCESS_SEED=" << chosen << std::endl;
    return chosen;
  }();
  return value;
}

int moments(int otherwise) {
  const char* text = std::getenv("EVENKEEL_PROCESS_MOMENTS");
  return text != nullptr ? std::atoi(text) : otherwise;
}

std::int64_t calendar() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

// A server with ConfigMaps that change continuously, and operators that react.
class OperatorProcess : public ::testing::Test {
 protected:
  OperatorProcess() : client_(server().config()), random_(seed()) {
    std::ofstream(path("kubeconfig")) << server().kubeconfig();
    client_.remove<Lease>({"default", "load-operator"});
    for (int i = 0; i < objects; ++i) want(i, "0");
  }
  ~OperatorProcess() override { end_load(); }

  static std::string name(int i) { return "load-" + std::to_string(i); }
  static std::string path(const std::string& file) {
    return ::testing::TempDir() + "evenkeel_process_test_" + std::to_string(::getpid()) + "_" + file;
  }
  /// Started by the first test that needs it.
  static Server& server() {
    static Server shared;
    return shared;
  }
  void want(int i, const std::string& what) {
    client_.apply(
        ConfigMap{.metadata = {.name = name(i), .namespace_ = "default"}, .data = {{"wanted", what}}});
  }
  /// Sets the holder of the Lease.
  void give_lease_to(const std::string& holder) {
    (void)client_.raw({.method = http::Method::patch,
                       .resource = Lease::resource,
                       .namespace_ = "default",
                       .name = "load-operator",
                       .content_type = "application/merge-patch+json",
                       .body = R"({"spec":{"holderIdentity":")" + holder + R"("}})"});
  }

  void begin_load() {
    load_ = std::jthread([this](const std::stop_token& stop) {
      for (int turn = 1; !stop.stop_requested(); ++turn) {
        want(turn % objects, std::to_string(turn));
        std::this_thread::sleep_for(1ms);  // the load, not a wait
      }
    });
  }
  void end_load() {
    if (!load_.joinable()) return;
    load_.request_stop();
    load_.join();
  }
  bool converged() {
    const auto maps = client_.list<ConfigMap>({.namespace_ = "default"}).items;
    return std::all_of(maps.begin(), maps.end(), [](const Snapshot<ConfigMap>& map) {
      const auto wanted = map->data.find("wanted");
      const auto seen = map->data.find("seen");
      return wanted == map->data.end() || (seen != map->data.end() && seen->second == wanted->second);
    });
  }
  std::vector<std::string> versions() {
    std::vector<std::string> all;
    for (const Snapshot<ConfigMap>& map : client_.list<ConfigMap>({.namespace_ = "default"}).items)
      all.push_back(map->metadata.name + " " + map->metadata.resource_version);
    return all;
  }

  /// Its log is written to a separate file.
  std::unique_ptr<Child> start(const std::string& who, std::vector<std::string> flags = {},
                               std::vector<std::string> environment = {}) {
    std::remove(path(who).c_str());
    std::vector<std::string> command = {
        EVENKEEL_LOAD_OPERATOR, "--kubeconfig", path("kubeconfig"), "--log-file", path(who),
        "--log-format",         "json"};
    command.insert(command.end(), flags.begin(), flags.end());
    environment.emplace_back("HOME=/nonexistent");
    return std::make_unique<Child>(std::move(command), std::move(environment));
  }
  /// Returns the message of the last line; "" if there is none.
  static std::string last_message(const std::string& who) {
    const auto lines = lines_of(path(who));
    return lines.empty() ? "" : Json::parse(lines.back())["msg"].string_or("");
  }
  static std::optional<Json> line_with(const std::string& who, const std::string& message) {
    for (const std::string& line : lines_of(path(who))) {
      if (!line.ends_with('}')) continue;  // incomplete
      if (Json parsed = Json::parse(line); parsed["msg"].string_or("") == message) return parsed;
    }
    return std::nullopt;
  }
  static void await_line(const std::string& who, const std::string& message) {
    await(who + ": " + message, [&] { return line_with(who, message).has_value(); });
  }
  Duration random_moment(Duration longest) {
    return Duration(std::uniform_int_distribution<Duration::rep>(0, longest.count())(random_));
  }

  const Client client_;
  std::mt19937_64 random_;
  std::jthread load_;
};

// In every second run, reconciles also throw.
TEST_F(OperatorProcess, EndsInOrderWhateverTheMomentOfTheSignal) {
  begin_load();
  const int count = moments(200);
  int unborn = 0;
  Duration longest = 300ms;  // longer where a program takes longer to begin
  for (int moment = 0; moment < count;) {
    const Duration after = random_moment(longest);
    SCOPED_TRACE("moment " + std::to_string(moment) + ", after " + std::to_string(after.count()) + " ns");
    auto child = start("one", {}, {moment % 2 == 0 ? "LOAD_FAILURES=0" : "LOAD_FAILURES=30"});
    std::this_thread::sleep_for(after);  // part of the test, not a wait
    child->signal(SIGTERM);
    const int code = child->wait();
    if (code == -SIGTERM) {  // it had not installed its signal handlers yet
      EXPECT_EQ(last_message("one"), "");
      ++unborn;
      longest += 5ms;
      continue;
    }
    ++moment;
    ASSERT_EQ(code, 0) << child->log();
    ASSERT_EQ(last_message("one"), "stopped");
    ASSERT_EQ(Json::parse(child->last_output_line())["name"].string_or(""), "load-operator");
    ASSERT_EQ(child->log(), "");
  }
  std::cout << "[ figures  ] " << count << " moments, besides " << unborn << " before it handled signals"
            << std::endl;
  end_load();
  auto child = start("one");
  await("all objects to be seen", [&] { return converged(); });
  child->signal(SIGTERM);
  EXPECT_EQ(child->wait(), 0);
}

std::vector<std::string> election() {
  return {"--leader-elect",
          "--leader-elect-namespace",
          "default",
          "--leader-elect-lease-duration",
          "3s",
          "--leader-elect-renew-deadline",
          "2s",
          "--leader-elect-retry-period",
          "500ms"};
}

TEST_F(OperatorProcess, EndsWithFiveWheneverItsLeadIsTaken) {
  begin_load();
  for (int moment = 0; moment < moments(20); ++moment) {
    const Duration after = random_moment(100ms);
    SCOPED_TRACE("moment " + std::to_string(moment) + ", after " + std::to_string(after.count()) + " ns");
    auto child = start("one", election(), {moment % 2 == 0 ? "LOAD_FAILURES=0" : "LOAD_FAILURES=30"});
    await_line("one", "became the leader");
    std::this_thread::sleep_for(after);  // part of the test, not a wait
    give_lease_to("thief");
    ASSERT_EQ(child->wait(), 5) << child->log();
    ASSERT_EQ(last_message("one"), "ended with an error");
    ASSERT_THAT(Json::parse(lines_of(path("one")).back())["error"].string_or(""),
                HasSubstr("is not the leader any more"));
    give_lease_to("");
  }
  end_load();
  auto child = start("one", election());
  await("all objects to be seen", [&] { return converged(); });
  child->signal(SIGTERM);
  EXPECT_EQ(child->wait(), 0);
}

TEST_F(OperatorProcess, EndsWithOneAndNamesTheBugIfABugIsToEndIt) {
  begin_load();
  auto child = start("one", {}, {"LOAD_PANIC=" + name(3)});
  EXPECT_EQ(child->wait(), 1);
  EXPECT_EQ(last_message("one"), "ended with an error");
  EXPECT_EQ(Json::parse(lines_of(path("one")).back())["error"].string_or(""),
            "controller configmap: a bug that was asked for");
}

TEST_F(OperatorProcess, EndsWithOneAndSaysWhyIfItCannotBeSetUp) {
  auto child = start("one", {}, {"LOAD_SETUP=no such queue"});
  EXPECT_EQ(child->wait(), 1);
  EXPECT_EQ(last_message("one"), "ended with an error");
  EXPECT_EQ(Json::parse(lines_of(path("one")).back())["error"].string_or(""), "no such queue");
}

// ---- Failover

struct Reconcile {
  long pid = 0;
  std::uint64_t term = 0;
  std::int64_t begin = 0;
  std::int64_t end = INT64_MAX;
};

std::map<std::string, std::vector<Reconcile>> runs_of(const std::string& journal) {
  std::map<std::string, std::vector<Reconcile>> runs;
  for (const std::string& line : lines_of(journal)) {
    std::istringstream words(line);
    std::string what;
    std::string key;
    Reconcile run;
    std::int64_t at = 0;
    words >> what >> run.pid >> run.term >> key >> at;
    auto& of_key = runs[key];
    if (what == "begin") {
      run.begin = at;
      of_key.push_back(run);
    } else {
      const auto open = std::find_if(of_key.rbegin(), of_key.rend(), [&](const Reconcile& one) {
        return one.pid == run.pid && one.end == INT64_MAX;
      });
      open->end = at;
    }
  }
  return runs;
}

std::int64_t nanoseconds_of(const Json& line) {
  // "2026-01-02T03:04:05.678901Z"
  std::tm parts{};
  int micros = 0;
  const std::string text = line["ts"].string_or("");
  EXPECT_EQ(std::sscanf(text.c_str(), "%d-%d-%dT%d:%d:%d.%d", &parts.tm_year, &parts.tm_mon, &parts.tm_mday,
                        &parts.tm_hour, &parts.tm_min, &parts.tm_sec, &micros),
            7)
      << text;
  parts.tm_year -= 1900;
  parts.tm_mon -= 1;
  return (static_cast<std::int64_t>(::timegm(&parts)) * 1'000'000 + micros) * 1000;
}

double ms(std::int64_t nanoseconds) {
  return static_cast<double>(nanoseconds) / 1e6;
}

// Two replicas under load; the leader is killed. The other takes over, no key is reconciled by both at once,
// terms increase, and the successor's caches were full before it became leader.
TEST_F(OperatorProcess, AStandbyTakesOverFromAKilledLeader) {
  std::remove(path("journal").c_str());
  const std::vector<std::string> environment = {"LOAD_JOURNAL=" + path("journal"), "LOAD_WORK_MS=20"};
  auto leader = start("leader", election(), environment);
  await_line("leader", "workers started");
  auto standby = start("standby", election(), environment);
  await_line("standby", "waiting to become leader");
  begin_load();
  const long first = leader->pid();
  await("work of the leader", [&] { return lines_of(path("journal")).size() > 100; });
  std::this_thread::sleep_for(random_moment(1s));  // the moment of the kill, not a wait
  leader->signal(SIGKILL);
  EXPECT_EQ(leader->wait(), -SIGKILL);
  const std::int64_t killed = calendar();
  await_line("standby", "workers started");
  await("work of the successor", [&] {
    const auto lines = lines_of(path("journal"));
    return std::any_of(lines.begin(), lines.end(), [&](const std::string& line) {
      return line.starts_with("begin " + std::to_string(standby->pid()));
    });
  });
  end_load();
  await("all objects to be seen", [&] { return converged(); });
  const long second = standby->pid();
  standby->signal(SIGTERM);
  EXPECT_EQ(standby->wait(), 0);

  const std::int64_t elected = nanoseconds_of(*line_with("standby", "became the leader"));
  std::int64_t began = INT64_MAX;
  for (const auto& [key, runs] : runs_of(path("journal"))) {
    for (const Reconcile& run : runs) {
      EXPECT_TRUE(run.end != INT64_MAX || run.pid == first) << key << " never came to its end";
      if (run.pid == second) began = std::min(began, run.begin);
      for (const Reconcile& other : runs) {
        if (run.pid != first || other.pid != second) continue;
        EXPECT_LT(std::min(run.end, killed), other.begin) << key << " was in both hands";
        EXPECT_LT(run.term, other.term) << key;
      }
    }
  }
  // The rest of the lease, and the time to notice its end, which should be less than one second. The limit
  // here is higher, for busy machines.
  std::cout << "[ figures  ] led " << ms(elected - killed) << " ms after the kill (lease 3000 ms); first "
            << "reconcile " << ms(began - elected) << " ms after the election" << std::endl;
  EXPECT_LT(ms(elected - killed), 3000 + 10000);
  EXPECT_LT(ms(began - elected), 5000);
}

// The leader is suspended in the middle of its reconciles, for longer than its lease, and continues when
// another one leads: its pending writes are rejected, and it ends.
TEST_F(OperatorProcess, ALeaderThatSleptWritesNothingWhenItWakesUp) {
  std::remove(path("journal").c_str());
  auto leader = start("leader", election(), {"LOAD_JOURNAL=" + path("journal"), "LOAD_WORK_MS=400"});
  await_line("leader", "workers started");
  auto standby = start("standby", election());
  await_line("standby", "waiting to become leader");
  begin_load();
  await("reconciles of the leader", [&] { return lines_of(path("journal")).size() > 20; });
  leader->signal(SIGSTOP);
  await_line("standby", "workers started");
  end_load();
  await("all objects to be seen", [&] { return converged(); });
  std::size_t open = 0;
  for (const auto& [key, runs] : runs_of(path("journal"))) {
    for (const Reconcile& run : runs) open += run.end == INT64_MAX ? 1 : 0;
  }
  EXPECT_GT(open, 0U) << "it slept in the middle of nothing";
  const std::vector<std::string> before = versions();
  leader->signal(SIGCONT);
  EXPECT_EQ(leader->wait(), 5);
  EXPECT_EQ(last_message("leader"), "ended with an error");
  EXPECT_EQ(versions(), before);
  standby->signal(SIGTERM);
  EXPECT_EQ(standby->wait(), 0);
}

// ---- Idle

// The number of times that any of its threads went to sleep and therefore has to be woken.
std::uint64_t wake_ups(long pid) {
  std::uint64_t total = 0;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/task")) {
    for (const std::string& line : lines_of(thread.path().string() + "/status")) {
      unsigned long long count = 0;
      if (std::sscanf(line.c_str(), "voluntary_ctxt_switches: %llu", &count) == 1) total += count;
    }
  }
  return total;
}

TEST_F(OperatorProcess, DoesNotWakeUpWhenItHasNothingToDo) {
  auto child = start("idle");
  await("all objects to be seen", [&] { return converged(); });
  // The last events of its own writes arrive.
  std::uint64_t last = 0;
  await("some quiet", [&] {
    const std::uint64_t before = std::exchange(last, wake_ups(child->pid()));
    std::this_thread::sleep_for(200ms);
    return wake_ups(child->pid()) <= before + 1;
  });
  constexpr int seconds = 5;
  const std::uint64_t before = wake_ups(child->pid());
  std::this_thread::sleep_for(std::chrono::seconds(seconds));  // the measured interval
  const std::uint64_t count = wake_ups(child->pid()) - before;
  std::cout << "[ figures  ] " << count << " wake-ups in " << seconds << " s" << std::endl;
  EXPECT_LE(count, 10U * seconds) << "something polls";
  child->signal(SIGTERM);
  EXPECT_EQ(child->wait(), 0);
}

}  // namespace
}  // namespace evenkeel
