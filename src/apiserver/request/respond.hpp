// SPDX-License-Identifier: Apache-2.0
// Builds HTTP responses: objects in the requested form, Status bodies, warnings.
#pragma once

#include <evenkeel/api/json.hpp>
#include <evenkeel/http/message.hpp>

#include "apiserver/request/call.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

http::Response json_response(int status, std::string body);
http::Response status_response(const StatusError& error);
http::Response page_not_found();

/// Returns a stored object, as Table or partial metadata if requested.
http::Response object_response(const Call& call, int status, const StoredPtr& object);
/// Like object_response(), for a document that is not stored (dry runs, removed objects); sets apiVersion and
/// kind.
http::Response document_response(const Call& call, int status, Json document);

/// Returns a list as Table or as partial metadata, as requested. Throws StatusError (406) if the metadata of
/// one object was requested.
std::string reshaped_list(const Call& call, const std::vector<Json>& documents, Json list_metadata);

/// Parses `includeObject` of the query. Throws StatusError.
IncludeObject include_object(const Query& query);

/// Adds the warnings of the call, without duplicates.
void add_warnings(const Call& call, http::Response& response);
/// Adds a warning before all others.
void prepend_warning(http::Response& response, std::string_view warning);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
