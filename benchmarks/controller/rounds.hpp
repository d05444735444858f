// SPDX-License-Identifier: Apache-2.0
// A controller whose reconciler does nothing, for benchmarks: events of 1,000 objects are delivered and their
// keys reconciled, on one thread, so that only the work itself is measured. Variants alternate in slices of
// some milliseconds, and results are medians of ratios, so that other load on the machine affects all of
// them.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <evenkeel/apiserver/in_process_transport.hpp>
#include <evenkeel/cache/cache.hpp>
#include <evenkeel/cache/wire_object.hpp>
#include <evenkeel/client/client.hpp>
#include <evenkeel/controller/controller.hpp>

namespace evenkeel::benchmarks {

/// The surroundings of one controller.
struct World {
  explicit World(std::shared_ptr<Tracer> tracer = {})
      : client(
            Config{.server = "http://test"},
            {.transport = std::make_shared<apiserver::InProcessTransport>(), .tracer = std::move(tracer)}) {}

  static std::vector<WireObject> make_objects() {
    constexpr std::size_t count = 1000;
    WireScanner scanner;
    std::vector<WireObject> made;
    for (std::size_t i = 0; i < count; ++i) {
      made.push_back(scanner.object(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"namespace":"ns-)" +
                                    std::to_string(i % 20) + R"(","name":"demo-)" + std::to_string(i) +
                                    R"("}})"));
    }
    return made;
  }

  Client client;
  Cache cache{client};
  KeyTable keys;
  std::vector<WireObject> objects = make_objects();
};

/// One variant.
class Rounds {
 public:
  explicit Rounds(World& world, ControllerOptions options) : world_(world) {
    ControllerSpec spec;
    spec.options = std::move(options);
    spec.options.name = "demo";
    spec.resource = ResourceId("", "v1", "ConfigMap", "configmaps");
    spec.reconcile = [](Context&) { return done(); };
    spec.watches.push_back({.resource = spec.resource,
                            .mapping = map_to_object(),
                            .primary = true,
                            .attach = [this](Cache&, std::shared_ptr<EventHandler> given) -> Attachment {
                              handler_ = std::move(given);
                              return {};
                            }});
    controller_ = std::make_unique<Controller>(
        std::move(spec),
        ControllerEnvironment{.client = world.client, .cache = world.cache, .keys = world.keys});
    controller_->attach();
    handler_->on_synced();
  }

  /// Changes every object and reconciles every key; returns the nanoseconds of one key.
  double round() {
    const auto begin = std::chrono::steady_clock::now();
    for (const WireObject& object : world_.objects) {
      handler_->on_event({.type = EventType::added, .object = &object});
    }
    while (controller_->step()) {
    }
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
    return took.count() / static_cast<double>(world_.objects.size());
  }

 private:
  World& world_;
  std::shared_ptr<EventHandler> handler_;
  std::unique_ptr<Controller> controller_;
};

inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace evenkeel::benchmarks
