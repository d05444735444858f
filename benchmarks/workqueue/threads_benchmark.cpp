// SPDX-License-Identifier: Apache-2.0
// Producers and workers together: throughput, cost of an add under contention, wake-up time of an idle
// worker, and cost of a thousand idle workers.
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <latch>
#include <memory>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

#include <benchmark/benchmark.h>

#include "process_usage.hpp"
#include "queues.hpp"
#include "timing.hpp"

namespace evenkeel::benchmarks {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

// Workers that run until the queue is shut down; stop() joins them.
template <class Q, class Step>
class Workers {
 public:
  Workers(Q& queue, std::size_t count, const Step& step) : queue_(queue) {
    threads_.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
      threads_.emplace_back([&queue, step] {
        while (step(queue)) {
        }
      });
    }
  }
  ~Workers() { stop(); }
  void stop() {
    queue_.shut_down();
    threads_.clear();
  }

 private:
  Q& queue_;
  std::vector<std::jthread> threads_;
};

template <class Q>
void wait_until_empty(Q& queue) {
  while (queue.size() > 0) std::this_thread::sleep_for(100us);
}

// Producers add as fast as they can while workers run, from the first add until everything is handed out.
// Without duplicates every add has another key. With 90%, nine of ten adds have one of four constantly
// changing keys, like busy objects. Every key has run once before, as in a controller past its start.
template <class Q>
void throughput(benchmark::State& state) {
  const auto producers = static_cast<std::size_t>(state.range(0));
  const auto workers = static_cast<std::size_t>(state.range(1));
  const auto duplicates = static_cast<std::size_t>(state.range(2));
  constexpr std::size_t adds = 300'000;
  std::atomic<std::size_t> runs = 0;
  for (auto _ : state) {
    Q queue(adds);
    for (std::size_t i = 0; i < adds; ++i) {
      queue.add(i);
      queue.step();
    }
    Workers pool(queue, workers, [&runs](Q& q) {
      typename Q::Worker worker{q};
      while (worker.step()) runs.fetch_add(1, std::memory_order_relaxed);
      return false;
    });
    std::latch ready(static_cast<std::ptrdiff_t>(producers) + 1);
    std::vector<std::jthread> adders;
    for (std::size_t p = 0; p < producers; ++p) {
      adders.emplace_back([&, p] {
        ready.arrive_and_wait();
        for (std::size_t i = p; i < adds; i += producers) {
          queue.add(i / producers % 10 * 10 < duplicates ? i % 4 : i);
        }
      });
    }
    ready.arrive_and_wait();
    const auto start = Clock::now();
    adders.clear();
    wait_until_empty(queue);
    const Duration took = Clock::now() - start;
    pool.stop();
    set_time(state, took);
    if (duplicates == 0 && runs != adds) state.SkipWithError("a key was lost or ran twice");
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(adds));
  state.counters["runs_per_add"] = static_cast<double>(runs) / static_cast<double>(adds);
}

void report_latency(benchmark::State& state, std::vector<std::int64_t>& samples) {
  state.counters["p50_ns"] = percentile(samples, 0.5);
  state.counters["p99_ns"] = percentile(samples, 0.99);
  state.counters["max_ns"] = percentile(samples, 1);
}

template <class Q>
std::vector<std::int64_t> time_adds(Q& queue, std::size_t first, std::size_t count) {
  std::vector<std::int64_t> samples(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto start = Clock::now();
    queue.add(first + i);
    samples[i] = (Clock::now() - start).count();
  }
  return samples;
}

// Four workers take keys and add them again as fast as they can, at a depth of 100,000; a fifth thread
// measures each of its own adds, which use other keys.
template <class Q>
void add_latency_busy(benchmark::State& state) {
  constexpr std::size_t depth = 100'000;
  constexpr std::size_t measured = 50'000;
  for (auto _ : state) {
    Q queue(depth + measured);
    for (std::size_t i = 0; i < depth; ++i) queue.add(i);
    std::atomic<bool> over = false;
    Workers pool(queue, 4, [&over](Q& q) {
      return q.step([&over](const auto& add_again) {
        if (!over.load(std::memory_order_relaxed)) add_again();
      });
    });
    std::vector<std::int64_t> samples;
    set_time(state, time_of([&] { samples = time_adds(queue, depth, measured); }));
    over = true;
    pool.stop();
    report_latency(state, samples);
  }
}

