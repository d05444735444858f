// SPDX-License-Identifier: Apache-2.0
// Written by scripts/generate_kinds.py from the OpenAPI documents of Kubernetes; do not edit.
// The kinds of autoscaling v2, complete in fields. Order of members: metadata, name, spec,
// status, then by name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <evenkeel/api/fields.hpp>
#include <evenkeel/api/metadata.hpp>
#include <evenkeel/api/quantity.hpp>
#include <evenkeel/api/selector.hpp>
#include <evenkeel/api/time.hpp>

namespace evenkeel {
inline namespace v0 {
namespace autoscaling_v2 {

struct HPAScalingPolicy {
  std::int32_t period_seconds = 0;
  std::string type = {};
  std::int32_t value = 0;

  bool operator==(const HPAScalingPolicy&) const = default;
};

struct HPAScalingRules {
  std::vector<HPAScalingPolicy> policies = {};
  std::optional<std::string> select_policy = {};
  std::optional<std::int32_t> stabilization_window_seconds = {};
  std::optional<Quantity> tolerance = {};

  bool operator==(const HPAScalingRules&) const = default;
};

struct HorizontalPodAutoscalerBehavior {
  std::optional<HPAScalingRules> scale_down = {};
  std::optional<HPAScalingRules> scale_up = {};

  bool operator==(const HorizontalPodAutoscalerBehavior&) const = default;
};

struct MetricTarget {
  std::optional<std::int32_t> average_utilization = {};
  std::optional<Quantity> average_value = {};
  std::optional<std::string> type = {};
  std::optional<Quantity> value = {};

  bool operator==(const MetricTarget&) const = default;
};

struct ContainerResourceMetricSource {
  std::string name = {};
  std::string container = {};
  MetricTarget target = {};

  bool operator==(const ContainerResourceMetricSource&) const = default;
};

struct MetricIdentifier {
  std::optional<std::string> name = {};
  std::optional<LabelSelector> selector = {};

  bool operator==(const MetricIdentifier&) const = default;
};

struct ExternalMetricSource {
  MetricIdentifier metric = {};
  MetricTarget target = {};

  bool operator==(const ExternalMetricSource&) const = default;
};

struct CrossVersionObjectReference {
  std::optional<std::string> name = {};
  std::optional<std::string> api_version = {};
  std::optional<std::string> kind = {};

  bool operator==(const CrossVersionObjectReference&) const = default;
};

struct ObjectMetricSource {
  CrossVersionObjectReference described_object = {};
  MetricIdentifier metric = {};
  MetricTarget target = {};

  bool operator==(const ObjectMetricSource&) const = default;
};

struct PodsMetricSource {
  MetricIdentifier metric = {};
  MetricTarget target = {};

  bool operator==(const PodsMetricSource&) const = default;
};

struct ResourceMetricSource {
  std::string name = {};
  MetricTarget target = {};

  bool operator==(const ResourceMetricSource&) const = default;
};

struct MetricSpec {
  std::optional<ContainerResourceMetricSource> container_resource = {};
  std::optional<ExternalMetricSource> external = {};
  std::optional<ObjectMetricSource> object = {};
  std::optional<PodsMetricSource> pods = {};
  std::optional<ResourceMetricSource> resource = {};
  std::string type = {};

  bool operator==(const MetricSpec&) const = default;
};

struct HorizontalPodAutoscalerSpec {
  std::optional<HorizontalPodAutoscalerBehavior> behavior = {};
  std::optional<std::int32_t> max_replicas = {};
  std::vector<MetricSpec> metrics = {};
  std::optional<std::int32_t> min_replicas = {};
  CrossVersionObjectReference scale_target_ref = {};

  bool operator==(const HorizontalPodAutoscalerSpec&) const = default;
};

struct HorizontalPodAutoscalerCondition {
  std::string status = {};
  std::optional<Time> last_transition_time = {};
  std::optional<std::string> message = {};
  std::optional<std::string> reason = {};
  std::string type = {};

  bool operator==(const HorizontalPodAutoscalerCondition&) const = default;
};

struct MetricValueStatus {
  std::optional<std::int32_t> average_utilization = {};
  std::optional<Quantity> average_value = {};
  std::optional<Quantity> value = {};

  bool operator==(const MetricValueStatus&) const = default;
};

struct ContainerResourceMetricStatus {
  std::string name = {};
  std::string container = {};
  MetricValueStatus current = {};

  bool operator==(const ContainerResourceMetricStatus&) const = default;
};

struct ExternalMetricStatus {
  MetricValueStatus current = {};
  MetricIdentifier metric = {};

  bool operator==(const ExternalMetricStatus&) const = default;
};

struct ObjectMetricStatus {
  MetricValueStatus current = {};
  CrossVersionObjectReference described_object = {};
  MetricIdentifier metric = {};

  bool operator==(const ObjectMetricStatus&) const = default;
};

struct PodsMetricStatus {
  MetricValueStatus current = {};
  MetricIdentifier metric = {};

  bool operator==(const PodsMetricStatus&) const = default;
};

struct ResourceMetricStatus {
  std::string name = {};
  MetricValueStatus current = {};

  bool operator==(const ResourceMetricStatus&) const = default;
};

struct MetricStatus {
  std::optional<ContainerResourceMetricStatus> container_resource = {};
  std::optional<ExternalMetricStatus> external = {};
  std::optional<ObjectMetricStatus> object = {};
  std::optional<PodsMetricStatus> pods = {};
  std::optional<ResourceMetricStatus> resource = {};
  std::string type = {};

  bool operator==(const MetricStatus&) const = default;
};

struct HorizontalPodAutoscalerStatus {
  std::vector<HorizontalPodAutoscalerCondition> conditions = {};
  std::vector<MetricStatus> current_metrics = {};
  std::optional<std::int32_t> current_replicas = {};
  std::optional<std::int32_t> desired_replicas = {};
  std::optional<Time> last_scale_time = {};
  std::optional<std::int64_t> observed_generation = {};

  bool operator==(const HorizontalPodAutoscalerStatus&) const = default;
};

/// autoscaling/v2 HorizontalPodAutoscaler.
struct HorizontalPodAutoscaler {
  static constexpr ResourceInfo resource{.group = "autoscaling",
                                         .version = "v2",
                                         .kind = "HorizontalPodAutoscaler",
                                         .plural = "horizontalpodautoscalers",
                                         .short_name = "hpa"};
  ObjectMeta metadata = {};
  HorizontalPodAutoscalerSpec spec = {};
  HorizontalPodAutoscalerStatus status = {};

  bool operator==(const HorizontalPodAutoscaler&) const = default;
};

EVENKEEL_DECLARE_FIELDS(HPAScalingPolicy)
EVENKEEL_DECLARE_FIELDS(HPAScalingRules)
EVENKEEL_DECLARE_FIELDS(HorizontalPodAutoscalerBehavior)
EVENKEEL_DECLARE_FIELDS(MetricTarget)
EVENKEEL_DECLARE_FIELDS(ContainerResourceMetricSource)
EVENKEEL_DECLARE_FIELDS(MetricIdentifier)
EVENKEEL_DECLARE_FIELDS(ExternalMetricSource)
EVENKEEL_DECLARE_FIELDS(CrossVersionObjectReference)
EVENKEEL_DECLARE_FIELDS(ObjectMetricSource)
EVENKEEL_DECLARE_FIELDS(PodsMetricSource)
EVENKEEL_DECLARE_FIELDS(ResourceMetricSource)
EVENKEEL_DECLARE_FIELDS(MetricSpec)
EVENKEEL_DECLARE_FIELDS(HorizontalPodAutoscalerSpec)
EVENKEEL_DECLARE_FIELDS(HorizontalPodAutoscalerCondition)
EVENKEEL_DECLARE_FIELDS(MetricValueStatus)
EVENKEEL_DECLARE_FIELDS(ContainerResourceMetricStatus)
EVENKEEL_DECLARE_FIELDS(ExternalMetricStatus)
EVENKEEL_DECLARE_FIELDS(ObjectMetricStatus)
EVENKEEL_DECLARE_FIELDS(PodsMetricStatus)
EVENKEEL_DECLARE_FIELDS(ResourceMetricStatus)
EVENKEEL_DECLARE_FIELDS(MetricStatus)
EVENKEEL_DECLARE_FIELDS(HorizontalPodAutoscalerStatus)
EVENKEEL_DECLARE_FIELDS(HorizontalPodAutoscaler)

}  // namespace autoscaling_v2

}  // namespace v0
}  // namespace evenkeel
