// SPDX-License-Identifier: Apache-2.0
// Validation of HorizontalPodAutoscalers. Source: kubernetes pkg/apis/autoscaling/validation.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "apiserver/schema/builtin_checks.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver::checks {
namespace {

enum class EmptyGroup : bool { refused, allowed };

/// Checks a reference to an object of any version.
void check_target_object(const Json& target, EmptyGroup empty, const std::string& here, Errors& errors) {
  for (const char* name : {"kind", "name"}) {
    if (is_empty(target[name]))
      errors.push_back(field_required(here + "." + name));
    else
      check_path_segment(target[name], here + "." + name, errors);
  }
  const std::string version = target["apiVersion"].string_or("");
  const auto slashes = std::count(version.begin(), version.end(), '/');
  const std::string field = here + ".apiVersion";
  if (slashes > 1)
    errors.push_back(field_invalid(field, version, "unexpected GroupVersion string: " + version));
  else if (empty == EmptyGroup::refused && (slashes == 0 || version.starts_with('/')))
    errors.push_back(field_invalid(field, version, "apiVersion must specify API group"));
}

void check_target(const Json& target, const std::string& here, Errors& errors) {
  const std::string type = target["type"].string_or("");
  if (type.empty()) errors.push_back(field_required(here + ".type", "must specify a metric target type"));
  if (type != "Utilization" && type != "Value" && type != "AverageValue")
    errors.push_back(
        field_invalid(here + ".type", type, "must be either Utilization, Value, or AverageValue"));
  for (const char* name : {"value", "averageValue"})
    if (!target[name].is_null() && is_not_positive(target[name]))
      errors.push_back(field_invalid(here + "." + name, target[name], "must be positive"));
  const Json& percent = target["averageUtilization"];
  if (percent.is_integer() && percent.as_integer() < 1)
    errors.push_back(field_invalid(here + ".averageUtilization", percent, "must be greater than 0"));
}

/// A source of metrics: one of two members of its target is needed.
struct MetricSource {
  std::string_view type;
  const char* field;
  const char* first;  ///< Member that suffices instead of averageValue; null if there is none.
  const char* needed;
  std::string_view missing;
  std::string_view both;  ///< Empty if both may be set.
};
constexpr std::array sources{
    MetricSource{"Object", "object", "value", "averageValue",
                 "must set either a target value or averageValue", ""},
    MetricSource{"External", "external", "value", "averageValue",
                 "must set either a target value for metric or a per-pod target",
                 "may not set both a target value for metric and a per-pod target"},
    MetricSource{"Pods", "pods", nullptr, "averageValue", "must specify a positive target averageValue", ""},
    MetricSource{"Resource", "resource", "averageUtilization", "averageUtilization",
                 "must set either a target raw value or a target utilization",
                 "may not set both a target raw value and a target utilization"},
    MetricSource{"ContainerResource", "containerResource", "averageUtilization", "averageUtilization",
                 "must set either a target raw value or a target utilization",
                 "may not set both a target raw value and a target utilization"}};

void check_source(const MetricSource& source, const Json& value, const std::string& here, Errors& errors) {
  const bool of_resource = source.type.ends_with("Resource");
  if (source.type == "Object")
    check_target_object(value["describedObject"], EmptyGroup::allowed, here + ".describedObject", errors);
  if (of_resource) {
    if (is_empty(value["name"]))
      errors.push_back(field_required(here + ".name", "must specify a resource name"));
  } else if (is_empty(value["metric"]["name"])) {
    errors.push_back(field_required(here + ".metric.name", "must specify a metric name"));
  } else {
    check_path_segment(value["metric"]["name"], here + ".metric.name", errors);
  }
  if (source.type == "ContainerResource") {
    if (is_empty(value["container"]))
      errors.push_back(field_required(here + ".container", "must specify a container"));
    else
      check_label(value["container"].string_or(""), here + ".container", errors);
  }
  const Json& target = value["target"];
  check_target(target, here + ".target", errors);
  const bool first = source.first != nullptr && !target[source.first].is_null();
  const bool average = !target["averageValue"].is_null();
  if (!first && !average) errors.push_back(field_required(here + ".target." + source.needed, source.missing));
  if (first && average && !source.both.empty())
    errors.push_back(
        field_forbidden(here + ".target." + (of_resource ? "averageValue" : "value"), source.both));
}

void check_metric(const Json& metric, const std::string& here, Errors& errors) {
  static const Json::Array types = {Json("ContainerResource"), Json("External"), Json("Object"), Json("Pods"),
                                    Json("Resource")};
  if (is_empty(metric["type"]))
    errors.push_back(field_required(here + ".type", "must specify a metric source type"));
  check_one_of(metric["type"], here + ".type", types, errors);
  std::size_t present = 0;
  for (const MetricSource& source : sources)
    if (metric[source.field].is_object() && ++present == 1)
      check_source(source, metric[source.field], here + "." + source.field, errors);
  for (const MetricSource& source : sources) {
    const bool expected = metric["type"] == Json(source.type);
    const std::string field = here + "." + source.field;
    if (expected && !metric[source.field].is_object())
      errors.push_back(field_required(field, "must populate information for the given metric source"));
    if (!expected && present > 1 && metric[source.field].is_object())
      errors.push_back(field_forbidden(field, "must populate the given metric source only"));
  }
}

void check_positive(const Json& number, std::int64_t most, const std::string& field, Errors& errors) {
  const Json value(number.integer_or(0));
  if (value.as_integer() <= 0) errors.push_back(field_invalid(field, value, "must be greater than zero"));
  if (value.as_integer() > most)
    errors.push_back(field_invalid(field, value, "must be less than or equal to " + std::to_string(most)));
}

void check_scaling_rules(const Json& rules, const std::string& here, Errors& errors) {
  static const Json::Array types = {Json("Percent"), Json("Pods")};
  if (!rules.is_object()) return;
  const Json& window = rules["stabilizationWindowSeconds"];
  const std::string field = here + ".stabilizationWindowSeconds";
  if (window.integer_or(0) < 0)
    errors.push_back(field_invalid(field, window, "must be greater than or equal to zero"));
  if (window.integer_or(0) > 3600)
    errors.push_back(field_invalid(field, window, "must be less than or equal to 3600"));
  check_one_of(rules["selectPolicy"], here + ".selectPolicy", {Json("Disabled"), Json("Max"), Json("Min")},
               errors);
  const Json& policies = rules["policies"];
  if (is_empty(policies))
    errors.push_back(field_required(here + ".policies", "must specify at least one Policy"));
  for (std::size_t i = 0; i < policies.size(); ++i) {
    const std::string at = indexed(here + ".policies", i);
    check_one_of(policies[i]["type"], at + ".type", types, errors);
    check_positive(policies[i]["value"], INT32_MAX, at + ".value", errors);
    check_positive(policies[i]["periodSeconds"], 1800, at + ".periodSeconds", errors);
  }
}

}  // namespace

