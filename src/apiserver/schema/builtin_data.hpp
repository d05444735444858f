// SPDX-License-Identifier: Apache-2.0
// What discovery and OpenAPI of a real API server say about the built-in kinds: a compact text that is part
// of the program, read line by line when something of it is asked for.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
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
  /// Set where the kind is of another group version than the list: "autoscaling", "v1" for deployments/scale.
  std::string kind_group = {};
  std::string kind_version = {};
};

struct BuiltinGroupVersion {
  std::string group = {};  ///< "" is the core group.
  std::string version = {};
  /// In discovery's order; subresources are entries of their own.
  std::vector<BuiltinResource> resources = {};
  /// Names of the OpenAPI types whose x-kubernetes-group-version-kind names this group version, and those
  /// that they use: "io.k8s.api.apps.v1.Deployment".
  std::vector<std::string> types = {};

  std::string api_version() const { return group.empty() ? version : group + "/" + version; }
};

/// The built-in data of one server. Nothing is parsed before it is asked for.
/// Thread safety: one thread at a time.
class BuiltinData {
 public:
  BuiltinData();

  /// Every group version, core first, then as `kubectl api-versions` orders groups by priority.
  const std::vector<BuiltinGroupVersion>& group_versions();
  /// nullptr if there is none.
  const BuiltinGroupVersion* find(std::string_view group, std::string_view version);
  /// True if the API server itself serves the kind.
  bool has_kind(std::string_view group, std::string_view version, std::string_view kind);
  /// The OpenAPI v3 schema named `type`, with references as `{"$ref": "NAME"}` (beside its siblings, not
  /// in an allOf); null if there is none. The reference lives as long as this object.
  const Json& type(std::string_view name);
  /// The OpenAPI type of a kind, empty if unknown: ("apps", "v1", "Deployment").
  std::string_view type_of(std::string_view group, std::string_view version, std::string_view kind);
  /// Columns of the Table of a resource: [["Name", "string", "name", 0], ...]; null if unknown.
  const Json& table_columns(std::string_view api_version, std::string_view resource);

 private:
  // All views are into the text, which is part of the program.
  std::map<std::string_view, std::string_view> lines_;
  std::map<std::string, std::string_view, std::less<>> kinds_;
  std::vector<std::pair<std::string_view, std::string_view>> index_;
  std::string_view columns_text_;
  std::map<std::string, Json, std::less<>> parsed_;
  std::vector<BuiltinGroupVersion> group_versions_;
  Json columns_;
};

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
