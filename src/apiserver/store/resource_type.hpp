// SPDX-License-Identifier: Apache-2.0
// What the server knows of one resource in one version: its names, its shape, and the rules that are its own.
#pragma once

#include <cstdint>
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

/// When metadata.generation counts: never, or when the named parts of the document change.
enum class GenerationRule : std::uint8_t {
  none,
  first,                 ///< 1, whatever changes.
  spec,                  ///< spec.
  spec_and_annotations,  ///< spec and metadata.annotations: Deployments and their kin.
  all_but_status,        ///< Everything but metadata and status: kinds without spec; custom resources.
  all_but_metadata,      ///< Custom resources without a status subresource.
};

/// Hooks of a built-in resource into the phases of a write, null where it has none. On a create `live` is
/// null. Source: the strategies of kubernetes pkg/registry.
struct WriteStrategy {
  /// Before the checks: keeps what the write leaves out, drops what the object has no use for.
  void (*prepare)(Json& object, const Json& live) = nullptr;
  /// After the checks: fills in what comes from a pool of the server. `others` are the resource's objects.
  /// Throws StatusError (422) for what is taken or out of range.
  void (*allocate)(const Collection& others, Json& object, const Json& live) = nullptr;
};

/// In what a built-in resource differs from the usual.
struct ResourceRules {
  NameRule name = NameRule::dns_subdomain;
  GenerationRule generation = GenerationRule::none;
  bool unconditional_update = true;  ///< PUT without resourceVersion is allowed.
  bool create_on_update = false;     ///< PUT of what is not there creates it.
  bool returns_deleted = false;      ///< DELETE answers the object, not a Status.
  bool orphans_by_default = false;   ///< Dependents stay when nothing is said.
  bool graceful = false;             ///< Pods: deletion takes a grace period.
  bool status_keeps_labels = false;  ///< A write to status changes no labels.
  WriteStrategy strategy = {};
};

struct ScalePaths {
  std::string spec = ".spec.replicas";
  std::string status = ".status.replicas";
  std::string selector = {};  ///< Empty: none. A string, or for built-in kinds a LabelSelector.
};

/// Turns a document of one version into one of another; apiVersion and kind are not part of it.
using Convert = Json (*)(Json);

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
  bool only_known_fields = true;                    ///< How an unknown field selector is worded.
  ResourceRules rules = {};
  Collection* collection = nullptr;
  std::string registry_key = {};     ///< "/registry/configmaps", as errors show it.
  std::string storage_version = {};  ///< Of the version that is stored, for its hash.
  Convert to_storage = nullptr;      ///< Null: the document is the same.
  Convert from_storage = nullptr;
  /// Custom resources: what the CRD says of this version, its name and uid, and whether it is going away.
  std::shared_ptr<const CustomKind> custom_kind = {};
  std::string crd_name = {};
  bool terminating = false;
  std::string deprecation = {};  ///< What whoever uses this version is warned of; empty: nothing.
  std::shared_ptr<const CustomKind> storage_kind = {};  ///< What the CRD says of the version that is stored.
  std::shared_ptr<const KindSchema> storage_schema = {};
  std::uint64_t shape = 0;  ///< Of storage_schema; another one whenever the CRD changes.
  std::shared_ptr<const KindSchema> schema = {};
  std::shared_ptr<const TableShape> table = {};

  std::string api_version() const { return group.empty() ? version : group + "/" + version; }
  GroupResource resource() const { return {group, plural}; }
  GroupResource group_kind() const { return {group, kind}; }
  bool has_verb(std::string_view verb) const;
  const BuiltinResource* subresource(std::string_view name) const;

  /// `"kind":"ConfigMap","apiVersion":"v1"`
  std::string head() const;
  /// The whole document of a stored object, as this version shows it.
  Json document(const Stored& object) const;
  /// Its text: {"kind":...,"apiVersion":...,...}.
  std::string text(const Stored& object) const;
  /// The mark of objects that this version writes: they are in the stored form if it is the one that is
  /// stored.
  std::uint64_t stored_shape() const { return version == storage_version ? shape : 0; }
  /// Brings a stored document into this version.
  Json read(const Stored& object) const;
  bool reads_as_stored(const Stored& object) const;
  /// The members that documents of this version have, without apiVersion and kind, without braces.
  void append_members(const Stored& object, std::string& out) const;
};
using ResourceTypePtr = std::shared_ptr<const ResourceType>;

/// "core" of the core group, else the group's first part: the Go package of the internal types.
std::string internal_package(const std::string& group);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
