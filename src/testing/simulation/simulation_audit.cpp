// SPDX-License-Identifier: Apache-2.0
#include "testing/simulation/simulation_audit.hpp"

#include <array>
#include <charconv>
#include <chrono>
#include <cstdio>

#include <evenkeel/base/object_key.hpp>

#include "testing/explore/trace.hpp"

namespace evenkeel {
inline namespace v0 {
namespace testing::detail {
namespace {

constexpr std::size_t most_problems = 20;
constexpr Duration rate_window = std::chrono::seconds{10};
constexpr std::size_t most_runs_in_window = 100;  // of one key; each begins up to 0.1 s late
const std::string leases = "leases.coordination.k8s.io";

std::string key_of(const Json& object) {
  const Json& metadata = object["metadata"];
  return ObjectKey{metadata["namespace"].string_or(""), metadata["name"].string_or("")}.str();
}

std::uint64_t number(std::string_view version) {
  std::uint64_t value = 0;
  std::from_chars(version.data(), version.data() + version.size(), value);
  return value;
}

std::string time_text(Duration at) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%.4fs", std::chrono::duration<double>(at).count());
  return text.data();
}

}  // namespace

void SimulationAudit::add_problem(const std::string& text, Duration now) {
  if (problems_.size() < most_problems) problems_.push_back(time_text(now) + ": " + text);
}

void SimulationAudit::on_change(const std::string& resource, std::string_view type, Json object,
                                Duration now) {
  History& history = objects_[resource][key_of(object)];
  const Json& metadata = object["metadata"];
  const bool is_new =
      history.states.emplace(metadata["uid"].string_or(""), metadata["resourceVersion"].string_or("")).second;
  history.current = type == "DELETED" ? Json() : std::move(object);
  if (!is_new || is_incidental(resource)) return;
  ++changes_;
  changed_at_ = now;
}

const SimulationAudit::History* SimulationAudit::find(const std::string& resource,
                                                      const std::string& key) const {
  const auto collection = objects_.find(resource);
  if (collection == objects_.end()) return nullptr;
  const auto found = collection->second.find(key);
  return found == collection->second.end() ? nullptr : &found->second;
}

std::string SimulationAudit::holder(const std::string& lease) const {
  const History* const found = find(leases, lease);
  return found == nullptr ? std::string() : found->current.at({"spec", "holderIdentity"}).string_or("");
}

void SimulationAudit::on_write(const ArrivedWrite& write, Duration now) {
  if (write.needs_lease) {
    const std::string holder = this->holder(write.lease);
    if (!holder.empty() && holder != write.process)
      add_problem(write.process + " wrote without leadership, while the Lease was held by " + holder + ": " +
                      write.text,
                  now);
  }
  if (!write.creates || !write.applied) return;
  const auto [found, first] = creations_[write.process].try_emplace(write.request);
  Creation& creation = found->second;
  if (!first && creation.answer_lost && creation.runs == write.runs)
    add_problem(
        write.process + " repeated a creation that had been applied, in the same reconcile: " + write.text,
        now);
  creation = {.answer_lost = write.answer_lost, .runs = write.runs};
}

SimulationAudit::Seen& SimulationAudit::seen_by(const std::string& process, const std::string& cache,
                                                const std::string& resource) {
  Seen& seen = caches_[process][cache];
  seen.resource = resource;
  return seen;
}

void SimulationAudit::check_version(Seen& seen, const std::string& who, const CachedState& state,
                                    Duration now) {
  std::uint64_t& newest = seen.newest[state.key];
  const std::uint64_t version = number(state.version);
  if (version < newest)
    add_problem("the cache of " + who + " went back: " + seen.resource + " " + state.key + " from version " +
                    std::to_string(newest) + " to " + state.version,
                now);
  newest = std::max(newest, version);
}

void SimulationAudit::on_cached(const std::string& process, const std::string& cache,
                                const std::string& resource, const CachedState& state, Duration now) {
  Seen& seen = seen_by(process, cache, resource);
  const History* const history = find(resource, state.key);
  if (history == nullptr || !history->states.contains({state.uid, state.version}))
    add_problem("the cache of " + process + " shows a state that the server never had: " + resource + " " +
                    state.key + " at version " + state.version,
                now);
  check_version(seen, process, state, now);
  seen.live[state.key] = state;
}

void SimulationAudit::on_dropped(const std::string& process, const std::string& cache,
                                 const std::string& resource, const CachedState& state, bool exact,
                                 Duration now) {
  Seen& seen = seen_by(process, cache, resource);
  if (exact) check_version(seen, process, state, now);
  if (seen.live.erase(state.key) == 0)
    add_problem("the cache of " + process + " reports the deletion of what it did not hold: " + resource +
                    " " + state.key,
                now);
}

void SimulationAudit::on_run(const std::string& process, const std::string& controller,
                             const std::string& key, Duration now) {
  const std::string run = controller + " " + key;
  if (!running_[process].insert(run).second)
    add_problem("two workers of " + process + " run " + run + " at the same time", now);
  std::deque<Duration>& recent = recent_[process][run];
  std::erase_if(recent, [now](Duration began) { return now - began >= rate_window; });
  recent.push_back(now);
  if (recent.size() == most_runs_in_window + 1)
    add_problem(
        process + " runs " + run + " more than " + std::to_string(most_runs_in_window) + " times in 10 s",
        now);
}

void SimulationAudit::on_run_end(const std::string& process, const std::string& controller,
                                 const std::string& key) {
  running_[process].erase(controller + " " + key);
}

void SimulationAudit::on_leaders(const std::vector<std::string>& leaders, Duration now) {
  const bool two = leaders.size() > 1;
  if (two && !two_leaders_)
    add_problem("two leaders at the same time: " + leaders[0] + " and " + leaders[1], now);
  two_leaders_ = two;
}

void SimulationAudit::on_process_end(const std::string& process) {
  caches_.erase(process);
  running_.erase(process);
  recent_.erase(process);
  creations_.erase(process);
}

void SimulationAudit::check_caches(Duration now) {
  std::map<std::string, std::pair<std::string, std::size_t>>
      sizes;  // process and number of objects, by cache
  for (const auto& [process, caches] : caches_) {
    for (const auto& [cache, seen] : caches) {
      for (const auto& [key, state] : seen.live) {
        const History* const history = find(seen.resource, key);
        const Json none;
        const Json& metadata = (history == nullptr ? none : history->current)["metadata"];
        if (metadata["resourceVersion"].string_or("") != state.version)
          add_problem("the cache of " + process +
                          " is not up to date once everything has settled: " + seen.resource + " " + key,
                      now);
      }
      const auto [first, is_first] = sizes.try_emplace(cache, process, seen.live.size());
      if (!is_first && first->second.second != seen.live.size())
        add_problem("the caches of " + first->second.first + " and " + process + " hold " +
                        std::to_string(first->second.second) + " and " + std::to_string(seen.live.size()) +
                        " " + seen.resource + " once everything has settled",
                    now);
    }
  }
}

std::vector<Listed> SimulationAudit::listed(const std::set<std::string>& resources) const {
  std::vector<Listed> all;
  for (const std::string& resource : resources) {
    const auto collection = objects_.find(resource);
    if (collection == objects_.end()) continue;
    Listed& one = all.emplace_back(Listed{.resource = resource});
    for (const auto& [key, history] : collection->second) {
      if (!history.current.is_null()) one.objects.push_back(history.current);
    }
  }
  return all;
}

}  // namespace testing::detail
}  // namespace v0
}  // namespace evenkeel
