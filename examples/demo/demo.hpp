// SPDX-License-Identifier: Apache-2.0
// The demo operator without its main(), so that its tests use the same controller: the kind Demo and its
// reconciler. It rolls a Demo out one replica at a time, maintains a ConfigMap, fails for broken images, and
// cleans up.
#pragma once

#include <chrono>
#include <stdexcept>
#include <string>
#include <vector>

#include <evenkeel/evenkeel.hpp>

namespace ek = evenkeel;

struct DemoSpec {
  int replicas = 1;
  std::string image = {};
};
EVENKEEL_FIELDS(DemoSpec, (replicas, ek::minimum(0)), (image, ek::pattern("^[^ ]*$")))

struct DemoStatus {
  int ready_replicas = 0;
  std::string image = {};
  std::string phase = {};
};
EVENKEEL_FIELDS(DemoStatus, ready_replicas, image, phase)

struct Demo {
  static constexpr ek::ResourceInfo resource{.group = "demo.evenkeel.dev",
                                             .version = "v1alpha1",
                                             .kind = "Demo",
                                             .plural = "demos",
                                             .installs_crd = true};
  static constexpr ek::PrinterColumn columns[] = {  // columns of kubectl get
      {.name = "Wanted", .type = "integer", .json_path = ".spec.replicas"},
      {.name = "Ready", .type = "integer", .json_path = ".status.readyReplicas"},
      {.name = "Image", .json_path = ".status.image"},
      {.name = "Phase", .json_path = ".status.phase"}};
  ek::ObjectMeta metadata = {};
  DemoSpec spec = {};
  DemoStatus status = {};
};
EVENKEEL_FIELDS(Demo, metadata, spec, status)

inline ek::ConfigMap desired_config(const Demo& demo) {
  return {.metadata = {.name = demo.metadata.name, .namespace_ = demo.metadata.namespace_},
          .data = {{"image", demo.spec.image}}};
}

inline ek::Result reconcile(ek::Context& context, const Demo& demo) {
  // An exception is logged and the reconcile retried, with growing delays.
  if (demo.spec.image.ends_with(":broken")) throw std::runtime_error("no such image: " + demo.spec.image);

  context.apply(desired_config(demo));  // owner, field owner and deadline are implied

  int ready = demo.status.ready_replicas;
  if (demo.status.image != demo.spec.image) ready = 0;
  if (ready != demo.spec.replicas) ready += ready < demo.spec.replicas ? 1 : -1;
  const bool rolled_out = ready == demo.spec.replicas;
  context.patch_status(demo, [&](DemoStatus& status) {
    status.ready_replicas = ready;  // sends a request only if something changes
    status.image = demo.spec.image;
    status.phase = rolled_out ? "Ready" : "RollingOut";
  });
  if (rolled_out) return ek::done();
  context.log().info("rolling out",
                     {{"ready", ready}, {"replicas", demo.spec.replicas}, {"image", demo.spec.image}});
  return ek::requeue_after(std::chrono::milliseconds{100}, "rolling out");
}

inline void clean_up(ek::Context& context, const Demo& demo) {
  context.log().info("cleaning up", {{"image", demo.spec.image}});
}

// Own status writes cause no run: generation_changed passes only changes of the spec and deletions.
inline ek::ControllerSpec demo_controller() {
  return ek::controller_for<Demo>(reconcile, {.when = ek::generation_changed()})
      .owns<ek::ConfigMap>()
      .finalize("demo.evenkeel.dev/cleanup", clean_up);
}

// Rights of the reconciler besides those of its watches, for --print-manifests. demo_test.cpp holds them.
inline std::vector<ek::PolicyRule> demo_rules() {
  return {{{""}, {"configmaps"}, {"create", "patch"}},  // an apply may create
          {{"demo.evenkeel.dev"}, {"demos/status"}, {"patch"}}};
}
