// SPDX-License-Identifier: Apache-2.0
// An operator that measures itself; benchmarks/peers has counterparts on controller-runtime and kube-rs, and
// scripts/bench-runtime runs them in turn against the same server.
//
//   runtime_operator --server KUBECONFIG [--mode MODE] [--workers N] [--in-flight N] [--objects N]
//                    [--rounds N] [--token N] [--watches N]
//                    [--after-ms N]
//
//   start    watches ConfigMaps and does nothing with them: start-up time, and cost of an idle operator
//   latency  records the time from sending a write to the reconcile that sees the object
//   empty    does nothing; each object `rounds` times, a millisecond apart
//   status   reads the object from the cache and patches its status to `token`
//   wait     waits 100 ms in each reconcile
//
// All modes except start reconcile Gadgets, of which there are `objects`. Beside them the cache watches the
// Secrets of `watches` empty namespaces. Mode status
// begins `after-ms` after the program, when these have been listed. It runs until SIGTERM. Its output
// is lines of JSON:
//   {"event":"first","at_ns":...}   the first reconcile began (CLOCK_MONOTONIC)
//   {"event":"ready"}               latency: every object was seen
//   {"event":"done","reconciles":...,"seconds":...,"cpu_s":...}   from the first reconcile to the end of the
//   last
//   {"event":"latency","count":...,"p50_us":...,"p99_us":...,"cpu_s":...}   at the end, of objects that
//   changed
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <evenkeel/base/stop.hpp>
#include <evenkeel/evenkeel.hpp>

#include "../support/program.hpp"
#include "gadget.hpp"

namespace {

namespace ek = evenkeel;
using namespace evenkeel::benchmarks;

constexpr std::chrono::milliseconds wait_in_each{100};

struct Flags {
  std::string server = {};
  std::string mode = "start";
  std::int64_t workers = 1;
  std::int64_t in_flight = 0;  // 0: a thread for each
  std::int64_t objects = 1;
  std::int64_t rounds = 1;
  std::int64_t token = 1;
  std::int64_t watches = 0;
  std::int64_t after_ms = 0;
};

Flags flags_of(int argc, char** argv) {
  Flags flags;
  read_flags(argc, argv,
             {{"--server", &flags.server},
              {"--mode", &flags.mode},
              {"--workers", &flags.workers},
              {"--in-flight", &flags.in_flight},
              {"--objects", &flags.objects},
              {"--rounds", &flags.rounds},
              {"--token", &flags.token},
              {"--watches", &flags.watches},
              {"--after-ms", &flags.after_ms}});
  return flags;
}

/// Measures the time from the first reconcile to the one that completes the work.
class Stretch {
 public:
  explicit Stretch(std::int64_t wanted) : wanted_(wanted) {}

  void begin() {
    std::call_once(once_, [this] {
      start_ = now();
      cpu_ = cpu_seconds();
      say(ek::Json::object({{"event", "first"}, {"at_ns", start_}}));
    });
  }
  void step() {
    if (count_.fetch_add(1) + 1 != wanted_) return;
    say(ek::Json::object({{"event", "done"},
                          {"reconciles", wanted_},
                          {"seconds", static_cast<double>(now() - start_) / 1e9},
                          {"cpu_s", cpu_seconds() - cpu_}}));
  }

 private:
  const std::int64_t wanted_;
  std::once_flag once_;
  std::int64_t start_ = 0;
  double cpu_ = 0;
  std::atomic<std::int64_t> count_ = 0;
};

/// Samples of mode latency.
class Samples {
 public:
  explicit Samples(std::int64_t objects) : objects_(static_cast<std::size_t>(objects)) {}

  void take(const std::string& name, std::int64_t sent, std::int64_t at) {
    const std::lock_guard lock(mutex_);
    const auto [seen, first] = seen_.try_emplace(name, sent);
    if (first) {
      if (seen_.size() == objects_) say(ek::Json::object({{"event", "ready"}}));
      return;
    }
    if (std::exchange(seen->second, sent) == sent) return;
    if (values_.empty()) first_ = cpu_seconds();
    values_.emplace_back(sent, at);
    last_ = cpu_seconds();
  }
  void report() {
    const std::lock_guard lock(mutex_);
    if (values_.empty()) return;
    ek::Json::Array seen;
    for (const auto& [sent, at] : values_) seen.emplace_back(ek::Json::Array{sent, at});
    say(ek::Json::object({{"event", "latency"}, {"seen", std::move(seen)}, {"cpu_s", last_ - first_}}));
  }

