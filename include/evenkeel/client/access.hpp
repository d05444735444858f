// SPDX-License-Identifier: Apache-2.0
// A request as an authorizer of the API server sees it.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <vector>

#include <evenkeel/base/export.hpp>
#include <evenkeel/http/message.hpp>

namespace evenkeel {
inline namespace v0 {

/// A request about a resource, in the terms of RBAC.
struct Access {
  std::string verb =
      {};  ///< "get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"
  std::string group = {};
  std::string resource = {};    ///< Plural, and the subresource: "demos", "demos/status".
  std::string namespace_ = {};  ///< Empty: none, or all; "*": various, see AccessRecord.
  std::string name = {};        ///< Empty: none; "*": various.

  auto operator<=>(const Access&) const = default;
  /// Returns "patch demos.demo.evenkeel.dev/status default/web".
  EVENKEEL_API std::string str() const;
};

/// Returns the access that a request needs; std::nullopt if it is not about a resource. A list or watch of
/// one name, by a field selector, has that name. Source: apiserver's RequestInfo resolver
/// (k8s.io/apiserver/pkg/endpoints/request/requestinfo.go).
EVENKEEL_API std::optional<Access> access_of(const http::Request& request);

/// Returns the accesses that a request needed, given the `status` of its response: that of access_of(); also
/// `create` if a patch created the object (201) or a WebSocket was opened (101); and `list` if a watch began
/// with the existing objects, because a list is requested from servers without such watches. Source:
/// withAuthorization in k8s.io/apiserver/pkg/endpoints/handlers/patch.go; the feature
/// AuthorizePodWebsocketUpgradeCreatePermission, on since 1.35.
EVENKEEL_API std::vector<Access> accesses_of(const http::Request& request, int status);

}  // namespace v0
}  // namespace evenkeel
