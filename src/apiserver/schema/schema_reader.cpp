// SPDX-License-Identifier: Apache-2.0
#include "apiserver/schema/schema_reader.hpp"

#include <algorithm>
#include <utility>

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

namespace {

SchemaType type_named(std::string_view name) {
  if (name == "object") return SchemaType::object;
  if (name == "array") return SchemaType::array;
  if (name == "string") return SchemaType::string;
  if (name == "integer") return SchemaType::integer;
  if (name == "number") return SchemaType::number;
  if (name == "boolean") return SchemaType::boolean;
  return SchemaType::any;
}

std::vector<std::string> strings_of(const Json& list) {
  std::vector<std::string> result;
  if (list.is_array()) {
    for (const Json& item : list.as_array()) {
      if (item.is_string()) result.push_back(item.as_string());
    }
  }
  return result;
}

void read_list_and_map_types(Schema& node, const Json& source) {
  const std::string list_type = source["x-kubernetes-list-type"].string_or("");
  if (list_type == "set") node.list_type = ListType::set;
  if (list_type == "map") node.list_type = ListType::map;
  if (list_type == "atomic") node.list_type = ListType::atomic;
  if (source.contains("x-kubernetes-list-map-keys")) {
    node.list_keys = strings_of(source["x-kubernetes-list-map-keys"]);
    std::sort(node.list_keys.begin(), node.list_keys.end());
  }
  if (source["x-kubernetes-map-type"].string_or("") == "atomic") node.map_type = MapType::atomic;
  if (source.contains("x-kubernetes-patch-merge-key"))
    node.merge_key = source["x-kubernetes-patch-merge-key"].string_or("");
  const std::string strategy = source["x-kubernetes-patch-strategy"].string_or("");
  if (strategy.find("merge") != std::string::npos) node.patch_merge = true;
  if (strategy.find("retainKeys") != std::string::npos) node.patch_retain_keys = true;
}

/// Reads the members of any schema other than its type, including siblings of a reference.
void read_common(Schema& node, const Json& source) {
  read_list_and_map_types(node, source);
  if (const Json* value = source.find("default")) node.default_value = *value;
  if (source.contains("format")) node.format = source["format"].string_or("");
  if (source.contains("required")) node.required = strings_of(source["required"]);
}

std::optional<double> number_in(const Json& value) {
  if (!value.is_number()) return std::nullopt;
  return value.as_number();
}
std::optional<std::int64_t> integer_in(const Json& value) {
  if (!value.is_number()) return std::nullopt;
  return value.is_integer() ? value.as_integer() : static_cast<std::int64_t>(value.as_number());
}

CelRule rule_of(const Json& source) {
  return {.rule = source["rule"].string_or(""),
          .message = source["message"].string_or(""),
          .message_expression = source["messageExpression"].string_or(""),
          .reason = source["reason"].string_or("FieldValueInvalid"),
          .field_path = source["fieldPath"].string_or(""),
          .optional_old_self = source["optionalOldSelf"].bool_or(false)};
}

void read_bounds(Constraints& result, const Json& source) {
  result.minimum = number_in(source["minimum"]);
  result.maximum = number_in(source["maximum"]);
  result.exclusive_minimum = source["exclusiveMinimum"].bool_or(false);
  result.exclusive_maximum = source["exclusiveMaximum"].bool_or(false);
  result.multiple_of = number_in(source["multipleOf"]);
  result.min_length = integer_in(source["minLength"]);
  result.max_length = integer_in(source["maxLength"]);
  result.min_items = integer_in(source["minItems"]);
  result.max_items = integer_in(source["maxItems"]);
  result.min_properties = integer_in(source["minProperties"]);
  result.max_properties = integer_in(source["maxProperties"]);
  result.unique_items = source["uniqueItems"].bool_or(false);
  result.pattern = source["pattern"].string_or("");
  if (source["enum"].is_array()) result.allowed = source["enum"].as_array();
}

bool has_constraints(const Json& source) {
  static constexpr std::string_view names[] = {"minimum",
                                               "maximum",
                                               "multipleOf",
                                               "minLength",
                                               "maxLength",
                                               "minItems",
                                               "maxItems",
                                               "minProperties",
                                               "maxProperties",
                                               "uniqueItems",
                                               "pattern",
                                               "enum",
                                               "allOf",
                                               "anyOf",
                                               "oneOf",
                                               "not",
                                               "x-kubernetes-validations"};
  return std::any_of(std::begin(names), std::end(names), [&](auto name) { return source.contains(name); });
}

void set_property(Schema& node, std::string name, const Schema& schema) {
  const auto place = std::lower_bound(
      node.properties.begin(), node.properties.end(), name,
      [](const Property& property, const std::string& wanted) { return property.name < wanted; });
  if (place != node.properties.end() && place->name == name)
    place->schema = &schema;
  else
    node.properties.insert(place, {std::move(name), &schema});
}

/// Go fields without omitempty, or with a struct type, that are optional in OpenAPI.
bool is_written_when_unset(std::string_view type, std::string_view field) {
  static constexpr std::pair<std::string_view, std::string_view> fields[] = {
      {"core.v1.Event", "eventTime"},
      {"core.v1.Event", "firstTimestamp"},
      {"core.v1.Event", "lastTimestamp"},
      {"core.v1.Event", "reportingComponent"},
      {"core.v1.Event", "reportingInstance"},
      {"events.v1.Event", "deprecatedFirstTimestamp"},
      {"events.v1.Event", "deprecatedLastTimestamp"},
      {"apps.v1.StatefulSetSpec", "serviceName"},
      {"apps.v1.StatefulSetStatus", "availableReplicas"},
      {"policy.v1.PodDisruptionBudgetStatus", "currentHealthy"},
      {"policy.v1.PodDisruptionBudgetStatus", "desiredHealthy"},
      {"policy.v1.PodDisruptionBudgetStatus", "disruptionsAllowed"},
      {"policy.v1.PodDisruptionBudgetStatus", "expectedPods"},
      {"core.v1.TypedLocalObjectReference", "apiGroup"},
      {"core.v1.TypedObjectReference", "apiGroup"},
      {"core.v1.AzureFilePersistentVolumeSource", "secretNamespace"},
      {"rbac.v1.Role", "rules"},
      {"rbac.v1.ClusterRole", "rules"},
      {"autoscaling.v2.HorizontalPodAutoscalerStatus", "currentMetrics"},
      {"core.v1.ContainerStateRunning", "startedAt"},
      {"core.v1.ContainerStateTerminated", "startedAt"},
      {"core.v1.ContainerStateTerminated", "finishedAt"}};
  constexpr std::string_view prefix = "io.k8s.api.";
  if (!type.starts_with(prefix)) return false;
  type.remove_prefix(prefix.size());
  const bool moment = field == "lastTransitionTime" || field == "lastProbeTime" ||
                      field == "lastUpdateTime" || field == "lastHeartbeatTime";
  if (moment && type.ends_with("Condition")) return true;
  return std::find(std::begin(fields), std::end(fields), std::pair(type, field)) != std::end(fields);
}

/// Reads one CRD schema into nodes of a pool.
class CustomReader {
 public:
  CustomReader(SchemaPool& pool, const Schema& object_meta) : pool_(pool), object_meta_(object_meta) {}

