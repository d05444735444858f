// SPDX-License-Identifier: Apache-2.0
#include "apiserver/rest/deletion.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "apiserver/schema/cel_time.hpp"
#include "apiserver/store/crd_rules.hpp"
#include "apiserver/text/timestamps.hpp"
#include "apiserver/webhook/conversions.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {
namespace {

bool wants_orphans(const ResourceType& type, const Json& metadata, Propagation asked) {
  if (asked != Propagation::unset) return asked == Propagation::orphan;
  if (has_finalizer(metadata, orphan_finalizer)) return true;
  return !has_finalizer(metadata, foreground_finalizer) && type.rules.orphans_by_default;
}

bool wants_foreground(const Json& metadata, Propagation asked) {
  if (asked != Propagation::unset) return asked == Propagation::foreground;
  return has_finalizer(metadata, foreground_finalizer);
}

void set_finalizers_for_dependents(const ResourceType& type, Json& metadata, Propagation asked) {
  const bool orphan = wants_orphans(type, metadata, asked);
  const bool foreground = wants_foreground(metadata, asked);
  const auto set = [&](std::string_view name, bool wanted) {
    if (wanted == has_finalizer(metadata, name)) return;
    if (wanted) {
      Json& finalizers = metadata["finalizers"];
      if (!finalizers.is_array()) finalizers = Json::array();
      finalizers.push_back(name);
    } else {
      remove_finalizer(metadata, name);
    }
  };
  set(orphan_finalizer, orphan);
  set(foreground_finalizer, foreground);
}

/// Returns a period that a timestamp can express; a negative one counts as a second.
std::int64_t in_range(std::int64_t seconds) {
  constexpr std::int64_t longest = 1'000'000'000;
  return seconds < 0 ? 1 : std::min(seconds, longest);
}

/// Returns the grace period of a pod in seconds; 0 if no kubelet runs it.
std::int64_t grace_period(const Json& body, const DeleteOptions& options) {
  const std::string phase = body.at({"status", "phase"}).string_or("");
  if (body.at({"spec", "nodeName"}).string_or("").empty() || phase == "Succeeded" || phase == "Failed")
    return 0;
  return options.grace_period.value_or(body.at({"spec", "terminationGracePeriodSeconds"}).integer_or(30));
}

void mark(Json& metadata, std::int64_t grace, WallTime now) {
  if (!std::as_const(metadata)["deletionTimestamp"].is_null()) return;
  if (const std::int64_t generation = std::as_const(metadata)["generation"].integer_or(0); generation > 0)
    metadata["generation"] = generation + 1;
  metadata["deletionTimestamp"] = timestamp(now + std::chrono::seconds(grace));
  metadata["deletionGracePeriodSeconds"] = grace;
}

/// Shortens a grace period from its begin, which may have been longer ago than the new one.
void shorten(Json& metadata, std::int64_t grace, WallTime now) {
  const std::int64_t left = std::as_const(metadata)["deletionGracePeriodSeconds"].integer_or(0);
  const std::int64_t present = std::chrono::floor<std::chrono::seconds>(now).time_since_epoch().count();
  const std::string ends = std::as_const(metadata)["deletionTimestamp"].string_or("");
  const std::optional<std::int64_t> nanoseconds = parse_timestamp(ends);
  std::int64_t end = (nanoseconds ? *nanoseconds / 1'000'000'000 : present + left) - left + grace;
  if (end < present) {
    end = present;
    grace = std::min<std::int64_t>(grace, 1);
  }
  metadata["deletionTimestamp"] = timestamp(WallTime(std::chrono::seconds(end)));
  metadata["deletionGracePeriodSeconds"] = grace;
}

enum class Grace : std::uint8_t { none, begins, pending };

/// Marks a pod with its grace period, before anything else is decided. Once marked, the period can only be
/// shortened. Source: apiserver pkg/registry/rest/delete.go BeforeDelete.
Grace begin_grace(const ResourceType& type, Json& body, const DeleteOptions& options, WallTime now) {
  if (!type.rules.graceful) return Grace::none;
  Json& metadata = body["metadata"];
  if (std::as_const(metadata)["deletionTimestamp"].is_null()) {
    mark(metadata, in_range(grace_period(body, options)), now);
    return Grace::begins;
  }
  const std::int64_t left = std::as_const(metadata)["deletionGracePeriodSeconds"].integer_or(0);
  if (left == 0) return Grace::none;
  const std::int64_t grace = options.grace_period ? in_range(*options.grace_period) : left;
  if (grace >= left) return Grace::pending;
  shorten(metadata, grace, now);
  return Grace::begins;
}

bool is_namespace(const ResourceType& type) {
  return !type.custom && type.group.empty() && type.plural == "namespaces";
}
bool is_crd(const ResourceType& type) {
  return !type.custom && type.plural == "customresourcedefinitions";
}

/// Stores `body` if it has changed.
DeleteOutcome marked(Storage& storage, const ResourceType& type, const StoredPtr& object, Json body,
                     bool dry_run) {
  if (dry_run || body == storage.store.body(object)) return {.removed = false, .body = std::move(body)};
  const StoredPtr stored = storage.store.put(storage.collection(type), std::move(body), object->form());
  return {.removed = false, .body = storage.store.body(stored)};
}

Json marked_namespace(Json body, WallTime now) {
  if (!std::as_const(body)["metadata"]["deletionTimestamp"].is_null()) return body;
  body["metadata"]["deletionTimestamp"] = timestamp(now);
  body["status"]["phase"] = "Terminating";
  return body;
}

Json marked_crd(Json body, WallTime now) {
  if (!std::as_const(body)["metadata"]["deletionTimestamp"].is_null()) return body;
  body["metadata"]["deletionTimestamp"] = timestamp(now);
  if (!has_finalizer(body["metadata"], crd_finalizer)) {
    Json& finalizers = body["metadata"]["finalizers"];
    if (!finalizers.is_array()) finalizers = Json::array();
    finalizers.push_back(crd_finalizer);
  }
  set_condition(body,
                {"Terminating", true, "InstanceDeletionPending",
                 "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon"},
                timestamp(now));
  return body;
}

}  // namespace

void check_preconditions(const ResourceType& type, const Stored& object, const DeleteOptions& options) {
  if (options.uid && *options.uid != object.uid())
    throw StatusError::conflict(type.group_kind(), object.name(),
                                "the UID in the precondition (" + *options.uid +
                                    ") does not match the UID in record (" + object.uid() +
                                    "). The object might have been deleted and then recreated");
  if (options.resource_version && *options.resource_version != std::to_string(object.version()))
    throw StatusError::conflict(type.group_kind(), object.name(),
                                "the ResourceVersion in the precondition (" + *options.resource_version +
                                    ") does not match the ResourceVersion in record (" +
                                    std::to_string(object.version()) +
                                    "). The object might have been modified");
}

bool has_finalizer(const Json& metadata, std::string_view name) {
  const Json& finalizers = metadata["finalizers"];
  if (!finalizers.is_array()) return false;
  const Json::Array& items = finalizers.as_array();
  return std::find(items.begin(), items.end(), Json(name)) != items.end();
}

void remove_finalizer(Json& metadata, std::string_view name) {
  Json* finalizers = metadata.find("finalizers");
  if (!finalizers || !finalizers->is_array()) return;
  std::erase(finalizers->as_array(), Json(name));
  if (finalizers->empty()) metadata.erase("finalizers");
}

bool is_released(const Json& body, const ResourceType& type) {
  const Json& metadata = body["metadata"];
  if (metadata["deletionTimestamp"].is_null() || !metadata["finalizers"].empty()) return false;
  if (is_namespace(type)) return body.at({"spec", "finalizers"}).empty();
  return metadata["deletionGracePeriodSeconds"].integer_or(0) == 0;
}

DeleteOutcome delete_object(Storage& storage, const ResourceType& type, const StoredPtr& object,
                            const DeleteOptions& options, WallTime now) {
  check_preconditions(type, *object, options);
  Json body = storage.store.body(object);
  if (is_namespace(type) &&
      (!object->is_deleting() || !std::as_const(body).at({"spec", "finalizers"}).empty()))
    return marked(storage, type, object, marked_namespace(std::move(body), now), options.dry_run);
  if (is_crd(type)) return marked(storage, type, object, marked_crd(std::move(body), now), options.dry_run);
  Json& metadata = body["metadata"];
  const Grace grace = begin_grace(type, body, options, now);
  if (grace == Grace::pending) return {.removed = false, .body = std::move(body)};
  set_finalizers_for_dependents(type, metadata, options.propagation);
  const bool finalizers = !std::as_const(metadata)["finalizers"].empty();
  if (grace == Grace::none && finalizers) mark(metadata, 0, now);
  const bool held = finalizers || (grace == Grace::begins &&
                                   std::as_const(metadata)["deletionGracePeriodSeconds"].integer_or(0) > 0);
  DeleteOutcome outcome{.removed = !held, .body = {}};
  if (held || grace == Grace::begins)
    outcome.body = marked(storage, type, object, std::move(body), options.dry_run).body;
  else
    outcome.body = storage.store.body(object);
  if (held || options.dry_run) return outcome;
  Collection& collection = storage.collection(type);
  storage.store.erase(collection, collection.key_of(object->namespace_(), object->name()));
  outcome.body["metadata"]["resourceVersion"] = std::to_string(storage.store.version());
  return outcome;
}

bool mark_custom(const ResourceType& type, Json& document, const DeleteOptions& options, WallTime now) {
  Json& metadata = document["metadata"];
  set_finalizers_for_dependents(type, metadata, options.propagation);
  if (std::as_const(metadata)["finalizers"].empty()) return false;
  mark(metadata, 0, now);
  return true;
}

CustomDeletion::CustomDeletion(Call& call, StoredPtr object, Json shown, const DeleteOptions& options)
    : call_(call), object_(std::move(object)), document_(std::move(shown)), options_(options) {
  check_preconditions(*call.type, *object_, options);
  Json marked = document_;
  held_ = mark_custom(*call.type, marked, options, call.now);
  if (held_) document_ = std::move(marked);
  // A removal compares the stored form, for which it converts too.
  if (held_ || (call.type->hook && !options.dry_run)) storing_.emplace(call, document_, options.dry_run);
}

std::optional<WriteOutcome> CustomDeletion::run() && {
  if (held_ && !storing_->changes(object_))
    return WriteOutcome{.stored = in_version(call_, object_), .document = {}};
  if (held_ && options_.dry_run) return std::move(*storing_).rehearse();
  if (held_) return std::move(*storing_).put();
  if (options_.dry_run) return std::nullopt;
  Collection& collection = call_.collection();
  call_.storage.store.erase(collection, collection.key_of(object_->namespace_(), object_->name()));
  if (storing_) storing_->require_way_back();
  return std::nullopt;
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