 private:
  const std::size_t objects_;
  std::mutex mutex_;
  std::vector<std::pair<std::int64_t, std::int64_t>> values_;
  std::unordered_map<std::string, std::int64_t> seen_;
  double first_ = 0;
  double last_ = 0;
};

/// Number of reconciles of each object in mode empty.
class Runs {
 public:
  explicit Runs(std::int64_t rounds) : rounds_(rounds) {}
  bool again(const ek::ObjectKey& key) {
    if (rounds_ == 1) return false;
    const std::lock_guard lock(mutex_);
    return ++runs_[key.name] < rounds_;
  }

 private:
  const std::int64_t rounds_;
  std::mutex mutex_;
  std::unordered_map<std::string, std::int64_t> runs_;
};

struct Work {
  explicit Work(const Flags& what)
      : flags(what), stretch(what.objects * what.rounds), samples(what.objects), runs(what.rounds) {}
  const Flags flags;
  const ek::TimePoint begins = ek::real_clock()->now() + std::chrono::milliseconds{flags.after_ms};
  Stretch stretch;
  Samples samples;
  Runs runs;
};

/// Waits like a call of a slow service, and obeys the stop token.
void wait(const std::stop_token& stop) {
  const auto& clock = ek::real_clock();
  ek::sleep_until(*clock, clock->now() + wait_in_each, stop);
}

void watch_silent_namespaces(ek::Manager& manager, std::int64_t watches) {
  for (std::int64_t at = 0; at < watches; ++at) {
    ek::InformerOptions options = manager.cache().default_options();
    options.namespace_ = "silent-" + std::to_string(at);
    manager.cache().informer<ek::Secret>(std::move(options));
  }
}

ek::ControllerOptions options_of(const Flags& flags) {
  ek::ControllerOptions options{.workers = static_cast<std::size_t>(flags.workers)};
  if (flags.in_flight > 0) options.in_flight = static_cast<std::size_t>(flags.in_flight);
  return options;
}

ek::ControllerSpec controller(Work& work) {
  const ek::ControllerOptions options = options_of(work.flags);
  const std::string& mode = work.flags.mode;
  if (mode == "start") {
    return ek::controller_for<ek::ConfigMap>(
               [&work](ek::Context&, const ek::Request&) { work.stretch.begin(); })
        .with(options);
  }
  if (mode == "latency") {
    return ek::controller_for<Gadget>([&work](ek::Context&, const Gadget& gadget) {
             const std::int64_t at = now();
             work.stretch.begin();
             work.samples.take(gadget.metadata.name, gadget.spec.sent_at, at);
           })
        .with(options);
  }
  if (mode == "empty") {
    return ek::controller_for<Gadget>([&work](ek::Context& context, const ek::Request&) {
             work.stretch.begin();
             work.stretch.step();
             return work.runs.again(context.key()) ? ek::requeue_after(std::chrono::milliseconds{1})
                                                   : ek::done();
           })
        .with(options);
  }
  if (mode == "status") {
    return ek::controller_for<Gadget>([&work](ek::Context& context, const Gadget& gadget) {
             ek::sleep_until(*ek::real_clock(), work.begins, context.stop());
             work.stretch.begin();
             if (gadget.status.observed == work.flags.token) return;
             context.patch_status(gadget, [&work](GadgetStatus& status) {
               status.observed = work.flags.token;
               status.phase = "Ready";
             });
             work.stretch.step();
           })
        .with(options);
  }
  if (mode == "wait") {
    return ek::controller_for<Gadget>([&work](ek::Context& context, const ek::Request&) {
             work.stretch.begin();
             wait(context.stop());
             work.stretch.step();
           })
        .with(options);
  }
  throw std::invalid_argument("unknown mode " + mode);
}

}  // namespace

int main(int argc, char** argv) {
  return run_program("runtime_operator", [&] {
    Work work(flags_of(argc, argv));
    const char* const flags[] = {argv[0], "--kubeconfig", work.flags.server.c_str(), "--log-level", "error"};
    const int code =
        ek::run(std::size(flags), flags, {.name = "runtime-operator"}, [&work](ek::Manager& manager) {
          watch_silent_namespaces(manager, work.flags.watches);
          manager.add(controller(work));
        });
    work.samples.report();
    return code;
  });
}