  Schema& read(const Json& source) {
    Schema& node = pool_.add();
    node.type = type_named(source["type"].string_or(""));
    if (source["x-kubernetes-int-or-string"].bool_or(false)) node.type = SchemaType::int_or_string;
    node.nullable = source["nullable"].bool_or(false);
    node.preserve_unknown_fields = source["x-kubernetes-preserve-unknown-fields"].bool_or(false);
    node.embedded_resource = source["x-kubernetes-embedded-resource"].bool_or(false);
    read_common(node, source);
    read_children(node, source);
    if (has_constraints(source)) node.constraints = constraints_of(source);
    if (node.embedded_resource) add_object_header(pool_, node, object_meta_);
    return node;
  }

 private:
  void read_children(Schema& node, const Json& source) {
    if (source["properties"].is_object()) {
      for (const auto& [name, value] : source["properties"].as_object())
        node.properties.push_back({name, &read(value)});
    }
    if (source["items"].is_object()) node.items = &read(source["items"]);
    const Json& additional = source["additionalProperties"];
    if (additional.is_object()) node.additional = &read(additional);
    if (additional.bool_or(false)) {
      Schema& anything = pool_.add();  // objects in it lose their fields, of which no schema knows
      anything.nullable = true;
      node.additional = &anything;
    }
  }

