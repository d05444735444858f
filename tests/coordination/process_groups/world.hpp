// SPDX-License-Identifier: Apache-2.0
// Several instances, one database and one store in virtual time, for tests of the steps.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/base/clock.hpp>
#include <evenkeel/coordination/process_groups/coordinator.hpp>

#include "clusters.hpp"
#include "fake_database.hpp"

namespace evenkeel::coordination::tests {

/// One operator instance and its resource.
class Operator {
 public:
  Operator(AdminClient& database, Store* store, ProcessCluster of, ProcessGroupOptions options)
      : cluster(std::move(of)), coordinator(database, store, std::move(options)) {}

  /// Runs all steps in order, until one stops; their results are in `answers`.
  void pass() {
    answers.clear();
    const std::vector<std::pair<std::string, std::function<Step()>>> steps{
        {"status", [&] { return coordinator.update_status(cluster, wanted); }},
        {"coordination", [&] { return coordinator.operator_coordination(cluster); }},
        {"exclude", [&] { return coordinator.exclude_processes(cluster); }},
        {"coordinators", [&] { return coordinator.change_coordinators(cluster); }},
        {"bounce", [&] { return coordinator.bounce_processes(cluster); }},
        {"remove", [&] { return coordinator.remove_process_groups(cluster, remove); }},
        {"finish", [&] { return coordinator.finish(cluster); }}};
    for (const auto& [name, step] : steps) {
      answers[name] = step();
      if (answers[name].kind() == Step::Kind::stop) return;
    }
  }
  std::string reason(const std::string& step) const { return answers.at(step).result().reason(); }
  Duration delay(const std::string& step) const { return answers.at(step).result().delay(); }
  bool goes_on(const std::string& step) const { return answers.at(step).kind() == Step::Kind::go_on; }

  void mark(const std::string& id) { cluster.find(id)->removal_timestamp = wall_start; }
  /// Adds a running group as the replacement of one that is to be removed.
  void add(const std::string& id, const std::string& process_class) {
    cluster.process_groups.push_back({.id = id,
                                      .process_class = process_class,
                                      .addresses = {"2.2." + std::to_string(id.size()) + "." +
                                                    std::to_string(cluster.process_groups.size())}});
  }

  ProcessCluster cluster;
  ProcessGroupCoordinator coordinator;
  ProcessGroupCoordinator::WantedCommandLine wanted = {};
  RemoveGroup remove = [](const ProcessGroup&) { return RemovalState::present; };
  std::map<std::string, Step> answers = {};
};

inline ProcessGroupOptions options_of(const std::string& scope, Mode mode,
                                      std::shared_ptr<const Clock> clock) {
  ProcessGroupOptions options{.identity = {scope, "uid-" + scope, "run-1"}, .mode = mode, .root = "/db"};
  options.transact.delay = Duration::zero();
  options.clock = std::move(clock);
  return options;
}

}  // namespace evenkeel::coordination::tests
