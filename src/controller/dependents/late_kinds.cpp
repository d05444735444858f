// SPDX-License-Identifier: Apache-2.0
#include "controller/dependents/late_kinds.hpp"

#include <algorithm>
#include <chrono>

#include <evenkeel/base/stop.hpp>
#include <evenkeel/client/discovery.hpp>
#include <evenkeel/controller/resource_context.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

// Time for which the answer that a kind is not served holds.
constexpr Duration missing_period = std::chrono::seconds{10};
// Longest wait of a pass for a first list.
constexpr Duration longest_wait = std::chrono::seconds{2};
// Times after which a pass looks for what causes no event. A list that fails, as without the right to it, is
// tried again by the watch, with its own back-off.
constexpr Duration recheck_missing = std::chrono::minutes{1};
constexpr Duration recheck_failing = std::chrono::minutes{1};
constexpr Duration recheck_slow = std::chrono::seconds{1};
constexpr Duration step_of_wait = std::chrono::milliseconds{10};

/// Passes events on, but not the end of the first list, which was reported before.
class LateHandler final : public EventHandler {
 public:
  explicit LateHandler(std::shared_ptr<EventHandler> inner) : inner_(std::move(inner)) {}
  void on_event(const ObjectEvent& event) noexcept override { inner_->on_event(event); }

 private:
  const std::shared_ptr<EventHandler> inner_;
};

std::string text_of(const ResourceId& resource) {
  return resource.kind + " (" + resource.api_version() + ")";
}

LateState not_served(const ResourceId& resource) {
  return {LateState::Kind::not_served, "the server does not serve " + text_of(resource), recheck_missing};
}

bool is_missing(const Informer& informer) {
  return informer.health().problem == WatchProblem::no_such_kind;
}

LateState wait_for(Context& context, const ResourceId& resource, const Informer& informer) {
  const Clock& clock = context.clock();
  const TimePoint last = deadline_after(clock.now(), longest_wait);
  const TimePoint end = std::min(last, context.deadline().value_or(last));
  while (!informer.synced() && clock.now() < end && informer.health().problem == WatchProblem::none) {
    sleep_until(clock, std::min(end, deadline_after(clock.now(), step_of_wait)), context.stop());
    context.check();
  }
  if (informer.synced()) return {};
  const InformerHealth health = informer.health();
  const std::string& error = health.last_error;
  return {
      LateState::Kind::unread,
      "the first list of " + text_of(resource) + " has not been read" + (error.empty() ? "" : ": " + error),
      health.problem == WatchProblem::none ? recheck_slow : recheck_failing};
}

}  // namespace

LateKinds::Id LateKinds::id_of(const Cache* cache, const ResourceId& resource) {
  return {cache, resource.api_version() + "/" + resource.plural};
}

Attachment LateKinds::add(Cache& cache, const ResourceId& resource, Attach attach,
                          const std::shared_ptr<EventHandler>& handler) {
  const Id id = id_of(&cache, resource);
  const auto added = std::make_shared<Handler>(
      Handler{.cache = cache, .attach = std::move(attach), .events = std::make_shared<LateHandler>(handler)});
  {
    MutexLock lock(mutex_);
    Entry& entry = entries_[id];
    entry.handlers.push_back(added);
    if (entry.watched) added->attachment = added->attach(cache, added->events);
  }
  handler->on_synced();
  return {.remove = [self = shared_from_this(), id, added] { self->remove(id, added); }};
}

LateState LateKinds::look(Context& context, const ResourceId& resource) {
  const Id id = id_of(context.resource(resource).cache(), resource);
  std::shared_ptr<Informer> informer;
  bool known = false;
  {
    MutexLock lock(mutex_);
    if (const auto found = entries_.find(id); found != entries_.end()) {
      known = true;
      const Entry& entry = found->second;
      if (entry.watched) informer = entry.handlers.front()->attachment.informer;
      if (entry.missed_at && context.clock().now() < deadline_after(*entry.missed_at, missing_period))
        return not_served(resource);
    }
  }
  if (informer && !is_missing(*informer)) return wait_for(context, resource, *informer);
  if (!is_served(context.client(), resource)) {
    informer.reset();
    end(id, context.clock().now());
    return not_served(resource);
  }
  if (!informer && known) informer = begin(id);
  return informer ? wait_for(context, resource, *informer) : LateState();
}

// Attaching does not wait, so the lock may be held.
std::shared_ptr<Informer> LateKinds::begin(const Id& id) {
  MutexLock lock(mutex_);
  const auto found = entries_.find(id);
  if (found == entries_.end()) return nullptr;
  Entry& entry = found->second;
  entry.missed_at.reset();
  if (!std::exchange(entry.watched, true)) {
    for (const auto& handler : entry.handlers)
      handler->attachment = handler->attach(handler->cache, handler->events);
  }
  return entry.handlers.front()->attachment.informer;
}

void LateKinds::end(const Id& id, TimePoint now) {
  std::vector<Attachment> ended;
  {
    MutexLock lock(mutex_);
    const auto found = entries_.find(id);
    if (found == entries_.end()) return;
    found->second.missed_at = now;
    found->second.watched = false;
    for (const auto& handler : found->second.handlers)
      ended.push_back(std::exchange(handler->attachment, {}));
  }
  for (const Attachment& one : ended) {
    if (one.remove) one.remove();
  }
}

void LateKinds::remove(const Id& id, const std::shared_ptr<Handler>& handler) {
  Attachment ended;
  {
    MutexLock lock(mutex_);
    const auto found = entries_.find(id);
    if (found == entries_.end()) return;
    std::erase(found->second.handlers, handler);
    ended = std::exchange(handler->attachment, {});
    if (found->second.handlers.empty()) entries_.erase(found);
  }
  if (ended.remove) ended.remove();
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
