// SPDX-License-Identifier: Apache-2.0
// Answers as HTTP: objects in the form that was asked for, Status bodies, warnings.
#pragma once

#include <evenkeel/api/json.hpp>
#include <evenkeel/http/message.hpp>

#include "apiserver/rest/call.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

http::Response json_response(int status, std::string body);
http::Response status_response(const StatusError& error);
http::Response page_not_found();

/// A stored object, as Table or partial metadata if asked for.
http::Response object_response(const Call& call, int status, const Stored& object);
/// The same for a document that is not stored (dry runs, removed objects); apiVersion and kind are set here.
http::Response document_response(const Call& call, int status, Json document);

/// A list as Table or as partial metadata, whichever was asked for. Throws StatusError (406) if the metadata
/// of one object was.
std::string reshaped_list(const Call& call, const std::vector<Json>& documents, Json list_metadata);

/// `includeObject` of the query. Throws StatusError.
IncludeObject include_object(const Query& query);

/// Adds the warnings of the call, each once.
void add_warnings(const Call& call, http::Response& response);
/// Adds one before all others.
void prepend_warning(http::Response& response, std::string_view warning);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
