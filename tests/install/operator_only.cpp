// SPDX-License-Identifier: Apache-2.0
// An operator that only prints its CRD: everything but a cluster is exercised by it.
#include <evenkeel/evenkeel.hpp>

namespace ek = evenkeel;

struct WidgetSpec {
  int size = 1;
};
EVENKEEL_FIELDS(WidgetSpec, size)

struct Widget {
  static constexpr ek::ResourceInfo resource{.group = "consumer.example.com",
                                             .version = "v1",
                                             .kind = "Widget",
                                             .plural = "widgets",
                                             .installs_crd = true};
  ek::ObjectMeta metadata;
  WidgetSpec spec;
};
EVENKEEL_FIELDS(Widget, metadata, spec)

int main(int argc, char** argv) {
  return ek::run(argc, argv, {.name = "consumer"}, [](ek::Manager& manager) {
    manager.add(ek::controller_for<Widget>([](ek::Context&, const Widget&) { return ek::done(); }));
  });
}
