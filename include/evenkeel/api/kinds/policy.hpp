// SPDX-License-Identifier: Apache-2.0
// Written by scripts/generate_kinds.py from the OpenAPI documents of Kubernetes; do not edit.
// The kinds of policy v1, complete in fields. Order of members: metadata, name, spec,
// status, then by name.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <evenkeel/api/fields.hpp>
#include <evenkeel/api/int_or_string.hpp>
#include <evenkeel/api/metadata.hpp>
#include <evenkeel/api/selector.hpp>
#include <evenkeel/api/time.hpp>

namespace evenkeel {
inline namespace v0 {
namespace policy_v1 {

struct PodDisruptionBudgetSpec {
  std::optional<IntOrString> max_unavailable = {};
  std::optional<IntOrString> min_available = {};
  std::optional<LabelSelector> selector = {};
  std::optional<std::string> unhealthy_pod_eviction_policy = {};  ///< "AlwaysAllow", "IfHealthyBudget".

  bool operator==(const PodDisruptionBudgetSpec&) const = default;
};

struct PodDisruptionBudgetStatus {
  std::vector<Condition> conditions = {};
  std::optional<std::int32_t> current_healthy = {};
  std::optional<std::int32_t> desired_healthy = {};
  std::map<std::string, Time> disrupted_pods = {};
  std::optional<std::int32_t> disruptions_allowed = {};
  std::optional<std::int32_t> expected_pods = {};
  std::optional<std::int64_t> observed_generation = {};

  bool operator==(const PodDisruptionBudgetStatus&) const = default;
};

/// policy/v1 PodDisruptionBudget.
struct PodDisruptionBudget {
  static constexpr ResourceInfo resource{.group = "policy",
                                         .version = "v1",
                                         .kind = "PodDisruptionBudget",
                                         .plural = "poddisruptionbudgets",
                                         .short_name = "pdb"};
  ObjectMeta metadata = {};
  PodDisruptionBudgetSpec spec = {};
  PodDisruptionBudgetStatus status = {};

  bool operator==(const PodDisruptionBudget&) const = default;
};

EVENKEEL_DECLARE_FIELDS(PodDisruptionBudgetSpec)
EVENKEEL_DECLARE_FIELDS(PodDisruptionBudgetStatus)
EVENKEEL_DECLARE_FIELDS(PodDisruptionBudget)

}  // namespace policy_v1

}  // namespace v0
}  // namespace evenkeel
