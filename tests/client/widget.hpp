// SPDX-License-Identifier: Apache-2.0
// A kind for tests that declares fewer fields than its documents have.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <evenkeel/api/fields.hpp>
#include <evenkeel/api/metadata.hpp>

namespace evenkeel::tests {

struct WidgetPort {
  std::string name = {};
  int port = 0;
};
EVENKEEL_FIELDS(WidgetPort, name, port)

struct WidgetSpec {
  int replicas = 1;
  std::optional<std::string> image = {};
  std::vector<WidgetPort> ports = {};
};
EVENKEEL_FIELDS(WidgetSpec, replicas, image, (ports, list_map("name")))

struct WidgetStatus {
  int ready_replicas = 0;
};
EVENKEEL_FIELDS(WidgetStatus, ready_replicas)

struct Widget {
  static constexpr ResourceInfo resource{
      .group = "test.dev", .version = "v1", .kind = "Widget", .plural = "widgets"};
  ObjectMeta metadata = {};
  WidgetSpec spec = {};
  WidgetStatus status = {};
};
EVENKEEL_FIELDS(Widget, metadata, spec, status)

/// A kind whose type states that it declares every field.
struct Gadget {
  static constexpr ResourceInfo resource{
      .group = "test.dev", .version = "v1", .kind = "Gadget", .plural = "gadgets", .scope = Scope::cluster};
  static constexpr bool complete = true;
  ObjectMeta metadata = {};
  WidgetSpec spec = {};
};
EVENKEEL_FIELDS(Gadget, metadata, spec)

}  // namespace evenkeel::tests
