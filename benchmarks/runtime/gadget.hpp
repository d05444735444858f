// SPDX-License-Identifier: Apache-2.0
// The kind that the operators of benchmarks/runtime reconcile; their counterparts in benchmarks/peers declare
// the same.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include <evenkeel/evenkeel.hpp>

struct GadgetSpec {
  std::int64_t size = 1;
  std::string color = {};
  std::map<std::string, std::string> labels = {};
  // Time at which the load generator sent the write, in nanoseconds of CLOCK_MONOTONIC.
  std::int64_t sent_at = 0;
};
EVENKEEL_FIELDS(GadgetSpec, size, color, labels, sent_at)

struct GadgetStatus {
  std::int64_t observed = 0;
  std::string phase = {};
};
EVENKEEL_FIELDS(GadgetStatus, observed, phase)

struct Gadget {
  static constexpr evenkeel::ResourceInfo resource{
      .group = "bench.evenkeel.dev", .version = "v1", .kind = "Gadget", .plural = "gadgets"};
  evenkeel::ObjectMeta metadata = {};
  GadgetSpec spec = {};
  GadgetStatus status = {};
};
EVENKEEL_FIELDS(Gadget, metadata, spec, status)
