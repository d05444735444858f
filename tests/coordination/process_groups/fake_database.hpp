// SPDX-License-Identifier: Apache-2.0
// An in-memory database for tests of the steps. It executes commands, records them, and can lose answers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <evenkeel/base/clock.hpp>
#include <evenkeel/coordination/process_groups/database.hpp>
#include <evenkeel/coordination/process_groups/process_group.hpp>

namespace evenkeel::coordination::tests {

class FakeDatabase final : public AdminClient {
 public:
  struct Call {
    std::string what;
    std::vector<std::string> targets;
    Fence fence;
  };

  explicit FakeDatabase(std::shared_ptr<const Clock> clock) : clock_(std::move(clock)) {}

  DatabaseStatus status(std::stop_token = {}) override {
    if (is_down) throw DatabaseError("the database does not answer");
    if (on_status) on_status();
    DatabaseStatus now = state;
    now.since_last_recovery = clock_->now() - recovered_;
    for (DatabaseProcess& process : now.processes) {
      if (killed.contains(process.address))
        process.uptime = std::min(process.uptime, now.since_last_recovery);
    }
    return now;
  }
  void exclude(const std::vector<std::string>& targets, const Fence& fence, std::stop_token = {}) override {
    note("exclude", targets, fence);
    for (const std::string& target : targets) state.exclusions.push_back(target);
    for_each_of(targets, [](DatabaseProcess& process) { process.excluded = true; });
    answer();
  }
  void raise_fence(const Fence& fence, std::stop_token = {}) override {
    fences[fence.action] = std::max(fences[fence.action], fence.epoch);
  }
  void include(const std::vector<std::string>& targets, const Fence& fence, std::stop_token = {}) override {
    note("include", targets, fence);
    std::erase_if(state.exclusions, [&](const std::string& one) { return is_in(targets, one); });
    for_each_of(targets, [](DatabaseProcess& process) { process.excluded = false; });
    answer();
  }
  void kill(const std::vector<std::string>& addresses, const Fence& fence, std::stop_token = {}) override {
    note("kill", addresses, fence);
    killed.insert(addresses.begin(), addresses.end());
    for (DatabaseProcess& process : state.processes) {
      if (is_in(addresses, process.address)) process.command_line = starts_with;
    }
    answer();
  }
  std::string change_coordinators(const std::vector<std::string>& coordinators, const Fence& fence,
                                  std::stop_token = {}) override {
    note("coordinators", coordinators, fence);
    state.coordinators = coordinators;
    for (DatabaseProcess& process : state.processes) {
      std::erase(process.roles, "coordinator");
      if (is_in(coordinators, process.address)) process.roles.emplace_back("coordinator");
    }
    state.connection_string = "changed-" + std::to_string(state.generation);
    answer();
    return state.connection_string;
  }

  /// Moves all data away from excluded processes.
  void move_data() {
    for (DatabaseProcess& process : state.processes) {
      if (process.excluded) process.roles.clear();
    }
  }
  /// Removes the processes of the groups.
  void forget(const std::set<std::string>& groups) {
    std::erase_if(state.processes,
                  [&](const auto& one) { return groups.contains(std::string(one.group())); });
  }
  std::vector<std::string> names() const {
    std::vector<std::string> out;
    for (const Call& call : calls) out.push_back(call.what);
    return out;
  }
  std::vector<std::string> targets_of(std::string_view what) const {
    std::vector<std::string> out;
    for (const Call& call : calls) {
      if (call.what == what) out.insert(out.end(), call.targets.begin(), call.targets.end());
    }
    return out;
  }

  DatabaseStatus state = {};
  std::vector<Call> calls = {};
  std::set<std::string> killed = {};
  std::string starts_with = {};                      ///< Command line of restarted processes.
  std::map<std::string, std::uint64_t> fences = {};  ///< Action -> the lowest epoch that is not refused.
  std::function<void()> on_status = {};              ///< Called by each query of the status.
  bool is_down = false;
  bool loses_answers = false;  ///< Executes commands, and then throws.

 private:
  static bool is_in(const std::vector<std::string>& texts, std::string_view one) {
    return std::ranges::find(texts, one) != texts.end();
  }
  template <class F>
  void for_each_of(const std::vector<std::string>& targets, const F& change) {
    for (DatabaseProcess& process : state.processes) {
      const std::string by_locality = std::string(locality_exclusion_prefix) + std::string(process.group());
      const std::string by_address = process.address.substr(0, process.address.find(':'));
      if (is_in(targets, by_locality) || is_in(targets, by_address)) change(process);
    }
  }
  void note(std::string what, const std::vector<std::string>& targets, const Fence& fence) {
    if (is_down) throw DatabaseError("the database does not answer");
    if (fence.epoch != 0 && fence.epoch < fences[fence.action]) throw DatabaseError("an older epoch");
    calls.push_back({std::move(what), targets, fence});
    state.generation += 2;
    recovered_ = clock_->now();
  }
  void answer() const {
    if (loses_answers) throw DatabaseError("the answer was lost");
  }

  std::shared_ptr<const Clock> clock_;
  TimePoint recovered_ = TimePoint{} - std::chrono::hours{10};
};

}  // namespace evenkeel::coordination::tests
