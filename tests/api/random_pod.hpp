// SPDX-License-Identifier: Apache-2.0
// Random Pods that a server accepts, with lists of all kinds: merged by key, as sets, and replaced.
#pragma once

#include <algorithm>
#include <functional>
#include <random>
#include <utility>
#include <vector>

#include <evenkeel/api/json.hpp>

namespace evenkeel::tests {

class RandomPod {
 public:
  explicit RandomPod(unsigned seed) : random_(seed) {}

  Json make() {
    Json metadata = Json::object({{"name", "p"}});
    put(metadata, "finalizers",
        items({"e.io/a", "e.io/b", "e.io/c"}, [](const char* name) { return Json(name); }));
    return Json::object({{"apiVersion", "v1"}, {"kind", "Pod"}, {"metadata", metadata}, {"spec", spec()}});
  }

 private:
  int pick(int limit) { return std::uniform_int_distribution<int>(0, limit - 1)(random_); }
  const char* text() { return pick(2) == 0 ? "x" : "y"; }
  void put(Json& object, const char* name, Json value) {
    if (pick(3) > 0 && !value.empty()) object[name] = std::move(value);
  }
  Json items(std::vector<const char*> names, const std::function<Json(const char*)>& make) {
    std::shuffle(names.begin(), names.end(), random_);
    Json out = Json::array();
    for (const char* name : names)
      if (pick(2) == 0) out.push_back(make(name));
    return out;
  }
  Json spec() {
    Json out = Json::object();
    out["containers"] = items({"a", "b", "c"}, [&](const char* name) { return container(name); });
    out["containers"].push_back(container("main"));
    put(out, "volumes", items({"u", "v", "w"}, [&](const char* name) {
          if (pick(2) == 0) return Json::object({{"name", name}, {"emptyDir", Json::object()}});
          return Json::object({{"name", name}, {"configMap", Json::object({{"name", text()}})}});
        }));
    put(out, "tolerations", items({"k", "l"}, [](const char* name) {
          return Json::object({{"key", name}, {"operator", "Exists"}});
        }));
    // Items of one key, which differ in another member.
    put(out, "topologySpreadConstraints", items({"DoNotSchedule", "ScheduleAnyway"}, [&](const char* when) {
          return Json::object({{"topologyKey", "k"}, {"maxSkew", 1 + pick(2)}, {"whenUnsatisfiable", when}});
        }));
    put(out, "nodeSelector", Json::object({{text(), "v"}}));
    return out;
  }
  Json container(const char* name) {
    Json out = Json::object({{"name", name}, {"image", text()}});
    put(out, "env", items({"A", "B", "C"}, [&](const char* env) {
          return Json::object({{"name", env}, {"value", text()}});
        }));
    put(out, "args", items({"x", "y"}, [](const char* arg) { return Json(arg); }));
    return out;
  }

  std::mt19937 random_;
};

/// Sorts the list with items of one key in a specification, whose order a server changes.
inline Json without_order(Json spec) {
  if (Json* list = spec.find("topologySpreadConstraints"))
    std::ranges::sort(list->as_array(), {}, [](const Json& item) { return item.dump(); });
  return spec;
}

}  // namespace evenkeel::tests
