// SPDX-License-Identifier: Apache-2.0
// Written by scripts/generate_kinds.py from the OpenAPI documents of Kubernetes; do not edit.
#include <evenkeel/api/kinds/apps.hpp>

namespace evenkeel {
inline namespace v0 {
namespace apps_v1 {

EVENKEEL_DEFINE_FIELDS(RollingUpdateDeployment, max_surge, max_unavailable)
EVENKEEL_DEFINE_FIELDS(DeploymentStrategy, rolling_update, type)
EVENKEEL_DEFINE_FIELDS(DeploymentSpec, min_ready_seconds, paused, progress_deadline_seconds, replicas,
                       revision_history_limit, selector, strategy, template_)
EVENKEEL_DEFINE_FIELDS(DeploymentCondition, status, last_transition_time, last_update_time, message, reason,
                       type)
EVENKEEL_DEFINE_FIELDS(DeploymentStatus, available_replicas, collision_count, (conditions, list_map("type")),
                       observed_generation, ready_replicas, replicas, terminating_replicas,
                       unavailable_replicas, updated_replicas)
EVENKEEL_DEFINE_FIELDS(Deployment, metadata, spec, status)
EVENKEEL_DEFINE_FIELDS(ReplicaSetSpec, min_ready_seconds, replicas, selector, template_)
EVENKEEL_DEFINE_FIELDS(ReplicaSetCondition, status, last_transition_time, message, reason, type)
EVENKEEL_DEFINE_FIELDS(ReplicaSetStatus, available_replicas, (conditions, list_map("type")),
                       fully_labeled_replicas, observed_generation, ready_replicas, replicas,
                       terminating_replicas)
EVENKEEL_DEFINE_FIELDS(ReplicaSet, metadata, spec, status)
EVENKEEL_DEFINE_FIELDS(StatefulSetOrdinals, start)
EVENKEEL_DEFINE_FIELDS(StatefulSetPersistentVolumeClaimRetentionPolicy, when_deleted, when_scaled)
EVENKEEL_DEFINE_FIELDS(RollingUpdateStatefulSetStrategy, max_unavailable, partition)
EVENKEEL_DEFINE_FIELDS(StatefulSetUpdateStrategy, rolling_update, type)
EVENKEEL_DEFINE_FIELDS(StatefulSetSpec, min_ready_seconds, ordinals, persistent_volume_claim_retention_policy,
                       pod_management_policy, replicas, revision_history_limit, selector, service_name,
                       template_, update_strategy, volume_claim_templates)
EVENKEEL_DEFINE_FIELDS(StatefulSetCondition, status, last_transition_time, message, reason, type)
EVENKEEL_DEFINE_FIELDS(StatefulSetStatus, available_replicas, collision_count, (conditions, list_map("type")),
                       current_replicas, current_revision, observed_generation, ready_replicas, replicas,
                       update_revision, updated_replicas)
EVENKEEL_DEFINE_FIELDS(StatefulSet, metadata, spec, status)
EVENKEEL_DEFINE_FIELDS(RollingUpdateDaemonSet, max_surge, max_unavailable)
EVENKEEL_DEFINE_FIELDS(DaemonSetUpdateStrategy, rolling_update, type)
EVENKEEL_DEFINE_FIELDS(DaemonSetSpec, min_ready_seconds, revision_history_limit, selector, template_,
                       update_strategy)
EVENKEEL_DEFINE_FIELDS(DaemonSetCondition, status, last_transition_time, message, reason, type)
EVENKEEL_DEFINE_FIELDS(DaemonSetStatus, collision_count, (conditions, list_map("type")),
                       current_number_scheduled, desired_number_scheduled, number_available,
                       number_misscheduled, number_ready, number_unavailable, observed_generation,
                       updated_number_scheduled)
EVENKEEL_DEFINE_FIELDS(DaemonSet, metadata, spec, status)

}  // namespace apps_v1
}  // namespace v0
}  // namespace evenkeel
