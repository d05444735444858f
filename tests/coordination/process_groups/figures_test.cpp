// SPDX-License-Identifier: Apache-2.0
// The figures of docs/coordination.md, "Measured savings": rollouts, migrations and inclusions of three
// instances with 16 process groups each, by the steps themselves, in virtual time. The numbers of calls and
// times are means of EVENKEEL_COORDINATION_ROLLOUTS runs (default 1), whose seeds are 1, 2, ...
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "scenario.hpp"

namespace evenkeel::coordination {
namespace {

using namespace tests;

/// An action, the time within which the instances learn of it, the mode and the value of ReadyBy.
using Row = std::tuple<std::string, int, Mode, ReadyBy>;

struct Figures {
  double calls = 0;
  double coordinators = 0;
  double time = 0;  // seconds from the change until the last call
  std::size_t most_calls = 0;
};

ProcessCluster sixteen_groups(const std::string& prefix) {
  ProcessCluster cluster{.version = "7.1.57"};
  add_groups(cluster, prefix, "storage", 8);
  add_groups(cluster, prefix, "log", 4);
  add_groups(cluster, prefix, "stateless", 4);
  cluster.coordinator_count = 9;
  cluster.removal_mode = RemovalMode::all;
  return cluster;
}

/// One run. Changes are made at their times, between two passes.
class FiguresRun : public Scenario {
 public:
  explicit FiguresRun(std::uint64_t seed) : random_(seed) { make = sixteen_groups; }
  void TestBody() override {}

  Figures figures(const Row& row) {
    const auto& [action, arrivals, mode, ready] = row;
    ready_by = ready;
    start(mode);
    const TimePoint begin = clock->now();
    for (const std::string scope : {"dc1", "dc2", "dc3"}) {
      const Duration arrival = within(0s, std::chrono::seconds{arrivals});
      if (action == "restart") at(arrival, [this, scope] { change(scope); });
      if (action == "exclusion") at(arrival, [this, scope] { mark(scope); });
      if (action == "inclusion") at(arrival, [this, scope] { finish_exclusion(scope); });
    }
    const std::string call = action == "restart" ? "kill" : action == "exclusion" ? "exclude" : "include";
    while (acted(call) < 48 && clock->now() - begin < 4h) {
      while (!events_.empty() && events_.begin()->first <= clock->now()) {
        const auto event = std::move(events_.begin()->second);
        events_.erase(events_.begin());
        event();
      }
      move_data();
      pass();
    }
    EXPECT_EQ(acted(call), 48U) << action;
    EXPECT_EQ(placed_on_doomed > 0 && mode == Mode::global, false) << action;
    const double time = std::chrono::duration<double>(clock->now() - step - begin).count();
    return {static_cast<double>(calls(call)), static_cast<double>(calls("coordinators")), time, calls(call)};
  }

 private:
  Duration within(Duration from, Duration to) {
    const auto steps = static_cast<std::uint64_t>((to - from) / 1ms);
    return from + std::chrono::milliseconds{random_() % (steps + 1)};
  }
  void at(Duration delay, std::function<void()> event) {
    events_.emplace(clock->now() + delay, std::move(event));
  }
  /// The number of groups that calls of this kind were made for.
  std::size_t acted(const std::string& call) const {
    std::set<std::string> targets;
    for (const std::string& target : database.targets_of(call)) {
      if (call == "kill" || target.starts_with(locality_exclusion_prefix)) targets.insert(target);
    }
    return targets.size();
  }
  /// Another command line, which each Pod has after 10 s to 70 s.
  void change(const std::string& scope) {
    database.starts_with = "new";
    change_command_line(scope);
    for (const ProcessGroup& group : operators[scope]->cluster.process_groups) {
      at(within(10s, 70s), [this, scope, id = group.id] {
        operators[scope]->cluster.find(id)->clear(condition::incorrect_config_map);
      });
    }
  }
  /// All groups are to be removed, and their replacements run after 40 s to 180 s.
  void mark(const std::string& scope) {
    ProcessCluster& cluster = operators[scope]->cluster;
    const std::vector<ProcessGroup> old = cluster.process_groups;
    for (const ProcessGroup& group : old) {
      cluster.find(group.id)->removal_timestamp = clock->wall_now();
      pending_removal.insert(group.id);
      ProcessGroup next{.id = group.id + "-next", .process_class = group.process_class};
      next.addresses = {"3." + group.addresses[0].substr(2)};
      next.set(condition::missing_processes, clock->wall_now());
      cluster.process_groups.push_back(next);
      at(within(40s, 180s), [this, next] { run_process(next); });
    }
  }
  void run_process(const ProcessGroup& group) {
    ProcessCluster only{.version = "7.1.57", .process_groups = {group}};
    for (const DatabaseProcess& process : processes_of(only)) database.state.processes.push_back(process);
  }
  /// An excluded process has no data any more after a minute.
  void move_data() {
    for (DatabaseProcess& process : database.state.processes) {
      if (!process.excluded) continue;
      const TimePoint since = excluded_.try_emplace(process.address, clock->now()).first->second;
      if (clock->now() >= since + Duration(1min)) process.roles.clear();
    }
  }
  /// All groups are replaced and excluded, and their Pods are gone after 5 s to 30 s.
  void finish_exclusion(const std::string& scope) {
    ProcessCluster& cluster = operators[scope]->cluster;
    const std::vector<ProcessGroup> old = cluster.process_groups;
    for (const ProcessGroup& group : old) {
      ProcessGroup& marked = *cluster.find(group.id);
      marked.removal_timestamp = marked.exclusion_timestamp = clock->wall_now();
      database.state.exclusions.push_back(marked.exclusion_text());
      database.forget({group.id});
      // Its coordinators were moved before the exclusion.
      std::ranges::replace(database.state.coordinators, group.addresses[0] + ":4501",
                           "3." + group.addresses[0].substr(2) + ":4501");
      ProcessGroup next{.id = group.id + "-next", .process_class = group.process_class};
      next.addresses = {"3." + group.addresses[0].substr(2)};
      cluster.process_groups.push_back(next);
      run_process(next);
      gone_at_[group.id] = clock->now() + within(5s, 30s);
    }
    operators[scope]->remove = [this](const ProcessGroup& group) {
      return clock->now() < gone_at_.at(group.id) ? RemovalState::terminating : RemovalState::gone;
    };
  }

