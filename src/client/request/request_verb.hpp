// SPDX-License-Identifier: Apache-2.0
// Verbs of requests, as in rules of RBAC. Shared with floors above.
#pragma once

#include <string_view>

#include <evenkeel/http/message.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Returns the verb for a method: of a watch if `watches`, of one object if `named`.
/// Source: apiserver's RequestInfo resolver (k8s.io/apiserver/pkg/endpoints/request/requestinfo.go).
inline std::string_view request_verb(http::Method method, bool named, bool watches) {
  switch (method) {
    case http::Method::get:
      return watches ? "watch" : named ? "get" : "list";
    case http::Method::post:
      return "create";
    case http::Method::put:
      return "update";
    case http::Method::patch:
      return "patch";
    case http::Method::delete_:
      return named ? "delete" : "deletecollection";
  }
  return "";
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
