// SPDX-License-Identifier: Apache-2.0
// Waits for a condition of an object, for programs that set things up. Reconcilers return requeue_after()
// instead, which does not block a worker.
#pragma once

#include <concepts>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include <evenkeel/api/codec.hpp>
#include <evenkeel/api/fields.hpp>
#include <evenkeel/api/snapshot.hpp>
#include <evenkeel/base/export.hpp>
#include <evenkeel/base/object_key.hpp>
#include <evenkeel/client/client.hpp>
#include <evenkeel/client/watch.hpp>

namespace evenkeel {
inline namespace v0 {

/// Blocks until `condition(const Snapshot<T>&)` is true for the object at `key`, and returns that snapshot:
/// an empty one if the condition was true for the object's absence. Returns nullopt once `stop` is requested.
/// It watches the object instead of polling, and survives broken connections and server restarts. Throws the
/// errors of Client::list() and of Watch::next().
template <ObjectType T, std::predicate<const Snapshot<T>&> Condition>
std::optional<Snapshot<T>> wait_until(const Client& client, const ObjectKey& key, Condition condition,
                                      const std::stop_token& stop) {
  const std::string only = "metadata.name=" + key.name;
  const auto read = [&](std::string& version) {
    auto list = client.list<T>({.namespace_ = key.namespace_, .field_selector = only});
    version = list.resource_version;
    return list.items.empty() ? Snapshot<T>() : list.items.front();
  };
  std::string version;
  Snapshot<T> now = read(version);
  Watch<T> watch(client, {.namespace_ = key.namespace_, .field_selector = only, .resource_version = version});
  while (!std::invoke(condition, std::as_const(now))) {
    auto event = watch.next(stop);
    if (!event) return std::nullopt;
    if (event->type == WatchEventType::gone) {
      now = read(version);
      watch.restart(version);
    } else {
      now = event->type == WatchEventType::deleted ? Snapshot<T>() : std::move(event->object);
    }
  }
  return now;
}

namespace detail {

/// An object as text, within `frame`; empty if it does not exist.
struct RawState {
  std::shared_ptr<const std::string> frame = {};
  std::string_view object = {};
};

/// Calls `is_met` for each state until it returns true or throws, then `done` with null or the error.
EVENKEEL_API std::shared_ptr<http::Call> start_raw_wait(const Client& client, const ResourceId& resource,
                                                        const ObjectKey& key,
                                                        std::function<bool(RawState)> is_met,
                                                        std::function<void(std::exception_ptr)> done);

}  // namespace detail

/// Asynchronous form of wait_until(): `condition` is called on threads of the client, one call at a time, and
/// must not block; an exception of it ends the wait. `done` gets the snapshot, or the error: Cancelled after
/// cancel() of the returned handle or the bound stop token.
template <ObjectType T, std::predicate<const Snapshot<T>&> Condition>
std::shared_ptr<http::Call> start_wait(const Client& client, const ObjectKey& key, Condition condition,
                                       Completion<Snapshot<T>> done) {
  const auto last = std::make_shared<Snapshot<T>>();
  auto is_met = [last, condition = std::move(condition),
                 what =
                     object_path({.resource = T::resource, .namespace_ = key.namespace_, .name = key.name})](
                    detail::RawState state) mutable {
    *last = state.object.empty()
                ? Snapshot<T>()
                : Snapshot<T>(from_json<T>(state.object, what), state.object, std::move(state.frame));
    return std::invoke(condition, std::as_const(*last));
  };
  return detail::start_raw_wait(client, T::resource, key, std::move(is_met),
                                [last, done = std::move(done)](const std::exception_ptr& error) {
                                  if (error) return done(error);
                                  done(*last);
                                });
}

}  // namespace v0
}  // namespace evenkeel
