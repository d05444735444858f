// SPDX-License-Identifier: Apache-2.0
// A custom kind with a status, and a controller that maintains a config map for each of its objects.
#pragma once

#include <algorithm>
#include <chrono>
#include <string>

#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/controller/builder.hpp>

namespace evenkeel::testing {

struct GadgetSpec {
  int replicas = 1;
  std::string image;
};
EVENKEEL_FIELDS(GadgetSpec, replicas, image)

struct GadgetStatus {
  int ready_replicas = 0;
};
EVENKEEL_FIELDS(GadgetStatus, ready_replicas)

struct Gadget {
  static constexpr ResourceInfo resource{
      .group = "test.evenkeel.dev", .version = "v1", .kind = "Gadget", .plural = "gadgets"};
  ObjectMeta metadata;
  GadgetSpec spec;
  GadgetStatus status;
};
EVENKEEL_FIELDS(Gadget, metadata, spec, status)

inline Gadget gadget(const std::string& name, int replicas = 1) {
  return {.metadata = {.name = name, .namespace_ = "default"},
          .spec = {.replicas = replicas, .image = "web:1"},
          .status = {}};
}

inline const ObjectKey web{"default", "web"};

// One more replica in each run, 10 s apart.
inline Result reconcile_gadget(Context& context, const Gadget& gadget) {
  context.apply(
      ConfigMap{.metadata = {.name = gadget.metadata.name}, .data = {{"image", gadget.spec.image}}});
  const int ready = std::min(gadget.status.ready_replicas + 1, gadget.spec.replicas);
  context.patch_status(gadget, [ready](GadgetStatus& status) { status.ready_replicas = ready; });
  context.log().info("reconciled", {{"ready", ready}});
  if (ready == gadget.spec.replicas) return done();
  return requeue_after(std::chrono::seconds{10}, "rolling out");
}

// Runs for changes of the gadgets' specs only.
inline ControllerSpec rollout_controller() {
  return controller_for<Gadget>(reconcile_gadget, {.when = generation_changed()});
}

// Runs for changes of their config maps, too.
inline ControllerSpec gadget_controller() {
  return controller_for<Gadget>(reconcile_gadget, {.when = generation_changed()}).owns<ConfigMap>();
}

}  // namespace evenkeel::testing
