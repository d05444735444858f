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

namespace detail {

/// An object as text, within `frame`; empty if it does not exist.
struct RawState {
  std::shared_ptr<const std::string> frame = {};
  std::string_view object = {};
};

/// Returns the condition of a wait as a function of texts; it leaves each state in `last`.
template <ObjectType T, class Condition>
std::function<bool(RawState)> condition_of(const ObjectKey& key, Condition condition,
                                           std::shared_ptr<Snapshot<T>> last) {
  return [last = std::move(last), condition = std::move(condition),
          what = object_path({.resource = T::resource, .namespace_ = key.namespace_, .name = key.name})](
             RawState state) mutable {
    *last = state.object.empty()
                ? Snapshot<T>()
                : Snapshot<T>(from_json<T>(state.object, what), state.object, std::move(state.frame));
    return std::invoke(condition, std::as_const(*last));
  };
}

/// Blocks until `is_met` returns true for a state; returns false once `stop` is requested.
EVENKEEL_API bool wait_raw(const Client& client, const ResourceId& resource, const ObjectKey& key,
                           const std::function<bool(RawState)>& is_met, const std::stop_token& stop);
/// Calls `is_met` for each state until it returns true or throws, then `done` with null or the error.
EVENKEEL_API std::shared_ptr<http::Call> start_raw_wait(const Client& client, const ResourceId& resource,
                                                        const ObjectKey& key,
                                                        std::function<bool(RawState)> is_met,
                                                        std::function<void(std::exception_ptr)> done);

}  // namespace detail

/// Blocks until `condition(const Snapshot<T>&)` is true for the object at `key`, and returns that snapshot:
/// an empty one if the condition was true for the object's absence. Returns nullopt once `stop` is requested.
/// It watches the object instead of polling, and survives broken connections and server restarts. Throws the
/// errors of Client::list() and of Watch::next(): Cancelled and TransportError (timeout) at the stop token
/// and the deadline that are bound to the client, those of a reconcile for the client of its context.
template <ObjectType T, std::predicate<const Snapshot<T>&> Condition>
std::optional<Snapshot<T>> wait_until(const Client& client, const ObjectKey& key, Condition condition,
                                      const std::stop_token& stop) {
  const auto last = std::make_shared<Snapshot<T>>();
  const auto is_met = detail::condition_of<T>(key, std::ref(condition), last);
  if (!detail::wait_raw(client, T::resource, key, is_met, stop)) return std::nullopt;
  return std::move(*last);
}

/// Asynchronous form of wait_until(): `condition` is called on threads of the client, one call at a time, and
/// must not block; an exception of it ends the wait. `done` gets the snapshot, or the error: Cancelled after
/// cancel() of the returned handle or the bound stop token, TransportError at the bound deadline.
template <ObjectType T, std::predicate<const Snapshot<T>&> Condition>
std::shared_ptr<http::Call> start_wait(const Client& client, const ObjectKey& key, Condition condition,
                                       Completion<Snapshot<T>> done) {
  const auto last = std::make_shared<Snapshot<T>>();
  return detail::start_raw_wait(client, T::resource, key,
                                detail::condition_of<T>(key, std::move(condition), last),
                                [last, done = std::move(done)](const std::exception_ptr& error) {
                                  if (error) return done(error);
                                  done(*last);
                                });
}

}  // namespace v0
}  // namespace evenkeel
