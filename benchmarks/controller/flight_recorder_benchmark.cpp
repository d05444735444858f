// SPDX-License-Identifier: Apache-2.0
// Cost of the flight recorder for a controller whose reconciler does nothing: events of 1,000 objects are
// delivered and their keys reconciled, on one thread, so that only the work itself is measured. The variants
// with and without it alternate in slices of some milliseconds, and the result is the median of the ratios,
// so that other load on the machine affects both.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>

#include <evenkeel/apiserver/in_process_transport.hpp>
#include <evenkeel/cache/wire_object.hpp>
#include <evenkeel/controller/controller.hpp>

namespace {

namespace ek = evenkeel;

constexpr std::size_t object_count = 1000;

struct World {
  ek::Client client{ek::Config{.server = "http://test"},
                    {.transport = std::make_shared<ek::apiserver::InProcessTransport>()}};
  ek::Cache cache{client};
  ek::KeyTable keys;
  std::vector<ek::WireObject> objects = make_objects();

  static std::vector<ek::WireObject> make_objects() {
    ek::WireScanner scanner;
    std::vector<ek::WireObject> made;
    for (std::size_t i = 0; i < object_count; ++i) {
      made.push_back(scanner.object(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"namespace":"ns-)" +
                                    std::to_string(i % 20) + R"(","name":"demo-)" + std::to_string(i) +
                                    R"("}})"));
    }
    return made;
  }
};

class Bench {
 public:
  Bench(World& world, std::size_t recorder_bytes) : world_(world) {
    ek::ControllerSpec spec;
    spec.options.name = "demo";
    spec.options.flight_recorder_bytes = recorder_bytes;
    spec.resource = ek::ResourceId("", "v1", "ConfigMap", "configmaps");
    spec.reconcile = [](ek::Context&) { return ek::done(); };
    spec.watches.push_back(
        {.resource = spec.resource,
         .mapping = ek::map_to_object(),
         .primary = true,
         .attach = [this](ek::Cache&, std::shared_ptr<ek::EventHandler> given) -> ek::Attachment {
           handler_ = std::move(given);
           return {};
         }});
    controller_ = std::make_unique<ek::Controller>(
        std::move(spec),
        ek::ControllerEnvironment{.client = world.client, .cache = world.cache, .keys = world.keys});
    controller_->attach();
    handler_->on_synced();
  }

  /// Changes every object and reconciles every key.
  std::chrono::nanoseconds round() {
    const auto begin = std::chrono::steady_clock::now();
    for (const ek::WireObject& object : world_.objects) {
      handler_->on_event({.type = ek::EventType::added, .object = &object});
    }
    while (controller_->step()) {
    }
    return std::chrono::steady_clock::now() - begin;
  }

 private:
  World& world_;
  std::shared_ptr<ek::EventHandler> handler_;
  std::unique_ptr<ek::Controller> controller_;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void flight_recorder(benchmark::State& state) {
  World world;
  Bench without(world, 0);
  Bench with(world, 1u << 20);
  for (int i = 0; i < 50; ++i) {
    without.round();
    with.round();
  }
  std::vector<double> off;
  std::vector<double> on;
  std::vector<double> ratios;
  bool swapped = false;
  for (auto _ : state) {
    double plain = 0;
    double recorded = 0;
    // The second one finds the objects in the processor's cache, so the order alternates, too.
    if (swapped) recorded = static_cast<double>(with.round().count());
    plain = static_cast<double>(without.round().count());
    if (!swapped) recorded = static_cast<double>(with.round().count());
    swapped = !swapped;
    off.push_back(plain / object_count);
    on.push_back(recorded / object_count);
    ratios.push_back(recorded / plain);
  }
  state.counters["off_ns"] = median(off);
  state.counters["on_ns"] = median(on);
  state.counters["cost_percent"] = (median(ratios) - 1) * 100;
}
BENCHMARK(flight_recorder)->Iterations(4000)->Unit(benchmark::kMillisecond);

}  // namespace
