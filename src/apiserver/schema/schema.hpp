// SPDX-License-Identifier: Apache-2.0
// The schema of an object in the embedded API server, from the built-in data or from a CRD. Defaulting,
// pruning, validation, merging, field ownership and OpenAPI all use this representation.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/api/json.hpp>

#include "apiserver/schema/builtin_data.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

enum class SchemaType : std::uint8_t { any, object, array, string, integer, number, boolean, int_or_string };
enum class ListType : std::uint8_t { atomic, set, map };
enum class MapType : std::uint8_t { granular, atomic };

struct Schema;

/// A named member of an object schema.
struct Property {
  std::string name;
  const Schema* schema = nullptr;
};

/// An x-kubernetes-validations rule, as text.
struct CelRule {
  std::string rule = {};
  std::string message = {};
  std::string message_expression = {};
  std::string reason = {};      ///< "FieldValueInvalid" if the rule has none.
  std::string field_path = {};  ///< fieldPath of the rule: ".spec.size".
  bool optional_old_self = false;
};

/// Constraints on values other than their type. Separate, as few schemas have any.
struct Constraints {
  std::optional<double> minimum = {};
  std::optional<double> maximum = {};
  bool exclusive_minimum = false;
  bool exclusive_maximum = false;
  std::optional<double> multiple_of = {};
  std::optional<std::int64_t> min_length = {};
  std::optional<std::int64_t> max_length = {};
  std::optional<std::int64_t> min_items = {};
  std::optional<std::int64_t> max_items = {};
  std::optional<std::int64_t> min_properties = {};
  std::optional<std::int64_t> max_properties = {};
  bool unique_items = false;
  std::string pattern = {};
  Json::Array allowed = {};  ///< "enum".
  std::vector<const Schema*> all_of = {};
  std::vector<const Schema*> any_of = {};
  std::vector<const Schema*> one_of = {};
  const Schema* none_of = nullptr;  ///< "not".
  std::vector<CelRule> rules = {};
};

/// One node. Nodes refer to each other by pointer, possibly in cycles (JSONSchemaProps does).
/// Lifetime: a node lives as long as a KindSchema that reaches it.
struct Schema {
  SchemaType type = SchemaType::any;
  bool nullable = false;
  bool preserve_unknown_fields = false;
  bool embedded_resource = false;
  /// Built-in kinds only: a struct that is not a pointer in Go and is therefore always written ("status":
  /// {}).
  bool always_written = false;
  /// Built-in kinds only: an optional field that is written even if it is unset, as null, "" or 0.
  bool written_when_unset = false;
  /// Built-in kinds only: a type with its own JSON form, whose content is not checked (RawExtension).
  bool opaque = false;
  std::string type_name = {};  ///< OpenAPI name of a built-in type: "io.k8s.api.core.v1.Container".
  std::string format = {};
  std::optional<Json> default_value = {};
  std::vector<Property> properties = {};  ///< Sorted by name.
  std::vector<std::string> required = {};
  const Schema* additional = nullptr;  ///< additionalProperties, if it is a schema or true.
  const Schema* items = nullptr;
  ListType list_type = ListType::atomic;
  std::vector<std::string> list_keys = {};
  MapType map_type = MapType::granular;
  std::string merge_key = {};  ///< x-kubernetes-patch-merge-key.
  bool patch_merge = false;    ///< x-kubernetes-patch-strategy has "merge".
  bool patch_retain_keys = false;
  std::shared_ptr<const Constraints> constraints = {};  ///< May be empty.

  const Schema* property(std::string_view name) const noexcept;
  bool is_required(std::string_view name) const noexcept;
  /// Returns the schema of member `name`: the property, else additionalProperties, else nullptr.
  const Schema* member(std::string_view name) const noexcept;
};

/// Owner of nodes.
struct SchemaPool {
  std::deque<Schema> nodes = {};
  std::shared_ptr<const SchemaPool> beneath = {};  ///< Keeps nodes alive that nodes here refer to.
  Schema& add() { return nodes.emplace_back(); }
};

