// SPDX-License-Identifier: Apache-2.0
// The controller of shards-operator: it writes into each ConfigMap in which term of its shard it was
// reconciled last.
#pragma once

#include <chrono>
#include <string>

#include <evenkeel/base/stop.hpp>
#include <evenkeel/evenkeel.hpp>

namespace ek = evenkeel;

/// Is told when a reconcile begins and ends.
using Say = void (*)(const char* what, const ek::Context& context);

inline ek::ControllerSpec shared_controller(Say say) {
  using namespace std::chrono_literals;
  const auto reconcile = [say](ek::Context& context, const ek::ConfigMap& map) {
    say("begin", context);
    const auto worked = [&] { return map.data.contains("term") ? map.data.at("term") : ""; };
    if (const std::string term = std::to_string(context.term().value_or(0)); worked() != term) {
      context.patch(map, [&](ek::ConfigMap& changed) { changed.data["term"] = term; });
    }
    ek::sleep_until(context.clock(), context.clock().now() + 20ms, context.stop());
    say("end", context);
    return ek::requeue_after(500ms);
  };
  return ek::controller_for<ek::ConfigMap>(reconcile, {.label_selector = "shards-demo=true"})
      .with({.workers = 16});
}