// A thousand workers whose reconciles wait for a millisecond each, with a million queued keys.
template <class Q>
void add_latency_1000_workers(benchmark::State& state) {
  constexpr std::size_t depth = 1'000'000;
  constexpr std::size_t measured = 2'000;
  for (auto _ : state) {
    Q queue(depth + measured);
    for (std::size_t i = 0; i < depth; ++i) queue.add(i);
    std::atomic<bool> over = false;
    Workers pool(queue, 1000, [&over](Q& q) {
      return q.step([&over](const auto&) {
        if (!over.load(std::memory_order_relaxed)) std::this_thread::sleep_for(1ms);
      });
    });
    std::vector<std::int64_t> samples;
    set_time(state, time_of([&] { samples = time_adds(queue, depth, measured); }));
    over = true;
    pool.stop();
    report_latency(state, samples);
  }
}

// A thread inspects all of 100,000 keys repeatedly while another measures its adds of other keys. Half of the
// samples are taken without inspection, for comparison.
template <class Q>
void add_latency_inspected(benchmark::State& state) {
  constexpr std::size_t depth = 100'000;
  constexpr std::size_t measured = 50'000;
  for (auto _ : state) {
    Q queue(depth + 2 * measured);
    for (std::size_t i = 0; i < depth; ++i) queue.add(i);
    auto alone = time_adds(queue, depth, measured);
    std::atomic<std::size_t> looks = 0;
    std::jthread looker([&](const std::stop_token& stop) {
      for (; !stop.stop_requested(); ++looks) benchmark::DoNotOptimize(queue.queue.inspect_all().size());
    });
    while (looks == 0) std::this_thread::yield();
    std::vector<std::int64_t> samples;
    set_time(state, time_of([&] { samples = time_adds(queue, depth + measured, measured); }));
    report_latency(state, samples);
    state.counters["alone_p50_ns"] = percentile(alone, 0.5);
    state.counters["alone_p99_ns"] = percentile(alone, 0.99);
  }
}

// Measures from just before an add to just after get() returns in a worker that was parked.
template <class Q>
std::vector<std::int64_t> time_wakes(std::size_t workers, std::size_t count) {
  Q queue(1024);
  std::counting_semaphore<> taken(0);
  std::atomic<std::int64_t> at = 0;
  Workers pool(queue, workers, [&](Q& q) {
    return q.step([&](const auto&) {
      at = Clock::now().time_since_epoch().count();
      taken.release();
    });
  });
  std::this_thread::sleep_for(50ms);
  std::vector<std::int64_t> samples(count);
  for (std::size_t i = 0; i < count; ++i) {
    std::this_thread::sleep_for(200us);  // gives the worker time to park again
    const std::int64_t start = Clock::now().time_since_epoch().count();
    queue.add(i % 1024);
    taken.acquire();
    samples[i] = at - start;
  }
  return samples;
}

template <class Q>
void wake_latency(benchmark::State& state) {
  for (auto _ : state) {
    std::vector<std::int64_t> samples;
    set_time(state, time_of([&] { samples = time_wakes<Q>(1, 2000); }));
    report_latency(state, samples);
  }
}

template <class Q>
void wake_latency_1000_idle(benchmark::State& state) {
  for (auto _ : state) {
    std::vector<std::int64_t> samples;
    set_time(state, time_of([&] { samples = time_wakes<Q>(1000, 2000); }));
    report_latency(state, samples);
  }
}