void check_autoscaler(const Json& object, const Json&, Errors& errors) {
  const Json& spec = object["spec"];
  const std::int64_t least = spec["minReplicas"].integer_or(1);
  const Json most(spec["maxReplicas"].integer_or(0));
  if (least < 1)
    errors.push_back(field_invalid("spec.minReplicas", Json(least), "must be greater than or equal to 1"));
  if (most.as_integer() == 0)
    errors.push_back(field_required("spec.maxReplicas", "must be set and greater than 0"));
  if (most.as_integer() < 0)
    errors.push_back(field_invalid("spec.maxReplicas", most, "must be greater than or equal to 1"));
  if (most.as_integer() < least)
    errors.push_back(
        field_invalid("spec.maxReplicas", most, "must be greater than or equal to `minReplicas`"));
  check_target_object(spec["scaleTargetRef"], EmptyGroup::refused, "spec.scaleTargetRef", errors);
  const Json& metrics = spec["metrics"];
  bool from_outside = false;
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    check_metric(metrics[i], indexed("spec.metrics", i), errors);
    from_outside =
        from_outside || metrics[i]["type"] == Json("Object") || metrics[i]["type"] == Json("External");
  }
  if (least == 0 && !from_outside)
    errors.push_back(field_forbidden(
        "spec.metrics",
        "must specify at least one Object or External metric to support scaling to zero replicas"));
  for (const char* way : {"scaleUp", "scaleDown"})
    check_scaling_rules(spec["behavior"][way], std::string("spec.behavior.") + way, errors);
}

}  // namespace apiserver::checks
}  // namespace v0
}  // namespace evenkeel
