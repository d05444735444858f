// SPDX-License-Identifier: Apache-2.0
#include "testing/write.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

#include "testing/admission.hpp"
#include "testing/builtin_validation.hpp"
#include "testing/deletion.hpp"
#include "testing/metadata_validation.hpp"
#include "testing/object_rules.hpp"
#include "testing/pruning.hpp"
#include "testing/respond.hpp"
#include "testing/schema_validation.hpp"
#include "testing/service_rules.hpp"
#include "testing/timestamps.hpp"
#include "testing/typed_check.hpp"

namespace evenkeel::inline v0::testing {
namespace {

constexpr std::string_view modified_text =
    "the object has been modified; please apply your changes to the latest version and try again";
constexpr int name_attempts = 8;

/// The value at ".spec.replicas"; null if it is not there.
const Json& value_at(const Json& document, std::string_view path) {
  const Json* at = &document;
  while (!path.empty()) {
    path.remove_prefix(path.front() == '.' ? 1 : 0);
    const std::size_t end = std::min(path.find('.'), path.size());
    at = &(*at)[path.substr(0, end)];
    path.remove_prefix(end);
  }
  return *at;
}

void append(FieldErrors& errors, FieldErrors more) {
  errors.insert(errors.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

void refuse_invalid(const ResourceType& type, const Json& object, const FieldErrors& errors) {
  if (errors.empty()) return;
  throw StatusError::invalid(type.group_kind(), object.at({"metadata", "name"}).string_or(""), errors);
}

// What etcd takes at most in one request; a real server needs some of it for itself.
constexpr std::size_t max_stored_bytes = 1572864 - 512;

/// Looks only at objects whose request was large enough to matter.
void check_size(const Call& call, const Json& body) {
  if (call.request.body.size() * 2 < max_stored_bytes || body.dump().size() <= max_stored_bytes) return;
  throw StatusError::internal("etcdserver: request is too large");
}

/// In the version that is stored, without apiVersion and kind.
Json stored_form(const ResourceType& type, Json object) {
  if (type.to_storage) object = type.to_storage(std::move(object));
  object.erase("apiVersion");
  object.erase("kind");
  return object;
}

void set_namespace(const Call& call, Json& metadata) {
  if (call.type->namespaced) metadata["namespace"] = call.path.namespace_;
}

/// A name that is free, unless luck is very bad.
std::string free_name(Server& server, const Call& call, const std::string& prefix) {
  std::string name;
  for (int i = 0; i < name_attempts; ++i) {
    name = server.identity.generated_name(prefix);
    if (!server.store.find(*call.type->collection, call.type->collection->key_of(call.path.namespace_, name)))
      break;
  }
  return name;
}

/// Owner references that are said twice are kept once, with a warning.
void drop_repeated_owners(Call& call, Json& metadata) {
  Json* owners = metadata.find("ownerReferences");
  if (!owners || !owners->is_array()) return;
  Json::Array kept;
  std::string repeated;
  for (const Json& owner : std::as_const(*owners).as_array()) {
    if (std::find(kept.begin(), kept.end(), owner) == kept.end())
      kept.push_back(owner);
    else
      repeated += (repeated.empty() ? "" : ", ") + owner["uid"].string_or("");
  }
  if (repeated.empty()) return;
  *owners = Json(std::move(kept));
  call.warnings.push_back(
      ".metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, "
      "and "
      "may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: " +
      repeated);
}

bool is_service(const ResourceType& type) {
  return !type.custom && type.group.empty() && type.plural == "services";
}

/// Adds what a user should know of a valid object; `before` is null on create.
void warn_of_object(Call& call, const Json& object, const Json& before) {
  const ResourceType& type = *call.type;
  std::vector<std::string> warnings = type.custom ? finalizer_warnings(object["metadata"], before["metadata"])
                                                  : builtin_warnings(object, *type.schema, before);
  for (std::string& warning : warnings) call.warnings.push_back(std::move(warning));
}

/// How admission names an object that may have no name yet.
std::string name_or_prefix(const Json& metadata) {
  const std::string name = metadata["name"].string_or("");
  return name.empty() ? metadata["generateName"].string_or("") : name;
}

void set_identity(Server& server, const Call& call, Json& metadata) {
  metadata["uid"] = server.identity.uid();
  metadata["creationTimestamp"] = timestamp(call.now);
  const std::string prefix = std::as_const(metadata)["generateName"].string_or("");
  if (!prefix.empty() && std::as_const(metadata)["name"].string_or("").empty())
    metadata["name"] = free_name(server, call, prefix);
}

/// The version precondition of an update. Source: apiserver generic/registry/store.go Update.
void check_version(const Call& call, Json& object, const Stored& live) {
  const ResourceType& type = *call.type;
  const std::string given = std::as_const(object).at({"metadata", "resourceVersion"}).string_or("");
  std::uint64_t version = 0;
  const auto read = std::from_chars(given.data(), given.data() + given.size(), version);
  if (!given.empty() && (read.ec != std::errc() || read.ptr != given.data() + given.size()))
    throw StatusError(500, "", "strconv.ParseUint: parsing " + Json(given).dump() + ": invalid syntax");
  if (version == 0) {
    if (!type.rules.unconditional_update)
      throw StatusError::invalid(
          type.resource(), live.name(),
          {field_invalid("metadata.resourceVersion", Json(0), "must be specified for an update")});
    object["metadata"]["resourceVersion"] = std::to_string(live.version());
  } else if (version != live.version()) {
    throw StatusError::conflict(type.resource(), live.name(), modified_text);
  }
}

/// Custom resources have one kind each, and are refused under the name that they give themselves.
void check_custom_kind(const Json& object, const ResourceType& type) {
  const std::string kind = object["kind"].string_or("");
  if (type.custom && kind != type.kind)
    throw StatusError::invalid({type.group, kind}, object.at({"metadata", "name"}).string_or(""),
                               {field_invalid("kind", kind, "must be " + type.kind)});
}

/// What Go's unstructured.NestedInt64 says of a value that is no integer; empty for others and for null.
std::string accessor_problem(const std::string& path, const Json& value) {
  const char* type = value.is_string()                          ? "string"
                     : value.is_bool()                          ? "bool"
                     : value.is_number() && !value.is_integer() ? "float64"
                                                                : "";
  if (*type == '\0') return {};
  return path + " accessor error: " + (value.is_string() ? value.as_string() : value.dump()) +
         " is of the type " + type + ", expected int64";
}

/// The replicas that a scale subresource tells must be a count. Source: apiextensions
/// pkg/registry/customresource/validator.go ValidateScaleSpec.
void check_replicas(const Json& object, const ResourceType& type, std::string_view subresource,
                    FieldErrors& errors) {
  if (!type.custom || !type.scale) return;
  const auto check = [&](const std::string& path) {
    const std::int64_t count = value_at(object, path).integer_or(0);
    if (const std::string problem = accessor_problem(path, value_at(object, path)); !problem.empty())
      errors.push_back(field_invalid(path, Json(0), problem));
    if (count < 0) errors.push_back(field_invalid(path, Json(count), "should be a non-negative integer"));
    if (count > std::numeric_limits<std::int32_t>::max())
      errors.push_back(field_invalid(path, Json(count), "should be less than or equal to 2147483647"));
  };
  if (subresource != "status") check(type.scale->spec);
  check(type.scale->status);
}

void check_update(Call& call, const Json& object, const Json& live, std::string_view subresource) {
  const ResourceType& type = *call.type;
  check_custom_kind(object, type);
  FieldErrors errors = check_metadata_update(object["metadata"], live["metadata"]);
  // A real server runs these checks twice: for all kinds, and in each kind's own validation.
  append(errors, FieldErrors(errors));
  const Written written = subresource == "status" ? Written::status : Written::everything;
  append(errors, validate(object, *type.schema, live, written, &call.warnings));
  check_replicas(object, type, subresource, errors);
  if (subresource.empty()) append(errors, check_kind(object, live, type));
  refuse_invalid(type, object, errors);
}

}  // namespace

void store_as_controller(Server& server, const ResourceType& type, const Json& live, Json object,
                         std::string_view subresource, WallTime now) {
  if (object == live) return;
  track_update(
      live, object, *type.schema,
      {.manager = "kube-controller-manager", .subresource = std::string(subresource), .now = timestamp(now)});
  server.store.put(*type.collection, stored_form(type, std::move(object)));
}

StoredPtr require_object(Server& server, const Call& call) {
  StoredPtr object = server.store.find(*call.type->collection, call.key());
  if (!object) throw StatusError::not_found(call.type->resource(), call.path.name);
  return object;
}

void check_name(const Call& call, const Json& object) {
  const std::string name = object.at({"metadata", "name"}).string_or("");
  if (name.empty())
    throw StatusError::bad_request("the name of the object (" + call.path.name +
                                   " based on URL) was undeterminable: name must be provided");
  if (name != call.path.name)
    throw StatusError::bad_request("the name of the object (" + name +
                                   ") does not match the name on the URL (" + call.path.name + ")");
  const std::string namespace_ = object.at({"metadata", "namespace"}).string_or("");
  if (call.type->namespaced && !namespace_.empty() && namespace_ != call.path.namespace_)
    throw StatusError::bad_request("the namespace of the object (" + namespace_ +
                                   ") does not match the namespace on the request (" + call.path.namespace_ +
                                   ")");
}

void check_namespace(const Call& call, const Json& object) {
  const std::string given = object.at({"metadata", "namespace"}).string_or("");
  if (!given.empty() && given != call.path.namespace_ && call.type->namespaced)
    throw StatusError::bad_request(
        "the namespace of the provided object does not match the namespace sent on the request");
}

void check_uid(const Call& call, const Json& object, const Stored& live) {
  const std::string given = object.at({"metadata", "uid"}).string_or("");
  if (given.empty() || given == live.uid()) return;
  throw StatusError::conflict(call.type->resource(), call.path.name,
                              "StorageError: invalid object, Code: 4, Key: " + call.type->registry_key + "/" +
                                  call.key() +
                                  ", ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in "
                                  "precondition: " +
                                  given + ", UID in object meta: " + live.uid());
}

WriteOutcome create_object(Server& server, Call& call, Json object, const WriteOptions& options,
                           Tracking tracking) {
  const ResourceType& type = *call.type;
  if (std::as_const(object)["metadata"].is_null()) object["metadata"] = Json::object();
  check_namespace(call, object);
  set_namespace(call, object["metadata"]);
  if (type.namespaced)
    require_namespace(server, call.path.namespace_, type, name_or_prefix(object["metadata"]));
  const std::string version = std::as_const(object).at({"metadata", "resourceVersion"}).string_or("");
  reset_for_create(object, type);
  drop_repeated_owners(call, object["metadata"]);
  set_identity(server, call, object["metadata"]);
  if (tracking == Tracking::needed) track_update(Json(), object, *type.schema, options.context(call, ""));
  complete_for_create(object, type);
  check_custom_kind(object, type);
  admit_new(server, call, object);
  if (is_service(type)) prepare_service(object, Json());
  FieldErrors errors = check_new_metadata(std::as_const(object)["metadata"], type);
  append(errors, validate(object, *type.schema));
  check_replicas(object, type, "", errors);
  append(errors, check_kind(object, Json(), type));
  refuse_invalid(type, object, errors);
  if (is_service(type)) allocate_service(*type.collection, object, Json());
  warn_of_object(call, object, Json());
  const std::string name = std::as_const(object).at({"metadata", "name"}).string_or("");
  if (!version.empty() && version != "0" &&
      tracking == Tracking::needed)  // an apply that creates may have one
    throw StatusError::internal("resourceVersion should not be set on objects to be created");
  if (const StoredPtr present =
          server.store.find(*type.collection, type.collection->key_of(call.path.namespace_, name)))
    throw StatusError::already_exists(
        type.resource(), name,
        present->metadata()["deletionTimestamp"].is_null() ? "" : "object is being deleted: ");
  if (options.dry_run) return {.stored = nullptr, .document = std::move(object)};
  Json body = stored_form(type, std::move(object));
  check_size(call, body);
  return {.stored = server.store.put(*type.collection, std::move(body), type.stored_shape()), .document = {}};
}

WriteOutcome update_object(Server& server, Call& call, const StoredPtr& live, Json object,
                           const WriteOptions& options, std::string_view subresource, Tracking tracking) {
  const ResourceType& type = *call.type;
  const Json before = type.document(*live);
  set_namespace(call, object["metadata"]);
  check_version(call, object, *live);
  keep_system_fields(object, before);
  drop_repeated_owners(call, object["metadata"]);
  // Ownership of what does not fit the schema cannot be told, even if the write does not take it over.
  const bool owned = !type.custom || subresource.empty() ||
                     typed_problems(object, type.schema->root(), Duplicates::allowed).empty();
  keep_for_update(object, before, type, subresource);
  if (tracking == Tracking::needed)
    track_update(before, object, *type.schema, options.context(call, subresource));
  if (!owned) object["metadata"].erase("managedFields");
  keep_deletion(object, before);
  if (subresource.empty()) admit_changed(call, object);
  if (const std::int64_t generation = next_generation(object, before, type); generation > 0)
    object["metadata"]["generation"] = generation;
  const bool service = is_service(type) && subresource.empty();
  if (service) prepare_service(object, before);
  if (subresource.empty()) complete_for_update(object, type);
  check_update(call, object, before, subresource);
  if (service) allocate_service(*type.collection, object, before);
  if (type.custom || subresource.empty()) warn_of_object(call, object, before);
  if (is_released(object, type)) {
    if (!options.dry_run) server.store.erase(*type.collection, call.key());
    return {.stored = nullptr, .document = std::move(object)};
  }
  ignore_time_only_changes(before, object);
  Json body = stored_form(type, object);
  if (body == live->body()) return {.stored = live, .document = {}};
  if (options.dry_run) return {.stored = nullptr, .document = std::move(object)};
  check_size(call, body);
  return {.stored = server.store.put(*type.collection, std::move(body), type.stored_shape()), .document = {}};
}

http::Response write_response(const Call& call, int status, const WriteOutcome& outcome) {
  http::Response response = outcome.stored ? object_response(call, status, *outcome.stored)
                                           : document_response(call, status, outcome.document);
  add_warnings(call, response);
  return response;
}

}  // namespace evenkeel::inline v0::testing
