// SPDX-License-Identifier: Apache-2.0
#include "apiserver/schema/schema.hpp"

#include <algorithm>
#include <utility>

#include "apiserver/schema/schema_reader.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

namespace {

bool has_status(const BuiltinGroupVersion& group_version, std::string_view kind) {
  const auto is_status = [&](const BuiltinResource& resource) {
    return resource.kind == kind && resource.name.ends_with("/status");
  };
  return std::any_of(group_version.resources.begin(), group_version.resources.end(), is_status);
}

}  // namespace

const Schema* Schema::property(std::string_view name) const noexcept {
  const auto place = std::lower_bound(
      properties.begin(), properties.end(), name,
      [](const Property& property, std::string_view wanted) { return property.name < wanted; });
  return place != properties.end() && place->name == name ? place->schema : nullptr;
}

bool Schema::is_required(std::string_view name) const noexcept {
  return std::find(required.begin(), required.end(), name) != required.end();
}

const Schema* Schema::member(std::string_view name) const noexcept {
  const Schema* known = property(name);
  return known != nullptr ? known : additional;
}

SchemaCatalog::SchemaCatalog() : shared_(BuiltinSchemas::shared()) {}
SchemaCatalog::~SchemaCatalog() = default;

std::shared_ptr<const KindSchema> SchemaCatalog::builtin(std::string_view group, std::string_view version,
                                                         std::string_view kind) {
  const std::string_view type = data_.type_of(group, version, kind);
  if (type.empty()) return {};
  std::string key(group);
  key.append("/").append(version).append("/").append(kind);
  const auto known = kinds_.find(key);
  if (known != kinds_.end()) return known->second;
  auto result = std::make_shared<KindSchema>(shared_.pool(), shared_.type(type));
  result->group = std::string(group);
  result->version = std::string(version);
  result->kind = std::string(kind);
  result->built_in = true;
  const BuiltinGroupVersion* group_version = data_.find(group, version);
  result->status_subresource = group_version != nullptr && has_status(*group_version, kind);
  kinds_.emplace(std::move(key), result);
  return result;
}

std::shared_ptr<const KindSchema> SchemaCatalog::custom(const CustomKind& kind) {
  const Schema& object_meta = shared_.object_meta();
  auto pool = std::make_shared<SchemaPool>();
  pool->beneath = shared_.pool();
  Schema& root = pool->add();
  if (kind.schema.is_object()) root = read_custom_schema(*pool, kind.schema, object_meta);
  root.type = SchemaType::object;
  if (!kind.schema.is_object() || kind.preserve_unknown_fields) root.preserve_unknown_fields = true;
  add_object_header(*pool, root, object_meta);
  auto result = std::make_shared<KindSchema>(pool, root);
  result->group = kind.group;
  result->version = kind.version;
  result->kind = kind.kind;
  result->status_subresource = kind.status_subresource;
  result->embeds_resources = std::any_of(pool->nodes.begin(), pool->nodes.end(),
                                         [](const Schema& node) { return node.embedded_resource; });
  return result;
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
