// SPDX-License-Identifier: Apache-2.0
// What a request is about, read from its method and path alone: what fault rules match and log lines show.
#pragma once

#include <string>

#include <evenkeel/http/message.hpp>

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// Paths of etcd's JSON API (/v3/...) are told apart in the same terms.
/// Source: apiserver's RequestInfo resolver (k8s.io/apiserver/pkg/endpoints/request/requestinfo.go).
struct RequestTarget {
  std::string verb = {};  ///< As in RBAC; for paths that are no resources the method in lower case.
  std::string group = {};
  std::string resource = {};  ///< Plural; empty for paths that are no resources.
  std::string subresource = {};
  std::string namespace_ = {};
  std::string name = {};
  bool cached =
      false;  ///< A read that a watch cache may answer: a watch, or one of any or a minimal version.
};

RequestTarget request_target(const http::Request& request);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
