// SPDX-License-Identifier: Apache-2.0
// Identification of a kind: group, version, kind, plural and scope.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <evenkeel/base/export.hpp>
#include <evenkeel/base/object_key.hpp>

namespace evenkeel {
inline namespace v0 {

enum class Scope : unsigned char { namespaced, cluster };

/// Identification of a kind at compile time: `static constexpr ResourceInfo resource{...}` in the type.
struct ResourceInfo {
  std::string_view group = "";  ///< "" is the core group.
  std::string_view version = "v1";
  std::string_view kind = "";
  std::string_view plural = "";
  Scope scope = Scope::namespaced;
  std::string_view short_name = "";  ///< Short name in kubectl; used only by the CRD.
  /// True if the program owns the kind: its `--print-crds` prints the CustomResourceDefinition generated from
  /// the type. Leave it false for kinds of Kubernetes and of other projects, whose types declare only the
  /// fields that the program uses: a definition generated from such a type would remove all other fields from
  /// stored objects.
  bool installs_crd = false;

  /// Returns "v1" or "apps/v1".
  std::string api_version() const {
    return group.empty() ? std::string(version) : std::string(group) + "/" + std::string(version);
  }
};

/// Owning form of ResourceInfo, for kinds known only at run time.
struct ResourceId {
  std::string group = {};
  std::string version = {};
  std::string kind = {};
  std::string plural = {};
  Scope scope = Scope::namespaced;

  ResourceId() = default;
  ResourceId(std::string group_, std::string version_, std::string kind_, std::string plural_,
             Scope scope_ = Scope::namespaced)
      : group(std::move(group_)),
        version(std::move(version_)),
        kind(std::move(kind_)),
        plural(std::move(plural_)),
        scope(scope_) {}
  ResourceId(const ResourceInfo& info)
      : group(info.group), version(info.version), kind(info.kind), plural(info.plural), scope(info.scope) {}

  std::string api_version() const { return group.empty() ? version : group + "/" + version; }
  /// Returns "pods" or "deployments.apps".
  std::string qualified_plural() const { return group.empty() ? plural : plural + "." + group; }
  bool operator==(const ResourceId&) const = default;
};

}  // namespace v0
}  // namespace evenkeel
