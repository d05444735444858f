// SPDX-License-Identifier: Apache-2.0
// A custom kind for the operators that explorations run: a store with Pods and data.
#pragma once

#include <map>
#include <ostream>
#include <string>
#include <utility>

#include <evenkeel/api/kinds/apps.hpp>
#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/api/kinds/pods.hpp>
#include <evenkeel/controller/builder.hpp>
#include <evenkeel/testing/explore.hpp>

namespace evenkeel::testing {

struct StoreSpec {
  int replicas = 1;
  std::string image = "store:1";
  int storage = 1;
};
EVENKEEL_FIELDS(StoreSpec, replicas, image, storage)

struct StoreStatus {
  int replicas = 0;
  bool initialized = false;
  std::string pod;
  int failures = 0;
  std::string phase;
  int storage = 0;
};
EVENKEEL_FIELDS(StoreStatus, replicas, initialized, pod, failures, phase, storage)

struct Store {
  static constexpr ResourceInfo resource{
      .group = "test.evenkeel.dev", .version = "v1", .kind = "Store", .plural = "stores"};
  ObjectMeta metadata;
  StoreSpec spec;
  StoreStatus status;
};
EVENKEEL_FIELDS(Store, metadata, spec, status)

inline const ObjectKey main_store{"default", "main"};

inline Store store(StoreSpec spec = {}) {
  return {.metadata = {.name = "main", .namespace_ = "default"}, .spec = std::move(spec), .status = {}};
}

inline Pod store_pod(const std::string& name, const Store& owner) {
  return {.metadata = {.name = name, .namespace_ = owner.metadata.namespace_},
          .spec = core_v1::PodSpec{.containers = {{.name = "store", .image = owner.spec.image}}}};
}

inline ConfigMap data_map(const std::string& name, std::map<std::string, std::string> data = {}) {
  return {.metadata = {.name = name, .namespace_ = "default"}, .data = std::move(data)};
}

// For messages of tests.
inline void PrintTo(const Plan& plan, std::ostream* out) {
  *out << plan.str();
}

/// Returns true if some plan found a problem of this kind, and no plan has more than three steps.
inline bool finds(const Exploration& result, ProblemKind kind) {
  bool found = false;
  for (const Finding& finding : result.findings) {
    if (finding.plan.steps.empty() || finding.plan.steps.size() > 3) return false;
    for (const Problem& problem : finding.problems) found = found || problem.kind == kind;
  }
  return found;
}

}  // namespace evenkeel::testing
