// SPDX-License-Identifier: Apache-2.0
// Cost of tracing for a reconcile that does nothing and for a request that is answered at once: without a
// tracer, with one that records no trace, and with one that records all and drops the spans. What the code
// does for spans where there is no tracer is measured by itself, as part of the whole.
#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>

#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/base/trace.hpp>

#include "client/request/request_span.hpp"
#include "controller/run_span.hpp"
#include "rounds.hpp"

namespace evenkeel::benchmarks {
namespace {

class Dropped final : public SpanExporter {
 public:
  void on_end(SpanRecord) noexcept override {}
};

std::shared_ptr<Tracer> tracer(double ratio) {
  return std::make_shared<Tracer>(std::make_shared<Dropped>(), TracerOptions{.ratio = ratio});
}

/// Takes turns between variants, and keeps their times and their ratios to the first one.
template <class Measure>
void compare(benchmark::State& state, Measure measure) {
  constexpr std::array<const char*, 3> names = {"off", "unsampled", "on"};
  std::array<std::vector<double>, 3> times;
  std::array<std::vector<double>, 3> ratios;
  std::size_t first = 0;
  for (int i = 0; i < 50; ++i) {
    for (std::size_t variant = 0; variant < names.size(); ++variant) measure(variant);
  }
  for (auto _ : state) {
    std::array<double, 3> now{};
    for (std::size_t i = 0; i < names.size(); ++i) {
      const std::size_t variant = (first + i) % names.size();
      now.at(variant) = measure(variant);
    }
    ++first;
    for (std::size_t i = 0; i < names.size(); ++i) {
      times.at(i).push_back(now.at(i));
      ratios.at(i).push_back(now.at(i) / now[0]);
    }
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    state.counters[std::string(names.at(i)) + "_ns"] = median(times.at(i));
    state.counters[std::string(names.at(i)) + "_ratio"] = median(ratios.at(i));
  }
}

void tracing_of_a_run(benchmark::State& state) {
  World plain;
  World unsampled(tracer(0));
  World traced(tracer(1));
  std::array<std::unique_ptr<Rounds>, 3> variants = {std::make_unique<Rounds>(plain, ControllerOptions()),
                                                     std::make_unique<Rounds>(unsampled, ControllerOptions()),
                                                     std::make_unique<Rounds>(traced, ControllerOptions())};
  compare(state, [&variants](std::size_t variant) { return variants.at(variant)->round(); });
}
BENCHMARK(tracing_of_a_run)->Iterations(2000)->Unit(benchmark::kMillisecond);

/// Answers every request at once, with one object.
class Answering final : public http::Transport {
 public:
  std::shared_ptr<http::Call> send(http::Request, http::Completion completion) override {
    completion(answer());
    return {};
  }
  std::shared_ptr<http::Call> stream(http::Request, std::shared_ptr<http::StreamHandler>) override {
    return {};
  }
  http::Response fetch(http::Request, std::stop_token) override { return answer(); }

 private:
  static http::Response answer() {
    return {.status = 200,
            .body = R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"web","namespace":"default",)"
                    R"("resourceVersion":"7","uid":"6f6ad4ad-1"},"data":{"a":"1"}})"};
  }
};

void tracing_of_a_request(benchmark::State& state) {
  const auto client = [](std::shared_ptr<Tracer> one) {
    return Client(Config{.server = "http://test"},
                  {.transport = std::make_shared<Answering>(), .tracer = std::move(one)});
  };
  const std::array<Client, 3> variants = {client(nullptr), client(tracer(0)), client(tracer(1))};
  compare(state, [&variants](std::size_t variant) {
    constexpr int calls = 200;
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < calls; ++i) {
      benchmark::DoNotOptimize(variants.at(variant).get<ConfigMap>({"default", "web"}));
    }
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
    return took.count() / calls;
  });
}
BENCHMARK(tracing_of_a_request)->Iterations(2000)->Unit(benchmark::kMillisecond);

// Does what a run does for its span without a tracer: asks for it, moves it into the context, and ends it.
void run_without_a_tracer(benchmark::State& state) {
  const World world;
  const ReconcileOutcome outcome;
  for (auto _ : state) {
    const std::shared_ptr<Tracer>& tracer = world.client.tracer();
    benchmark::DoNotOptimize(tracer);
    Span span = start_span(tracer, "reconcile demo");
    Span moved = std::move(span);
    benchmark::DoNotOptimize(moved);
    detail::describe_outcome(moved, outcome);
    moved.end();
  }
}
BENCHMARK(run_without_a_tracer);

// Does what a request does for its span without a tracer.
void request_without_a_tracer(benchmark::State& state) {
  const std::shared_ptr<Tracer> none;
  const RestRequest request{.resource = ConfigMap::resource, .namespace_ = "default", .name = "web"};
  http::Request wire;
  for (auto _ : state) {
    detail::RequestSpan span(none, request, std::nullopt);
    benchmark::DoNotOptimize(span);
    span.on_sending(wire);
    span.on_status(200);
    span.end();
  }
}
BENCHMARK(request_without_a_tracer);

}  // namespace
}  // namespace evenkeel::benchmarks
