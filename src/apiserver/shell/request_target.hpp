// SPDX-License-Identifier: Apache-2.0
// The resource that a request is about, derived from method and path alone, for fault rules and log lines.
// Shared with floors above.
#pragma once

#include <string>

#include <evenkeel/http/message.hpp>

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// Paths of etcd's JSON API (/v3/...) are mapped to the same terms.
/// Source: apiserver's RequestInfo resolver (k8s.io/apiserver/pkg/endpoints/request/requestinfo.go).
struct RequestTarget {
  std::string verb = {};  ///< RBAC verb; for paths that are not resources, the method in lower case.
  std::string group = {};
  std::string resource = {};  ///< Plural; empty for paths that are not resources.
  std::string subresource = {};
  std::string namespace_ = {};
  std::string name = {};
  bool cached =
      false;  ///< A read that a watch cache may answer: a watch, or one at any or a minimum version.

  /// Returns "pods" or "deployments.apps".
  std::string qualified_resource() const { return group.empty() ? resource : resource + "." + group; }
};

RequestTarget request_target(const http::Request& request);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
