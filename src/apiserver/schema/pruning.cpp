// SPDX-License-Identifier: Apache-2.0
#include "apiserver/schema/pruning.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <evenkeel/api/bytes.hpp>

#include "apiserver/schema/embedded_resources.hpp"
#include "apiserver/schema/pointer_fields.hpp"
#include "apiserver/text/quantity_text.hpp"
#include "apiserver/text/timestamps.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

namespace {

/// Walks a value with its path, and removes unknown fields.
class Pruner {
 public:
  explicit Pruner(bool built_in) : built_in_(built_in) {}

  /// `schema` is null if nothing is known. `preserved` is true for items of a list that preserves unknown
  /// fields. Source: apiextensions pkg/apiserver/schema/pruning/algorithm.go prune, skipPrune.
  void visit(Json& value, const Schema* schema, const std::string& path, bool preserved = false) {
    if (schema == nullptr ? preserved : schema->opaque) return;
    const bool preserves = preserved || (schema != nullptr && schema->preserve_unknown_fields);
    if (value.is_array()) {
      Json::Array& items = value.as_array();
      for (std::size_t i = 0; i < items.size(); ++i)
        visit(items[i], schema == nullptr ? nullptr : schema->items, path + "[" + std::to_string(i) + "]",
              preserves);
    } else if (value.is_object()) {
      visit_fields(value, schema, path, preserves);
    }
  }

  std::vector<std::string> removed() && {
    if (built_in_) return std::move(removed_);
    // A real server prunes the metadata of custom resources separately, and afterwards.
    std::sort(removed_.begin(), removed_.end());
    std::sort(of_metadata_.begin(), of_metadata_.end());
    removed_.insert(removed_.end(), of_metadata_.begin(), of_metadata_.end());
    return std::move(removed_);
  }

 private:
  void visit_fields(Json& object, const Schema* schema, const std::string& path, bool preserves) {
    std::vector<std::string> gone;
    for (auto& [name, value] : object.as_object()) {
      const std::string here = path.empty() ? name : path + "." + name;
      const Schema* member = schema == nullptr ? nullptr : schema->member(name);
      if (member != nullptr) {
        visit(value, member, here);
      } else if (!preserves) {
        gone.push_back(name);
        const bool metadata = !built_in_ && schema != nullptr && !schema->type_name.empty();
        (metadata ? of_metadata_ : removed_).push_back(here);
      }
    }
    for (const std::string& name : gone) object.erase(name);
  }

