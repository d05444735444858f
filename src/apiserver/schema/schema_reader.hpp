// SPDX-License-Identifier: Apache-2.0
// Converts JSON to Schema nodes: the OpenAPI of built-in types, and openAPIV3Schema of CRDs.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/schema/schema.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// Reads built-in types on demand; types may refer to each other recursively.
class BuiltinSchemaReader {
 public:
  explicit BuiltinSchemaReader(BuiltinData& data) : data_(data), pool_(std::make_shared<SchemaPool>()) {}

  /// Returns the complete node of a type; an opaque one if the type is unknown.
  const Schema& type(std::string_view name);
  const std::shared_ptr<SchemaPool>& pool() const noexcept { return pool_; }

 private:
  Schema& resolve(std::string_view name);
  const Schema* member_node(const Json& source, bool written_when_unset);
  void read(Schema& node, const Json& source);

  struct Reference {
    Schema* node;
    const Schema* target;
    const Json* source;
    bool written_when_unset;
  };
  BuiltinData& data_;
  std::shared_ptr<SchemaPool> pool_;
  std::map<std::string, Schema*, std::less<>> types_;
  std::vector<Reference> references_;  // nodes that are a type plus additional members
};

/// The nodes of all built-in types. Immutable; may be shared.
class BuiltinSchemas {
 public:
  /// Returns the ones of the program: reading them takes longer than most tests use a server.
  static const BuiltinSchemas& shared();
  BuiltinSchemas();

  /// Returns the node of a kind's type. Throws std::out_of_range if no kind has it. Nodes live as long as
  /// pool().
  const Schema& type(std::string_view name) const { return *types_.at(name); }
  const Schema& object_meta() const noexcept { return *object_meta_; }
  const std::shared_ptr<const SchemaPool>& pool() const noexcept { return pool_; }

 private:
  std::shared_ptr<const SchemaPool> pool_;
  std::map<std::string_view, const Schema*> types_;  // the names are those of the data
  const Schema* object_meta_ = nullptr;
};

/// Reads a structural schema. `object_meta` is the schema of the metadata of embedded resources.
const Schema& read_custom_schema(SchemaPool& pool, const Json& source, const Schema& object_meta);
/// Adds apiVersion, kind and metadata to a node, replacing properties with these names.
void add_object_header(SchemaPool& pool, Schema& node, const Schema& object_meta);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
