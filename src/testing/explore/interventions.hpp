// SPDX-License-Identifier: Apache-2.0
// The driver of a plan in a harness: it refuses requests, loses answers, ends the process or its leadership,
// keeps watch events back, and records.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/apiserver/in_process_transport.hpp>
#include <evenkeel/apiserver/shared_core.hpp>
#include <evenkeel/http/transport.hpp>

#include "testing/explore/plan_core.hpp"
#include "testing/explore/timeline.hpp"
#include "testing/explore/trace.hpp"
#include "testing/harness/harness_hooks.hpp"

namespace evenkeel {
inline namespace v0 {
namespace testing::detail {

class WatchFilter;

struct InterventionOptions {
  Plan plan = {};
  std::function<std::vector<ControllerSpec>()> controllers = {};
  /// Returns the state before a write of the reference.
  std::function<std::optional<apiserver::World>(const Moment&)> world_before = {};
  std::set<std::string> on_every_instance = {};  ///< Controllers that run without leadership.
  bool has_terms = false;                        ///< There are several replicas.
  bool keeps_worlds = false;                     ///< The run is a reference.
  bool keeps_timeline = false;
};

/// Thread safety: one thread at a time. Lifetime: held by the harness and by the transports around it.
class Interventions final : public HarnessHooks, public std::enable_shared_from_this<Interventions> {
 public:
  explicit Interventions(InterventionOptions options);
  ~Interventions() override;

  void begin(std::shared_ptr<apiserver::SharedCore> core, std::shared_ptr<const evenkeel::Clock> clock,
             Controls controls) override;
  std::shared_ptr<http::Transport> around_controllers(std::shared_ptr<http::Transport> inner) override;
  std::shared_ptr<http::Transport> around_test(std::shared_ptr<http::Transport> inner) override;
  std::vector<ControllerSpec> controllers() override { return options_.controllers(); }
  void on_run(const ReconcileRun& run) override;
  void on_write(const Write& write) override;
  std::size_t pump() override;
  bool on_idle(bool more) override;
  bool is_dead() const override;
  bool ends_after_run() const override { return is_dead() || plan_.ends_after_run(); }
  void on_restart() override;
  bool has_terms() const override { return options_.has_terms; }
  std::uint64_t term() const override { return starts_; }
  bool may_stand_still() const override { return plan_.may_be_overtaken(); }
  bool goes_on() override;
  void on_gone() override;

  void on_find(const ResourceId& resource, const ObjectKey& key) override;
  void on_list(const ResourceId& resource, const std::string& namespace_) override;

  void mark(const ObjectKey& object, std::string_view name) override;
  std::size_t begin_effect(const ObjectKey& object, std::string_view name) override;
  void end_effect(std::size_t point) override;

  /// The workload has ended: windows that wait for a write of it end when the operator is idle.
  void finish() { plan_.finish(); }
  /// Writes of the test are part of the workload from now on.
  void start_workload() { recording_ = true; }
  void stop_workload() { recording_ = false; }

  const Trace& trace() const { return trace_; }
  const Timeline& timeline() const { return timeline_; }
  apiserver::SharedCore& core() const { return *core_; }
  std::vector<PlanStep> missed() const { return plan_.missed(); }
  /// Numbers of the runs that a step hit.
  const std::set<std::size_t>& runs_hit() const { return runs_hit_; }
  /// Texts of the writes after leadership was lost that the run's stop token did not end.
  const std::vector<std::string>& late_writes() const { return late_writes_; }

 private:
  friend class WatchFilter;
  class OperatorTransport;
  class WorkloadTransport;

  Treatment begin_write(const http::Request& request, bool of_workload);
  void end_write(const Treatment& treatment);
  void lose_leadership();
  bool has_crashed();
  bool is_too_late(const http::Request& request, bool stopped);
  std::size_t reach(const ObjectKey& object, std::string_view name, bool has_end);
  void stand_still(const Moment& point);
  [[noreturn]] void end_at(const Moment& point);
  void record(TracedWrite write, bool of_workload);
  void show_steps(bool before_write);
  void catch_up();
  std::shared_ptr<http::Call> stream(http::Transport& inner, http::Request request,
                                     std::shared_ptr<http::StreamHandler> handler);
  std::optional<Json> stored(const http::Request& request, const Write& write) const;
  Duration now() const;

  const InterventionOptions options_;
  PlanCore plan_;
  std::shared_ptr<apiserver::SharedCore> core_;
  std::shared_ptr<const evenkeel::Clock> clock_;
  Controls controls_;
  TimePoint start_{};
  bool recording_ = false;
  std::size_t runs_ = 0;
  std::size_t idles_ = 0;
  std::uint64_t starts_ = 1;  // of processes
  bool of_leader_ = true;     // the last run is one that only the leader does
  std::optional<TimePoint> lost_leadership_at_;
  std::vector<std::string> late_writes_;
  std::set<std::size_t> runs_hit_;
  std::map<std::string, std::size_t> counts_;  // recorded writes by text
  std::optional<apiserver::World> world_;      // before the write in progress
  Trace trace_;
  Timeline timeline_;
  std::vector<PlanStep> steps_to_show_;
  std::deque<std::function<void()>> deliveries_;
  std::vector<std::weak_ptr<WatchFilter>> filters_;
  std::shared_ptr<apiserver::SharedCore> old_core_;  // while the cache is stale
  std::unique_ptr<apiserver::InProcessTransport> old_watches_;
  std::size_t runs_on_old_ = 0;
};

}  // namespace testing::detail
}  // namespace v0
}  // namespace evenkeel
