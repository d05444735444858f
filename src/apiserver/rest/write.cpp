// SPDX-License-Identifier: Apache-2.0
#include "apiserver/rest/write.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <string>
#include <utility>

#include "apiserver/merge/typed_check.hpp"
#include "apiserver/request/respond.hpp"
#include "apiserver/rest/admission.hpp"
#include "apiserver/rest/certificate_signing.hpp"
#include "apiserver/rest/deletion.hpp"
#include "apiserver/rest/escalation.hpp"
#include "apiserver/rest/storing.hpp"
#include "apiserver/schema/builtin_validation.hpp"
#include "apiserver/schema/metadata_validation.hpp"
#include "apiserver/schema/pruning.hpp"
#include "apiserver/schema/schema_validation.hpp"
#include "apiserver/store/object_rules.hpp"
#include "apiserver/text/member_path.hpp"
#include "apiserver/text/timestamps.hpp"
#include "apiserver/webhook/conversions.hpp"
#include "apiserver/webhook/webhook_admission.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {
namespace {

constexpr std::string_view modified_text =
    "the object has been modified; please apply your changes to the latest version and try again";
constexpr int name_attempts = 8;
constexpr std::string_view go_map = "map[string]interface {}";

void append(FieldErrors& errors, FieldErrors more) {
  errors.insert(errors.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

void refuse_invalid(const ResourceType& type, const Json& object, const FieldErrors& errors) {
  if (errors.empty()) return;
  throw StatusError::invalid(type.group_kind(), object.at({"metadata", "name"}).string_or(""), errors);
}

// etcd's limit of a request, minus what a real server needs for itself.
constexpr std::size_t max_stored_bytes = 1572864 - 512;

/// Checks only objects whose request was large enough to matter.
void check_size(const Call& call, const Json& body) {
  if (call.request.body.size() * 2 < max_stored_bytes || body.dump().size() <= max_stored_bytes) return;
  throw StatusError::internal("etcdserver: request is too large");
}

void set_namespace(const Call& call, Json& metadata) {
  if (call.type->namespaced) metadata["namespace"] = call.path.namespace_;
}

/// Returns a name that is not in use; fails only with negligible probability.
std::string free_name(Storage& storage, const Call& call, const std::string& prefix) {
  std::string name;
  for (int i = 0; i < name_attempts; ++i) {
    name = storage.identity.generated_name(prefix);
    if (!storage.store.find(call.collection(), call.collection().key_of(call.path.namespace_, name))) break;
  }
  return name;
}

/// Removes duplicate owner references, with a warning.
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

/// Adds warnings for a valid object; `live` is null on a create.
void warn_of_object(Call& call, const Json& object, const Json& live) {
  const ResourceType& type = *call.type;
  std::vector<std::string> warnings = type.custom ? finalizer_warnings(object["metadata"], live["metadata"])
                                                  : builtin_warnings(object, *type.schema, live);
  for (std::string& warning : warnings) call.warnings.push_back(std::move(warning));
  for (std::string& warning : kind_warnings(object, live, type)) call.warnings.push_back(std::move(warning));
}

/// Returns the name that admission uses for an object that may have no name yet.
std::string name_or_prefix(const Json& metadata) {
  const std::string name = metadata["name"].string_or("");
  return name.empty() ? metadata["generateName"].string_or("") : name;
}

void set_identity(Storage& storage, const Call& call, Json& metadata) {
  metadata["uid"] = storage.identity.uid();
  metadata["creationTimestamp"] = timestamp(call.now);
  const std::string prefix = std::as_const(metadata)["generateName"].string_or("");
  if (!prefix.empty() && std::as_const(metadata)["name"].string_or("").empty())
    metadata["name"] = free_name(storage, call, prefix);
}

/// Checks the version precondition of an update. Source: apiserver generic/registry/store.go Update.
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

/// A custom resource has one kind; the error contains the kind in the object.
void check_custom_kind(const Json& object, const ResourceType& type) {
  const std::string kind = object["kind"].string_or("");
  if (type.custom && kind != type.kind)
    throw StatusError::invalid({type.group, kind}, object.at({"metadata", "name"}).string_or(""),
                               {field_invalid("kind", kind, "must be " + type.kind)});
}

/// Returns the type of a value in Go's unstructured objects, and its %v form.
std::pair<std::string_view, std::string> go_form(const Json& value) {
  if (value.is_null()) return {"<nil>", "<nil>"};
  if (value.is_string()) return {"string", value.as_string()};
  if (value.is_bool()) return {"bool", value.dump()};
  if (value.is_number()) return {value.is_integer() ? "int64" : "float64", value.dump()};
  std::string text;
  if (value.is_array()) {
    for (const Json& item : value.as_array()) text += (text.empty() ? "" : " ") + go_form(item).second;
    return {"[]interface {}", "[" + text + "]"};
  }
  for (const auto& [name, member] : value.as_object())
    text += (text.empty() ? "" : " ") + name + ":" + go_form(member).second;
  return {go_map, "map[" + text + "]"};
}

/// Returns the error of the value at a path that should be of Go type `wanted`, or of a value on the way to
/// it; empty if there is no such value. Source: apimachinery unstructured/helpers.go NestedFieldNoCopy.
std::string accessor_problem(const Json& object, std::string_view path, std::string_view wanted) {
  const Json* value = &object;
  std::size_t end = 0;
  const auto problem = [&](std::string_view type) {
    const auto [found, text] = go_form(*value);
    if (found == type) return std::string();
    return std::string(path.substr(0, end)) + " accessor error: " + text + " is of the type " +
           std::string(found) + ", expected " + std::string(type == go_map ? "map[string]interface{}" : type);
  };
  while (end < path.size()) {
    if (value->is_null()) return {};
    const std::size_t begin = end + 1;
    end = std::min(path.find('.', begin), path.size());
    if (std::string text = problem(go_map); !text.empty()) return text;
    value = value->find(path.substr(begin, end - begin));
    if (value == nullptr) return {};
  }
  return problem(wanted);
}

/// Checks the values of a scale subresource. Source: apiextensions pkg/registry/customresource/validator.go
/// ValidateScaleSpec, ValidateScaleStatus.
void check_replicas(const Json& object, const ResourceType& type, std::string_view subresource,
                    FieldErrors& errors) {
  if (!type.custom || !type.scale) return;
  const auto check = [&](const std::string& path) {
    const std::int64_t count = value_at(object, path).integer_or(0);
    if (const std::string problem = accessor_problem(object, path, "int64"); !problem.empty())
      errors.push_back(field_invalid(path, Json(0), problem));
    else if (count < 0)
      errors.push_back(field_invalid(path, Json(count), "should be a non-negative integer"));
    else if (count > std::numeric_limits<std::int32_t>::max())
      errors.push_back(field_invalid(path, Json(count), "should be less than or equal to 2147483647"));
  };
  if (subresource != "status") check(type.scale->spec);
  check(type.scale->status);
  const std::string& selector = type.scale->selector;
  if (selector.empty()) return;
  if (const std::string problem = accessor_problem(object, selector, "string"); !problem.empty())
    errors.push_back(field_invalid(selector, Json(""), problem));
}

/// The phases of a create: prepare, default, admit, validate, allocate, store.
class Creation {
 public:
  Creation(Storage& storage, Call& call, const WriteOptions& options, Tracking tracking)
      : storage_(storage), call_(call), type_(*call.type), options_(options), tracking_(tracking) {}

  WriteOutcome run(Json object) {
    prepare(object);
    complete_for_create(object, type_);
    check_custom_kind(object, type_);
    admit_new(storage_, call_, object);
    const bool hooked = has_webhooks(storage_);
    if (hooked && mutate(object)) admit_new(storage_, call_, object);  // as in a real server, again
    check_escalation(call_, object, Json());
    set_requester(call_, object);
    validate_new(object);
    admit_certificate_request(call_, object, Json(), "");
    if (type_.rules.strategy.allocate) type_.rules.strategy.allocate(call_.collection(), object, Json());
    if (hooked) {
      check_free(std::as_const(object).at({"metadata", "name"}).string_or(""));
      AdmissionEvent event = admission_event(call_, "CREATE", "CreateOptions", options_.dry_run);
      event.name = std::as_const(object).at({"metadata", "name"}).string_or("");
      validate_by_webhooks(call_, event, object);
    }
    warn_of_object(call_, object, Json());
    return store(std::move(object));
  }

 private:
  /// Mutating webhooks see the object without what the server decides later. Returns true if they changed
  /// it.
  bool mutate(Json& object) {
    const Json metadata = std::as_const(object)["metadata"];
    AdmissionEvent event = admission_event(call_, "CREATE", "CreateOptions", options_.dry_run);
    Json shown = object;
    for (const char* member : {"uid", "creationTimestamp", "generation"}) shown["metadata"].erase(member);
    if (generated_) shown["metadata"].erase("name");
    event.name = std::as_const(shown).at({"metadata", "name"}).string_or("");
    if (!mutate_by_webhooks(call_, event, shown)) return false;
    object = std::move(shown);
    if (type_.custom && type_.has_status) object.erase("status");
    if (std::as_const(object).at({"metadata", "name"}).string_or("").empty())
      object["metadata"]["name"] = metadata["name"];
    for (const char* member : {"uid", "creationTimestamp", "generation", "namespace"}) {
      const Json& before = metadata[member];
      if (before.is_null())
        object["metadata"].erase(member);
      else
        object["metadata"][member] = before;
    }
    return true;
  }

  /// Sets the fields that the server decides: identity, namespace, ownership of fields.
  void prepare(Json& object) {
    if (std::as_const(object)["metadata"].is_null()) object["metadata"] = Json::object();
    Json& metadata = object["metadata"];
    check_namespace(call_, object);
    set_namespace(call_, metadata);
    if (type_.namespaced) require_namespace(storage_, call_.path.namespace_, type_, name_or_prefix(metadata));
    version_ = std::as_const(object).at({"metadata", "resourceVersion"}).string_or("");
    reset_for_create(object, type_);
    drop_repeated_owners(call_, object["metadata"]);
    generated_ = std::as_const(object).at({"metadata", "name"}).string_or("").empty();
    set_identity(storage_, call_, object["metadata"]);
    if (tracking_ == Tracking::needed)
      track_update(Json(), object, *type_.schema, write_context(call_, options_, ""));
  }

  void validate_new(Json& object) {
    if (type_.rules.strategy.prepare) type_.rules.strategy.prepare(object, Json());
    FieldErrors errors = check_new_metadata(
        std::as_const(object)["metadata"],
        {.name = type_.rules.name, .namespaced = type_.namespaced, .custom = type_.custom});
    append(errors, validate(object, *type_.schema));
    check_replicas(object, type_, "", errors);
    append(errors, check_kind(object, Json(), type_));
    append(errors, check_certificate_request(type_, object, Json(), ""));
    refuse_invalid(type_, object, errors);
  }

  /// Rejects a version, which only an apply that creates may have, and a name that exists.
  void check_free(const std::string& name) const {
    if (!version_.empty() && version_ != "0" && tracking_ == Tracking::needed)
      throw StatusError::internal("resourceVersion should not be set on objects to be created");
    const StoredPtr present =
        storage_.store.find(call_.collection(), call_.collection().key_of(call_.path.namespace_, name));
    if (present)
      throw StatusError::already_exists(type_.resource(), name,
                                        present->is_deleting() ? "object is being deleted: " : "");
  }

  WriteOutcome store(Json object) {
    check_free(std::as_const(object).at({"metadata", "name"}).string_or(""));
    Storing storing(call_, std::move(object), options_.dry_run);
    if (options_.dry_run) return std::move(storing).rehearse();
    check_size(call_, storing.body());
    return std::move(storing).put();
  }

  Storage& storage_;
  Call& call_;
  const ResourceType& type_;
  const WriteOptions& options_;
  const Tracking tracking_;
  std::string version_ = {};  ///< The resourceVersion in the request.
  bool generated_ = false;    ///< The server makes the name.
};

/// The phases of an update, as in Creation. For a subresource only its part is written, and admission and
/// allocation are skipped.
class Update {
 public:
  Update(Storage& storage, Call& call, const StoredPtr& live, const WriteOptions& options,
         std::string_view subresource, Tracking tracking)
      : storage_(storage),
        call_(call),
        type_(*call.type),
        live_(live),
        before_(document_of(call, live)),
        options_(options),
        subresource_(subresource),
        tracking_(tracking) {}

  WriteOutcome run(Json object) {
    prepare(object);
    if (whole()) admit_changed(call_, object);
    // A scale is admitted by its own handler.
    const bool hooked = subresource_ != "scale" && has_webhooks(storage_);
    if (hooked && mutate(object) && whole()) admit_changed(call_, object);
    if (const std::int64_t generation = next_generation(object, before_, type_); generation > 0)
      object["metadata"]["generation"] = generation;
    if (whole() && type_.rules.strategy.prepare) type_.rules.strategy.prepare(object, before_);
    if (whole()) complete_for_update(object, type_);
    check_escalation(call_, object, before_);
    validate_changed(object);
    admit_certificate_request(call_, object, before_, subresource_);
    if (whole() && type_.rules.strategy.allocate)
      type_.rules.strategy.allocate(call_.collection(), object, before_);
    if (hooked) validate_by_webhooks(call_, event(), object);
    if (type_.custom || whole()) warn_of_object(call_, object, before_);
    return store(std::move(object));
  }

 private:
  bool whole() const { return subresource_.empty(); }

  AdmissionEvent event() const {
    AdmissionEvent out = admission_event(call_, "UPDATE", "UpdateOptions", options_.dry_run);
    out.old = before_;
    return out;
  }

  /// Restores the fields that a webhook must not change. Returns true if webhooks changed the object.
  bool mutate(Json& object) {
    const Json metadata = std::as_const(object)["metadata"];
    if (!mutate_by_webhooks(call_, event(), object)) return false;
    for (const char* member : {"name", "namespace", "uid", "resourceVersion"})
      object["metadata"][member] = metadata[member];
    keep_system_fields(object, before_);
    keep_parts(object);
    stamp_conditions(call_, object, before_);
    return true;
  }

  /// Restores fields that an update must not change, and determines the ownership of fields.
  void prepare(Json& object) {
    set_namespace(call_, object["metadata"]);
    check_version(call_, object, *live_);
    keep_system_fields(object, before_);
    drop_repeated_owners(call_, object["metadata"]);
    // Ownership of an object that does not match the schema cannot be determined, even if the write does not
    // change that part.
    const bool owned =
        !type_.custom || whole() || typed_problems(object, type_.schema->root(), Duplicates::allowed).empty();
    keep_parts(object);
    if (tracking_ == Tracking::needed)
      track_update(before_, object, *type_.schema, write_context(call_, options_, subresource_));
    if (!owned) object["metadata"].erase("managedFields");
    keep_deletion(object, before_);
    stamp_conditions(call_, object, before_);
  }

  void keep_parts(Json& object) const {
    keep_for_update(object, before_, type_, subresource_);
    keep_certificate_parts(type_, object, before_, subresource_);
  }

  void validate_changed(const Json& object) {
    check_custom_kind(object, type_);
    // A real server checks metadata for all kinds, and again in the strategy of the kind.
    FieldErrors errors = check_metadata_update(object["metadata"], before_["metadata"]);
    append(errors, errors);
    const Written written = subresource_ == "status" ? Written::status : Written::everything;
    append(errors, validate(object, *type_.schema, before_, written, &call_.warnings));
    check_replicas(object, type_, subresource_, errors);
    if (whole()) append(errors, check_kind(object, before_, type_));
    append(errors, check_certificate_request(type_, object, before_, subresource_));
    refuse_invalid(type_, object, errors);
  }

  WriteOutcome store(Json object) {
    if (is_released(object, type_)) {
      if (!options_.dry_run) storage_.store.erase(call_.collection(), call_.key());
      return {.stored = nullptr, .document = std::move(object)};
    }
    ignore_time_only_changes(before_, object);
    Storing storing(call_, std::move(object), options_.dry_run);
    if (!storing.changes(live_)) return {.stored = in_version(call_, live_), .document = {}};
    if (options_.dry_run) return std::move(storing).rehearse();
    check_size(call_, storing.body());
    return std::move(storing).put();
  }

  Storage& storage_;
  Call& call_;
  const ResourceType& type_;
  const StoredPtr& live_;
  const Json before_;
  const WriteOptions& options_;
  const std::string_view subresource_;
  const Tracking tracking_;
};

}  // namespace

WriteContext write_context(const Call& call, const WriteOptions& options, std::string_view subresource) {
  return {.manager = options.manager,
          .subresource = std::string(subresource),
          .now = timestamp(call.now),
          .others = other_versions(call)};
}

void store_as_controller(Storage& storage, const ResourceType& type, const Json& live, Json object,
                         std::string_view subresource, WallTime now) {
  if (object == live) return;
  track_update(
      live, object, *type.schema,
      {.manager = "kube-controller-manager", .subresource = std::string(subresource), .now = timestamp(now)});
  Collection& collection = storage.collection(type);
  const Json& metadata = live["metadata"];
  const StoredPtr present = storage.store.find(
      collection, collection.key_of(metadata["namespace"].string_or(""), metadata["name"].string_or("")));
  Json body = stored_form(type, std::move(object));
  StoredForm form = present ? present->form() : type.stored_form(body);
  storage.store.put(collection, std::move(body), std::move(form));
}

StoredPtr require_object(Storage& storage, const Call& call) {
  StoredPtr object = storage.store.find(call.collection(), call.key());
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

void check_uid(const Call& call, const Json& object, const StoredPtr& live) {
  const std::string given = object.at({"metadata", "uid"}).string_or("");
  const std::string present = live ? live->uid() : std::string();
  if (given.empty() || given == present) return;
  throw StatusError::conflict(call.type->resource(), call.path.name,
                              "StorageError: invalid object, Code: 4, Key: " + call.type->registry_key + "/" +
                                  call.key() +
                                  ", ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in "
                                  "precondition: " +
                                  given + ", UID in object meta: " + present);
}

WriteOutcome create_object(Storage& storage, Call& call, Json object, const WriteOptions& options,
                           Tracking tracking) {
  return Creation(storage, call, options, tracking).run(std::move(object));
}

WriteOutcome update_object(Storage& storage, Call& call, const StoredPtr& live, Json object,
                           const WriteOptions& options, std::string_view subresource, Tracking tracking) {
  return Update(storage, call, live, options, subresource, tracking).run(std::move(object));
}

http::Response write_response(const Call& call, int status, const WriteOutcome& outcome) {
  http::Response response = outcome.stored ? object_response(call, status, outcome.stored)
                                           : document_response(call, status, outcome.document);
  add_warnings(call, response);
  return response;
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
