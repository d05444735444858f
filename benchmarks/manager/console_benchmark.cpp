// SPDX-License-Identifier: Apache-2.0
// Cost of the console for an operator whose workers never rest: somebody looks at all of its pages all the
// time, the state that instances share among them, or nobody does. The client of the console is in this
// process, so the processor time of its thread is taken off. Slices with and without looks take turns, and
// results are medians of ratios, so that other load on the machine affects both.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <sys/resource.h>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>

#include <evenkeel/apiserver/in_process_transport.hpp>
#include <evenkeel/coordination/console_section.hpp>
#include <evenkeel/coordination/lease_lock.hpp>
#include <evenkeel/coordination/memory_store.hpp>
#include <evenkeel/coordination/overview.hpp>
#include <evenkeel/evenkeel.hpp>
#include <evenkeel/http/curl_transport.hpp>
#include <evenkeel/manager/endpoint.hpp>
#include <evenkeel/ratelimit/exponential.hpp>
#include <evenkeel/testing/log_recorder.hpp>
#include <evenkeel/testing/running_manager.hpp>

#include "../controller/rounds.hpp"
#include "../support/program.hpp"
#include "coordination/overview_section.hpp"

namespace evenkeel::benchmarks {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t objects = 1000;
constexpr std::array<const char*, 5> pages{"overview", "controllers/configmap",
                                           "keys/configmap/default/demo-0", "watches", "sections"};
const coordination::Layout layout("/db");

/// Returns the processor time of the calling thread, in seconds.
double thread_cpu() {
  rusage used{};
  getrusage(RUSAGE_THREAD, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

/// Writes three instances with units that all are to be restarted, two thirds of which are ready.
void fill(coordination::Store& store, std::int64_t units) {
  for (const std::string scope : {"dc1", "dc2", "dc3"}) {
    store.commit({.puts = {{layout.instance(scope),
                            encode(coordination::InstanceRecord{.instance = scope, .incarnation = "run"})}}});
    for (std::int64_t at = 0; at < units; ++at) {
      const std::string unit = scope + "-storage-" + std::to_string(at);
      coordination::Commit commit{
          .puts = {{layout.member("pendingForRestart", scope, unit), R"({"at":1767225600,"kind":"storage"})"},
                   {layout.facts(scope, unit), R"(["10.0.0.1:4501"])"}}};
      if (at % 3 != 0) commit.puts.push_back({layout.member("readyForRestart", scope, unit), "{}"});
      store.commit(commit);
    }
  }
}

/// A running operator with a console, and a client of it.
class Operator {
 public:
  Operator() {
    fill(store_, 48);
    for (std::size_t at = 0; at < objects; ++at) {
      ConfigMap one;
      one.metadata = {.name = "demo-" + std::to_string(at), .namespace_ = "default"};
      manager_.client().create(one);
    }
    ControllerSpec spec = controller_for<ConfigMap>([this](Context&, const ConfigMap& one) -> Result {
      if (one.metadata.name.starts_with("demo-98")) throw Error("no disk left");  // 11 of them, once each
      if (!busy_) return requeue_after(1ms);
      ++runs_;
      return requeue_after(1ns);
    });
    spec.options.workers = 2;
    spec.options.limiter = [] { return AnyLimiter<RequestKey>(exponential(1h, 1h)); };
    manager_.add(std::move(spec));
    manager_.add_console_section("Coordination", coordination::console_section(store_, layout));
    manager_.serve({.metrics_address = "127.0.0.1:0", .console = Console::on});
    running_ = std::make_unique<testing::RunningManager>(manager_);
    const std::string line = log_->wait_for("serving").back();
    client_ = http::make_curl_transport({.server = line.substr(line.find("url=") + 4), .proxy = ""});
  }

  /// Asks for one page as a browser that has the older points of the graphs does.
  void look(const std::string& page) {
    const http::Response answer =
        client_->fetch({.method = http::Method::get,
                        .target = "/console/api/" + page + "?after=" + std::to_string(sequence_)});
    if (answer.status != 200) throw Error(page + ": " + answer.body);
    sequence_ = Json::parse(answer.body)["sequence"].as_integer();
  }
  void look_at_all() {
    for (const char* page : pages) look(page);
  }
  void set_busy(bool busy) { busy_ = busy; }
  std::uint64_t runs() const { return runs_; }

 private:
  const std::shared_ptr<testing::LogRecorder> log_ = std::make_shared<testing::LogRecorder>(LogLevel::info);
  coordination::MemoryStore store_;
  std::atomic<bool> busy_ = false;
  std::atomic<std::uint64_t> runs_ = 0;
  Manager manager_{Client(Config{.server = "http://test"},
                          {.transport = std::make_shared<apiserver::InProcessTransport>(), .log = Log(log_)}),
                   ManagerOptions{.name = "operator", .log = Log(log_)}};
  std::unique_ptr<testing::RunningManager> running_;
  std::shared_ptr<http::Transport> client_;
  std::int64_t sequence_ = 0;
};

/// Returns the runs per second of processor time of a slice of two seconds, the interval of the page, in
/// which somebody looks `looks` times at all pages.
double slice(Operator& one, std::int64_t looks) {
  const std::int64_t length = 2'000'000'000;
  const std::int64_t begin = now();
  const std::uint64_t runs = one.runs();
  const double cpu = cpu_seconds() - thread_cpu();
  for (std::int64_t at = 0; at < looks; ++at) {
    one.look_at_all();
    sleep_until(begin + (at + 1) * length / looks);
  }
  sleep_until(begin + length);
  return static_cast<double>(one.runs() - runs) / (cpu_seconds() - thread_cpu() - cpu);
}

void console_under_load(benchmark::State& state) {
  Operator one;
  one.set_busy(true);
  slice(one, state.range(0));
  std::vector<double> ratios;
  std::vector<double> quiet;
  bool swapped = false;
  for (auto _ : state) {
    double looked = 0;
    double alone = 0;
    if (swapped) looked = slice(one, state.range(0));
    alone = slice(one, 0);
    if (!swapped) looked = slice(one, state.range(0));
    swapped = !swapped;
    quiet.push_back(alone);
    ratios.push_back(looked / alone);
  }
  state.counters["runs_per_cpu_second"] = median(quiet);
  state.counters["cost_percent"] = (1 - median(ratios)) * 100;
}
BENCHMARK(console_under_load)->ArgName("looks_in_2s")->Arg(1)->Arg(20)->Iterations(30)->UseRealTime();

// Measures one look at each page by itself, and the share of one processor that they take together, every two
// seconds.
void console_look(benchmark::State& state) {
  Operator one;
  std::array<std::vector<double>, pages.size()> spent;
  for (int at = 0; at < 50; ++at) one.look_at_all();
  for (auto _ : state) {
    for (std::size_t page = 0; page < pages.size(); ++page) {
      const double cpu = cpu_seconds() - thread_cpu();
      for (int at = 0; at < 50; ++at) one.look(pages.at(page));
      spent.at(page).push_back((cpu_seconds() - thread_cpu() - cpu) / 50);
    }
  }
  double all = 0;
  for (std::size_t page = 0; page < pages.size(); ++page) {
    const std::string_view name(pages.at(page));
    const double each = median(spent.at(page));
    state.counters[std::string(name.substr(0, name.find('/'))) + "_us"] = each * 1e6;
    all += each;
  }
  state.counters["percent_of_a_processor"] = all / 2 * 100;
}
BENCHMARK(console_look)->Iterations(40)->UseRealTime();

// One read of the store, which there is every five seconds at most.
void console_read_of_the_store(benchmark::State& state) {
  coordination::MemoryStore store;
  fill(store, state.range(0));
  coordination::Overviewer overviewer(layout);
  for (auto _ : state) {
    const auto snapshot = store.snapshot();
    const coordination::Overview overview = overviewer.take(*snapshot, real_clock()->now());
    benchmark::DoNotOptimize(coordination::detail::blocks_of(overview, real_clock()->wall_now()));
  }
}
BENCHMARK(console_read_of_the_store)
    ->ArgName("units")
    ->Arg(48)
    ->Arg(480)
    ->Arg(4800)
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace evenkeel::benchmarks
