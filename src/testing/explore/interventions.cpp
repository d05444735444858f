// SPDX-License-Identifier: Apache-2.0
#include "testing/explore/interventions.hpp"

#include <algorithm>
#include <utility>

#include <evenkeel/base/error.hpp>
#include <evenkeel/manager/lifecycle_core.hpp>

#include "apiserver/shell/request_target.hpp"
#include "testing/begun_write.hpp"
#include "testing/explore/run_error.hpp"
#include "testing/explore/watch_filter.hpp"

namespace evenkeel {
inline namespace v0 {
namespace testing::detail {

// ---- The hooks

Interventions::Interventions(InterventionOptions options)
    : options_(std::move(options)), plan_(options_.plan) {}
Interventions::~Interventions() = default;

void Interventions::begin(std::shared_ptr<apiserver::SharedCore> core,
                          std::shared_ptr<const evenkeel::Clock> clock, Controls controls) {
  core_ = std::move(core);
  clock_ = std::move(clock);
  controls_ = std::move(controls);
  start_ = clock_->now();
}

void Interventions::on_run(const ReconcileRun& run) {
  ++runs_;
  of_leader_ = !options_.on_every_instance.contains(run.controller);
  plan_.on_run();
  if (old_core_) ++runs_on_old_;
  if (options_.keeps_timeline) timeline_.add_run(run);
}

void Interventions::on_write(const Write& write) {
  TracedWrite entry = traced(write);
  entry.moment.write = text_of(write);
  entry.of_leader = of_leader_;
  record(std::move(entry), false);
}

bool Interventions::on_idle(bool more) {
  ++idles_;
  if (old_core_) {
    catch_up();
    return true;
  }
  plan_.on_idle(more);
  return pump() > 0 || plan_.is_due();
}

// The watches of the old state end, and resume on the current one.
void Interventions::catch_up() {
  old_core_->cut_watches();
  old_watches_->pump();
  old_watches_.reset();
  old_core_.reset();
  if (options_.keeps_timeline) timeline_.add_note(now(), "the caches catch up");
}

void Interventions::on_restart() {
  const Restart restart = plan_.take_restart();
  ++starts_;
  std::string how = restart.takes_over ? "another replica takes over" : "the process starts again";
  lost_leadership_at_.reset();
  runs_on_old_ = 0;
  old_watches_.reset();
  old_core_.reset();
  std::optional<apiserver::World> world;
  if (restart.as_before) world = options_.world_before(*restart.as_before);
  if (world) {
    old_core_ = std::make_shared<apiserver::SharedCore>(
        apiserver::SharedCoreOptions{.world = std::move(world), .clock = clock_});
    old_watches_ = std::make_unique<apiserver::InProcessTransport>(
        old_core_, apiserver::InProcessTransportOptions{.pumped = true});
    how += "; its caches show the state before " + restart.as_before->str();
  }
  if (options_.keeps_timeline) timeline_.add_fact(now(), "--- " + how);
}

std::size_t Interventions::pump() {
  std::size_t done = old_watches_ ? old_watches_->pump() : 0;
  if (old_core_ && runs_on_old_ >= runs_in_the_dark) {
    catch_up();
    ++done;
  }
  for (auto release = plan_.next_release(); release; release = plan_.next_release()) {
    if (options_.keeps_timeline) timeline_.add_note(now(), "the events of " + release->resource + " arrive");
    for (const auto& weak : std::vector(filters_)) {
      const auto filter = weak.lock();
      if (filter && filter->resource() == release->resource) filter->release(release->delivery);
    }
    ++done;
  }
  while (!deliveries_.empty()) {
    const auto deliver = std::move(deliveries_.front());
    deliveries_.pop_front();
    deliver();
    ++done;
  }
  return done;
}

// ---- Reads

void Interventions::on_find(const ResourceId& resource, const ObjectKey& key) {
  if (options_.keeps_worlds) trace_.reads.objects.emplace(resource.qualified_plural(), key);
}

void Interventions::on_list(const ResourceId& resource, const std::string& namespace_) {
  if (options_.keeps_worlds) trace_.reads.lists.emplace(resource.qualified_plural(), namespace_);
}

// ---- Writes

Treatment Interventions::begin_write(const http::Request& request, bool of_workload) {
  const Write write = begun_write(request);
  const std::string prefix(of_workload ? workload_prefix : "");
  Treatment treatment = plan_.on_write(prefix + text_of(write));
  if (plan_.has_lost_leadership()) lose_leadership();
  if (options_.keeps_worlds) world_ = core_->snapshot();
  if (treatment.kind != Treatment::Kind::pass) runs_hit_.insert(runs_);
  show_steps(true);
  if (treatment.kind == Treatment::Kind::refuse) {
    TracedWrite entry = traced(write);
    entry.moment.write = treatment.moment.write;
    entry.at = now();
    entry.of_leader = of_leader_;
    record(std::move(entry), of_workload);
  }
  return treatment;
}

void Interventions::end_write(const Treatment& treatment) {
  plan_.on_written(treatment);
  if (plan_.has_lost_leadership()) lose_leadership();
  show_steps(false);
}

void Interventions::lose_leadership() {
  if (lost_leadership_at_) return;
  lost_leadership_at_ = clock_->now();
  runs_hit_.insert(runs_);
  controls_.cancel();
}

// A process that has lost leadership ends at the latest when the manager gives up.
bool Interventions::is_dead() const {
  return plan_.is_dead() ||
         (lost_leadership_at_ &&
          clock_->now() >= deadline_after(*lost_leadership_at_, LifecycleOptions().cancel_period));
}

bool Interventions::has_crashed() {
  plan_.on_contact();
  return is_dead();
}

// Returns true for a write that is not sent, as leadership was lost before. It counts if the run's stop token
// does not end it.
bool Interventions::is_too_late(const http::Request& request, bool stopped) {
  if (!plan_.has_lost_leadership() || !of_leader_) return false;
  const Write write = begun_write(request);
  if (stopped || is_incidental(without_subresource(write.resource))) return true;
  late_writes_.push_back(text_of(write));
  if (options_.keeps_timeline)
    timeline_.add_fact(now(), late_writes_.back() + ": refused, as leadership was lost");
  return true;
}

// ---- Explore points

void Interventions::mark(const ObjectKey& object, std::string_view name) {
  reach(object, name, false);
}

std::size_t Interventions::begin_effect(const ObjectKey& object, std::string_view name) {
  return reach(object, name, true);
}

void Interventions::end_effect(std::size_t point) {
  const Moment moment = trace_.points.at(point).moment;
  plan_.on_point_end(moment);
  if (!has_crashed()) return;
  end_at(moment);
}

// Returns the number of the point in the trace.
std::size_t Interventions::reach(const ObjectKey& object, std::string_view name, bool has_end) {
  const std::string text = std::string(point_prefix) + std::string(name) + " " + object.str();
  if (has_crashed()) end_at({text});
  const Moment moment = plan_.on_point(text, has_end);
  if (is_dead()) end_at(moment);
  const std::size_t number = trace_.points.size();
  trace_.points.push_back(
      {.moment = moment, .writes = trace_.writes.size(), .runs = runs_, .of_leader = of_leader_});
  if (options_.keeps_timeline) timeline_.add_fact(now(), moment.str());
  if (plan_.ends_after_run()) runs_hit_.insert(runs_);
  show_steps(false);
  if (plan_.is_overtaken()) stand_still(moment);
  return number;
}

// The run goes on as one of a process that is not the leader any more.
void Interventions::stand_still(const Moment& point) {
  runs_hit_.insert(runs_);
  const bool of_leader = of_leader_;
  controls_.cancel();
  controls_.stand_still();
  of_leader_ = of_leader;
  if (options_.keeps_timeline)
    timeline_.add_fact(now(), "--- the process that was overtaken makes the call of " + point.str());
}

bool Interventions::goes_on() {
  if (!plan_.goes_on()) return false;
  lost_leadership_at_ = clock_->now();
  return true;
}

void Interventions::on_gone() {
  plan_.on_gone();
  lost_leadership_at_.reset();
}

// Ends the run as far as that is possible; its requests fail from now on.
void Interventions::end_at(const Moment& point) {
  runs_hit_.insert(runs_);
  show_steps(false);
  throw Error(point.str() + ": the process has crashed (by a plan of explore())");
}

// Adds the steps that have begun to the timeline: those that follow a write, after it.
void Interventions::show_steps(bool before_write) {
  for (PlanStep& step : plan_.take_effective()) steps_to_show_.push_back(std::move(step));
  std::erase_if(steps_to_show_, [&](const PlanStep& step) {
    const bool follows = step.kind == PlanStepKind::crash || step.kind == PlanStepKind::lost_answer ||
                         step.kind == PlanStepKind::stale_restart ||
                         step.kind == PlanStepKind::leadership_lost_after;
    if (before_write && follows) return false;
    if (options_.keeps_timeline) timeline_.add_step(now(), step);
    return true;
  });
}

void Interventions::record(TracedWrite write, bool of_workload) {
  write.of_workload = of_workload;
  write.moment.nth = ++counts_[write.moment.write];
  write.runs = runs_;
  write.idles = idles_;
  if (options_.keeps_worlds) write.world = std::exchange(world_, std::nullopt);
  if (options_.keeps_timeline && !is_incidental(write.resource)) timeline_.add_write(write);
  trace_.writes.push_back(std::move(write));
}

// Returns the object of a request as the server has it.
std::optional<Json> Interventions::stored(const http::Request& request, const Write& write) const {
  const apiserver::RequestTarget target = apiserver::request_target(request);
  std::string path = request.target.substr(0, request.target.find('?'));
  if (!target.subresource.empty()) path.resize(path.size() - target.subresource.size() - 1);
  if (target.name.empty()) {
    const std::string name =
        write.key.name.empty() ? write.sent.at({"metadata", "name"}).string_or("") : write.key.name;
    if (name.empty()) return std::nullopt;
    path += "/" + http::percent_encode(name);
  }
  const http::Response found = core_->handle({.target = path, .headers = {{"Accept", "application/json"}}});
  if (found.status != 200) return std::nullopt;
  return Json::parse(found.body);
}

Duration Interventions::now() const {
  return clock_->now() - start_;
}

}  // namespace testing::detail
}  // namespace v0
}  // namespace evenkeel