// A thousand idle workers, each of which has worked once. Kernel stacks and page tables are system-wide
// figures, so other processes that start threads disturb them.
template <class Q>
void idle_workers(benchmark::State& state) {
  constexpr std::size_t count = 1000;
  for (auto _ : state) {
    Q queue(count);
    const ProcessMemory before = process_memory();
    Workers pool(queue, count, [](Q& q) { return q.step(); });
    for (std::size_t i = 0; i < count; ++i) queue.add(i);
    wait_until_empty(queue);
    std::this_thread::sleep_for(200ms);
    const ProcessMemory after = process_memory();
    const Duration cpu_before = process_cpu();
    set_time(state, time_of([] { std::this_thread::sleep_for(1s); }));
    const std::chrono::duration<double, std::milli> cpu = process_cpu() - cpu_before;
    const auto each = [](std::int64_t kilobytes) { return static_cast<double>(kilobytes) / count; };
    state.counters["resident_kb_each"] = each(after.resident_kb - before.resident_kb);
    state.counters["kernel_kb_each"] = each(after.kernel_kb - before.kernel_kb);
    state.counters["cpu_ms_per_second"] = cpu.count();
  }
}

void mixes(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgNames({"producers", "workers", "duplicates"});
  for (const auto& [producers, workers, duplicates] :
       {std::array{1, 1, 0}, std::array{4, 1, 0}, std::array{1, 4, 0}, std::array{4, 4, 0},
        std::array{4, 4, 90}}) {
    benchmark->Args({producers, workers, duplicates});
  }
  benchmark->Apply(one_pass);
}

BENCHMARK(throughput<Textbook>)->Name("throughput/textbook")->Apply(mixes);
BENCHMARK(throughput<Strings<FifoStore>>)->Name("throughput/strings_fifo")->Apply(mixes);
BENCHMARK(throughput<Strings<PriorityStore>>)->Name("throughput/strings_priority")->Apply(mixes);
BENCHMARK(throughput<Interned<FifoStore>>)->Name("throughput/interned_fifo")->Apply(mixes);
BENCHMARK(throughput<Interned<PriorityStore>>)->Name("throughput/interned_priority")->Apply(mixes);

BENCHMARK(add_latency_busy<Textbook>)->Name("add_latency_busy/textbook")->Apply(one_pass);
BENCHMARK(add_latency_busy<Strings<FifoStore>>)->Name("add_latency_busy/strings_fifo")->Apply(one_pass);
BENCHMARK(add_latency_busy<Interned<PriorityStore>>)
    ->Name("add_latency_busy/interned_priority")
    ->Apply(one_pass);

BENCHMARK(add_latency_1000_workers<Textbook>)->Name("add_latency_1000_workers/textbook")->Apply(one_pass);
BENCHMARK(add_latency_1000_workers<Strings<FifoStore>>)
    ->Name("add_latency_1000_workers/strings_fifo")
    ->Apply(one_pass);
BENCHMARK(add_latency_1000_workers<Interned<PriorityStore>>)
    ->Name("add_latency_1000_workers/interned_priority")
    ->Apply(one_pass);

BENCHMARK(wake_latency<Textbook>)->Name("wake_latency/textbook")->Apply(one_pass);
BENCHMARK(wake_latency<Strings<FifoStore>>)->Name("wake_latency/strings_fifo")->Apply(one_pass);
BENCHMARK(wake_latency<Interned<PriorityStore>>)->Name("wake_latency/interned_priority")->Apply(one_pass);

BENCHMARK(add_latency_inspected<Strings<FifoStore>>)
    ->Name("add_latency_inspected/strings_fifo")
    ->Apply(one_pass);
BENCHMARK(add_latency_inspected<Interned<PriorityStore>>)
    ->Name("add_latency_inspected/interned_priority")
    ->Apply(one_pass);

BENCHMARK(wake_latency_1000_idle<Textbook>)->Name("wake_latency_1000_idle/textbook")->Apply(one_pass);
BENCHMARK(wake_latency_1000_idle<Strings<FifoStore>>)
    ->Name("wake_latency_1000_idle/strings_fifo")
    ->Apply(one_pass);

BENCHMARK(idle_workers<Textbook>)->Name("idle_workers/textbook")->Apply(one_pass);
BENCHMARK(idle_workers<Strings<FifoStore>>)->Name("idle_workers/strings_fifo")->Apply(one_pass);

}  // namespace
}  // namespace evenkeel::benchmarks
