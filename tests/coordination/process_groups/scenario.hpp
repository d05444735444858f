// SPDX-License-Identifier: Apache-2.0
// Several instances on one database, in virtual time.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/base/duration_text.hpp>
#include <evenkeel/coordination/ledger.hpp>
#include <evenkeel/coordination/memory_store.hpp>
#include <evenkeel/coordination/process_groups/coordinators.hpp>
#include <evenkeel/testing/faulty_store.hpp>

#include "world.hpp"

namespace evenkeel::coordination::tests {

using Texts = std::vector<std::string>;

inline constexpr Duration step = std::chrono::seconds{5};       // between two passes of an instance
inline constexpr Duration teardown = std::chrono::seconds{20};  // from the deletion of a Pod until it is gone

inline ProcessCluster nine_groups(const std::string& prefix) {
  ProcessCluster cluster{.version = "7.1.57"};
  add_groups(cluster, prefix, "storage", 4);
  add_groups(cluster, prefix, "log", 4);
  add_groups(cluster, prefix, "stateless", 1);
  return cluster;
}

/// Three instances with nine groups each.
class Scenario : public ::testing::Test {
 protected:
  void start(Mode mode) {
    for (const std::string scope : {"dc1", "dc2", "dc3"}) {
      ProcessCluster cluster = make(scope + "-");
      std::size_t coordinators = cluster.coordinator_count / 3;
      for (DatabaseProcess& process : processes_of(cluster)) {
        if (coordinators > 0) {
          --coordinators;
          database.state.coordinators.push_back(process.address);
          process.roles.emplace_back("coordinator");
        }
        database.state.processes.push_back(process);
      }
      stores[scope] = std::make_shared<testing::FaultyStore>(store);
      ProcessGroupOptions options = options_of(scope, mode, clock);
      options.ready_by = ready_by;
      options.lock.release = release;
      auto& one = operators[scope];
      one = std::make_unique<Operator>(database, stores[scope].get(), std::move(cluster), std::move(options));
      one->remove = [this](const ProcessGroup& group) { return remove(group.id); };
      one->wanted = [this, scope](const ProcessGroup&) { return command_lines[scope]; };
    }
    coordinators_before = coordinator_groups(database.state);
  }

  RemovalState remove(const std::string& id) {
    const auto since = removed.try_emplace(id, clock->now()).first->second;
    if (hanging.contains(id) || clock->now() < since + teardown) return RemovalState::terminating;
    database.forget({id});
    return RemovalState::gone;
  }

  /// Runs a pass of every instance, and advances the time by `step`.
  void pass() {
    for (auto& [scope, one] : operators) {
      if (!crashed.contains(scope)) one->pass();
    }
    const GroupIds coordinators = coordinator_groups(database.state);
    placed_on_doomed += std::ranges::count_if(coordinators, [&](const std::string& id) {
      const bool is_new = !coordinators_before.contains(id);
      return is_new && pending_removal.contains(id);
    });
    coordinators_before = coordinators;
    clock->advance(step);
  }
  void run(Duration time) {
    for (Duration passed{}; passed < time; passed += step) pass();
  }
  /// Runs passes until `holds`, at most for `limit`. Returns the elapsed time.
  template <class F>
  Duration run_until(const F& holds, Duration limit = 1h) {
    const TimePoint begin = clock->now();
    while (!holds() && clock->now() - begin < limit) pass();
    EXPECT_TRUE(holds()) << "not within " << format_duration(limit);
    return clock->now() - begin;
  }
  std::size_t calls(std::string_view what) const {
    return static_cast<std::size_t>(std::ranges::count(database.names(), what));
  }

  void change_command_line(const std::string& scope) {
    command_lines[scope] = "new";
    for (ProcessGroup& group : operators[scope]->cluster.process_groups) {
      group.set(condition::incorrect_config_map, clock->wall_now());
    }
  }
  void sync(const std::string& scope) {
    for (ProcessGroup& group : operators[scope]->cluster.process_groups) {
      group.clear(condition::incorrect_config_map);
    }
  }
  /// Marks all groups of a class, and starts as many replacements.
  void replace(const std::string& scope, std::string_view process_class) {
    ProcessCluster& cluster = operators[scope]->cluster;
    std::vector<std::string> ids;
    for (ProcessGroup* group : of_class(cluster, process_class)) {
      if (!group->is_marked_for_removal()) ids.push_back(group->id);
    }
    for (const std::string& id : ids) {
      cluster.find(id)->removal_timestamp = clock->wall_now();
      pending_removal.insert(id);
      operators[scope]->add(id + "-next", std::string(process_class));
      ProcessCluster only{.version = cluster.version, .process_groups = {cluster.process_groups.back()}};
      only.process_groups[0].addresses = {"3.3." + std::to_string(database.state.processes.size()) + ".3"};
      cluster.process_groups.back().addresses = only.process_groups[0].addresses;
      for (DatabaseProcess& process : processes_of(only)) database.state.processes.push_back(process);
    }
  }
  void roll_out_over(Duration stagger) {
    database.starts_with = "new";
    for (const std::string scope : {"dc1", "dc2", "dc3"}) {
      change_command_line(scope);
      run(stagger);
    }
    for (const std::string scope : {"dc1", "dc2", "dc3"}) sync(scope);
  }
  bool all_restarted() const {
    return std::ranges::all_of(database.state.processes,
                               [](const DatabaseProcess& one) { return one.command_line == "new"; });
  }
  bool all_replaced() const {
    return std::ranges::all_of(operators, [&](const auto& one) {
      return crashed.contains(one.first) ||
             std::ranges::none_of(one.second->cluster.process_groups, &ProcessGroup::is_marked_for_removal);
    });
  }
  std::size_t members() {
    std::size_t count = 0;
    for (const auto& [scope, one] : operators) {
      for (const auto& [set, units] : one->coordinator.ledger()->own().sets) count += units.size();
    }
    return count;
  }

  std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>(wall_start);
  std::shared_ptr<MemoryStore> store = std::make_shared<MemoryStore>();
  FakeDatabase database{clock};
  std::function<ProcessCluster(const std::string& prefix)> make = nine_groups;
  ReadyBy ready_by = ReadyBy::process_class;
  LockRelease release = LockRelease::when_reconciled;
  std::map<std::string, std::shared_ptr<testing::FaultyStore>> stores;
  std::map<std::string, std::unique_ptr<Operator>> operators;
  std::map<std::string, std::string> command_lines;
  std::map<std::string, TimePoint> removed;
  GroupIds crashed;
  GroupIds hanging;
  GroupIds pending_removal;
  GroupIds coordinators_before;
  std::ptrdiff_t placed_on_doomed = 0;
};

}  // namespace evenkeel::coordination::tests
