// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <utility>

#include <evenkeel/base/clock.hpp>
#include <evenkeel/client/rest_request.hpp>
#include <evenkeel/testing/simulation.hpp>

#include "testing/explore/run_comparison.hpp"
#include "testing/explore/run_error.hpp"
#include "testing/for_each_index.hpp"
#include "testing/simulation/fault_counts.hpp"
#include "testing/simulation/simulation_run.hpp"
#include "testing/simulation/swarm.hpp"

namespace evenkeel {
inline namespace v0 {
namespace testing {
namespace {

using detail::SimulationRecord;
using detail::SimulationRun;
using detail::SimulationSetup;

void check(const SimulationOptions& options) {
  const auto refuse = [](const std::string& problem) {
    throw std::invalid_argument("SimulationOptions: " + problem);
  };
  if (options.seeds < 1) refuse("seeds must be at least 1");
  if (options.threads < 1) refuse("threads must be at least 1");
  if (options.replicas < 1) refuse("replicas must be at least 1");
  if (options.storm < Duration::zero()) refuse("storm must not be negative");
  if (options.limit <= std::chrono::minutes{1}) refuse("limit must be longer than a minute");
  if (options.rates) detail::check_rates(*options.rates, "SimulationOptions::rates");
  detail::check_names(options.without, "SimulationOptions::without");
}

// Returns the path of all objects of a kind.
std::string path_of(const ResourceId& resource) {
  return (resource.group.empty() ? "/api/" : "/apis/") + resource.api_version() + "/" + resource.plural;
}

// Makes the world in which each run begins: with the definitions of the kinds.
SimulationSetup setup_for(const detail::SimulatedControllers& make, const detail::SimulatedWorkload& workload,
                          const SimulationOptions& options) {
  Harness harness(options.harness);
  std::map<std::string, std::string> watched;
  for (ControllerSpec& spec :
       make({.client = harness.client(), .identity = "none", .is_leader = [] { return true; }})) {
    watched[spec.resource.qualified_plural()] = path_of(spec.resource);
    for (const WatchSpec& watch : spec.watches) {
      if (watch.from_server) watched[watch.resource.qualified_plural()] = path_of(watch.resource);
    }
    harness.add(std::move(spec));
  }
  return {.options = options,
          .make = make,
          .workload = workload,
          .world = harness.snapshot(),
          .watched = std::move(watched)};
}

class SeedCampaign {
 public:
  SeedCampaign(const detail::SimulatedControllers& make, const detail::SimulatedWorkload& workload,
               const SimulationOptions& options)
      : options_(options), setup_(setup_for(make, workload, options)) {}

  SimulationResult run();

 private:
  bool examine_reference(SimulationResult& result);
  SimulationRecord run_seed(std::uint64_t seed) const;
  std::vector<SimulationRecord> run_all() const;
  void report(std::vector<SimulationRecord> records, SimulationResult& result) const;

  const SimulationOptions& options_;
  SimulationSetup setup_;
  detail::EndState end_;
};

SimulationResult SeedCampaign::run() {
  SimulationResult result;
  if (examine_reference(result)) report(run_all(), result);
  return result;
}

// The seeds of the runs without faults do not matter: those of any two runs must lead to the same end.
bool SeedCampaign::examine_reference(SimulationResult& result) {
  SimulationRecord first = SimulationRun(setup_, options_.first_seed, false).run();
  SimulationRecord second = SimulationRun(setup_, options_.first_seed + 1, false).run();
  for (const SimulationRecord* record : {&first, &second})
    result.reference.insert(result.reference.end(), record->problems.begin(), record->problems.end());
  for (const std::string& line : detail::end_differences(first.end, second.end))
    result.reference.push_back("two runs without any fault differ: " + line);
  setup_.exceptions = std::move(first.exceptions);
  setup_.exceptions.merge(second.exceptions);
  end_ = std::move(first.end);
  return result.reference.empty();
}

SimulationRecord SeedCampaign::run_seed(std::uint64_t seed) const {
  SimulationRecord record = SimulationRun(setup_, seed, true).run();
  for (const std::string& line : detail::end_differences(end_, record.end))
    record.problems.push_back("at the end: " + line);
  record.end.clear();
  if (record.problems.empty() && !options_.whole_trace) record.trace.clear();
  return record;
}

std::vector<SimulationRecord> SeedCampaign::run_all() const {
  std::vector<SimulationRecord> records(options_.seeds);
  detail::for_each_index(records.size(), options_.threads,
                         [&](std::size_t at) { records[at] = run_seed(options_.first_seed + at); });
  return records;
}

void SeedCampaign::report(std::vector<SimulationRecord> records, SimulationResult& result) const {
  for (const std::string_view name : detail::fault_names) result.fired[std::string(name)] = 0;
  for (std::size_t at = 0; at < records.size(); ++at) {
    SimulationRecord& record = records[at];
    ++result.seeds_run;
    result.simulated += record.simulated;
    result.fingerprint = result.fingerprint * 31 + record.fingerprint;
    result.fired["runs"] += record.runs;
    result.fired["writes"] += record.writes;
    result.fired["elections"] += record.elections;
    for (std::size_t fault = 0; fault < detail::fault_names.size(); ++fault)
      result.fired[std::string(detail::fault_names[fault])] +=
          record.faults.of(static_cast<detail::SimulatedFault>(fault));
    for (const std::string& name : options_.without) result.fired.erase(name);
    if (at == 0 && options_.whole_trace) result.trace = record.trace;
    if (record.problems.empty()) continue;
    ++result.seeds_failed;
    if (result.failures.size() < options_.max_failures)
      result.failures.push_back({.seed = options_.first_seed + at,
                                 .problems = std::move(record.problems),
                                 .trace = std::move(record.trace)});
  }
}

void append_lines(const std::string& text, std::string& out) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    out += "   " + text.substr(at, end - at) + "\n";
    at = end + 1;
  }
}

std::string hours(Duration time) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%.1f",
                std::chrono::duration<double, std::ratio<3600>>(time).count());
  return text.data();
}

