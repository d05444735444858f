// SPDX-License-Identifier: Apache-2.0
// Discovery and OpenAPI of the built-in kinds of a real API server: a compact text that is part of the
// program, parsed line by line on demand. Shared with floors above.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/api/json.hpp>

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// One entry of a group version's APIResourceList: "pods", "pods/status".
struct BuiltinResource {
  std::string name = {};
  std::string singular = {};
  std::string kind = {};
  bool namespaced = false;
  std::vector<std::string> verbs = {};
  std::vector<std::string> short_names = {};
  std::vector<std::string> categories = {};
  /// Set if the group version of the kind differs from the list's: "autoscaling", "v1" for deployments/scale.
  std::string kind_group = {};
  std::string kind_version = {};
};

struct BuiltinGroupVersion {
  std::string group = {};  ///< "" is the core group.
  std::string version = {};
  /// In discovery's order; subresources are separate entries.
  std::vector<BuiltinResource> resources = {};
  /// Names of the OpenAPI types whose x-kubernetes-group-version-kind contains this group version, and of the
  /// types that they use: "io.k8s.api.apps.v1.Deployment".
  std::vector<std::string> types = {};

  std::string api_version() const { return group.empty() ? version : group + "/" + version; }
};

/// The lines of the data, and what each server needs of them; immutable.
struct BuiltinIndex {
  /// Returns the one of the program.
  static const BuiltinIndex& shared();
  BuiltinIndex();

  // All views are into the embedded text.
  std::map<std::string_view, std::string_view> types = {};
  std::map<std::string, std::string_view, std::less<>> kinds = {};
  std::string_view columns = {};
  std::vector<BuiltinGroupVersion> group_versions = {};
};

/// The built-in data of one server, parsed on demand.
/// Thread safety: one thread at a time.
class BuiltinData {
 public:
  /// Returns every group version, core first, then by priority as in `kubectl api-versions`.
  const std::vector<BuiltinGroupVersion>& group_versions() const { return index_.group_versions; }
  /// Returns nullptr if it does not exist.
  const BuiltinGroupVersion* find(std::string_view group, std::string_view version) const;
  /// Returns true if the API server itself serves the kind.
  bool has_kind(std::string_view group, std::string_view version, std::string_view kind) const;
  /// Returns the OpenAPI v3 schema named `type`, with references as `{"$ref": "NAME"}` (next to its siblings,
  /// not in an allOf); null if it does not exist. The reference is valid as long as this object.
  const Json& type(std::string_view name);
  /// Returns the OpenAPI type of a kind, empty if unknown: ("apps", "v1", "Deployment").
  std::string_view type_of(std::string_view group, std::string_view version, std::string_view kind) const;
  /// Returns the Table columns of a resource: [["Name", "string", "name", 0], ...]; null if unknown.
  const Json& table_columns(std::string_view api_version, std::string_view resource);

 private:
  const BuiltinIndex& index_ = BuiltinIndex::shared();
  std::map<std::string, Json, std::less<>> parsed_;
  Json columns_;
};

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
