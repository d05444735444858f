// SPDX-License-Identifier: Apache-2.0
// The requests of a member of a ring, and the events of its watch.
#include <exception>
#include <utility>
#include <variant>
#include <vector>

#include <evenkeel/api/kinds/coordination.hpp>
#include <evenkeel/client/calls.hpp>
#include <evenkeel/client/errors.hpp>

#include "sharding/shards_state.hpp"

namespace evenkeel {
inline namespace v0 {
namespace {

using detail::ShardCore;

}  // namespace

template <class T>
void Shards::State::start(ApiCall<T> call, std::uint64_t id,
                          std::function<void(ShardCore& core, const T& value)> done) {
  std::uint64_t epoch = 0;
  {
    MutexLock lock(mutex_);
    epoch = epoch_;
  }
  auto finished = [self = shared_from_this(), epoch, id, done = std::move(done)](Outcome<T> outcome) {
    if (!outcome.ok()) return self->on_error(epoch, id, outcome.error());
    MutexLock lock(self->mutex_);
    if (epoch != self->epoch_ || !self->core_) return;
    done(*self->core_, outcome.value());
    self->signalled_ = true;
    self->changed_.notify_all();
  };
  try {
    client_.with({.timeout = request_timeout, .max_retries = 0, .without_flow_control = true})
        .start(std::move(call), std::move(finished));
  } catch (...) {
    on_error(epoch, id, std::current_exception());
  }
}

void Shards::State::on_error(std::uint64_t epoch, std::uint64_t id,
                             const std::exception_ptr& error) noexcept {
  MutexLock lock(mutex_);
  if (epoch != epoch_ || !core_) return;
  signalled_ = true;
  changed_.notify_all();
  try {
    std::rethrow_exception(error);
  } catch (const ApiError& refusal) {
    if (refusal.code() == 409 || (refusal.is_not_found() && !refusal.is_no_such_resource()))
      return core_->on_conflict(id, clock_->now());
    log_.warn("a Lease of the ring could not be read or written; retrying", {{"error", refusal.what()}});
  } catch (const std::exception& failure) {
    log_.warn("a Lease of the ring could not be read or written; retrying", {{"error", failure.what()}});
  }
  core_->on_failure(id, clock_->now());
}

void Shards::State::send(ShardCore::Request request) {
  using Object = ResourceClient::Object;
  const std::uint64_t id = request.id;
  const auto took = [this, id](ShardCore& core, const Object& object) {
    core.on_answered(id, object->body(), clock_->now());
  };
  switch (request.ask) {
    case ShardCore::Ask::list:
      return start<List<DynamicObject>>(
          calls::list(Lease::resource,
                      {.namespace_ = options_.namespace_,
                       .label_selector = std::string(ShardCore::label) + "=" + options_.name}),
          id,
          [this, id](ShardCore& core, const List<DynamicObject>& list) EVENKEEL_NO_THREAD_SAFETY_ANALYSIS {
            std::vector<Json> leases;
            for (const auto& item : list.items) leases.push_back(item->body());
            core.on_listed(id, leases, list.resource_version, clock_->now());
            heard_ = clock_->now();
            follow(list.resource_version);
          });
    case ShardCore::Ask::create:
      return start<Object>(calls::create(Lease::resource, DynamicObject(std::move(request.body))), id, took);
    case ShardCore::Ask::update:
      return start<Object>(calls::update(Lease::resource, DynamicObject(std::move(request.body))), id, took);
    case ShardCore::Ask::remove:
      return start<std::monostate>(
          calls::remove(Lease::resource, {options_.namespace_, request.name},
                        {.resource_version = request.body.at({"metadata", "resourceVersion"}).string_or("")}),
          id,
          [this, id](ShardCore& core, const std::monostate&) { core.on_answered(id, {}, clock_->now()); });
  }
}

void Shards::State::follow(const std::string& version) {
  list_version_ = version;
  if (watch_) {  // restarted by turn(), because it is not to be called under the lock
    restart_ = gone_;
    return;
  }
  const std::uint64_t epoch = epoch_;
  watch_ = detail::start_raw_watch(
      client_, Lease::resource,
      {.namespace_ = options_.namespace_,
       .label_selector = std::string(ShardCore::label) + "=" + options_.name,
       .resource_version = version},
      {.on_event = [self = shared_from_this(),
                    epoch](const detail::RawWatchEvent& event) { self->on_event(epoch, event); },
       .on_end =
           [self = shared_from_this(), epoch](const std::exception_ptr&) {
             MutexLock lock(self->mutex_);
             if (epoch != self->epoch_) return;
             self->watch_.reset();
             self->heard_ = self->clock_->now();
             self->signalled_ = true;
             self->changed_.notify_all();
           }});
}

void Shards::State::on_event(std::uint64_t epoch, const detail::RawWatchEvent& event) noexcept {
  MutexLock lock(mutex_);
  if (epoch != epoch_ || !core_) return;
  heard_ = clock_->now();
  try {
    if (event.type == WatchEventType::gone) {
      gone_ = true;
      core_->on_gap();
    } else if (!event.object.empty()) {
      const Json lease = Json::parse(event.object, event.what);
      if (event.type == WatchEventType::deleted) {
        core_->on_deleted(lease, heard_);
      } else {
        core_->on_lease(lease, heard_);
      }
    }
  } catch (const std::exception& error) {
    log_.warn("an event of a Lease could not be read; the Leases are listed again",
              {{"error", error.what()}});
    core_->on_gap();
  }
  signalled_ = true;
  changed_.notify_all();
}

}  // namespace v0
}  // namespace evenkeel
