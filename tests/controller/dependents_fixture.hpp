// SPDX-License-Identifier: Apache-2.0
// An operator with a graph of dependents, whose wishes and failures the objects state.
#pragma once

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/controller/dependents.hpp>
#include <evenkeel/testing/harness.hpp>

namespace evenkeel::dependents_test {

struct ShopSpec {
  std::string text = "one";
  std::vector<std::string> off = {};      ///< Dependents that are not to exist.
  std::vector<std::string> broken = {};   ///< Dependents whose functions throw.
  std::vector<std::string> shelves = {};  ///< Objects of the dependent "shelves".
};
EVENKEEL_FIELDS(ShopSpec, text, off, broken, shelves)

struct ShopStatus {
  std::vector<Condition> conditions = {};
};
EVENKEEL_FIELDS(ShopStatus, (conditions, list_map("type")))

struct Shop {
  static constexpr ResourceInfo resource{
      .group = "test.evenkeel.dev", .version = "v1", .kind = "Shop", .plural = "shops"};
  ObjectMeta metadata = {};
  ShopSpec spec = {};
  ShopStatus status = {};
};
EVENKEEL_FIELDS(Shop, metadata, spec, status)

inline const ObjectKey web{"default", "web"};
/// Annotation by which objects of the graph are recognized.
inline const std::string mark = "dependent.evenkeel.dev/evenkeel";

inline ObjectKey key_of_part(const std::string& part) {
  return {web.namespace_, web.name + "-" + part};
}

inline bool names(const std::vector<std::string>& list, const std::string& name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

template <class U>
auto part(const std::string& name) {
  return [name](const Shop& shop) {
    if (names(shop.spec.broken, name)) throw std::runtime_error("no " + name + " today");
    U object{.metadata = {.name = shop.metadata.name + "-" + name}};
    if constexpr (requires { object.data["text"] = shop.spec.text; }) object.data["text"] = shop.spec.text;
    return object;
  };
}

/// A condition that is met unless the shop switches the part off.
inline auto unless_off(const std::string& name) {
  return [name](const Shop& shop) { return !names(shop.spec.off, name); };
}

/// A part is ready when somebody has written that into it.
inline bool is_open(const ConfigMap& part) {
  return part.data.contains("open");
}

inline std::vector<ConfigMap> shelves(const Shop& shop) {
  std::vector<ConfigMap> all;
  for (const std::string& shelf : shop.spec.shelves) all.push_back({.metadata = {.name = "shelf-" + shelf}});
  return all;
}

/// base <- middle <- last, and beside them "shelves" and "side".
inline Dependents<Shop> shop_graph() {
  return dependents<Shop>()
      .add<ConfigMap>("base", part<ConfigMap>("base"), {.when = unless_off("base"), .ready = is_open})
      .add<Secret>(
          "middle",
          [](const Shop& shop) { return Secret{.metadata = {.name = shop.metadata.name + "-middle"}}; },
          {.after = {"base"}, .when = unless_off("middle")})
      .add<ConfigMap>("last", part<ConfigMap>("last"),
                      {.after = {"base", "middle"}, .when = unless_off("last")})
      .add_each<ConfigMap>("shelves", shelves)
      .add<ServiceAccount>("side", part<ServiceAccount>("side"), {.when = unless_off("side")});
}

/// A kind without a C++ type.
inline const ResourceId monitors{"monitoring.example.com", "v1", "Monitor", "monitors"};

inline constexpr const char* monitor_definition = R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: monitors.monitoring.example.com}
spec:
  group: monitoring.example.com
  scope: Namespaced
  names: {plural: monitors, singular: monitor, kind: Monitor}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              text: {type: string}
              shelf:
                type: string
                x-kubernetes-validations: [{rule: self == oldSelf, message: it is immutable}]
          status: {type: object, x-kubernetes-preserve-unknown-fields: true}
)";

class DependentsTest : public ::testing::Test {
 protected:
  void add(const Dependents<Shop>& graph, ShopSpec spec = {}) {
    harness.create({Shop{.metadata = {.name = web.name, .namespace_ = web.namespace_}, .spec = spec}});
    harness.add(controller_for(graph));
    harness.settle();
  }
  void edit(const std::function<void(ShopSpec&)>& change) {
    harness.edit<Shop>(web, [&](Shop& shop) { change(shop.spec); });
    harness.settle();
  }
  /// Makes a part ready.
  void open(const std::string& name) {
    harness.edit<ConfigMap>(key_of_part(name), [](ConfigMap& map) { map.data["open"] = "yes"; });
    harness.settle();
  }
  template <class U>
  void hold(const ObjectKey& key, bool held = true) {
    harness.edit<U>(key, [&](U& object) {
      object.metadata.finalizers.clear();
      if (held) object.metadata.finalizers = {"other.example.com/hold"};
    });
    harness.settle();
  }
  template <class U>
  bool exists(const std::string& name) {
    return static_cast<bool>(harness.find<U>(key_of_part(name)));
  }
  Condition condition(const std::string& type = "Ready") {
    const auto shop = harness.get<Shop>(web);
    const Condition* const found = find_condition(shop->status.conditions, type);
    return found == nullptr ? Condition{} : *found;
  }
  /// Returns "reason: message" of the condition "Ready".
  std::string story() { return condition().reason + ": " + condition().message; }
  /// Returns the writes since the last call that changed something, as "apply default/web-base".
  std::vector<std::string> changes() {
    std::vector<std::string> lines;
    const std::vector<testing::Write> all = harness.changes();
    for (std::size_t at = seen_; at < all.size(); ++at) {
      if (all[at].resource.find("/status") == std::string::npos)
        lines.push_back(all[at].verb + " " + all[at].key.name);
    }
    seen_ = all.size();
    return lines;
  }

  testing::Harness harness{{.expect_failures = true}};

 private:
  std::size_t seen_ = 0;
};

}  // namespace evenkeel::dependents_test