  const bool built_in_;
  std::vector<std::string> removed_;
  std::vector<std::string> of_metadata_;
};

/// Removes nulls that mean "not set" from objects of custom kinds.
void drop_unset(Json& value, const Schema* schema, Unset unset) {
  if (schema == nullptr) return;
  if (value.is_array()) {
    for (Json& item : value.as_array()) drop_unset(item, schema->items, unset);
  }
  if (!value.is_object()) return;
  std::vector<std::string> gone;
  for (auto& [name, member] : value.as_object()) {
    const Schema* known = schema->embedded_resource && name == "metadata" ? nullptr : schema->member(name);
    const bool drops = unset == Unset::dropped || (known != nullptr && known->type == SchemaType::any);
    if (known != nullptr && member.is_null() && !known->nullable && !known->default_value && drops)
      gone.push_back(name);
    else
      drop_unset(member, known, unset);
  }
  for (const std::string& name : gone) value.erase(name);
}

/// Optional numbers and booleans whose Go type is not a pointer: zero and false are omitted.
bool drops_zero(std::string_view name) {
  static constexpr std::array names{std::string_view("hostNetwork"),
                                    std::string_view("hostPID"),
                                    std::string_view("hostIPC"),
                                    std::string_view("stdin"),
                                    std::string_view("stdinOnce"),
                                    std::string_view("tty"),
                                    std::string_view("paused"),
                                    std::string_view("unschedulable"),
                                    std::string_view("minReadySeconds"),
                                    std::string_view("publishNotReadyAddresses"),
                                    std::string_view("nodePort"),
                                    std::string_view("hostPort"),
                                    std::string_view("generation"),
                                    std::string_view("observedGeneration"),
                                    std::string_view("updatedReplicas"),
                                    std::string_view("readyReplicas"),
                                    std::string_view("availableReplicas"),
                                    std::string_view("unavailableReplicas"),
                                    std::string_view("fullyLabeledReplicas"),
                                    std::string_view("currentReplicas"),
                                    std::string_view("active"),
                                    std::string_view("succeeded"),
                                    std::string_view("failed"),
                                    std::string_view("initialDelaySeconds"),
                                    std::string_view("count"),
                                    std::string_view("healthCheckNodePort"),
                                    std::string_view("readOnly"),
                                    std::string_view("chapAuthDiscovery"),
                                    std::string_view("chapAuthSession"),
                                    std::string_view("sslEnabled"),
                                    std::string_view("globalDefault"),
                                    std::string_view("deprecatedCount"),
                                    std::string_view("number"),
                                    std::string_view("numberAvailable"),
                                    std::string_view("numberUnavailable"),
                                    std::string_view("sizeBytes"),
                                    std::string_view("updatedNumberScheduled"),
                                    std::string_view("signal"),
                                    std::string_view("preserveUnknownFields"),
                                    std::string_view("deprecated"),
                                    std::string_view("exclusiveMinimum"),
                                    std::string_view("exclusiveMaximum"),
                                    std::string_view("uniqueItems"),
                                    std::string_view("nullable"),
                                    std::string_view("x-kubernetes-embedded-resource"),
                                    std::string_view("x-kubernetes-int-or-string")};
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Like drops_zero(), for names that have other meanings in other types.
bool drops_zero_in(std::string_view type, std::string_view name) {
  return name == "priority" && type.ends_with(".CustomResourceColumnDefinition");
}

/// Fields with a name of drops_zero() that are pointers in Go.
bool keeps_zero_in(std::string_view type, std::string_view name) {
  if (name == "observedGeneration") return type.ends_with(".HorizontalPodAutoscalerStatus");
  if (name == "count") return type.ends_with(".VolumeNodeResources");
  return name == "readOnly" &&
         (type.ends_with(".CSIVolumeSource") || type.ends_with(".AzureDiskVolumeSource"));
}

bool is_left_out(const Schema& type, std::string_view name, const Json& value) {
  if (value.is_null()) return true;
  if (value.is_string())
    return value.as_string().empty() && type.member(name)->type != SchemaType::int_or_string &&
           !is_pointer_to_text(type, name);
  if (value.is_array()) return value.empty();
  if (value.is_integer())
    return value.as_integer() == 0 && (drops_zero(name) || drops_zero_in(type.type_name, name)) &&
           !keeps_zero_in(type.type_name, name);
  return value.is_bool() && !value.as_bool() && drops_zero(name) && !keeps_zero_in(type.type_name, name);
}

/// Converts quantities to the form that a real server stores: "1000m" is "1", 0.5 is "500m".
void canonicalize_quantity(Json& value, QuantityPrecision precision) {
  const std::string text = value.is_string() ? value.as_string() : value.is_null() ? "0" : value.dump();
  if (std::optional<std::string> form = quantity_text(text, precision)) value = Json(std::move(*form));
}

void canonicalize_value(Json& value, const Schema& schema);

void canonicalize_fields(Json& object, const Schema& schema) {
  for (const Property& property : schema.properties) {
    const Json* given = std::as_const(object).find(property.name);
    const bool present = given != nullptr && !given->is_null();
    if (!present && property.schema->always_written) object[property.name] = Json::object();
    if (!present && (schema.is_required(property.name) || property.schema->written_when_unset))
      object[property.name] = property.schema->default_value.value_or(Json());
  }
  std::vector<std::string> gone;
  for (auto& [name, value] : object.as_object()) {
    const Schema* member = schema.member(name);
    if (member == nullptr) continue;
    if (value.is_null() && member->always_written) value = Json::object();
    if (is_quantity(*member) && schema.property(name) == nullptr) {
      canonicalize_quantity(value, QuantityPrecision::milli);
      continue;
    }
    const bool given = !value.is_null();
    canonicalize_value(value, *member);
    // Go writes a pointer to a time even if the time is zero.
    const bool zero_time = given && value.is_null() && name != "creationTimestamp";
    if (member->type == SchemaType::any && member->type_name.ends_with(".JSON") && !value.is_null()) continue;
    if (schema.property(name) == nullptr) {
      if (value.is_null() && member->type == SchemaType::string) value = Json("");
      continue;
    }
    const bool empty_map =
        value.is_object() && value.empty() && member->additional != nullptr && name != "dependencies";
    const bool optional = !schema.is_required(name) && !member->always_written && !member->written_when_unset;
    if (member->written_when_unset && value.is_array() && value.empty()) value = Json();
    if (optional && !zero_time && (is_left_out(schema, name, value) || empty_map)) gone.push_back(name);
  }
  for (const std::string& name : gone) object.erase(name);
}

/// Converts bytes, which may be a list of numbers or base64 in several lines, to base64.
void canonicalize_bytes(Json& value) {
  std::optional<Bytes> bytes = Bytes();
  if (value.is_string()) bytes = Bytes::from_base64(value.as_string());
  std::string listed;
  if (value.is_array())
    for (const Json& byte : value.as_array()) listed += static_cast<char>(byte.integer_or(0));
  if (bytes) value = Json(value.is_array() ? Bytes(listed).base64() : bytes->base64());
}

void canonicalize_value(Json& value, const Schema& schema) {
  if (is_quantity(schema) && !value.is_null()) canonicalize_quantity(value, QuantityPrecision::nano);
  if (schema.opaque) return;
  if (value.is_string() && schema.format == "date-time") {
    const bool micro = schema.type_name.ends_with(".MicroTime");
    const auto text = time_text(value.as_string(), micro ? TimeForm::microseconds : TimeForm::seconds);
    if (text) value = text->empty() ? Json() : Json(*text);
  }
  if ((value.is_string() || value.is_array()) && schema.format == "byte") canonicalize_bytes(value);
  if (value.is_object() && schema.type == SchemaType::object) canonicalize_fields(value, schema);
  if (value.is_array() && schema.items != nullptr) {
    for (Json& item : value.as_array()) {
      if (item.is_null()) item = schema.items->default_value.value_or(Json());
      canonicalize_value(item, *schema.items);
    }
  }
}

}  // namespace

bool is_quantity(const Schema& schema) {
  return schema.type_name.ends_with("resource.Quantity");
}

std::vector<std::string> prune(Json& object, const KindSchema& kind, Unset unset) {
  Pruner pruner(kind.built_in);
  pruner.visit(object, &kind.root(), "");
  if (!kind.built_in) drop_unset(object, &kind.root(), unset);
  return std::move(pruner).removed();
}

void canonicalize(Json& object, const KindSchema& kind) {
  if (!object.is_object()) return;
  if (kind.built_in) return canonicalize_value(object, kind.root());
  const Schema* metadata = kind.root().property("metadata");
  Json* present = object.find("metadata");
  if (metadata == nullptr) return;
  if (present != nullptr) canonicalize_value(*present, *metadata);
  each_embedded_resource(object, kind, [&](Json& resource, const std::string&) {
    Json* own = resource.find("metadata");
    if (own == nullptr) return;
    if (own->is_null()) *own = Json::object();
    canonicalize_value(*own, *metadata);
  });
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
