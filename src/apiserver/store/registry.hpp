// SPDX-License-Identifier: Apache-2.0
// The resources that the server serves: the built-in ones, and those of stored CRDs.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <evenkeel/api/json.hpp>

#include "apiserver/store/resource_type.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// A group version in discovery; resources are sorted by name.
struct ServedVersion {
  std::string group = {};
  std::string version = {};
  std::vector<ResourceTypePtr> resources = {};

  std::string api_version() const { return group.empty() ? version : group + "/" + version; }
};

/// Thread safety: one thread at a time.
class Registry {
 private:
  using Key = std::tuple<std::string, std::string, std::string>;  // group, version, plural
  using Types = SharedMap<Key, ResourceTypePtr>;
  using GroupVersions = std::vector<std::pair<std::string, std::string>>;
  using CustomTypes = std::map<std::string, std::vector<Key>>;  // by the name of the CRD

 public:
  /// The resources at one time, immutable.
  class Frozen {
    friend class Registry;
    Types::Frozen types_;
    std::shared_ptr<const GroupVersions> order_;
    CustomTypes custom_;
    std::uint64_t generation_ = 0;
    std::size_t hooked_ = 0;
  };

  /// Serves the built-in resources. `catalog` and `store` must outlive the registry.
  Registry(SchemaCatalog& catalog, Store& store);
  /// Serves the resources of `from`; `store` is one that began with those of that time.
  Registry(const Frozen& from, SchemaCatalog& catalog, Store& store);
  Frozen freeze();

  /// Returns the resource of a path with its schemas loaded, or null if it is not served.
  ResourceTypePtr find(std::string_view group, std::string_view version, std::string_view plural);
  /// Like find(), but by kind; used for owner references.
  ResourceTypePtr find_kind(std::string_view group, std::string_view version, std::string_view kind) const;
  /// Returns any served version of a resource, for writes that are independent of the version.
  ResourceTypePtr find_any(const Collection& collection);
  bool is_builtin_group(std::string_view group) const;

  /// Serves the resources of an established CRD; replaces the earlier ones.
  void set_custom(const std::string& crd_name, std::vector<ResourceType> versions);
  void remove_custom(const std::string& crd_name);
  std::vector<ResourceTypePtr> custom(const std::string& crd_name) const;

  /// Returns every served group version; within a group by priority, the preferred one first.
  std::vector<ServedVersion> versions() const;
  /// Returns all served versions of all CRDs.
  std::vector<CustomKind> custom_kinds() const;
  /// Returns true if a webhook converts the objects of any CRD.
  bool has_hooks() const { return hooked_ > 0; }
  /// Returns a counter that changes with the set of served resources.
  std::uint64_t generation() const { return generation_; }

 private:
  void add_builtin(const BuiltinGroupVersion& group_version);
  ResourceTypePtr completed(const Types::const_iterator& at);

  SchemaCatalog& catalog_;
  Store& store_;
  Types types_;
  std::shared_ptr<const GroupVersions> order_;  // built-in group versions, as served
  CustomTypes custom_;
  std::uint64_t generation_ = 0;
  std::size_t hooked_ = 0;  // custom types with a hook
};

/// Orders the versions of a group: v2 before v1 before v1beta1 before anything else.
/// Source: apimachinery version.CompareKubeAwareVersionStrings.
bool version_before(std::string_view a, std::string_view b);

/// Returns storageVersionHash of discovery: a prefix of the SHA-256 of "group/version/kind", in base64.
std::string storage_version_hash(const ResourceType& type);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
