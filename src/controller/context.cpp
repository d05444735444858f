// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>

#include <evenkeel/api/dynamic.hpp>
#include <evenkeel/base/error.hpp>
#include <evenkeel/client/resource_client.hpp>
#include <evenkeel/client/subresources.hpp>
#include <evenkeel/controller/context.hpp>
#include <evenkeel/events/event_recorder.hpp>

#include "controller/apply_plan.hpp"
#include "controller/explore_points.hpp"

namespace evenkeel {
inline namespace v0 {

Context::Context(ContextOptions options)
    : options_(std::move(options)),
      key_(options_.request.object_key()),
      deadline_(options_.timeout > Duration::zero()
                    ? std::optional(deadline_after(options_.clock->now(), *options_.timeout))
                    : std::nullopt),
      client_(options_.client.with({.stop = options_.stop,
                                    .deadline = deadline_,
                                    .field_owner = options_.field_owner,
                                    .trace_parent = options_.span.context().is_valid()
                                                        ? std::optional(options_.span.context())
                                                        : std::nullopt})) {
  if (options_.cache != nullptr) options_.cache->observe(client_);
}

Context::~Context() = default;

const Log& Context::log() const {
  if (!log_) {
    const Log where = cluster().empty() ? options_.log : options_.log.with({{"cluster", cluster()}});
    log_ = where.with(
        {{"object", key_.str()}, {"reconcile_id", options_.reconcile_id}, {"attempt", options_.attempt}});
  }
  return *log_;
}

void Context::check() const {
  if (options_.stop.stop_requested()) throw Cancelled("reconcile " + options_.request.str() + ": stopping");
  if (deadline_ && options_.clock->now() >= *deadline_) {
    throw Cancelled("reconcile " + options_.request.str() + ": the reconcile timeout is over");
  }
}

void Context::set_primary(std::unique_ptr<detail::Primary> primary) {
  primary_ = std::move(primary);
}

void Context::refuse_without_cache(const ResourceInfo& resource, const std::string& index) {
  throw NotCached(std::string(resource.kind) + ": cannot read the index \"" + index +
                  "\": the context has no cache");
}

void Context::evict(const ObjectKey& pod, DeleteOptions options) {
  if (options.uid.empty())
    options.uid = reconciled_uid({.group = "", .version = "v1", .kind = "Pod", .plural = "pods"}, pod);
  client_.run(calls::evict(pod, options));
}

// NOLINTNEXTLINE(readability-make-member-function-const): it records for the run
void Context::event(const EventSubject& subject, EventSeverity severity, std::string_view reason,
                    std::string_view message, const EventOptions& options) {
  log().debug("event", {{"about", subject.kind + " " + ObjectKey{subject.namespace_, subject.name}.str()},
                        {"type", severity == EventSeverity::warning ? "Warning" : "Normal"},
                        {"reason", reason},
                        {"message", message}});
  if (options_.events != nullptr) options_.events->record(subject, severity, reason, message, options);
}

void Context::mark_point(std::string_view name) const {
  options_.points->mark(key_, name);
}

std::size_t Context::begin_point(std::string_view name) const {
  return options_.points->begin_effect(key_, name);
}

void Context::end_point(std::size_t point) const {
  options_.points->end_effect(point);
}

void Context::refuse_other_object() {
  throw std::invalid_argument(
      "Context: patch takes a reference only to the object that is being reconciled; of any other object "
      "give the "
      "Snapshot that find() or list() returned");
}

bool Context::must_apply(const ContextApplyOptions& options, const ResourceId& resource, ObjectMeta& metadata,
                         const Json& document, const ObjectMeta* current_metadata,
                         const Json& current) const {
  if (current_metadata != nullptr) require_own(options, resource, metadata, *current_metadata);
  if (!options.skip_unchanged) return true;
  const std::string annotation = detail::applied_annotation(options_.field_owner);
  std::string record = detail::applied_hash(document);
  if (current_metadata != nullptr && !is_deleting(*current_metadata)) {
    const auto found = current_metadata->annotations.find(annotation);
    if (found != current_metadata->annotations.end() && found->second == record &&
        detail::has_applied(document, current)) {
      if (options_.applies_skipped != nullptr)
        options_.applies_skipped->fetch_add(1, std::memory_order_relaxed);
      return false;
    }
  }
  metadata.annotations[annotation] = std::move(record);
  return true;
}

void Context::require_own(const ContextApplyOptions& options, const ResourceId& resource,
                          const ObjectMeta& metadata, const ObjectMeta& current) const {
  const OwnerReference* const wanted = controller_of(metadata);
  if (wanted == nullptr) return;
  const OwnerReference* const found = controller_of(current);
  if (found != nullptr && found->uid == wanted->uid) return;
  const std::string text = "apply " + resource.kind + " " + key_of(metadata).str() + ": " + wanted->kind +
                           " " + wanted->name + " cannot control it: ";
  if (found != nullptr) {
    const bool former = same_owner(*found, *wanted);
    throw OwnedByAnother(text + "it is controlled by " + (former ? "a former " : "") + found->kind + " " +
                         found->name);
  }
  const bool applied = current.annotations.contains(detail::applied_annotation(options_.field_owner));
  if (options.unowned == Unowned::refuse && !applied)
    throw OwnedByAnother(text + "it exists and has no controller");
}

bool Context::must_recreate(const ApiError& error, const ResourceId& resource,
                            const ObjectMeta& metadata) const {
  if (!detail::is_immutable(error)) return false;
  const ObjectKey key = key_of(metadata);
  const ResourceClient objects = client_.resource(resource);
  const Snapshot<DynamicObject> current = objects.find(key);
  if (!current) return true;
  if (current->is_deleting()) return false;
  const ObjectMeta found = current->metadata();
  const OwnerReference* const wanted = controller_of(metadata);
  const OwnerReference* const owner = controller_of(found);
  if (wanted == nullptr || owner == nullptr || owner->uid != wanted->uid) return false;
  log().info("recreating an object, as the server refuses to change it",
             {{"kind", resource.kind}, {"name", key.str()}, {"error", error.message()}});
  objects.remove(
      key,
      {.propagation = Propagation::background, .uid = found.uid, .resource_version = found.resource_version});
  return true;
}

bool Context::is_reconciled(const ResourceInfo& resource, const ObjectKey& key) const {
  return primary_ != nullptr && resource.kind == primary_->resource->kind &&
         resource.group == primary_->resource->group && key == key_of(*primary_->metadata);
}

std::string Context::reconciled_uid(const ResourceInfo& resource, const ObjectKey& key) const {
  return is_reconciled(resource, key) ? primary_->metadata->uid : std::string();
}

void Context::imply(const ResourceInfo& resource, ObjectMeta& metadata, bool own, const char* verb) const {
  const auto refuse = [&](const char* why) {
    const std::string kind = primary_ == nullptr ? "the object" : std::string(primary_->resource->kind);
    throw std::invalid_argument("Context: " + std::string(verb) + " " + std::string(resource.kind) + " " +
                                ObjectKey{metadata.namespace_, metadata.name}.str() + ": " + kind + " " +
                                key_.str() + " cannot be its owner: " + why + "; {.own = false} " +
                                (std::string_view(verb) == "apply" ? "applies" : "creates") +
                                " it without an owner");
  };
  const bool namespaced = resource.scope == Scope::namespaced;
  if (namespaced && metadata.namespace_.empty()) metadata.namespace_ = key_.namespace_;
  const bool itself = is_reconciled(resource, key_of(metadata));
  if (itself && metadata.uid.empty() && std::string_view(verb) == "apply")
    metadata.uid = primary_->metadata->uid;
  if (!own || controller_of(metadata) != nullptr || itself) return;
  if (primary_ == nullptr) refuse("it does not exist");
  const ObjectMeta& owner = *primary_->metadata;
  if (!owner.namespace_.empty() && !namespaced)
    refuse("an owner with a namespace cannot own what is cluster-scoped");
  if (!owner.namespace_.empty() && owner.namespace_ != metadata.namespace_)
    refuse("an owner must be in the namespace of what it owns");
  set_controller(metadata, owner_reference(*primary_->resource, owner), owner.namespace_);
}

}  // namespace v0
}  // namespace evenkeel
