// SPDX-License-Identifier: Apache-2.0
// The controller of ring-operator, without its main(), so that its tests use the same.
#pragma once

#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/api/kinds/pods.hpp>
#include <evenkeel/controller/builder.hpp>

#include "ring_coordination.hpp"
#include "ring_steps.hpp"

/// Lifetime: the steps and the coordination must outlive the controller.
inline ek::ControllerSpec ring_controller(RingSteps& steps, RingCoordination& coordination) {
  ek::Pipeline<RingCluster> pipeline;
  pipeline.step("plan", [&](ek::Context& context, const RingCluster& ring) { steps.plan(context, ring); })
      .step("provide", [&](ek::Context& context, const RingCluster& ring) { steps.provide(context, ring); })
      .step("observe", [&](ek::Context& context, const RingCluster& ring) { steps.observe(context, ring); });
  ec::add_process_group_steps(pipeline, coordination.adapter());
  pipeline.step("report", [&](ek::Context& context, const RingCluster& ring) {
    return steps.report(context, ring, *coordination.coordinator(ring));
  });
  return ek::controller_for<RingCluster>(pipeline, {.when = ek::generation_changed()})
      .owns<ek::Pod>()
      .owns<ek::ConfigMap>();
}
