// SPDX-License-Identifier: Apache-2.0
// Edits that change nothing, or something else than they are for; the first error names the right form.
// first 1: this edit would change nothing, .*: take a reference, ...Kind& object.
// first 2: this edit would change nothing
// first 3: this edit would change nothing
// first 4: this edit would change nothing, .*: take a reference, ...KindStatus& status.
// first 5: this edit would change nothing
// first 6: an edit of patch_status.. takes a reference to the object's status .*KindStatus& status.
// first 7: an edit of patch_status.. takes a reference to the object's status
// first 8: an edit takes a reference to the object: ...Kind& object.
// first 9: update.. replaces whole objects, and this type does not declare every field: use patch
// first 10: this edit would change nothing
// first 11: this edit would change nothing
#include <functional>
#include <optional>
#include <string>

#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/controller/context.hpp>
#include <evenkeel/controller/helpers.hpp>

namespace ek = evenkeel;

struct DemoSpec {
  int size = 1;
};
struct DemoStatus {
  int ready = 0;
};
struct Demo {
  static constexpr ek::ResourceInfo resource{.group = "demo.dev", .kind = "Demo", .plural = "demos"};
  ek::ObjectMeta metadata = {};
  DemoSpec spec = {};
  DemoStatus status = {};
};
struct Maybe {
  static constexpr ek::ResourceInfo resource{.group = "demo.dev", .kind = "Maybe", .plural = "maybes"};
  ek::ObjectMeta metadata = {};
  std::optional<DemoStatus> status = {};
};
struct Whole {
  static constexpr ek::ResourceInfo resource{.group = "demo.dev", .kind = "Whole", .plural = "wholes"};
  static constexpr bool complete = true;
  ek::ObjectMeta metadata = {};
};
EVENKEEL_FIELDS(DemoSpec, size)
EVENKEEL_FIELDS(DemoStatus, ready)
EVENKEEL_FIELDS(Demo, metadata, spec, status)
EVENKEEL_FIELDS(Maybe, metadata, status)
EVENKEEL_FIELDS(Whole, metadata)

struct Both {
  void operator()(Demo& demo) const { demo.spec.size = 2; }
  void operator()(const Demo&) const {}
};

void run(ek::Context& context, const Demo& demo, const Maybe& maybe, const ek::Snapshot<ek::ConfigMap>& map) {
#ifndef REJECTED
  context.patch(map, [](ek::ConfigMap& m) { m.data["x"] = "y"; });
  context.patch(map, [](auto& m) { m.data["x"] = "y"; });
  context.patch(map, [](auto&& m) { m.data["x"] = "y"; });
  context.patch(map, std::function<void(ek::ConfigMap&)>());
  context.patch(demo, Both());
  context.patch(demo, [](Demo& object) { object.spec.size = 2; });
  context.patch_status(demo, [](DemoStatus& status) { status.ready = 2; });
  context.patch_status(demo, [](auto& status) { status.ready = 2; });
  context.patch_status(maybe, [](DemoStatus& status) { status.ready = 2; });
  context.patch_status(maybe, [](std::optional<DemoStatus>& status) { status.reset(); });
  ek::create_or_update<Demo>(context, {"ns", "name"}, [](Demo& object) { object.spec.size = 2; });
  context.client().update(Whole());
  context.client().patch<Demo>({"ns", "name"}, ek::Patch::merge({}));
#elif REJECTED == 1
  context.patch(map, [](ek::ConfigMap m) { m.data["x"] = "y"; });
#elif REJECTED == 2
  context.patch(map, [](auto m) { m.data["x"] = "y"; });
#elif REJECTED == 3
  context.patch(map, [](const ek::ConfigMap&) {});
#elif REJECTED == 4
  context.patch_status(demo, [](DemoStatus status) { status.ready = 2; });
#elif REJECTED == 5
  context.patch_status(maybe, [](auto status) { status = DemoStatus(); });
#elif REJECTED == 6
  context.patch_status(demo, [](DemoSpec& spec) { spec.size = 2; });
#elif REJECTED == 7
  context.patch_status(maybe, [](Maybe& object) { object.status.emplace(); });
#elif REJECTED == 8
  context.patch(demo, [](DemoSpec& spec) { spec.size = 2; });
#elif REJECTED == 9
  context.client().update(demo);
#elif REJECTED == 10
  ek::create_or_update<Demo>(context, {"ns", "name"}, [](Demo object) { object.spec.size = 2; });
#elif REJECTED == 11
  context.patch(
      demo, +[](Demo object) { object.spec.size = 2; });
#endif
  static_cast<void>(demo);
  static_cast<void>(maybe);
  static_cast<void>(map);
  static_cast<void>(context);
}
