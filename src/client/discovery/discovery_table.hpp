// SPDX-License-Identifier: Apache-2.0
// Documents of discovery, and lookups in what they contain.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <evenkeel/api/json.hpp>
#include <evenkeel/client/discovery.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// One version of a group, as served.
struct ServedGroupVersion {
  std::string group = {};
  std::string version = {};
  /// The reason why `resources` may be out of date or missing; "": they are current.
  std::string problem = {};
  std::vector<ApiResource> resources = {};

  std::string api_version() const { return group.empty() ? version : group + "/" + version; }
};

/// Outcome of a lookup.
using DiscoveryMatch = std::variant<ApiResource, DiscoveryError>;

/// Resources that a server serves: groups in its order, within a group the preferred version first. Immutable
/// once it is shared.
class DiscoveryTable {
 public:
  /// Adds the groups of an APIGroupDiscoveryList. Throws DecodeError.
  void add_aggregated(const Json& document);
  /// Adds an APIVersions document (the core group) or an APIGroupList, without resources. Throws DecodeError.
  void add_groups(const Json& document);
  /// Adds resources without a server.
  void add(const ResourceId& id);
  /// Takes over from `before` what is missing in versions that have a problem.
  void complete_from(const DiscoveryTable& before);

  std::vector<ServedGroupVersion>& versions() { return versions_; }
  const std::vector<ServedGroupVersion>& versions() const { return versions_; }

  DiscoveryMatch find_kind(std::string_view group, std::string_view kind, std::string_view version) const;
  DiscoveryMatch find_name(std::string_view name) const;
  /// Returns nullopt for an unknown group.
  std::optional<std::string> preferred_version(std::string_view group) const;

 private:
  std::vector<ServedGroupVersion> versions_;
};

/// Reads an APIResourceList. Throws DecodeError.
std::vector<ApiResource> read_resource_list(const Json& document, const std::string& group,
                                            const std::string& version);

/// Returns true if `document` has this kind.
bool has_kind(const Json& document, std::string_view kind);

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
