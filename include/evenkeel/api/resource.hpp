// SPDX-License-Identifier: Apache-2.0
// What a kind is called: group, version, kind and plural, and where its objects live.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <evenkeel/base/export.hpp>
#include <evenkeel/base/object_key.hpp>

namespace evenkeel {
inline namespace v0 {

enum class Scope : unsigned char { namespaced, cluster };

/// Names of a kind known at compile time: `static constexpr ResourceInfo resource{...}` in the type.
struct ResourceInfo {
  std::string_view group = "";  ///< "" is the core group.
  std::string_view version = "v1";
  std::string_view kind = "";
  std::string_view plural = "";
  Scope scope = Scope::namespaced;
  std::string_view short_name = "";  ///< For kubectl; used by the CRD only.
  /// The program owns the kind: its `--print-crds` prints the CustomResourceDefinition made from the type.
  /// Leave it false for kinds of Kubernetes and of other projects, whose types declare only the fields that
  /// the program uses: a definition made from such a type would remove all other fields from the stored
  /// objects.
  bool installs_crd = false;

  /// "v1" or "apps/v1".
  std::string api_version() const {
    return group.empty() ? std::string(version) : std::string(group) + "/" + std::string(version);
  }
};

/// The same with strings of its own, for kinds known at run time only.
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
  bool operator==(const ResourceId&) const = default;
};

}  // namespace v0
}  // namespace evenkeel
