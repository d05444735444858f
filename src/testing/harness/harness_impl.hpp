// SPDX-License-Identifier: Apache-2.0
// The state of a harness, and the members that do its work.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <evenkeel/apiserver/shared_core.hpp>
#include <evenkeel/cache/cache.hpp>
#include <evenkeel/client/access_recorder.hpp>
#include <evenkeel/testing/harness.hpp>
#include <evenkeel/testing/log_recorder.hpp>
#include <evenkeel/workqueue/key_table.hpp>

#include "controller/fibers/fiber_stacks.hpp"
#include "testing/harness/harness_clock.hpp"
#include "testing/harness/harness_hooks.hpp"
#include "testing/harness/harness_transport.hpp"
#include "testing/suspended_call.hpp"

namespace evenkeel {
inline namespace v0 {
namespace testing {

/// Thread safety: one thread at a time, as Harness.
class Harness::Impl {
 public:
  explicit Impl(HarnessOptions options);
  ~Impl();

  void add(ControllerSpec spec);
  void enqueue(const ObjectKey& key, std::string_view controller);
  void restart();
  const ReconcileRun* step();
  bool settle(Duration limit);
  void run_for(Duration time);
  void after(Duration delay, std::function<void()> action) {
    actions_.emplace(deadline_after(clock_->now(), delay), std::move(action));
  }
  apiserver::FaultId inject(apiserver::FaultRule rule);
  std::string str() const;
  AccessRecord accesses() const { return accesses_->record(); }
  const Cache& cache() const { return process_->cache; }
  Duration elapsed() const { return clock_->now() - start_; }

  const HarnessOptions options_;
  const std::shared_ptr<HarnessClock> clock_;
  const std::shared_ptr<const Clock> read_clock_ = clock_;
  const TimePoint start_ = clock_->now();
  const std::shared_ptr<apiserver::SharedCore> core_;
  std::vector<ReconcileRun> runs_;
  std::vector<std::string> log_;

 private:
  // The state that is lost in a crash.
  struct Process {
    Process(const Client& client, CacheOptions options, const Client& background,
            EventRecorderOptions recorder)
        : cache(client, std::move(options)), events(background, std::move(recorder)) {}
    KeyTable keys;
    Cache cache;
    EventRecorder events;
    std::vector<std::unique_ptr<Controller>> controllers;
  };

  // A process that stands still in the middle of a run, while the next one works.
  struct Overtaken {
    std::unique_ptr<detail::SuspendedCall> run;
    std::unique_ptr<Process> process;
  };

  void begin_process();
  void begin_next_process();
  void end_process();
  bool run_one(Controller& controller);
  void go_on();
  void host(const ControllerSpec& added);
  Result reconcile(const ReconcileFunction& inner, const std::string& controller, Context& context);
  void take_log(ReconcileRun* run);
  void write_events();
  std::size_t turn();
  void pass(TimePoint deadline);
  void move_to(TimePoint when);
  bool all_synced() const;
  std::optional<TimePoint> next_event() const;
  std::optional<TimePoint> next_work() const;
  bool work_until(TimePoint end);
  std::string story_of_last() const;
  std::uint64_t faults_fired() const;
  void check_last() const;
  std::shared_ptr<http::Transport> controllers_transport() const;
  Client controllers_client() const;
  std::shared_ptr<http::Transport> test_transport() const;
  void on_write(Write write);
  void cancel_controllers() const;
  std::function<std::uint64_t()> term() const;
  bool is_dead() const { return options_.hooks && options_.hooks->is_dead(); }
  bool ends_after_run() const { return options_.hooks && options_.hooks->ends_after_run(); }

  const std::shared_ptr<LogRecorder> recorder_;
  const std::shared_ptr<HarnessTransport> transport_;
  const std::shared_ptr<AccessRecorder> accesses_ = std::make_shared<AccessRecorder>();
  const std::shared_ptr<http::Transport> controllers_transport_;
  Client controllers_client_;
  const Client background_client_;  // of the recorder of Events
  std::vector<ControllerSpec> specs_;
  std::multimap<TimePoint, std::function<void()>> actions_;
  std::unique_ptr<Process> process_;
  v0::detail::FiberStacks stacks_{std::size_t{1} << 20};
  detail::SuspendedCall* call_ = nullptr;  // that runs
  std::optional<Overtaken> overtaken_;
  std::size_t turn_of_ = 0;  // the controller that is tried first
  TimePoint run_start_{};
  bool running_ = false;
  apiserver::FaultId last_fault_ = 0;  // ids are 1 and up, those of the options first
  bool hit_by_fault_ = false;
  std::uint64_t lives_ = 0;

 public:
  const Client client_;
};

}  // namespace testing
}  // namespace v0
}  // namespace evenkeel
