// SPDX-License-Identifier: Apache-2.0
#include "apiserver/request/request_body.hpp"

#include <utility>

#include "apiserver/schema/defaults.hpp"
#include "apiserver/schema/schema_validation.hpp"
#include "apiserver/schema/strict_fields.hpp"
#include "apiserver/text/go_json.hpp"
#include "apiserver/text/json_problem.hpp"
#include "apiserver/text/yaml_document.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {
namespace {

/// Returns an excerpt of a body for error messages. Source: apiserver handlers/rest.go summarizeData.
std::string summary(std::string_view body) {
  constexpr std::size_t limit = 30;
  if (body.empty()) return "<empty>";
  if (body.front() == '{') return std::string(body.substr(0, limit)) + (body.size() > limit ? " ..." : "");
  static constexpr char hex[] = "0123456789abcdef";
  std::string out;
  for (const char c : body.substr(0, limit)) {
    out += hex[static_cast<unsigned char>(c) >> 4];
    out += hex[static_cast<unsigned char>(c) & 15];
  }
  return out + (body.size() > limit ? " ..." : "");
}

[[noreturn]] void refuse_unrecognized(std::string_view kind, std::string_view problem,
                                      std::string_view text) {
  if (kind.empty()) throw StatusError::bad_request(std::string(problem));
  throw StatusError::bad_request("the object provided is unrecognized (must be of type " + std::string(kind) +
                                 "): " + std::string(problem) + " (" + summary(text) + ")");
}

/// A body of null makes an object of a built-in kind in which everything is missing.
Json nothing_said(const ResourceType& type, Json body) {
  return body.is_null() && !type.custom ? Json::object() : body;
}

[[noreturn]] void refuse_kind(const ResourceType& type, const std::string& api_version,
                              const std::string& kind) {
  throw StatusError::bad_request(unknown_conversion(type, api_version, kind));
}

/// Custom resources must contain their type; for built-in ones the path suffices.
void check_type(const ResourceType& type, Json& object, std::string_view text) {
  const std::string kind = object["kind"].string_or("");
  const std::string api_version = object["apiVersion"].string_or("");
  if (type.custom) {
    if (kind.empty())
      refuse_unrecognized(type.kind, "Object 'Kind' is missing in '" + std::string(text) + "'", text);
    if (api_version != type.api_version())
      throw StatusError::bad_request("the API version in the data (" + api_version +
                                     ") does not match the expected API version (" + type.api_version() +
                                     ")");
    return;  // the kind is checked with the rest of the object
  }
  if (api_version.empty() && (kind.empty() || kind == type.kind)) {
    object["kind"] = type.kind;
    object["apiVersion"] = type.api_version();
  } else if (!kind.empty() && kind != type.kind) {
    refuse_kind(type, api_version.empty() ? type.version : api_version, kind);
  } else if (api_version != type.api_version()) {
    throw StatusError::bad_request("the API version in the data (" + api_version +
                                   ") does not match the expected API version (" + type.api_version() + ")");
  }
}

/// Returns the OpenAPI name of the message in a protobuf body of `kind`; empty for those of meta.k8s.io.
std::string message_type(const Call& call, std::string_view kind) {
  BuiltinData& data = call.storage.catalog.data();
  if (kind == "Scale") return std::string(data.type_of("autoscaling", "v1", kind));
  if (kind == "Eviction") return std::string(data.type_of("policy", "v1", kind));
  if (kind == "TokenRequest") return std::string(data.type_of("authentication.k8s.io", "v1", kind));
  if (kind.empty()) return "";
  return std::string(data.type_of(call.type->group, call.type->version, kind));
}

std::string cannot_be_handled(const ResourceType& type) {
  return type.kind + " in version \"" + type.version + "\" cannot be handled as a " + type.kind + ": ";
}

bool is_yaml(const Call& call) {
  const std::string* header = call.request.headers.find("Content-Type");
  return header != nullptr && media_type(*header) == "application/yaml";
}

}  // namespace

std::string unknown_conversion(const ResourceType& type, std::string_view api_version,
                               std::string_view kind) {
  return std::string(kind) + " of apiVersion " + Json(std::string(api_version)).dump() +
         " cannot be handled as a " + type.kind + " of " + Json(type.api_version()).dump();
}

Json parse_text(std::string_view text, std::string_view kind) {
  try {
    return parse_go_json(text);
  } catch (const DecodeError& error) {
    refuse_unrecognized(kind, "couldn't get version/kind; json parse error: " + error.problem(), text);
  }
}

Json parse_body(const Call& call, std::string_view kind) {
  const std::string* header = call.request.headers.find("Content-Type");
  const std::string type = header ? media_type(*header) : "application/json";
  if (type == "application/yaml") {
    try {
      return parse_yaml(call.request.body);
    } catch (const DecodeError& error) {
      refuse_unrecognized(kind, error.what(), call.request.body);
    }
  }
  const bool takes_protobuf = !call.type->custom || kind.empty();
  if (type == protobuf_type && takes_protobuf) {
    try {
      return call.protobuf.decode(call.request.body, message_type(call, kind));
    } catch (const DecodeError& error) {
      refuse_unrecognized(kind, error.problem(), call.request.body);
    }
  }
  if (type != "application/json" && !type.empty()) {
    // For custom kinds, too: a real server lists protobuf and then cannot decode it.
    throw StatusError::unsupported_media(
        {"application/json", "application/yaml", std::string(protobuf_type)});
  }
  return parse_text(call.request.body, kind);
}

void check_fields(Call& call, FieldValidation validation, std::string_view text, const Json& object) {
  if (validation == FieldValidation::ignore) return;
  const bool yaml = is_yaml(call);
  std::vector<std::string> problems = yaml ? yaml_duplicates(text) : std::vector<std::string>();
  for (std::string& one : strict_problems(yaml ? "" : text, object, *call.type->schema))
    problems.push_back(std::move(one));
  if (problems.empty()) return;
  if (validation == FieldValidation::strict)
    throw StatusError::bad_request(cannot_be_handled(*call.type) + strict_error(problems));
  call.warnings.insert(call.warnings.end(), problems.begin(), problems.end());
}

void shape(Json& object, const ResourceType& type, Unset unset) {
  // An empty list of managers differs from an absent one: it resets them.
  const Json& managers = std::as_const(object).at({"metadata", "managedFields"});
  const bool forgets = managers.is_array() && managers.empty();
  prune(object, *type.schema, unset);
  apply_defaults(object, *type.schema);
  canonicalize(object, *type.schema);
  if (forgets) object["metadata"]["managedFields"] = Json::array();
}

Json object_from_body(Call& call, FieldValidation validation) {
  const ResourceType& type = *call.type;
  Json object = nothing_said(type, parse_body(call, type.kind));
  if (object.is_null())
    refuse_unrecognized(type.kind, "Object 'Kind' is missing in 'null'", call.request.body);
  if (!object.is_object())
    refuse_unrecognized(type.kind, wrong_type("", "an object", object), call.request.body);
  for (const char* name : {"apiVersion", "kind"})
    if (const Json& given = std::as_const(object)[name]; !given.is_string() && !given.is_null())
      refuse_unrecognized(type.kind, wrong_type(name, "a string", given), call.request.body);
  check_type(type, object, call.request.body);
  if (const auto problem = decode_error(object, *type.schema))
    throw StatusError::bad_request(cannot_be_handled(type) + *problem);
  check_fields(call, validation, call.request.body, object);
  shape(object, type);
  return object;
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
