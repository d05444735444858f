// SPDX-License-Identifier: Apache-2.0
#include "programs/evenkeel/types/builtin_shapes.hpp"

#include <algorithm>
#include <array>

#include <evenkeel/api/crd.hpp>
#include <evenkeel/api/int_or_string.hpp>
#include <evenkeel/api/kinds/pods.hpp>
#include <evenkeel/api/metadata.hpp>
#include <evenkeel/api/quantity.hpp>
#include <evenkeel/api/selector.hpp>
#include <evenkeel/api/time.hpp>

#include "base/ascii.hpp"

namespace evenkeel::program {

using detail::ascii::lower;
namespace {

constexpr std::string_view metadata_header = "evenkeel/api/metadata.hpp";
constexpr std::string_view selector_header = "evenkeel/api/selector.hpp";
constexpr std::string_view core_header = "evenkeel/api/kinds/core.hpp";
constexpr std::string_view pods_header = "evenkeel/api/kinds/pods.hpp";

/// A type, and the members that a schema must have to be taken for it.
struct Candidate {
  BuiltinType type = {};
  const TypeInfo& (*info)() = nullptr;
  std::array<std::string_view, 7> signature = {};
  bool exact = false;           ///< The schema has no other members, and its map type is atomic.
  std::string_view field = {};  ///< A part that the lower-case name of the field must have.
};

constexpr Candidate candidates[] = {
    {{"ek::Condition", metadata_header},
     &type_info<Condition>,
     {"lastTransitionTime", "message", "reason", "status", "type"}},
    {{"ek::LabelSelector", selector_header}, &type_info<LabelSelector>, {"matchExpressions", "matchLabels"}},
    {{"ek::OwnerReference", metadata_header},
     &type_info<OwnerReference>,
     {"apiVersion", "blockOwnerDeletion", "controller", "kind", "name", "uid"}},
    {{"ek::core_v1::ObjectReference", core_header},
     &type_info<core_v1::ObjectReference>,
     {"apiVersion", "fieldPath", "kind", "name", "namespace", "resourceVersion", "uid"}},
    {{"ek::core_v1::LocalObjectReference", core_header},
     &type_info<core_v1::LocalObjectReference>,
     {"name"},
     true},
    {{"ek::core_v1::ConfigMapKeySelector", pods_header},
     &type_info<core_v1::ConfigMapKeySelector>,
     {"key", "name", "optional"},
     true,
     "config"},
    {{"ek::core_v1::SecretKeySelector", pods_header},
     &type_info<core_v1::SecretKeySelector>,
     {"key", "name", "optional"},
     true},
    {{"ek::core_v1::PodTemplateSpec", pods_header},
     &type_info<core_v1::PodTemplateSpec>,
     {"metadata", "spec"}},
    {{"ek::core_v1::PodSpec", pods_header},
     &type_info<core_v1::PodSpec>,
     {"containers", "initContainers", "restartPolicy", "volumes"}},
    {{"ek::core_v1::Container", pods_header},
     &type_info<core_v1::Container>,
     {"args", "command", "env", "image", "ports", "resources", "volumeMounts"}},
    {{"ek::core_v1::Affinity", pods_header},
     &type_info<core_v1::Affinity>,
     {"nodeAffinity", "podAffinity", "podAntiAffinity"}},
    {{"ek::core_v1::NodeAffinity", pods_header},
     &type_info<core_v1::NodeAffinity>,
     {"preferredDuringSchedulingIgnoredDuringExecution", "requiredDuringSchedulingIgnoredDuringExecution"}},
    {{"ek::core_v1::PodAntiAffinity", pods_header},
     &type_info<core_v1::PodAntiAffinity>,
     {"preferredDuringSchedulingIgnoredDuringExecution", "requiredDuringSchedulingIgnoredDuringExecution"},
     false,
     "anti"},
    {{"ek::core_v1::PodAffinity", pods_header},
     &type_info<core_v1::PodAffinity>,
     {"preferredDuringSchedulingIgnoredDuringExecution", "requiredDuringSchedulingIgnoredDuringExecution"}},
    {{"ek::core_v1::Toleration", pods_header},
     &type_info<core_v1::Toleration>,
     {"effect", "key", "operator", "tolerationSeconds", "value"}},
    {{"ek::core_v1::TopologySpreadConstraint", pods_header},
     &type_info<core_v1::TopologySpreadConstraint>,
     {"labelSelector", "maxSkew", "topologyKey", "whenUnsatisfiable"}},
    {{"ek::core_v1::ResourceRequirements", pods_header},
     &type_info<core_v1::ResourceRequirements>,
     {"limits", "requests"}},
    {{"ek::core_v1::EnvVar", pods_header}, &type_info<core_v1::EnvVar>, {"name", "value", "valueFrom"}},
    {{"ek::core_v1::EnvFromSource", pods_header},
     &type_info<core_v1::EnvFromSource>,
     {"configMapRef", "prefix", "secretRef"}},
    {{"ek::core_v1::Volume", pods_header},
     &type_info<core_v1::Volume>,
     {"configMap", "emptyDir", "hostPath", "name", "projected", "secret"}},
    {{"ek::core_v1::VolumeMount", pods_header},
     &type_info<core_v1::VolumeMount>,
     {"mountPath", "name", "readOnly", "subPath"}},
    {{"ek::core_v1::SecurityContext", pods_header},
     &type_info<core_v1::SecurityContext>,
     {"allowPrivilegeEscalation", "capabilities", "privileged", "readOnlyRootFilesystem"}},
    {{"ek::core_v1::PodSecurityContext", pods_header},
     &type_info<core_v1::PodSecurityContext>,
     {"fsGroup", "runAsUser", "supplementalGroups", "sysctls"}},
    {{"ek::core_v1::Probe", pods_header},
     &type_info<core_v1::Probe>,
     {"exec", "failureThreshold", "httpGet", "periodSeconds", "tcpSocket"}},
    {{"ek::core_v1::Lifecycle", pods_header}, &type_info<core_v1::Lifecycle>, {"postStart", "preStop"}},
    {{"ek::core_v1::PersistentVolumeClaimSpec", pods_header},
     &type_info<core_v1::PersistentVolumeClaimSpec>,
     {"accessModes", "resources", "storageClassName", "volumeName"}},
    {{"ek::core_v1::PodDNSConfig", pods_header},
     &type_info<core_v1::PodDNSConfig>,
     {"nameservers", "options", "searches"}},
    {{"ek::core_v1::HostAlias", pods_header}, &type_info<core_v1::HostAlias>, {"hostnames", "ip"}},
};

bool has_words(const Json& schema, std::string_view type) {
  return schema["type"] == Json(type);
}

bool fits(const Json& schema, const TypeInfo& type);

bool fits_record(const Json& schema, const TypeInfo& type) {
  if (!has_words(schema, "object") || schema["x-kubernetes-preserve-unknown-fields"].bool_or(false))
    return false;
  const Json& properties = schema["properties"];
  // metadata within an object is often an object without a schema, of which the server keeps nothing.
  if (!properties.is_object())
    return &type == &type_info<ObjectMeta>() && !schema.contains("additionalProperties");
  return std::all_of(properties.as_object().begin(), properties.as_object().end(),
                     [&](const Json::Member& each) {
                       const Field* field = type.find(each.name);
                       return field != nullptr && fits(each.value, field->type());
                     });
}

bool fits_enumeration(const Json& schema, const TypeInfo& type) {
  const Json& words = schema["enum"];
  if (!has_words(schema, "string") || words.empty()) return false;
  return std::all_of(words.as_array().begin(), words.as_array().end(), [&](const Json& word) {
    return std::any_of(type.values.begin(), type.values.end(),
                       [&](const EnumValue& value) { return word == Json(value.wire); });
  });
}

/// Returns true if a value of the type can hold every value of the schema.
bool fits(const Json& schema, const TypeInfo& type) {
  switch (type.kind) {
    case TypeKind::optional:
      return fits(schema, type.item());
    case TypeKind::boolean:
      return has_words(schema, "boolean");
    case TypeKind::integer:
      return has_words(schema, "integer") && (type.size == 8 || schema["format"] == Json("int32"));
    case TypeKind::number:
      return has_words(schema, "number") || has_words(schema, "integer");
    case TypeKind::string:
      return has_words(schema, "string");
    case TypeKind::enumeration:
      return fits_enumeration(schema, type);
    case TypeKind::int_or_string:
      return schema["x-kubernetes-int-or-string"].bool_or(false);
    case TypeKind::text:
      return type.text->numbers
                 ? is_quantity(schema)
                 : has_words(schema, "string") && schema["format"].string_or("") == type.text->format;
    case TypeKind::json:
      return true;
    case TypeKind::list:
      return has_words(schema, "array") && fits(schema["items"], type.item());
    case TypeKind::map:
      return has_words(schema, "object") && fits(schema["additionalProperties"], type.item());
    case TypeKind::record:
      return fits_record(schema, type);
  }
  return false;
}

bool has_signature(const Json& schema, const Candidate& candidate) {
  std::size_t count = 0;
  for (const std::string_view member : candidate.signature) {
    if (member.empty()) break;
    if (!schema["properties"].contains(member)) return false;
    ++count;
  }
  return !candidate.exact ||
         (schema["properties"].size() == count && schema["x-kubernetes-map-type"] == Json("atomic"));
}

}  // namespace

bool is_quantity(const Json& schema) {
  static const Json quantity = schema_of<Quantity>();
  // The pattern that controller-gen prints, which also admits what Go does not parse: "1e1.5".
  static const Json generated(
      R"(^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$)");
  return schema["x-kubernetes-int-or-string"].bool_or(false) &&
         (schema["pattern"] == quantity["pattern"] || schema["pattern"] == generated);
}

bool is_duration(const Json& schema) {
  static const Json duration = schema_of<Duration>();
  return schema["pattern"] == duration["pattern"];
}

bool has_own_pattern(const Json& schema) {
  static const Json time = schema_of<Time>();
  return is_quantity(schema) || is_duration(schema) ||
         (schema["format"] == time["format"] && schema["pattern"] == time["pattern"]);
}

bool has_own_bounds(const Json& schema) {
  static const Json own = schema_of<IntOrString>();
  return schema["minimum"] == own["minimum"] && schema["maximum"] == own["maximum"];
}

const BuiltinType* builtin_type_for(const Json& schema, std::string_view field) {
  const std::string name = lower(field);
  for (const Candidate& candidate : candidates) {
    if (!has_signature(schema, candidate) || name.find(candidate.field) == std::string::npos) continue;
    if (fits(schema, candidate.info())) return &candidate.type;
  }
  return nullptr;
}

}  // namespace evenkeel::program
