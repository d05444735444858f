// SPDX-License-Identifier: Apache-2.0
// Written by scripts/generate_kinds.py from the OpenAPI documents of Kubernetes; do not edit.
#include <evenkeel/api/kinds/policy.hpp>

namespace evenkeel {
inline namespace v0 {
namespace policy_v1 {

EVENKEEL_DEFINE_FIELDS(PodDisruptionBudgetSpec, max_unavailable, min_available, selector,
                       unhealthy_pod_eviction_policy)
EVENKEEL_DEFINE_FIELDS(PodDisruptionBudgetStatus, (conditions, list_map("type")), current_healthy,
                       desired_healthy, disrupted_pods, disruptions_allowed, expected_pods,
                       observed_generation)
EVENKEEL_DEFINE_FIELDS(PodDisruptionBudget, metadata, spec, status)

}  // namespace policy_v1
}  // namespace v0
}  // namespace evenkeel
