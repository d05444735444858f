// SPDX-License-Identifier: Apache-2.0
// Functions that a controller cannot call; the first error names the right form.
// first 1: a reconciler is called with .Context&, const T&., .* or with .Context&, const Request&.
// first 2: a reconciler is called with .Context&, const T&.
// first 3: a reconciler is called with .Context&, const T&.
// first 4: a mapping returns an ObjectKey, .namespace, name., or a std::vector<ObjectKey>
// first 5: a mapping returns an ObjectKey
// first 6: a mapping takes the watched object, .const U&., or its metadata, .const WireObject&.
// first 7: a clean-up is called with .Context&, const T&.
// first 8: a step takes .Context&, const T&., with T the kind of its Pipeline<T>
// first 9: a reconciler returns evenkeel::Result or nothing
// first 10: a mapping returns an ObjectKey
// first 11: describe the kind with EVENKEEL_FIELDS
// first 12: a kind has a member .static constexpr evenkeel::ResourceInfo resource.
// first 13: a kind has a member .static constexpr evenkeel::ResourceInfo resource.
// first 14: describe the kind with EVENKEEL_FIELDS
#include <set>
#include <string>
#include <vector>

#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/controller/builder.hpp>
#include <evenkeel/controller/pipeline.hpp>

namespace ek = evenkeel;
using ek::ConfigMap, ek::Context, ek::Secret;

ek::ControllerSpec right() {
  ek::Pipeline<ConfigMap> steps;
  steps.step("one", [](Context&, const ConfigMap&) {});
  return ek::controller_for<ConfigMap>(steps)
      .watches<Secret>([](const Secret& secret) { return ek::key_of(secret); })
      .watches<Secret>([](const ek::WireObject& secret) { return std::vector<ek::ObjectKey>{secret.key()}; })
      .watches<Secret>([](const Secret&) { return std::set<ek::ObjectKey>(); })
      .finalize("a.dev/b", [](Context&, const ConfigMap&) { return ek::done(); });
}

struct Undescribed {
  ek::ObjectMeta metadata = {};
};
struct Spec {
  ek::ObjectMeta metadata = {};
};
EVENKEEL_FIELDS(Spec, metadata)

#ifdef REJECTED
ek::ControllerSpec wrong() {
  const auto fine = [](Context&, const ConfigMap&) {};
  static_cast<void>(fine);
#if REJECTED == 1
  return ek::controller_for<ConfigMap>([](Context&, ConfigMap&) {});
#elif REJECTED == 2
  return ek::controller_for<ConfigMap>([](const ConfigMap&) {});
#elif REJECTED == 3
  return ek::controller_for<ConfigMap>([](Context&, const Secret&) {});
#elif REJECTED == 4
  return ek::controller_for<ConfigMap>(fine).watches<Secret>([](const Secret&) { return std::string(); });
#elif REJECTED == 5
  return ek::controller_for<ConfigMap>(fine).watches<Secret>(
      [](const Secret&) { return std::vector<std::string>(); });
#elif REJECTED == 6
  return ek::controller_for<ConfigMap>(fine).watches<Secret>(
      [](const ConfigMap& map) { return ek::key_of(map); });
#elif REJECTED == 7
  return ek::controller_for<ConfigMap>(fine).finalize("a.dev/b", [](const ConfigMap&) {});
#elif REJECTED == 8
  ek::Pipeline<ConfigMap> steps;
  steps.step("one", [](Context&, const Secret&) {});
  return ek::controller_for<ConfigMap>(steps);
#elif REJECTED == 9
  return ek::controller_for<ConfigMap>([](Context&, const ConfigMap&) { return true; });
#elif REJECTED == 10
  return ek::controller_for<ConfigMap>(fine).watches<Secret>([](const Secret&) {});
#elif REJECTED == 11
  return ek::controller_for<Undescribed>([](Context&, const Undescribed&) {});
#elif REJECTED == 12
  return ek::controller_for<Spec>([](Context&, const Spec&) {});
#elif REJECTED == 13
  return ek::controller_for<ConfigMap>(fine).owns<Spec>();
#elif REJECTED == 14
  return ek::controller_for<ConfigMap>(fine).watches<Undescribed>(
      [](const Undescribed& object) { return ek::key_of(object); });
#endif
}
#endif
