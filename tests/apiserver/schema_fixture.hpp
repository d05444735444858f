// SPDX-License-Identifier: Apache-2.0
// Schemas for several tests: a catalog of built-in kinds and one custom kind with various features.
#pragma once

#include <memory>
#include <ostream>
#include <string>

#include "apiserver/schema/schema.hpp"

namespace evenkeel {
inline namespace v0 {

/// Prints documents in failed expectations.
inline void PrintTo(const Json& value, std::ostream* out) {
  *out << value.dump();
}

}  // namespace v0
}  // namespace evenkeel

namespace evenkeel::apiserver {

inline Json parse(std::string_view text) {
  return Json::parse(text);
}

inline CustomKind widget_kind() {
  CustomKind kind{.group = "conformance.example.com",
                  .version = "v1",
                  .kind = "Widget",
                  .list_kind = "WidgetList",
                  .plural = "widgets",
                  .singular = "widget",
                  .status_subresource = true};
  kind.schema = parse(R"({"type": "object", "required": ["spec"], "properties": {
    "spec": {"type": "object", "required": ["size"], "properties": {
      "size": {"type": "integer", "minimum": 1, "maximum": 100},
      "color": {"type": "string", "enum": ["red", "green", "blue"], "default": "red"},
      "label": {"type": "string", "pattern": "^[a-z]+$", "maxLength": 10},
      "port": {"x-kubernetes-int-or-string": true},
      "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
      "note": {"type": "string", "nullable": true},
      "replicas": {"type": "integer", "default": 1},
      "settings": {"type": "object", "additionalProperties": {"type": "string"}},
      "parts": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
        "items": {"type": "object", "required": ["name"], "properties": {
          "name": {"type": "string"}, "count": {"type": "integer", "default": 1}}}},
      "tags": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
      "steps": {"type": "array", "items": {"type": "string"}}},
      "x-kubernetes-validations": [
        {"rule": "self.color != 'blue' || self.size > 10", "message": "blue widgets are large"}]},
    "status": {"type": "object", "properties": {
      "ready": {"type": "integer"}, "phase": {"type": "string"},
      "conditions": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"],
        "items": {"type": "object", "required": ["type", "status"], "properties": {
          "type": {"type": "string"}, "status": {"type": "string"}, "reason": {"type": "string"}}}}}}}})");
  return kind;
}

struct Shapes {
  SchemaCatalog catalog;
  std::shared_ptr<const KindSchema> widget = catalog.custom(widget_kind());
  std::shared_ptr<const KindSchema> config_map = catalog.builtin("", "v1", "ConfigMap");
  std::shared_ptr<const KindSchema> deployment = catalog.builtin("apps", "v1", "Deployment");
  std::shared_ptr<const KindSchema> pod = catalog.builtin("", "v1", "Pod");

  /// Returns the schema of a custom kind with this spec schema.
  std::shared_ptr<const KindSchema> with_spec(std::string_view spec_schema) {
    CustomKind kind{.group = "test.example.com", .version = "v1", .kind = "Thing"};
    kind.schema =
        Json::object({{"type", "object"}, {"properties", Json::object({{"spec", parse(spec_schema)}})}});
    return catalog.custom(kind);
  }
};

inline Json widget(std::string_view spec) {
  return Json::object({{"apiVersion", "conformance.example.com/v1"},
                       {"kind", "Widget"},
                       {"metadata", Json::object({{"name", "w"}})},
                       {"spec", parse(spec)}});
}

}  // namespace evenkeel::apiserver
