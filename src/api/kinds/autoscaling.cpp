// SPDX-License-Identifier: Apache-2.0
// Written by scripts/generate_kinds.py from the OpenAPI documents of Kubernetes; do not edit.
#include <evenkeel/api/kinds/autoscaling.hpp>

namespace evenkeel {
inline namespace v0 {
namespace autoscaling_v2 {

EVENKEEL_DEFINE_FIELDS(HPAScalingPolicy, period_seconds, type, value)
EVENKEEL_DEFINE_FIELDS(HPAScalingRules, policies, select_policy, stabilization_window_seconds, tolerance)
EVENKEEL_DEFINE_FIELDS(HorizontalPodAutoscalerBehavior, scale_down, scale_up)
EVENKEEL_DEFINE_FIELDS(MetricTarget, average_utilization, average_value, type, value)
EVENKEEL_DEFINE_FIELDS(ContainerResourceMetricSource, name, container, target)
EVENKEEL_DEFINE_FIELDS(MetricIdentifier, name, selector)
EVENKEEL_DEFINE_FIELDS(ExternalMetricSource, metric, target)
EVENKEEL_DEFINE_FIELDS(CrossVersionObjectReference, name, api_version, kind)
EVENKEEL_DEFINE_FIELDS(ObjectMetricSource, described_object, metric, target)
EVENKEEL_DEFINE_FIELDS(PodsMetricSource, metric, target)
EVENKEEL_DEFINE_FIELDS(ResourceMetricSource, name, target)
EVENKEEL_DEFINE_FIELDS(MetricSpec, container_resource, external, object, pods, resource, type)
EVENKEEL_DEFINE_FIELDS(HorizontalPodAutoscalerSpec, behavior, max_replicas, metrics, min_replicas,
                       scale_target_ref)
EVENKEEL_DEFINE_FIELDS(HorizontalPodAutoscalerCondition, status, last_transition_time, message, reason, type)
EVENKEEL_DEFINE_FIELDS(MetricValueStatus, average_utilization, average_value, value)
EVENKEEL_DEFINE_FIELDS(ContainerResourceMetricStatus, name, container, current)
EVENKEEL_DEFINE_FIELDS(ExternalMetricStatus, current, metric)
EVENKEEL_DEFINE_FIELDS(ObjectMetricStatus, current, described_object, metric)
EVENKEEL_DEFINE_FIELDS(PodsMetricStatus, current, metric)
EVENKEEL_DEFINE_FIELDS(ResourceMetricStatus, name, current)
EVENKEEL_DEFINE_FIELDS(MetricStatus, container_resource, external, object, pods, resource, type)
EVENKEEL_DEFINE_FIELDS(HorizontalPodAutoscalerStatus, (conditions, list_map("type")), current_metrics,
                       current_replicas, desired_replicas, last_scale_time, observed_generation)
EVENKEEL_DEFINE_FIELDS(HorizontalPodAutoscaler, metadata, spec, status)

}  // namespace autoscaling_v2
}  // namespace v0
}  // namespace evenkeel
