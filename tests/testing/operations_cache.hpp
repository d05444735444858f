// SPDX-License-Identifier: Apache-2.0
// A custom kind for the operators that operations() changes: a cache with Pods and settings.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/api/kinds/pods.hpp>
#include <evenkeel/api/quantity.hpp>
#include <evenkeel/controller/builder.hpp>
#include <evenkeel/testing/operations.hpp>

namespace evenkeel::testing {

enum class Eviction { oldest, random };
EVENKEEL_ENUM(Eviction, oldest, random)

struct BackupSpec {
  std::string schedule = "0 1 * * *";
  int keep = 3;
};
EVENKEEL_FIELDS(BackupSpec, schedule, (keep, minimum(1), maximum(30)))

struct CacheSpec {
  static constexpr CelRule rules[] = {{.rule = "self.replicas < 8", .message = "at most seven"}};
  int replicas = 2;
  std::string image = "cache:1";
  std::string memory = "1Gi";
  Eviction eviction = Eviction::oldest;
  std::optional<BackupSpec> backup = {};
  std::map<std::string, std::string> settings = {};
};
EVENKEEL_FIELDS(CacheSpec, replicas, (image, min_length(1)), memory, eviction, backup, settings)

struct CacheStatus {
  int replicas = 0;
  std::string message = {};
  bool failed = false;
};
EVENKEEL_FIELDS(CacheStatus, replicas, message, failed)

struct Cache {
  static constexpr ResourceInfo resource{
      .group = "test.evenkeel.dev", .version = "v1", .kind = "Cache", .plural = "caches"};
  // A server would refuse a negative number of replicas.
  static constexpr ScaleSubresource scale{.enabled = false};
  ObjectMeta metadata = {};
  CacheSpec spec = {};
  CacheStatus status = {};
};
EVENKEEL_FIELDS(Cache, metadata, spec, status)

inline Cache main_cache(CacheSpec spec = {}) {
  return {.metadata = {.name = "main", .namespace_ = "default"}, .spec = std::move(spec), .status = {}};
}

/// Returns what a cache needs of an operator that is right, as settings of a ConfigMap.
inline std::map<std::string, std::string> wanted_data(const CacheSpec& spec) {
  std::map<std::string, std::string> data = spec.settings;
  data["memory"] = spec.memory;
  data["eviction"] = spec.eviction == Eviction::oldest ? "oldest" : "random";
  if (spec.backup) {
    data["backup"] = spec.backup->schedule;
    data["keep"] = std::to_string(spec.backup->keep);
  }
  return data;
}

inline ConfigMap cache_data(const std::string& name, std::map<std::string, std::string> data) {
  return {.metadata = {.name = name}, .data = std::move(data)};
}

inline Pod cache_pod(const std::string& name, const CacheSpec& spec) {
  return {.metadata = {.name = name},
          .spec = core_v1::PodSpec{.containers = {{.name = "cache", .image = spec.image}}}};
}

/// Returns true if a finding of this property has such a problem.
inline bool finds(const Operations& result, const std::string& path, OperationProblemKind kind) {
  return std::any_of(result.findings.begin(), result.findings.end(), [&](const OperationFinding& finding) {
    if (finding.change.path != path) return false;
    return std::any_of(finding.problems.begin(), finding.problems.end(),
                       [kind](const OperationProblem& problem) { return problem.kind == kind; });
  });
}

}  // namespace evenkeel::testing
