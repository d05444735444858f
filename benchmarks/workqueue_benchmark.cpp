// SPDX-License-Identifier: Apache-2.0
// What a cycle of the queue costs: WorkQueue on strings, RequestQueue on interned keys, and the textbook
// structure as the yardstick. Keys are a namespace of 10 and a name of 36 characters.
// Compare within one run: --benchmark_repetitions=5 --benchmark_enable_random_interleaving=true.
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <malloc.h>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <benchmark/benchmark.h>

#include <evenkeel/workqueue/key_table.hpp>
#include <evenkeel/workqueue/request_queue.hpp>
#include <evenkeel/workqueue/work_queue.hpp>

#include "textbook_queue.hpp"

namespace evenkeel::benchmarks {
namespace {

std::string name_of(std::size_t index) {
  std::string name = "deployment-with-a-long-name-00000000";
  for (std::size_t at = name.size(); index > 0; index /= 10) name[--at] = static_cast<char>('0' + index % 10);
  return name;
}

// Each queue in the same clothes: the keys, an add by index, and a worker's step.
struct Textbook {
  static constexpr const char* label = "textbook";
  explicit Textbook(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) keys.push_back("namespace0/" + name_of(i));
  }
  void add(std::size_t index) { queue.add(keys[index]); }
  bool step() {
    const auto key = queue.get();
    if (!key) return false;
    queue.done(*key);
    return true;
  }
  void shut_down() { queue.shut_down(); }

  std::vector<std::string> keys;
  TextbookQueue<std::string> queue;
};

template <class Store>
struct Strings {
  explicit Strings(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) keys.push_back("namespace0/" + name_of(i));
  }
  void add(std::size_t index) { queue.add(keys[index]); }
  bool step() { return queue.get().has_value(); }
  void shut_down() { queue.shut_down(); }

  std::vector<std::string> keys;
  WorkQueue<std::string, Store> queue;
};

template <class Store>
struct Interned {
  explicit Interned(std::size_t count) : queue({.store = Store()}) {
    for (std::size_t i = 0; i < count; ++i) keys.push_back(table.intern("", "namespace0", name_of(i)));
  }
  void add(std::size_t index) { queue.add(keys[index]); }
  bool step() { return queue.get().has_value(); }
  void shut_down() { queue.shut_down(); }

  KeyTable table;
  std::vector<RequestKey> keys;
  RequestQueue queue;
};

using Fifo = Strings<FifoStore>;
using Lanes = Strings<TwoLaneStore>;
using InternedFifo = Interned<FifoStore>;
using InternedLanes = Interned<TwoLaneStore>;

template <class Q>
void add_get_done(benchmark::State& state) {
  constexpr std::size_t keys = 1024;
  Q queue(keys);
  std::size_t index = 0;
  for (auto _ : state) {
    queue.add(index);
    queue.step();
    index = (index + 1) % keys;
  }
  state.SetItemsProcessed(state.iterations());
}

template <class Q>
void duplicate_add(benchmark::State& state) {
  constexpr std::size_t keys = 1024;
  Q queue(keys);
  for (std::size_t i = 0; i < keys; ++i) queue.add(i);
  std::size_t index = 0;
  for (auto _ : state) {
    queue.add(index);
    index = (index + 1) % keys;
  }
  state.SetItemsProcessed(state.iterations());
}

// A million keys deep: what an add and what a get and done cost there, and the bytes that a queued key
// takes (mallinfo2, so what the allocator adds is in it).
template <class Q>
void million_deep(benchmark::State& state) {
  using Clock = std::chrono::steady_clock;
  constexpr std::size_t keys = 1'000'000;
  double add_seconds = 0;
  double bytes = 0;
  for (auto _ : state) {
    state.PauseTiming();
    auto queue = std::make_unique<Q>(keys);
    const auto before = mallinfo2().uordblks + mallinfo2().hblkhd;
    state.ResumeTiming();
    const auto start = Clock::now();
    for (std::size_t i = 0; i < keys; ++i) queue->add(i);
    add_seconds += std::chrono::duration<double>(Clock::now() - start).count();
    state.PauseTiming();
    bytes += static_cast<double>(mallinfo2().uordblks + mallinfo2().hblkhd - before);
    state.ResumeTiming();
    for (std::size_t i = 0; i < keys; ++i) queue->step();
    state.PauseTiming();
    queue.reset();
    state.ResumeTiming();
  }
  const auto total = static_cast<double>(state.iterations()) * static_cast<double>(keys);
  state.counters["add_ns"] = add_seconds * 1e9 / total;
  state.counters["bytes_per_key"] = bytes / total;
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(keys));
}

