// SPDX-License-Identifier: Apache-2.0
// Errors returned by the API server: its Status, and the exception that carries it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/base/error.hpp>
#include <evenkeel/base/export.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/http/message.hpp>

namespace evenkeel {
inline namespace v0 {

/// One cause of an error, usually an invalid field.
struct StatusCause {
  std::string reason = {};  ///< "FieldValueInvalid", ...
  std::string message = {};
  std::string field = {};  ///< "spec.replicas"

  bool operator==(const StatusCause&) const = default;
};

/// The server's description of a failure. Every part may be missing: proxies and load balancers respond with
/// pages of their own, whose text then becomes the message.
struct Status {
  int code = 0;             ///< Status code of the HTTP response, or of an ERROR event in a watch.
  std::string reason = {};  ///< "NotFound", "Conflict", ...; derived from the code if the server sent none.
  std::string message = {};
  std::string kind = {};  ///< details.kind, which holds the plural: "pods".
  std::string name = {};  ///< details.name
  std::vector<StatusCause> causes = {};
  /// From details.retryAfterSeconds or the header, which takes precedence. At most a day; negative numbers
  /// are ignored.
  std::optional<Duration> retry_after = {};

  /// Decodes the body of a response with status `code`; never throws because of its contents.
  EVENKEEL_API static Status decode(int code, std::string_view body);
  EVENKEEL_API static Status decode(const http::Response& response);
  bool operator==(const Status&) const = default;
};

/// The server responded with an error. what() is "get ConfigMap default/web: 404 NotFound: configmaps "web"
/// not found".
class EVENKEEL_API ApiError : public Error {
 public:
  /// `call` is verb, kind and key: "get ConfigMap default/web".
  ApiError(std::string call, Status status);

  const Status& status() const noexcept { return status_; }
  int code() const noexcept { return status_.code; }
  const std::string& reason() const noexcept { return status_.reason; }
  const std::string& message() const noexcept { return status_.message; }
  std::optional<Duration> retry_after() const noexcept { return status_.retry_after; }

  bool is_bad_request() const noexcept { return code() == 400; }
  bool is_unauthorized() const noexcept { return code() == 401; }
  bool is_forbidden() const noexcept { return code() == 403; }
  /// The object does not exist, or its kind does not; see is_no_such_resource().
  bool is_not_found() const noexcept { return code() == 404; }
  /// The server does not serve the kind: a missing CustomResourceDefinition or a wrong version.
  bool is_no_such_resource() const noexcept { return code() == 404 && status_.name.empty(); }
  /// Another client wrote in between, or deleted the object and created another one of its name; read again
  /// and retry.
  bool is_conflict() const noexcept {
    return (code() == 409 && !is_already_exists()) || is_about_another_object();
  }
  bool is_already_exists() const noexcept { return status_.reason == "AlreadyExists"; }
  /// The requested resourceVersion or continue token is no longer in the server's history.
  bool is_gone() const noexcept { return code() == 410; }
  bool is_invalid() const noexcept { return code() == 422 && !is_about_another_object(); }
  bool is_too_many_requests() const noexcept { return code() == 429; }
  bool is_server_error() const noexcept { return code() >= 500; }

 private:
  // Servers reject a patch with the uid of another object as a change of an immutable field.
  bool is_about_another_object() const noexcept;

  Status status_;
};

}  // namespace v0
}  // namespace evenkeel