/// The definition of a kind in a CRD version. `schema` is openAPIV3Schema (null: no restrictions).
struct CustomKind {
  std::string group = {};
  std::string version = {};
  std::string kind = {};
  std::string list_kind = {};
  std::string plural = {};
  std::string singular = {};
  bool namespaced = true;
  bool status_subresource = false;
  bool preserve_unknown_fields = false;             ///< spec.preserveUnknownFields of old CRDs.
  Json scale = {};                                  ///< subresources.scale, null if absent.
  Json columns = {};                                ///< additionalPrinterColumns, null if absent.
  std::vector<std::string> selectable_fields = {};  ///< "spec.color"
  Json schema = {};
};

/// The schema of one kind in one version. Immutable; may be shared.
class KindSchema {
 public:
  KindSchema(std::shared_ptr<const SchemaPool> pool, const Schema& root)
      : pool_(std::move(pool)), root_(&root) {}

  std::string group = {};
  std::string version = {};
  std::string kind = {};
  bool built_in = false;
  bool status_subresource = false;
  bool embeds_resources = false;  ///< The schema has x-kubernetes-embedded-resource.
  /// For kinds without a schema, every member is known.
  const Schema& root() const noexcept { return *root_; }
  std::string api_version() const { return group.empty() ? version : group + "/" + version; }

 private:
  std::shared_ptr<const SchemaPool> pool_;
  const Schema* root_;
};

class BuiltinSchemas;

/// Creates schemas; one per server. Those of built-in kinds are shared by all servers of the program.
/// Thread safety: one thread at a time.
/// Lifetime: the schemas that it returns may outlive it.
class SchemaCatalog {
 public:
  SchemaCatalog();
  ~SchemaCatalog();
  SchemaCatalog(const SchemaCatalog&) = delete;
  SchemaCatalog& operator=(const SchemaCatalog&) = delete;

  BuiltinData& data() noexcept { return data_; }
  /// Returns null if the server has no such kind.
  std::shared_ptr<const KindSchema> builtin(std::string_view group, std::string_view version,
                                            std::string_view kind);
  /// Returns the schema of a custom kind, with apiVersion, kind and ObjectMeta added. Invalid parts (wrong
  /// types where a list is expected) are ignored; check_structural() reports the errors of a CRD.
  std::shared_ptr<const KindSchema> custom(const CustomKind& kind);

 private:
  BuiltinData data_;
  const BuiltinSchemas& shared_;
  std::map<std::string, std::shared_ptr<const KindSchema>, std::less<>> kinds_;  // those it was asked for
};

/// An error of a field, with the text of a real API server.
struct FieldError {
  std::string reason = {};   ///< "FieldValueInvalid": causes[].reason.
  std::string message = {};  ///< "Invalid value: 0: ...": causes[].message.
  std::string field = {};    ///< "spec.size": causes[].field.

  std::string text() const { return field + ": " + message; }
};

FieldError field_required(std::string field, std::string_view detail = {});
/// `value` is formatted like in Go: strings quoted, objects and lists as JSON, null as null.
FieldError field_invalid(std::string field, const Json& value, std::string_view detail);
FieldError field_type_invalid(std::string field, const Json& value, std::string_view detail);
FieldError field_not_supported(std::string field, const Json& value, const Json::Array& allowed);
FieldError field_duplicate(std::string field, const Json& value);
FieldError field_too_long(std::string field, std::int64_t max_bytes);
FieldError field_too_many(std::string field, std::int64_t actual, std::int64_t max);
FieldError field_forbidden(std::string field, std::string_view detail);

/// Returns "a: Required value", or "[a: Required value, b: Required value]", the list in a Status message.
std::string describe(const std::vector<FieldError>& errors);
/// Returns the causes of a Status: [{"reason": ..., "message": ..., "field": ...}].
Json causes(const std::vector<FieldError>& errors);

/// Returns the errors in spec.versions[].schema.openAPIV3Schema (structural schema rules); `path` is the
/// prefix of the fields: "spec.validation.openAPIV3Schema".
std::vector<FieldError> check_structural(const Json& schema, std::string_view path);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