  std::mt19937_64 random_;
  std::multimap<TimePoint, std::function<void()>> events_;
  std::map<std::string, TimePoint> gone_at_;
  std::map<std::string, TimePoint> excluded_;  // by address
};

std::uint64_t rollouts() {
  const char* text = std::getenv("EVENKEEL_COORDINATION_ROLLOUTS");
  return text == nullptr ? 1 : std::strtoull(text, nullptr, 10);
}

std::string rule_of(const Row& row) {
  const bool matters = std::get<0>(row) == "exclusion" && std::get<2>(row) == Mode::global;
  return matters ? std::string(text_of(std::get<3>(row))) : "any";
}

class FiguresTest : public ::testing::TestWithParam<Row> {};

std::vector<Row> rows() {
  std::vector<Row> rows;
  for (const std::string action : {"restart", "exclusion", "inclusion"}) {
    for (const int arrivals : {10, 60, 300}) {
      rows.emplace_back(action, arrivals, Mode::local, ReadyBy::process_class);
      rows.emplace_back(action, arrivals, Mode::global, ReadyBy::process_class);
      if (action != "exclusion") continue;
      rows.emplace_back(action, arrivals, Mode::global, ReadyBy::transaction_system);
      rows.emplace_back(action, arrivals, Mode::global, ReadyBy::all);
    }
  }
  return rows;
}
INSTANTIATE_TEST_SUITE_P(Of, FiguresTest, ::testing::ValuesIn(rows()), [](const auto& of) {
  return std::get<0>(of.param) + "_" + std::to_string(std::get<1>(of.param)) + "_" +
         std::string(text_of(std::get<2>(of.param))) + "_" + rule_of(of.param);
});

TEST_P(FiguresTest, AreNoWorseThanWithoutAgreement) {
  const auto& [action, arrivals, mode, ready] = GetParam();
  Figures mean;
  for (std::uint64_t seed = 1; seed <= rollouts(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Figures one = FiguresRun(seed).figures(GetParam());
    mean.calls += one.calls / static_cast<double>(rollouts());
    mean.coordinators += one.coordinators / static_cast<double>(rollouts());
    mean.time += one.time / static_cast<double>(rollouts());
    mean.most_calls = std::max(mean.most_calls, one.most_calls);
  }
  std::printf("| %s, %d s | %s | %s | %.2f (at most %zu) | %.2f | %.0f s |\n", action.c_str(), arrivals,
              std::string(text_of(mode)).c_str(), rule_of(GetParam()).c_str(), mean.calls, mean.most_calls,
              mean.coordinators, mean.time);
  if (mode == Mode::local) {
    EXPECT_GE(mean.calls, 3);
    return;
  }
  // One call for each partition, of which there are three at most; a call more if arrivals are too far apart.
  const std::map<ReadyBy, std::size_t> partitions{
      {ReadyBy::all, 1}, {ReadyBy::transaction_system, 2}, {ReadyBy::process_class, 3}};
  const std::size_t parts = action == "exclusion" ? partitions.at(ready) : 1;
  EXPECT_LE(mean.most_calls, arrivals > 60 ? parts + 2 : parts);
}

}  // namespace
}  // namespace evenkeel::coordination
