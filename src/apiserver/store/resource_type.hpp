// SPDX-License-Identifier: Apache-2.0
// A resource in one version: its names, its schema, and its rules.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/api/json.hpp>

#include "apiserver/schema/name_rules.hpp"
#include "apiserver/schema/schema.hpp"
#include "apiserver/schema/status_error.hpp"
#include "apiserver/store/store.hpp"
#include "apiserver/store/table.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// The changes that increment metadata.generation.
enum class GenerationRule : std::uint8_t {
  none,
  first,                 ///< Always 1.
  spec,                  ///< Changes of spec.
  spec_and_annotations,  ///< Changes of spec and metadata.annotations: Deployments and similar kinds.
  all_but_status,  ///< Changes of anything except metadata and status: kinds without spec; custom resources.
  all_but_metadata,  ///< Changes of anything except metadata: custom resources without a status subresource.
};

/// Hooks of a built-in resource into the phases of a write; null for none. On a create `live` is null.
/// Source: the strategies of kubernetes pkg/registry.
struct WriteStrategy {
  /// Called before validation: restores fields that the write leaves out, drops fields that do not apply.
  void (*prepare)(Json& object, const Json& live) = nullptr;
  /// Called after validation: assigns values from a pool of the server. `others` are the resource's objects.
  /// Throws StatusError (422) for values that are taken or out of range.
  void (*allocate)(const Collection& others, Json& object, const Json& live) = nullptr;
};

/// Deviations of a resource from the common rules.
struct ResourceRules {
  NameRule name = NameRule::dns_subdomain;
  GenerationRule generation = GenerationRule::none;
  bool unconditional_update = true;  ///< PUT without resourceVersion is allowed.
  bool create_on_update = false;     ///< PUT of an object that does not exist creates it.
  bool returns_deleted = false;      ///< DELETE returns the object, not a Status.
  bool orphans_by_default = false;   ///< Dependents are orphaned by default.
  bool graceful = false;             ///< Pods: deletion has a grace period.
  bool status_keeps_labels = false;  ///< Writes to status do not change labels.
  WriteStrategy strategy = {};
};

struct ScalePaths {
  std::string spec = ".spec.replicas";
  std::string status = ".status.replicas";
  std::string selector = {};  ///< Path of a string or, in built-in kinds, a LabelSelector; empty: none.
};

/// Converts a document to another version, except apiVersion and kind.
using Convert = Json (*)(Json);

/// The webhook that converts the objects of a custom kind between its versions.
struct ConversionHook {
  Json client = {};                    ///< spec.conversion.webhook.clientConfig
  Json reviews = {};                   ///< spec.conversion.webhook.conversionReviewVersions
  std::vector<CustomKind> kinds = {};  ///< All versions, served or not.
};

struct ResourceType {
  std::string group = {};
  std::string version = {};
  std::string kind = {};
  std::string list_kind = {};
  std::string plural = {};
  std::string singular = {};
  bool namespaced = true;
  bool custom = false;
  bool has_status = false;
  std::optional<ScalePaths> scale = {};
  std::vector<std::string> verbs = {};
  std::vector<std::string> short_names = {};
  std::vector<std::string> categories = {};
  std::vector<BuiltinResource> subresources = {};   ///< Built-in ones, names as in discovery.
  std::vector<std::string> selectable_fields = {};  ///< "spec.color"
  bool only_known_fields = true;                    ///< Determines the error for an unknown field selector.
  ResourceRules rules = {};
  CollectionId collection = {};
  std::string registry_key = {};     ///< "/registry/configmaps", as in error messages.
  std::string storage_version = {};  ///< The storage version, for its hash.
  Convert to_storage = nullptr;      ///< Null: the documents are equal.
  Convert from_storage = nullptr;
  /// For custom resources: this version in the CRD, the CRD's name and uid, and if it is being deleted.
  std::shared_ptr<const CustomKind> custom_kind = {};
  std::string crd_name = {};
  bool terminating = false;
  std::string deprecation = {};  ///< Warning sent to clients of this version; empty: none.
  std::shared_ptr<const CustomKind> storage_kind = {};  ///< The storage version in the CRD.
  std::shared_ptr<const KindSchema> storage_schema = {};
  /// Null: the versions of a custom kind differ in their apiVersion only.
  std::shared_ptr<const ConversionHook> hook = {};
  /// With a hook: the schemas of all versions, by version.
  std::map<std::string, std::shared_ptr<const KindSchema>, std::less<>> schemas = {};
  std::uint64_t shape = 0;  ///< Identifies storage_schema; changes with the CRD.
  std::shared_ptr<const KindSchema> schema = {};
  std::shared_ptr<const TableShape> table = {};

  std::string api_version() const { return group.empty() ? version : group + "/" + version; }
  GroupResource resource() const { return {group, plural}; }
  GroupResource group_kind() const { return {group, kind}; }
  bool has_verb(std::string_view verb) const;
  const BuiltinResource* subresource(std::string_view name) const;

  /// Returns `"kind":"ConfigMap","apiVersion":"v1"`.
  std::string head() const;
  /// Returns the complete document of a stored object in this version. For one object, Storage::document()
  /// keeps the parsed document.
  Json document(const Stored& object) const { return document(object.form(), object.document()); }
  /// `body` is that of an object stored in this form.
  Json document(const StoredForm& form, Json body) const;
  /// Returns its text: {"kind":...,"apiVersion":...,...}.
  std::string text(const Stored& object) const;
  /// Returns the form of an object written in this version. Its shape is known if it is the storage version
  /// and reading adds nothing.
  StoredForm stored_form(const Json& body) const;
  /// Returns true if only the webhook can bring the object into this version.
  bool converts(const Stored& object) const { return hook && object.form().version != version; }
  /// Returns the object as stored, with the defaults of its own version, which may be another than this one.
  Json document_as_stored(const Stored& object) const;
  /// Converts a stored document to this version.
  Json read(const Stored& object) const;
  bool reads_as_stored(const StoredForm& form) const;
  /// Appends the members of the document in this version, without apiVersion and kind, without braces.
  void append_members(const Stored& object, std::string& out) const;
};
using ResourceTypePtr = std::shared_ptr<const ResourceType>;

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
