// SPDX-License-Identifier: Apache-2.0
// Written by scripts/generate_kinds.py from the OpenAPI documents of Kubernetes; do not edit.
// The kinds of apps v1, complete in fields. Order of members: metadata, name, spec,
// status, then by name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <evenkeel/api/fields.hpp>
#include <evenkeel/api/int_or_string.hpp>
#include <evenkeel/api/kinds/pods.hpp>
#include <evenkeel/api/metadata.hpp>
#include <evenkeel/api/selector.hpp>
#include <evenkeel/api/time.hpp>

namespace evenkeel {
inline namespace v0 {
namespace apps_v1 {

struct RollingUpdateDeployment {
  std::optional<IntOrString> max_surge = {};
  std::optional<IntOrString> max_unavailable = {};

  bool operator==(const RollingUpdateDeployment&) const = default;
};

struct DeploymentStrategy {
  std::optional<RollingUpdateDeployment> rolling_update = {};
  std::optional<std::string> type = {};  ///< "Recreate", "RollingUpdate".

  bool operator==(const DeploymentStrategy&) const = default;
};

struct DeploymentSpec {
  std::optional<std::int32_t> min_ready_seconds = {};
  std::optional<bool> paused = {};
  std::optional<std::int32_t> progress_deadline_seconds = {};
  std::optional<std::int32_t> replicas = {};
  std::optional<std::int32_t> revision_history_limit = {};
  std::optional<LabelSelector> selector = {};
  DeploymentStrategy strategy = {};
  core_v1::PodTemplateSpec template_ = {};

  bool operator==(const DeploymentSpec&) const = default;
};

struct DeploymentCondition {
  std::string status = {};
  std::optional<Time> last_transition_time = {};
  std::optional<Time> last_update_time = {};
  std::optional<std::string> message = {};
  std::optional<std::string> reason = {};
  std::string type = {};

  bool operator==(const DeploymentCondition&) const = default;
};

struct DeploymentStatus {
  std::optional<std::int32_t> available_replicas = {};
  std::optional<std::int32_t> collision_count = {};
  std::vector<DeploymentCondition> conditions = {};
  std::optional<std::int64_t> observed_generation = {};
  std::optional<std::int32_t> ready_replicas = {};
  std::optional<std::int32_t> replicas = {};
  std::optional<std::int32_t> terminating_replicas = {};
  std::optional<std::int32_t> unavailable_replicas = {};
  std::optional<std::int32_t> updated_replicas = {};

  bool operator==(const DeploymentStatus&) const = default;
};

/// apps/v1 Deployment.
struct Deployment {
  static constexpr ResourceInfo resource{.group = "apps",
                                         .version = "v1",
                                         .kind = "Deployment",
                                         .plural = "deployments",
                                         .short_name = "deploy"};
  ObjectMeta metadata = {};
  DeploymentSpec spec = {};
  DeploymentStatus status = {};

  bool operator==(const Deployment&) const = default;
};

struct ReplicaSetSpec {
  std::optional<std::int32_t> min_ready_seconds = {};
  std::optional<std::int32_t> replicas = {};
  std::optional<LabelSelector> selector = {};
  core_v1::PodTemplateSpec template_ = {};

  bool operator==(const ReplicaSetSpec&) const = default;
};

struct ReplicaSetCondition {
  std::string status = {};
  std::optional<Time> last_transition_time = {};
  std::optional<std::string> message = {};
  std::optional<std::string> reason = {};
  std::string type = {};

  bool operator==(const ReplicaSetCondition&) const = default;
};

struct ReplicaSetStatus {
  std::optional<std::int32_t> available_replicas = {};
  std::vector<ReplicaSetCondition> conditions = {};
  std::optional<std::int32_t> fully_labeled_replicas = {};
  std::optional<std::int64_t> observed_generation = {};
  std::optional<std::int32_t> ready_replicas = {};
  std::optional<std::int32_t> replicas = {};
  std::optional<std::int32_t> terminating_replicas = {};

  bool operator==(const ReplicaSetStatus&) const = default;
};

/// apps/v1 ReplicaSet.
struct ReplicaSet {
  static constexpr ResourceInfo resource{
      .group = "apps", .version = "v1", .kind = "ReplicaSet", .plural = "replicasets", .short_name = "rs"};
  ObjectMeta metadata = {};
  ReplicaSetSpec spec = {};
  ReplicaSetStatus status = {};

  bool operator==(const ReplicaSet&) const = default;
};

struct StatefulSetOrdinals {
  std::optional<std::int32_t> start = {};

  bool operator==(const StatefulSetOrdinals&) const = default;
};

struct StatefulSetPersistentVolumeClaimRetentionPolicy {
  std::optional<std::string> when_deleted = {};
  std::optional<std::string> when_scaled = {};

  bool operator==(const StatefulSetPersistentVolumeClaimRetentionPolicy&) const = default;
};

struct RollingUpdateStatefulSetStrategy {
  std::optional<IntOrString> max_unavailable = {};
  std::optional<std::int32_t> partition = {};

  bool operator==(const RollingUpdateStatefulSetStrategy&) const = default;
};

struct StatefulSetUpdateStrategy {
  std::optional<RollingUpdateStatefulSetStrategy> rolling_update = {};
  std::optional<std::string> type = {};  ///< "OnDelete", "RollingUpdate".

  bool operator==(const StatefulSetUpdateStrategy&) const = default;
};

struct StatefulSetSpec {
  std::optional<std::int32_t> min_ready_seconds = {};
  std::optional<StatefulSetOrdinals> ordinals = {};
  std::optional<StatefulSetPersistentVolumeClaimRetentionPolicy> persistent_volume_claim_retention_policy =
      {};
  std::optional<std::string> pod_management_policy = {};  ///< "OrderedReady", "Parallel".
  std::optional<std::int32_t> replicas = {};
  std::optional<std::int32_t> revision_history_limit = {};
  std::optional<LabelSelector> selector = {};
  std::optional<std::string> service_name = {};
  core_v1::PodTemplateSpec template_ = {};
  StatefulSetUpdateStrategy update_strategy = {};
  std::vector<core_v1::PersistentVolumeClaim> volume_claim_templates = {};

  bool operator==(const StatefulSetSpec&) const = default;
};

struct StatefulSetCondition {
  std::string status = {};
  std::optional<Time> last_transition_time = {};
  std::optional<std::string> message = {};
  std::optional<std::string> reason = {};
  std::string type = {};

  bool operator==(const StatefulSetCondition&) const = default;
};

struct StatefulSetStatus {
  std::optional<std::int32_t> available_replicas = {};
  std::optional<std::int32_t> collision_count = {};
  std::vector<StatefulSetCondition> conditions = {};
  std::optional<std::int32_t> current_replicas = {};
  std::optional<std::string> current_revision = {};
  std::optional<std::int64_t> observed_generation = {};
  std::optional<std::int32_t> ready_replicas = {};
  std::optional<std::int32_t> replicas = {};
  std::optional<std::string> update_revision = {};
  std::optional<std::int32_t> updated_replicas = {};

  bool operator==(const StatefulSetStatus&) const = default;
};

/// apps/v1 StatefulSet.
struct StatefulSet {
  static constexpr ResourceInfo resource{
      .group = "apps", .version = "v1", .kind = "StatefulSet", .plural = "statefulsets", .short_name = "sts"};
  ObjectMeta metadata = {};
  StatefulSetSpec spec = {};
  StatefulSetStatus status = {};

  bool operator==(const StatefulSet&) const = default;
};

struct RollingUpdateDaemonSet {
  std::optional<IntOrString> max_surge = {};
  std::optional<IntOrString> max_unavailable = {};

  bool operator==(const RollingUpdateDaemonSet&) const = default;
};

struct DaemonSetUpdateStrategy {
  std::optional<RollingUpdateDaemonSet> rolling_update = {};
  std::optional<std::string> type = {};  ///< "OnDelete", "RollingUpdate".

  bool operator==(const DaemonSetUpdateStrategy&) const = default;
};

struct DaemonSetSpec {
  std::optional<std::int32_t> min_ready_seconds = {};
  std::optional<std::int32_t> revision_history_limit = {};
  std::optional<LabelSelector> selector = {};
  core_v1::PodTemplateSpec template_ = {};
  DaemonSetUpdateStrategy update_strategy = {};

  bool operator==(const DaemonSetSpec&) const = default;
};

struct DaemonSetCondition {
  std::string status = {};
  std::optional<Time> last_transition_time = {};
  std::optional<std::string> message = {};
  std::optional<std::string> reason = {};
  std::string type = {};

  bool operator==(const DaemonSetCondition&) const = default;
};

struct DaemonSetStatus {
  std::optional<std::int32_t> collision_count = {};
  std::vector<DaemonSetCondition> conditions = {};
  std::optional<std::int32_t> current_number_scheduled = {};
  std::optional<std::int32_t> desired_number_scheduled = {};
  std::optional<std::int32_t> number_available = {};
  std::optional<std::int32_t> number_misscheduled = {};
  std::optional<std::int32_t> number_ready = {};
  std::optional<std::int32_t> number_unavailable = {};
  std::optional<std::int64_t> observed_generation = {};
  std::optional<std::int32_t> updated_number_scheduled = {};

  bool operator==(const DaemonSetStatus&) const = default;
};

/// apps/v1 DaemonSet.
struct DaemonSet {
  static constexpr ResourceInfo resource{
      .group = "apps", .version = "v1", .kind = "DaemonSet", .plural = "daemonsets", .short_name = "ds"};
  ObjectMeta metadata = {};
  DaemonSetSpec spec = {};
  DaemonSetStatus status = {};

  bool operator==(const DaemonSet&) const = default;
};

EVENKEEL_DECLARE_FIELDS(RollingUpdateDeployment)
EVENKEEL_DECLARE_FIELDS(DeploymentStrategy)
EVENKEEL_DECLARE_FIELDS(DeploymentSpec)
EVENKEEL_DECLARE_FIELDS(DeploymentCondition)
EVENKEEL_DECLARE_FIELDS(DeploymentStatus)
EVENKEEL_DECLARE_FIELDS(Deployment)
EVENKEEL_DECLARE_FIELDS(ReplicaSetSpec)
EVENKEEL_DECLARE_FIELDS(ReplicaSetCondition)
EVENKEEL_DECLARE_FIELDS(ReplicaSetStatus)
EVENKEEL_DECLARE_FIELDS(ReplicaSet)
EVENKEEL_DECLARE_FIELDS(StatefulSetOrdinals)
EVENKEEL_DECLARE_FIELDS(StatefulSetPersistentVolumeClaimRetentionPolicy)
EVENKEEL_DECLARE_FIELDS(RollingUpdateStatefulSetStrategy)
EVENKEEL_DECLARE_FIELDS(StatefulSetUpdateStrategy)
EVENKEEL_DECLARE_FIELDS(StatefulSetSpec)
EVENKEEL_DECLARE_FIELDS(StatefulSetCondition)
EVENKEEL_DECLARE_FIELDS(StatefulSetStatus)
EVENKEEL_DECLARE_FIELDS(StatefulSet)
EVENKEEL_DECLARE_FIELDS(RollingUpdateDaemonSet)
EVENKEEL_DECLARE_FIELDS(DaemonSetUpdateStrategy)
EVENKEEL_DECLARE_FIELDS(DaemonSetSpec)
EVENKEEL_DECLARE_FIELDS(DaemonSetCondition)
EVENKEEL_DECLARE_FIELDS(DaemonSetStatus)
EVENKEEL_DECLARE_FIELDS(DaemonSet)

}  // namespace apps_v1

using apps_v1::DaemonSet;
using apps_v1::Deployment;
using apps_v1::ReplicaSet;
using apps_v1::StatefulSet;

}  // namespace v0
}  // namespace evenkeel
