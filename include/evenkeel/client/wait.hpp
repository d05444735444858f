// SPDX-License-Identifier: Apache-2.0
// Waits for a condition of an object, for programs that set things up. Reconcilers return requeue_after()
// instead, which does not block a worker.
#pragma once

#include <concepts>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include <evenkeel/api/fields.hpp>
#include <evenkeel/api/snapshot.hpp>
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

}  // namespace v0
}  // namespace evenkeel