// Producers add as fast as they can while workers run; ended by a drained queue. `duplicates` percent of
// the adds are of a few keys that are queued most of the time. Items are adds; runs are what the workers
// were handed, which is fewer where producers are ahead of them.
template <class Q>
void mixed(benchmark::State& state) {
  const auto producers = static_cast<std::size_t>(state.range(0));
  const auto workers = static_cast<std::size_t>(state.range(1));
  const auto duplicates = static_cast<std::size_t>(state.range(2));
  constexpr std::size_t keys = 8192;
  constexpr std::size_t adds = 1'000'000;
  std::atomic<std::size_t> runs = 0;
  for (auto _ : state) {
    state.PauseTiming();
    Q queue(keys);
    state.ResumeTiming();
    std::vector<std::jthread> threads;
    std::vector<std::jthread> adders;
    for (std::size_t w = 0; w < workers; ++w) {
      threads.emplace_back([&] {
        std::size_t own = 0;
        while (queue.step()) ++own;
        runs += own;
      });
    }
    for (std::size_t p = 0; p < producers; ++p) {
      adders.emplace_back([&, p] {
        for (std::size_t i = 0; i < adds / producers; ++i) {
          const bool duplicate = i % 100 < duplicates;
          queue.add(duplicate ? i % 4 : (i * 7 + p * keys / producers) % keys);
        }
      });
    }
    adders.clear();
    queue.shut_down();
    threads.clear();
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(adds));
  state.counters["runs_per_second"] =
      benchmark::Counter(static_cast<double>(runs), benchmark::Counter::kIsRate);
}

template <class Q>
void delayed_add_million_waiting(benchmark::State& state) {
  constexpr std::size_t keys = 1'000'000;
  for (auto _ : state) {
    state.PauseTiming();
    auto queue = std::make_unique<Q>(keys);
    std::uint64_t random = 1;
    state.ResumeTiming();
    for (std::size_t i = 0; i < keys; ++i) {
      random = random * 6364136223846793005ULL + 1442695040888963407ULL;
      queue->queue.add_after(queue->keys[i],
                             std::chrono::seconds{1000} + std::chrono::nanoseconds{random >> 24});
    }
    state.PauseTiming();
    queue.reset();
    state.ResumeTiming();
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(keys));
}

// A slow key of a million is added as fast: the move between lanes, against its first add.
void raise_at_million(benchmark::State& state) {
  constexpr std::size_t keys = 1'000'000;
  InternedLanes queue(keys);
  for (const RequestKey& key : queue.keys) queue.queue.add(key, Lane::slow);
  std::size_t index = 0;
  for (auto _ : state) {
    queue.add(index);
    index += 7919;
    if (index >= keys) index -= keys;
  }
  state.SetItemsProcessed(state.iterations());
}

#define EVENKEEL_BENCHMARK_ALL(function) \
  BENCHMARK(function<Textbook>);         \
  BENCHMARK(function<Fifo>);             \
  BENCHMARK(function<Lanes>);            \
  BENCHMARK(function<InternedFifo>);     \
  BENCHMARK(function<InternedLanes>)

void mixes(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgNames({"producers", "workers", "duplicates"});
  for (const auto& [producers, workers, duplicates] :
       {std::array{1, 1, 0}, std::array{4, 4, 0}, std::array{4, 4, 90}, std::array{1, 4, 0}}) {
    benchmark->Args({producers, workers, duplicates});
  }
  benchmark->MeasureProcessCPUTime()->UseRealTime()->Unit(benchmark::kMillisecond);
}

EVENKEEL_BENCHMARK_ALL(add_get_done);
EVENKEEL_BENCHMARK_ALL(duplicate_add);
BENCHMARK(mixed<Textbook>)->Apply(mixes);
BENCHMARK(mixed<Fifo>)->Apply(mixes);
BENCHMARK(mixed<InternedFifo>)->Apply(mixes);
BENCHMARK(mixed<InternedLanes>)->Apply(mixes);
BENCHMARK(million_deep<Textbook>)->Unit(benchmark::kMillisecond);
BENCHMARK(million_deep<Fifo>)->Unit(benchmark::kMillisecond);
BENCHMARK(million_deep<InternedFifo>)->Unit(benchmark::kMillisecond);
BENCHMARK(delayed_add_million_waiting<Fifo>)->Unit(benchmark::kMillisecond);
BENCHMARK(delayed_add_million_waiting<InternedFifo>)->Unit(benchmark::kMillisecond);
BENCHMARK(raise_at_million)->Iterations(900'000);

#undef EVENKEEL_BENCHMARK_ALL

}  // namespace
}  // namespace evenkeel::benchmarks
