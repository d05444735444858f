// SPDX-License-Identifier: Apache-2.0
#include "testing/respond.hpp"

#include <set>
#include <utility>

#include "testing/strict_fields.hpp"

namespace evenkeel::inline v0::testing {
namespace {

Json version_only(const Json& document) {
  const std::string version = document.at({"metadata", "resourceVersion"}).string_or("");
  return version.empty() ? Json::object() : Json::object({{"resourceVersion", version}});
}

Json reshaped(const Call& call, const Json& document) {
  if (call.form.form == Representation::Form::partial)
    return partial_metadata(document, call.form.api_version);
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
  throw StatusError::invalid(
      {"meta.k8s.io", "TableOptions"}, "",
      {field_not_supported("includeObject", wanted, {Json("Metadata"), Json("None"), Json("Object")})});
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

http::Response object_response(const Call& call, int status, const Stored& object) {
  if (call.form.form == Representation::Form::object) return json_response(status, call.type->text(object));
  return json_response(status, reshaped(call, call.type->document(object)).dump());
}

http::Response document_response(const Call& call, int status, Json document) {
  document["apiVersion"] = call.type->api_version();
  document["kind"] = call.type->kind;
  if (call.form.form != Representation::Form::object) document = reshaped(call, document);
  return json_response(status, document.dump());
}

}  // namespace evenkeel::inline v0::testing