  std::vector<const Schema*> all(const Json& list) {
    std::vector<const Schema*> result;
    if (list.is_array()) {
      for (const Json& item : list.as_array()) result.push_back(&read(item));
    }
    return result;
  }

  std::shared_ptr<const Constraints> constraints_of(const Json& source) {
    auto result = std::make_shared<Constraints>();
    read_bounds(*result, source);
    result->all_of = all(source["allOf"]);
    result->any_of = all(source["anyOf"]);
    result->one_of = all(source["oneOf"]);
    if (source["not"].is_object()) result->none_of = &read(source["not"]);
    if (source["x-kubernetes-validations"].is_array()) {
      for (const Json& rule : source["x-kubernetes-validations"].as_array())
        result->rules.push_back(rule_of(rule));
    }
    return result;
  }

  SchemaPool& pool_;
  const Schema& object_meta_;
};

}  // namespace

const Schema& BuiltinSchemaReader::type(std::string_view name) {
  const Schema& result = resolve(name);
  // Types that were referred to while they were being read are complete now.
  while (!references_.empty()) {
    const std::vector<Reference> waiting = std::exchange(references_, {});
    for (const auto& [node, target, source, written_when_unset] : waiting) {
      *node = *target;
      node->always_written = target->type == SchemaType::object && (*source)["default"] == Json::object() &&
                             !target->properties.empty();
      node->written_when_unset = written_when_unset;
      read_common(*node, *source);
    }
  }
  return result;
}

Schema& BuiltinSchemaReader::resolve(std::string_view name) {
  const auto known = types_.find(name);
  if (known != types_.end()) return *known->second;
  Schema& node = pool_->add();
  types_.emplace(name, &node);
  node.type_name = std::string(name);
  read(node, data_.type(name));
  return node;
}

const Schema* BuiltinSchemaReader::member_node(const Json& source, bool written_when_unset) {
  const Json& reference = source["$ref"];
  if (!reference.is_string()) {
    Schema& node = pool_->add();
    read(node, source);
    node.written_when_unset = written_when_unset;
    return &node;
  }
  Schema& target = resolve(reference.as_string());
  if (source.size() == 1 && !written_when_unset) return &target;
  Schema& node = pool_->add();
  references_.push_back({&node, &target, &source, written_when_unset});
  return &node;
}

void BuiltinSchemaReader::read(Schema& node, const Json& source) {
  node.type = type_named(source["type"].string_or(""));
  if (source["format"].string_or("") == "int-or-string" || source.contains("oneOf"))
    node.type = SchemaType::int_or_string;
  read_common(node, source);
  if (source["properties"].is_object()) {
    for (const auto& [name, value] : source["properties"].as_object())
      node.properties.push_back({name, member_node(value, is_written_when_unset(node.type_name, name))});
  }
  if (source["items"].is_object()) node.items = member_node(source["items"], false);
  if (source["additionalProperties"].is_object())
    node.additional = member_node(source["additionalProperties"], false);
  if (has_constraints(source)) {
    auto constraints = std::make_shared<Constraints>();
    read_bounds(*constraints, source);
    node.constraints = std::move(constraints);
  }
  node.opaque = node.type == SchemaType::any ||
                (node.type == SchemaType::object && node.properties.empty() && node.additional == nullptr);
  if (node.opaque) node.map_type = MapType::atomic;
  if (node.type_name.ends_with(".CustomResourceSubresourceStatus")) node.opaque = false;  // an empty struct
}

const BuiltinSchemas& BuiltinSchemas::shared() {
  static const BuiltinSchemas schemas;
  return schemas;
}

BuiltinSchemas::BuiltinSchemas() {
  BuiltinData data;
  BuiltinSchemaReader reader(data);
  pool_ = reader.pool();
  object_meta_ = &reader.type("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta");
  for (const auto& [kind, type] : BuiltinIndex::shared().kinds) types_.emplace(type, &reader.type(type));
}

const Schema& read_custom_schema(SchemaPool& pool, const Json& source, const Schema& object_meta) {
  return CustomReader(pool, object_meta).read(source);
}

void add_object_header(SchemaPool& pool, Schema& node, const Schema& object_meta) {
  Schema& text = pool.add();
  text.type = SchemaType::string;
  set_property(node, "apiVersion", text);
  set_property(node, "kind", text);
  set_property(node, "metadata", object_meta);
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
