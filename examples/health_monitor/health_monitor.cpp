// SPDX-License-Identifier: Apache-2.0
// Ten thousand health checks; those of an application that is being rolled out must not wait for the others.
// The lane of a check depends on another object, the application's deployment. One worker, 10 ms per check,
// first with one list of keys, then with two lanes. Time is virtual, so minutes pass instantly. Exits with 1
// if a check does not start when it should.
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include <evenkeel/base/clock.hpp>
#include <evenkeel/base/duration_text.hpp>
#include <evenkeel/workqueue/fifo_store.hpp>
#include <evenkeel/workqueue/two_lane_store.hpp>
#include <evenkeel/workqueue/work_queue.hpp>

namespace ek = evenkeel;
using namespace std::chrono_literals;

constexpr int applications = 10'000;
constexpr ek::Duration check_takes = 10ms;
constexpr ek::Duration check_every = 60s;  // 100 s of work each minute, for one worker
constexpr ek::Duration check_rollouts_every = 1s;

std::string application(int number) {
  return "app-" + std::to_string(number);
}

// The deployments that are being rolled out. The watch of deployments writes it, and the queue reads it under
// its own lock on any thread that adds a key: so it has a separate lock and makes no calls under it.
class Rollouts {
 public:
  void begin(const std::string& app) {
    const std::lock_guard lock(mutex_);
    active_.insert(app);
  }
  void end(const std::string& app) {
    const std::lock_guard lock(mutex_);
    active_.erase(app);
  }
  bool is_active(const std::string& app) const {
    const std::lock_guard lock(mutex_);
    return active_.contains(app);
  }

 private:
  mutable std::mutex mutex_;
  std::set<std::string> active_;
};

// The only difference from a plain queue: called when a key is queued, and again whenever it is added while
// it is queued.
struct LaneOfApplication {
  const Rollouts* rollouts;
  ek::Lane operator()(const std::string& app) const {
    return rollouts->is_active(app) ? ek::Lane::fast : ek::Lane::slow;
  }
};
using TwoLanes = ek::PolicyLaneStore<std::string, LaneOfApplication>;

// The controller: events from its watches, and one worker.
template <class Store>
class HealthMonitor {
 public:
  HealthMonitor(Store store, Rollouts& rollouts)
      : rollouts_(rollouts), queue_({.store = std::move(store), .clock = clock_}) {}

  /// The initial list: every monitor is new.
  void start(int count) {
    for (int i = 0; i < count; ++i) queue_.add(application(i));
  }
  /// A deployment changed. Record it first and then add the key, so that the queue reads the new value: a key
  /// that is queued already changes its lane, in either direction.
  void rollout_began(const std::string& app) {
    rollouts_.begin(app);
    queue_.add(app);
  }
  void rollout_ended(const std::string& app) {
    rollouts_.end(app);
    queue_.add(app);
  }

  /// Calls `happen` at `when`.
  void at(ek::Duration when, std::function<void()> happen) { events_.emplace(when, std::move(happen)); }
  /// Called at the start of each check.
  std::function<void(const std::string&, ek::Duration)> checked = [](const auto&, auto) {};

  /// Runs the worker until `end` or until it has no work.
  void run_until(ek::Duration end) {
    while (now() < end) {
      auto claim = queue_.try_get();
      if (!claim && events_.empty()) return;
      if (!claim) {
        pass(events_.begin()->first - now());
        continue;
      }
      const std::string app = claim->key();
      checked(app, now());
      pass(check_takes);
      claim->done();
      queue_.add_after(app, rollouts_.is_active(app) ? check_rollouts_every : check_every);
    }
  }

  ek::Duration now() const { return clock_->now().time_since_epoch(); }
  std::string lane_of(const std::string& app) { return queue_.inspect(app).lane; }
  std::size_t queued() { return queue_.size(); }

 private:
  // Advances the time and processes the events in between.
  void pass(ek::Duration time) {
    const ek::Duration end = now() + time;
    while (!events_.empty() && events_.begin()->first <= end) {
      const auto happen = std::move(events_.begin()->second);
      clock_->advance(events_.begin()->first - now());
      events_.erase(events_.begin());
      happen();
    }
    clock_->advance(end - now());
  }

  Rollouts& rollouts_;
  std::shared_ptr<ek::ManualClock> clock_ = std::make_shared<ek::ManualClock>();
  ek::WorkQueue<std::string, Store> queue_;
  std::multimap<ek::Duration, std::function<void()>> events_;
};

