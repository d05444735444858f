// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>

#include <evenkeel/base/error.hpp>
#include <evenkeel/client/subresources.hpp>
#include <evenkeel/controller/context.hpp>
#include <evenkeel/events/event_recorder.hpp>

namespace evenkeel {
inline namespace v0 {

Context::Context(ContextOptions options)
    : options_(std::move(options)),
      key_(options_.request.object_key()),
      deadline_(options_.timeout ? std::optional(deadline_after(options_.clock->now(), *options_.timeout))
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
    log_ = options_.log.with({{"object", options_.request.str()},
                              {"reconcile_id", options_.reconcile_id},
                              {"attempt", options_.attempt}});
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

void Context::evict(const ObjectKey& pod, const DeleteOptions& options) {
  client_.run(calls::evict(pod, options));
}

void Context::event(const EventSubject& subject, EventSeverity severity, std::string_view reason,
                    std::string_view message, const EventOptions& options) {
  log().debug("event", {{"about", subject.kind + " " + ObjectKey{subject.namespace_, subject.name}.str()},
                        {"type", severity == EventSeverity::warning ? "Warning" : "Normal"},
                        {"reason", reason},
                        {"message", message}});
  if (options_.events != nullptr) options_.events->record(subject, severity, reason, message, options);
}

void Context::refuse_stranger() {
  throw std::invalid_argument(
      "Context: patch takes a reference only to the object that is being reconciled; of any other object "
      "give the "
      "Snapshot that find() or list() returned");
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
  if (!own || controller_of(metadata) != nullptr) return;
  if (primary_ == nullptr) refuse("it does not exist");
  const ObjectMeta& owner = *primary_->metadata;
  const bool itself = resource.kind == primary_->resource->kind &&
                      resource.group == primary_->resource->group && metadata.name == owner.name &&
                      metadata.namespace_ == owner.namespace_;
  if (itself) return;
  if (!owner.namespace_.empty() && !namespaced)
    refuse("an owner with a namespace cannot own what is cluster-scoped");
  if (!owner.namespace_.empty() && owner.namespace_ != metadata.namespace_)
    refuse("an owner must be in the namespace of what it owns");
  set_controller(metadata, owner_reference(*primary_->resource, owner), owner.namespace_);
}

}  // namespace v0
}  // namespace evenkeel
