// SPDX-License-Identifier: Apache-2.0
#include "testing/explore/runner.hpp"

#include <algorithm>
#include <exception>
#include <map>
#include <memory>
#include <utility>

#include "base/caught.hpp"
#include "testing/explore/run_error.hpp"

namespace evenkeel {
inline namespace v0 {
namespace testing::detail {
namespace {

// Returns the text of an exception that counts; empty for others.
std::string text_of_run_error(const ReconcileRun& run) {
  const bool counts = run.error != nullptr && run.outcome.kind != OutcomeKind::conflict;
  return counts ? text_of_error(run.error) : std::string();
}

// Returns the controllers of a harness in whose world the definitions of their kinds exist.
std::vector<ControllerSpec> without_definitions(std::vector<ControllerSpec> specs) {
  for (ControllerSpec& spec : specs) {
    spec.crd = nullptr;
    for (WatchSpec& watch : spec.watches) watch.crd = nullptr;
  }
  return specs;
}

}  // namespace

Runner::Runner(const MakeScenario& make_scenario, const ExploreOptions& options)
    : make_scenario_(make_scenario), options_(options) {
  const std::unique_ptr<Scenario> scenario = make_scenario_();
  Harness harness(options.harness);
  for (ControllerSpec& spec : scenario->make()) {
    add_watches(spec, watched_);
    if (spec.options.runs_on == RunsOn::every_instance) on_every_instance_.insert(spec.options.name);
    harness.add(std::move(spec));
  }
  world_ = harness.snapshot();
}

RunRecord Runner::run_reference() {
  const bool first = !reference_;
  if (first) reference_.emplace();
  const std::unique_ptr<Scenario> scenario = make_scenario_();
  RunRecord record = record_of(*scenario, options_.harness, {.keeps_worlds = first}, nullptr);
  if (first) reference_ = record;
  return record;
}

RunResult Runner::run(const Plan& plan, bool tells) const {
  const auto world_before = [this](const Moment& moment) -> std::optional<apiserver::World> {
    const TracedWrite* const found = reference_->trace.find(moment);
    return found == nullptr ? std::nullopt : found->world;
  };
  HarnessOptions options = options_.harness;
  if (!tells) options.log_level = LogLevel::error;
  const std::unique_ptr<Scenario> scenario = make_scenario_();
  RunResult result;
  result.record = record_of(*scenario, std::move(options),
                            {.plan = plan, .world_before = world_before, .keeps_timeline = tells},
                            tells ? &result.timeline : nullptr);
  return result;
}

RunRecord Runner::record_of(Scenario& scenario, HarnessOptions options, InterventionOptions interventions,
                            std::string* timeline) const {
  interventions.controllers = [&scenario] { return without_definitions(scenario.make()); };
  interventions.on_every_instance = on_every_instance_;
  interventions.has_terms = options_.replicas > 1;
  const auto hooks = std::make_shared<Interventions>(std::move(interventions));
  options.world = world_;
  options.hooks = hooks;
  options.expect_failures = true;
  Harness harness(std::move(options));
  for (ControllerSpec& spec : hooks->controllers()) harness.add(std::move(spec));
  RunRecord record;
  run_workload(scenario, harness, *hooks, record);
  record.runs = harness.runs().size();
  record.trace = hooks->trace();
  record.missed = hooks->missed();
  record.late_writes = hooks->late_writes();
  record.end = state_of(*hooks);
  record.outside = scenario.outside();
  std::size_t number = 0;
  for (const ReconcileRun& run : harness.runs()) {
    const std::string text = text_of_run_error(run);
    if (!hooks->runs_hit().contains(++number) && !text.empty()) record.exceptions.insert(text);
  }
  if (record.settled) run_keys_again(harness, *hooks, record);
  record.trace.reads = hooks->trace().reads;
  if (record.settled && record.outside)
    record.late_changes_outside = record.outside->changes_to(*scenario.outside());
  if (timeline != nullptr) *timeline = hooks->timeline().str();
  return record;
}

void Runner::run_workload(Scenario& scenario, Harness& harness, Interventions& hooks,
                          RunRecord& record) const {
  try {
    harness.settle(options_.limit);  // the caches are synced
    hooks.start_workload();
    try {
      scenario.work(harness);
    } catch (const TooManyRuns&) {
      throw;
    } catch (...) {
      record.workload_error = first_line(evenkeel::detail::error_text(std::current_exception()));
    }
    hooks.stop_workload();
    hooks.finish();
    record.settled = harness.settle(options_.limit);
  } catch (const TooManyRuns& error) {
    record.stopped = first_line(error.what());
  }
}

void Runner::run_keys_again(Harness& harness, const Interventions& hooks, RunRecord& record) const {
  std::set<std::pair<std::string, ObjectKey>> keys;
  for (const ReconcileRun& run : harness.runs()) keys.emplace(run.controller, run.key);
  const std::size_t before = hooks.trace().writes.size();
  try {
    for (const auto& [controller, key] : keys) harness.enqueue(key, controller);
    harness.settle(options_.limit);
  } catch (const TooManyRuns& error) {
    record.stopped = first_line(error.what());
  }
  const std::vector<TracedWrite>& writes = hooks.trace().writes;
  for (std::size_t at = before; at < writes.size(); ++at) {
    const TracedWrite& write = writes[at];
    if (is_incidental(write.resource) || !write.effective) continue;
    const bool same =
        comparable(write.before, options_.normalize) == comparable(write.after, options_.normalize);
    if (!same) record.late_changes.push_back(write.moment.str());
  }
}

EndState Runner::state_of(const Interventions& hooks) const {
  std::map<std::string, std::string> collections;  // by resource
  const auto collect = [&](const Trace& trace) {
    for (const TracedWrite& write : trace.writes) {
      if (!write.collection.empty()) collections.emplace(write.resource, write.collection);
    }
  };
  collect(hooks.trace());
  collect(reference_->trace);
  std::vector<Listed> listed;
  for (const auto& [resource, path] : collections) {
    const auto& ignored = options_.ignored;
    if (is_incidental(resource) || std::find(ignored.begin(), ignored.end(), resource) != ignored.end())
      continue;
    const http::Response found =
        hooks.core().handle({.target = path, .headers = {{"Accept", "application/json"}}});
    if (found.status != 200) continue;
    Json list = Json::parse(found.body);
    Json* const items = list.find("items");
    if (items != nullptr && items->is_array()) listed.push_back({resource, std::move(items->as_array())});
  }
  return end_state(listed, options_.normalize);
}

}  // namespace testing::detail
}  // namespace v0
}  // namespace evenkeel
