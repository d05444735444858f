// SPDX-License-Identifier: Apache-2.0
// Which resources the server serves: the built-in ones, and those of the CRDs that it holds.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/api/json.hpp>

#include "apiserver/store/resource_type.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// A group version as discovery shows it; resources in order of their names.
struct ServedVersion {
  std::string group = {};
  std::string version = {};
  std::vector<ResourceTypePtr> resources = {};

  std::string api_version() const { return group.empty() ? version : group + "/" + version; }
};

/// Thread safety: one thread at a time.
class Registry {
 public:
  /// Serves the built-in resources. `catalog` and `store` must live longer.
  Registry(SchemaCatalog& catalog, Store& store);

  /// The resource of a path, null if it is not served. Shapes are ready.
  ResourceTypePtr find(std::string_view group, std::string_view version, std::string_view plural);
  /// The same by kind; used for owner references.
  ResourceTypePtr find_kind(std::string_view group, std::string_view version, std::string_view kind) const;
  /// Any version of a resource that is served: the one to write through when nobody asked for one.
  ResourceTypePtr find_any(const Collection& collection);
  bool serves_group(std::string_view group) const;
  bool is_builtin_group(std::string_view group) const;

  /// Serves what an established CRD describes, in place of what it described before.
  void set_custom(const std::string& crd_name, std::vector<ResourceType> versions);
  void remove_custom(const std::string& crd_name);
  std::vector<ResourceTypePtr> custom(const std::string& crd_name) const;

  /// Every group version served; within a group by priority, the preferred one first.
  std::vector<ServedVersion> versions() const;
  /// All served versions of all CRDs.
  std::vector<CustomKind> custom_kinds() const;
  /// Counts changes of what is served.
  std::uint64_t generation() const { return generation_; }

 private:
  using Key = std::tuple<std::string, std::string, std::string>;  // group, version, plural
  void add_builtin(const BuiltinGroupVersion& group_version);
  void complete(ResourceType& type);

  SchemaCatalog& catalog_;
  Store& store_;
  std::map<Key, std::shared_ptr<ResourceType>> types_;
  std::vector<std::pair<std::string, std::string>> order_;  // built-in group versions, as served
  std::map<std::string, std::vector<std::shared_ptr<ResourceType>>> custom_;
  std::uint64_t generation_ = 0;
};

/// The order of versions of a group: v2 before v1 before v1beta1 before anything else.
/// Source: apimachinery version.CompareKubeAwareVersionStrings.
bool version_before(std::string_view a, std::string_view b);

/// storageVersionHash of discovery: the start of the SHA-256 of "group/version/kind", in base64.
std::string storage_version_hash(const ResourceType& type);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
