// SPDX-License-Identifier: Apache-2.0
// The Status bodies of error responses, with the texts of a real server.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/api/json.hpp>

#include "apiserver/schema/schema.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// Formats "widgets.example.com", or "configmaps" in the core group. Also used with a kind in place of the
/// plural.
struct GroupResource {
  std::string group = {};
  std::string resource = {};
  std::string str() const { return group.empty() ? resource : resource + "." + group; }
};

/// The causes of a 422.
using FieldErrors = std::vector<FieldError>;

/// An error response: thrown where an error is found, sent by the router.
class StatusError {
 public:
  StatusError(int code, std::string_view reason, std::string message, Json details = Json());
  int code() const { return code_; }
  const Json& body() const { return body_; }

  /// Returns a copy with metadata.continue.
  StatusError with_continue(std::string token) const;

  static StatusError bad_request(std::string message);
  static StatusError not_found(const GroupResource& resource, std::string_view name);
  /// An unknown path in a known group.
  static StatusError no_such_path();
  static StatusError already_exists(const GroupResource& resource, std::string_view name,
                                    std::string_view prefix = "");
  static StatusError conflict(const GroupResource& resource, std::string_view name, std::string_view problem);
  static StatusError forbidden(const GroupResource& resource, std::string_view name, std::string_view problem,
                               const FieldErrors& causes = {});
  /// `kind` has the kind in place of the plural, as in the real server.
  static StatusError invalid(const GroupResource& kind, std::string_view name, const FieldErrors& causes);
  static StatusError method_not_allowed();
  static StatusError method_not_supported(const GroupResource& resource, std::string_view verb);
  static StatusError not_acceptable(const std::vector<std::string>& accepted);
  /// The 406 of a real server's router.
  static StatusError no_representation(const std::vector<std::string>& accepted);
  static StatusError unsupported_media(const std::vector<std::string>& accepted);
  static StatusError expired(std::string message);
  static StatusError too_large(std::size_t limit);
  static StatusError internal(std::string message);

 private:
  int code_;
  Json body_;
};

/// Not a Status: the plain "404 page not found" of paths without a handler.
struct PageNotFound {};

/// Returns the Status of a success, the response to deletions.
Json success_status(Json details);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
