// SPDX-License-Identifier: Apache-2.0
// Single-threaded cost of a whole cycle, and of an add that changes nothing.
#include <cstddef>
#include <string>

#include <benchmark/benchmark.h>

#include "../support/allocation_count.hpp"
#include "queues.hpp"

namespace evenkeel::benchmarks {
namespace {

constexpr std::size_t key_count = 1024;

template <class Q>
void add_get_done(benchmark::State& state) {
  Q queue(key_count);
  typename Q::Worker worker{queue};
  std::size_t index = 0;
  const auto cycle = [&] {
    queue.add(index);
    worker.step();
    index = (index + 1) % key_count;
  };
  for (auto _ : state) cycle();
  state.SetItemsProcessed(state.iterations());

  AllocationCount count;
  for (std::size_t i = 0; i < key_count; ++i) cycle();
  state.counters["allocations_per_cycle"] =
      static_cast<double>(count.stop().allocations) / static_cast<double>(key_count);
}

// Argument: number of queued keys, all of which are added again in turn. A thousand fit into the processor's
// caches, a hundred thousand do not.
template <class Q>
void duplicate_add(benchmark::State& state) {
  const auto queued = static_cast<std::size_t>(state.range(0));
  Q queue(queued);
  for (std::size_t i = 0; i < queued; ++i) queue.add(i);
  std::size_t index = 0;
  for (auto _ : state) {
    queue.add(index);
    index = index + 1 == queued ? 0 : index + 1;
  }
  state.SetItemsProcessed(state.iterations());
}

void depths(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgName("queued")->Arg(1000)->Arg(100'000);
}

BENCHMARK(add_get_done<Textbook>)->Name("add_get_done/textbook");
BENCHMARK(add_get_done<Strings<FifoStore>>)->Name("add_get_done/strings_fifo");
BENCHMARK(add_get_done<Strings<TwoLaneStore>>)->Name("add_get_done/strings_lanes");
BENCHMARK(add_get_done<Strings<FairStore<std::string, ByEndOfName>>>)->Name("add_get_done/strings_fair");
BENCHMARK(add_get_done<Interned<FairStore<RequestKey, ByEndOfName>>>)->Name("add_get_done/interned_fair");
BENCHMARK(add_get_done<Strings<PriorityStore>>)->Name("add_get_done/strings_priority");
BENCHMARK(add_get_done<Interned<FifoStore>>)->Name("add_get_done/interned_fifo");
BENCHMARK(add_get_done<Interned<PriorityStore>>)->Name("add_get_done/interned_priority");

BENCHMARK(add_get_done<Metered<Strings<FifoStore>>>)->Name("add_get_done_metered/strings_fifo");
BENCHMARK(add_get_done<Metered<Strings<PriorityStore>>>)->Name("add_get_done_metered/strings_priority");
BENCHMARK(add_get_done<Metered<Interned<PriorityStore>>>)->Name("add_get_done_metered/interned_priority");

BENCHMARK(duplicate_add<Textbook>)->Name("duplicate_add/textbook")->Apply(depths);
BENCHMARK(duplicate_add<Strings<FifoStore>>)->Name("duplicate_add/strings_fifo")->Apply(depths);
BENCHMARK(duplicate_add<Strings<TwoLaneStore>>)->Name("duplicate_add/strings_lanes")->Apply(depths);
BENCHMARK(duplicate_add<Strings<PriorityStore>>)->Name("duplicate_add/strings_priority")->Apply(depths);
BENCHMARK(duplicate_add<Interned<FifoStore>>)->Name("duplicate_add/interned_fifo")->Apply(depths);
BENCHMARK(duplicate_add<Interned<PriorityStore>>)->Name("duplicate_add/interned_priority")->Apply(depths);

}  // namespace
}  // namespace evenkeel::benchmarks
