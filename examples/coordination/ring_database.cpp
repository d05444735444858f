// SPDX-License-Identifier: Apache-2.0
#include "ring_database.hpp"

#include <algorithm>
#include <utility>

namespace {

constexpr std::string_view locality = "locality_instance_id:";

bool contains(const std::vector<std::string>& all, std::string_view one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

// Returns the protocol of a version: "7.1" for "7.1.3".
std::string protocol(std::string_view version) {
  const std::size_t first = version.find('.');
  if (first == std::string_view::npos) return std::string(version);
  return std::string(version.substr(0, version.find('.', first + 1)));
}

bool serves_transactions(const RingStart& process) {
  return process.process_class == "log" || process.process_class == "stateless";
}

}  // namespace

void RingDatabase::start(RingStart start, ek::TimePoint now) {
  const std::string id = start.id;
  Process process{.current = std::move(start), .next_version = {}, .next_command_line = {}, .since = now};
  process.next_version = process.current.version;
  process.next_command_line = process.current.command_line;
  processes_.insert_or_assign(id, std::move(process));
  if (coordinators_.empty() && processes_.size() >= options_.processes) configure(now);
}

void RingDatabase::stage(std::string_view id, std::string command_line, std::string version) {
  const auto found = processes_.find(id);
  if (found == processes_.end()) return;
  found->second.next_command_line = std::move(command_line);
  found->second.next_version = std::move(version);
}

void RingDatabase::stop(std::string_view id, ek::TimePoint now) {
  const auto found = processes_.find(id);
  if (found == processes_.end()) return;
  const RingStart process = found->second.current;
  const bool lost = is_needed(process, now);
  const bool interrupts = lost && serves_transactions(process);
  processes_.erase(found);
  if (lost) accept("database", "process lost", {}, {process.id}, interrupts, now);
}

RingAnswer RingDatabase::exclude(std::string_view caller, const RingOrder& order, ek::TimePoint now) {
  if (std::string problem = objection(order); !problem.empty())
    return refuse(caller, "exclude", order, std::move(problem), now);
  std::vector<std::string> fresh;
  for (const std::string& target : order.targets) {
    if (exclusions_.emplace(target, now).second) fresh.push_back(target);
  }
  std::vector<std::string> groups = groups_of(fresh);
  const bool disturbs = !groups.empty();
  return accept(caller, "exclude", order, std::move(groups), disturbs, now);
}

RingAnswer RingDatabase::include(std::string_view caller, const RingOrder& order, ek::TimePoint now) {
  if (std::string problem = objection(order); !problem.empty())
    return refuse(caller, "include", order, std::move(problem), now);
  bool disturbs = false;
  std::vector<std::string> groups;
  for (const std::string& target : order.targets) {
    if (exclusions_.erase(target) == 0) continue;
    disturbs = true;
    if (target.starts_with(locality)) groups.push_back(target.substr(locality.size()));
  }
  return accept(caller, "include", order, std::move(groups), disturbs, now);
}

RingAnswer RingDatabase::kill(std::string_view caller, const RingOrder& order, ek::TimePoint now) {
  if (std::string problem = objection(order); !problem.empty())
    return refuse(caller, "kill", order, std::move(problem), now);
  for (const std::string& address : order.targets) {
    Process* process = find_address(address);
    if (process == nullptr) continue;
    process->current.version = process->next_version;
    process->current.command_line = process->next_command_line;
    process->since = now;
  }
  std::vector<std::string> groups = groups_of(order.targets);
  const bool disturbs = !groups.empty();
  return accept(caller, "kill", order, std::move(groups), disturbs, now);
}

RingAnswer RingDatabase::set_coordinators(std::string_view caller, const RingOrder& order,
                                          ek::TimePoint now) {
  std::string problem = objection(order);
  if (problem.empty() && order.targets.empty()) problem = "no targets";
  for (const std::string& address : order.targets) {
    const Process* process = find_address(address);
    if (process == nullptr) problem = address + " is not running";
    if (process != nullptr && excluded_since(process->current) != nullptr) problem = address + " is excluded";
  }
  if (!problem.empty()) return refuse(caller, "coordinators", order, std::move(problem), now);
  const bool disturbs = order.targets != coordinators_;
  coordinators_ = order.targets;
  return accept(caller, "coordinators", order, groups_of(order.targets), disturbs, now);
}

RingStatus RingDatabase::status(ek::TimePoint now) const {
  RingStatus status;
  status.generation = generation_;
  status.recovery_state = now - recovered_ < options_.recovery ? "recovering" : "fully_recovered";
  status.available = has_quorum() && one_protocol();
  status.seconds_since_recovery = std::chrono::duration<double>(now - recovered_).count();
  status.coordinators = coordinators_;
  for (const auto& [target, since] : exclusions_) status.exclusions.push_back(target);
  for (const auto& [id, process] : processes_) {
    std::vector<std::string> roles;
    if (contains(coordinators_, process.current.address)) roles.emplace_back("coordinator");
    if (is_needed(process.current, now)) roles.push_back(process.current.process_class);
    status.processes.push_back({.id = id,
                                .address = process.current.address,
                                .process_class = process.current.process_class,
                                .dc = process.current.dc,
                                .version = process.current.version,
                                .command_line = process.current.command_line,
                                .uptime_seconds = std::chrono::duration<double>(now - process.since).count(),
                                .excluded = excluded_since(process.current) != nullptr,
                                .roles = std::move(roles)});
  }
  return status;
}

// Chooses coordinators from each site in turn, in the order of ids.
void RingDatabase::configure(ek::TimePoint now) {
  std::map<std::string, std::vector<std::string>> sites;
  for (const auto& [id, process] : processes_) sites[process.current.dc].push_back(process.current.address);
  for (std::size_t round = 0; coordinators_.size() < std::min(options_.coordinators, processes_.size());
       ++round) {
    for (const auto& [site, addresses] : sites) {
      if (round < addresses.size() && coordinators_.size() < options_.coordinators)
        coordinators_.push_back(addresses[round]);
    }
  }
  accept("database", "configure", {.targets = coordinators_, .action = {}, .epoch = 0},
         groups_of(coordinators_), true, now);
}

RingAnswer RingDatabase::raise_fence(const RingOrder& fence) {
  if (std::string problem = outdated(fence); !problem.empty())
    return {.done = false, .problem = std::move(problem)};
  if (fence.epoch > 0) epochs_[fence.action] = fence.epoch;
  return {};
}

// Returns why the epoch of a command is refused; empty if it is not.
std::string RingDatabase::outdated(const RingOrder& order) const {
  const auto known = epochs_.find(order.action);
  if (order.epoch == 0 || known == epochs_.end() || order.epoch >= known->second) return {};
  return "epoch " + std::to_string(order.epoch) + " of " + order.action +
         " is obsolete, the present one is " + std::to_string(known->second);
}

// Returns why a command is refused; empty if it is not.
std::string RingDatabase::objection(const RingOrder& order) const {
  if (std::string problem = outdated(order); !problem.empty()) return problem;
  return has_quorum() ? "" : "no majority of the coordinators is live";
}

RingAnswer RingDatabase::accept(std::string_view caller, std::string_view call, const RingOrder& order,
                                std::vector<std::string> groups, bool disturbs, ek::TimePoint now) {
  if (order.epoch > 0) epochs_[order.action] = order.epoch;
  if (disturbs) {
    generation_ += 2;
    recovered_ = now;
  }
  std::sort(groups.begin(), groups.end());
  journal_.push_back({.at_seconds = seconds(now),
                      .caller = std::string(caller),
                      .call = std::string(call),
                      .targets = order.targets,
                      .groups = std::move(groups),
                      .epoch = order.epoch,
                      .refused = {},
                      .generation = generation_,
                      .recovery = disturbs});
  return {};
}

RingAnswer RingDatabase::refuse(std::string_view caller, std::string_view call, const RingOrder& order,
                                std::string problem, ek::TimePoint now) {
  journal_.push_back({.at_seconds = seconds(now),
                      .caller = std::string(caller),
                      .call = std::string(call),
                      .targets = order.targets,
                      .groups = {},
                      .epoch = order.epoch,
                      .refused = problem,
                      .generation = generation_,
                      .recovery = false});
  return {.done = false, .problem = std::move(problem)};
}

const ek::TimePoint* RingDatabase::excluded_since(const RingStart& process) const {
  const std::string host = process.address.substr(0, process.address.find(':'));
  for (const std::string& target : {std::string(locality) + process.id, process.address, host}) {
    const auto found = exclusions_.find(target);
    if (found != exclusions_.end()) return &found->second;
  }
  return nullptr;
}

// Returns true if the loss of the process would matter: it has data, or is part of the transaction system.
bool RingDatabase::is_needed(const RingStart& process, ek::TimePoint now) const {
  const ek::TimePoint* since = excluded_since(process);
  if (since == nullptr) return true;
  return process.process_class != "stateless" && now - *since < options_.move;
}

// Before the database is configured it needs no majority.
bool RingDatabase::has_quorum() const {
  const auto lives = [this](const std::string& address) { return find_address(address) != nullptr; };
  const auto living = std::count_if(coordinators_.begin(), coordinators_.end(), lives);
  return coordinators_.empty() || static_cast<std::size_t>(living) > coordinators_.size() / 2;
}

bool RingDatabase::one_protocol() const {
  const auto other = [this](const auto& entry) {
    return protocol(entry.second.current.version) != protocol(processes_.begin()->second.current.version);
  };
  return std::none_of(processes_.begin(), processes_.end(), other);
}

RingDatabase::Process* RingDatabase::find_address(std::string_view address) {
  for (auto& [id, process] : processes_) {
    if (process.current.address == address) return &process;
  }
  return nullptr;
}

const RingDatabase::Process* RingDatabase::find_address(std::string_view address) const {
  return const_cast<RingDatabase*>(this)->find_address(address);
}

std::vector<std::string> RingDatabase::groups_of(const std::vector<std::string>& targets) const {
  std::vector<std::string> groups;
  for (const auto& [id, process] : processes_) {
    const std::string& address = process.current.address;
    if (contains(targets, address) || contains(targets, address.substr(0, address.find(':'))) ||
        contains(targets, std::string(locality) + id))
      groups.push_back(id);
  }
  return groups;
}