std::string text_of(const SimulationFailure& failure, std::size_t number) {
  constexpr std::size_t shown = 8;
  const std::string seed = std::to_string(failure.seed);
  std::string text = "\n" + std::to_string(number) + ". seed " + seed + "\n";
  for (std::size_t at = 0; at < std::min(failure.problems.size(), shown); ++at)
    append_lines(failure.problems[at], text);
  if (failure.problems.size() > shown)
    text += "   and " + std::to_string(failure.problems.size() - shown) + " more\n";
  text += "   To reproduce it: {.first_seed = " + seed +
          ", .seeds = 1, .whole_trace = true}\n   Before the first problem:\n";
  append_lines(failure.trace, text);
  return text;
}

}  // namespace

std::vector<std::string> SimulationResult::never_fired() const {
  std::vector<std::string> names;
  for (const std::string_view name : detail::fault_names) {
    const auto found = fired.find(std::string(name));
    if (found != fired.end() && found->second == 0) names.emplace_back(name);
  }
  return names;
}

std::string SimulationResult::describe() const {
  std::string text = "simulate: ";
  if (!reference.empty()) {
    text += "the run without any fault has problems, so no seed was run:\n";
    for (const std::string& problem : reference) append_lines(problem, text);
    return text;
  }
  const auto count = [this](const std::string& name) { return std::to_string(fired.at(name)); };
  text += std::to_string(seeds_failed) + " of " + std::to_string(seeds_run) +
          " seeds failed. Simulated: " + hours(simulated) + " hours of a cluster, " + count("runs") +
          " reconciles, " + count("writes") + " changes, " + count("elections") + " elections.\nFaults:";
  for (const std::string_view name : detail::fault_names) {
    if (fired.contains(std::string(name)))
      text.append(" ").append(name).append(" ").append(count(std::string(name)));
  }
  text += "\n";
  for (std::size_t at = 0; at < failures.size(); ++at) text += text_of(failures[at], at + 1);
  if (seeds_failed > failures.size())
    text += "\nand " + std::to_string(seeds_failed - failures.size()) + " more seeds\n";
  return text;
}

namespace detail {

SimulationResult simulate(const SimulatedControllers& make, const SimulatedWorkload& workload,
                          const SimulationOptions& options) {
  check(options);
  const TimePoint start = real_clock()->now();
  SimulationResult result = SeedCampaign(make, workload, options).run();
  result.took = real_clock()->now() - start;
  return result;
}

}  // namespace detail
}  // namespace testing
}  // namespace v0
}  // namespace evenkeel
