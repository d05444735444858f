// SPDX-License-Identifier: Apache-2.0
// A request in terms of the API: resource, name, subresource; and its URL.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <evenkeel/api/resource.hpp>
#include <evenkeel/base/export.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/http/message.hpp>

namespace evenkeel {
inline namespace v0 {

struct RestRequest {
  http::Method method = http::Method::get;
  ResourceId resource = {};
  std::string namespace_ = {};  ///< Empty for cluster-scoped kinds, and for lists of all namespaces.
  std::string name = {};        ///< Empty for lists, creations and deletions of collections.
  std::string subresource = {};
  std::vector<std::pair<std::string, std::string>> query = {};
  std::string content_type = {};  ///< Media type of the body.
  std::string body = {};
  std::string accept = {};                    ///< Empty: "application/json".
  std::optional<Duration> idle_timeout = {};  ///< For streams.
  /// Path of a document that is not a resource, such as "/apis" or "/version"; unless it is empty, it
  /// replaces resource, namespace, name and subresource. Sent as it is.
  std::string path = {};
  /// Adds the field owner, the field validation and the dry run that are bound to the client; to a deletion
  /// only the dry run.
  bool with_write_options = false;
  bool may_be_partial = false;  ///< CallOptions::metadata_only applies.
};

/// Returns path and query, percent-encoded:
/// "/apis/apps/v1/namespaces/default/deployments/web/scale?dryRun=All". Throws std::invalid_argument if a
/// name cannot be part of a path (empty where it is required, ".", "..", or containing "/" or "%"), or if the
/// resource has no plural or version.
EVENKEEL_API std::string target_of(const RestRequest& request);

/// Describes the call for messages: "get Pod default/web-0", "list Pod in default", "patch Demo/status
/// default/a".
EVENKEEL_API std::string describe(const RestRequest& request);

/// Returns the Accept header that asks for metadata only, of an object or of a list.
EVENKEEL_API std::string accept_metadata(bool list);

/// Names the object for messages, as in decode errors: "pods/default/web-0".
EVENKEEL_API std::string object_path(const RestRequest& request);

}  // namespace v0
}  // namespace evenkeel
