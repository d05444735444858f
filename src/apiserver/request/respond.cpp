// SPDX-License-Identifier: Apache-2.0
#include "apiserver/request/respond.hpp"

#include <set>
#include <utility>

#include "apiserver/schema/strict_fields.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {
namespace {

Json version_only(const Json& document) {
  const std::string version = document.at({"metadata", "resourceVersion"}).string_or("");
  return version.empty() ? Json::object() : Json::object({{"resourceVersion", version}});
}

/// Metadata of one object is not available for lists, nor vice versa.
void check_partial(const Call& call, bool list) {
  if (call.form.list == list) return;
  if (call.type->custom && !list) throw StatusError::internal("content is not a list");
  throw StatusError(406, "NotAcceptable",
                    list ? "you requested PartialObjectMetadata, but the requested object is a list"
                         : "you requested PartialObjectMetadataList, but the requested object is not a list");
}

Json reshaped(const Call& call, const Json& document) {
  if (call.form.form == Representation::Form::partial) {
    check_partial(call, false);
    return partial_metadata(document, call.form.api_version);
  }
  const Json* row = &document;
  return make_table(*call.type->table, {&row, 1}, version_only(document), include_object(call.query),
                    call.now, TableHeader::with_columns, call.form.api_version);
}

}  // namespace

http::Response json_response(int status, std::string body) {
  return {status, {{"Content-Type", "application/json"}}, std::move(body)};
}

http::Response status_response(const StatusError& error) {
  http::Response response = json_response(error.code(), error.body().dump());
  const Json& after = error.body().at({"details", "retryAfterSeconds"});
  if (after.is_integer()) response.headers.set("Retry-After", std::to_string(after.as_integer()));
  return response;
}

http::Response page_not_found() {
  return {404,
          {{"Content-Type", "text/plain; charset=utf-8"}, {"X-Content-Type-Options", "nosniff"}},
          "404 page not found\n"};
}

IncludeObject include_object(const Query& query) {
  const std::string_view wanted = query.get("includeObject");
  if (wanted == "Object") return IncludeObject::object;
  if (wanted == "None") return IncludeObject::none;
  if (wanted.empty() || wanted == "Metadata") return IncludeObject::metadata;
  throw StatusError::bad_request("Unable to convert to Table as requested: includeObject: Invalid value: " +
                                 Json(wanted).dump() + ": must be 'Metadata', 'Object', 'None', or empty");
}

std::string reshaped_list(const Call& call, const std::vector<Json>& documents, Json list_metadata) {
  if (call.form.form == Representation::Form::table) {
    std::vector<const Json*> rows;
    rows.reserve(documents.size());
    for (const Json& document : documents) rows.push_back(&document);
    return make_table(*call.type->table, rows, std::move(list_metadata), include_object(call.query), call.now,
                      TableHeader::with_columns, call.form.api_version)
        .dump();
  }
  check_partial(call, true);
  Json items = documents.empty() ? Json() : Json::array();
  for (const Json& document : documents) items.push_back(partial_metadata(document, call.form.api_version));
  Json list = Json::object({{"kind", "PartialObjectMetadataList"}, {"apiVersion", call.form.api_version}});
  list["metadata"] = std::move(list_metadata);
  list["items"] = std::move(items);
  return list.dump();
}

void add_warnings(const Call& call, http::Response& response) {
  std::set<std::string> seen;
  for (const std::string& warning : call.warnings)
    if (seen.insert(warning).second) response.headers.add("Warning", warning_header(warning));
}

void prepend_warning(http::Response& response, std::string_view warning) {
  http::Headers headers;
  headers.add("Warning", warning_header(warning));
  for (const auto& [name, value] : response.headers) headers.add(name, value);
  response.headers = std::move(headers);
}

http::Response object_response(const Call& call, int status, const StoredPtr& object) {
  if (call.form.form == Representation::Form::object) return json_response(status, call.type->text(*object));
  return json_response(status, reshaped(call, call.storage.document(*call.type, object)).dump());
}

http::Response document_response(const Call& call, int status, Json document) {
  document["apiVersion"] = call.type->api_version();
  document["kind"] = call.type->kind;
  if (call.form.form != Representation::Form::object) document = reshaped(call, document);
  return json_response(status, document.dump());
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