// Runs the same scenario with each store.
template <class Story>
auto with_one_list(const Story& story) {
  Rollouts rollouts;
  HealthMonitor monitor(ek::FifoStore(), rollouts);
  return story(monitor);
}
template <class Story>
auto with_two_lanes(const Story& story) {
  Rollouts rollouts;
  HealthMonitor monitor(TwoLanes(LaneOfApplication{&rollouts}), rollouts);
  return story(monitor);
}

bool as_promised = true;

void expect(bool holds) {
  if (holds) return;
  std::printf("  ^ NOT AS PROMISED\n");
  as_promised = false;
}

void compare(const char* what, ek::Duration one_list, ek::Duration two_lanes) {
  std::printf("  %-58s %9s %9s\n", what, ek::format_duration(one_list).c_str(),
              ek::format_duration(two_lanes).c_str());
}

// Returns the start of the first check of `app` if its rollout begins 5 ms after a start with 10,000
// monitors.
auto first_check_after_start(const std::string& app) {
  return [app](auto& monitor) {
    ek::Duration start{};
    monitor.checked = [&](const std::string& checked, ek::Duration now) {
      if (checked == app && start == 0s) start = now;
    };
    monitor.start(applications);
    monitor.at(5ms, [&] { monitor.rollout_began(app); });
    monitor.run_until(101s);
    return start;
  };
}

// A rollout continues with the next cluster after ten successful checks. Returns the time that this takes
// among the periodic checks, ten minutes after the start.
ek::Duration ten_checks_of_a_rollout(auto& monitor) {
  const std::string app = application(5000);
  constexpr ek::Duration begins = 10min;
  ek::Duration took{};
  int good = 0;
  monitor.checked = [&](const std::string& checked, ek::Duration now) {
    if (checked == app && now >= begins && ++good == 10) took = now + check_takes - begins;
  };
  monitor.start(applications);
  monitor.at(begins, [&] { monitor.rollout_began(app); });
  while (took == 0s) monitor.run_until(monitor.now() + 1s);
  return took;
}

int main() {
  std::printf("One worker, 10,000 health checks of 10 ms each              one list two lanes\n");

  // After 10,000 checks of 10 ms, or after the one that is running.
  const auto newcomer = first_check_after_start("app-new");
  const ek::Duration new_in_list = with_one_list(newcomer), new_in_lanes = with_two_lanes(newcomer);
  compare("at start-up: the first check of a new application", new_in_list, new_in_lanes);
  expect(new_in_list == 100s && new_in_lanes == 10ms);

  const auto last = first_check_after_start(application(applications - 1));
  const ek::Duration last_in_list = with_one_list(last), last_in_lanes = with_two_lanes(last);
  compare("the same of the last one in the list, now rolled out", last_in_list, last_in_lanes);
  expect(last_in_list == 99'990ms && last_in_lanes == 10ms);

  // Each check is followed by a pause of a minute, during which 6,000 others are due: 4,000 are queued at any
  // time, 40 s of work. In its own lane, it takes ten checks and nine pauses of a second.
  const auto rollout = [](auto& monitor) { return ten_checks_of_a_rollout(monitor); };
  const ek::Duration in_list = with_one_list(rollout), in_lanes = with_two_lanes(rollout);
  compare("later, all checked each minute: ten checks of a rollout", in_list, in_lanes);
  expect(in_list > 408s && in_list < 410s && in_lanes == 9'100ms);

  // Queued keys move both ways.
  std::printf("\nA monitor that is queued moves with its deployment, whatever is queued around it:\n");
  with_two_lanes([](auto& monitor) {
    const std::string app = application(4711);
    monitor.start(applications);
    const std::string before = monitor.lane_of(app);
    monitor.rollout_began(app);
    const std::string meanwhile = monitor.lane_of(app);
    monitor.rollout_ended(app);
    const std::string after = monitor.lane_of(app);
    std::printf("  %s at first, %s once the rollout begins, %s when it has ended; %zu are queued\n",
                before.c_str(), meanwhile.c_str(), after.c_str(), monitor.queued());
    expect(before == "slow" && meanwhile == "fast" && after == "slow" && monitor.queued() == applications);
    return 0;
  });
  return as_promised ? 0 : 1;
}
