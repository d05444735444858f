// SPDX-License-Identifier: Apache-2.0
// A watch that reconnects, for programs without a cache: blocking, or with callbacks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include <evenkeel/api/codec.hpp>
#include <evenkeel/api/dynamic.hpp>
#include <evenkeel/api/fields.hpp>
#include <evenkeel/api/snapshot.hpp>
#include <evenkeel/base/export.hpp>
#include <evenkeel/client/client.hpp>

namespace evenkeel {
inline namespace v0 {

enum class WatchEventType : std::uint8_t {
  added,
  modified,
  deleted,   ///< With the last state of the object.
  bookmark,  ///< No object; only if requested.
  gone,      ///< The server's history no longer covers the last event: list again, then restart().
};

template <class T>
struct WatchEvent {
  WatchEventType type = WatchEventType::bookmark;
  Snapshot<T> object = {};
  std::string resource_version = {};  ///< A later watch can start from here.
};

struct WatchOptions {
  std::string namespace_ = {};  ///< Empty: all namespaces.
  std::string label_selector = {};
  std::string field_selector = {};
  /// The version of a previous list. Empty: the watch begins with an `added` for every existing object.
  std::string resource_version = {};
  bool bookmarks = false;      ///< Deliver bookmarks, too.
  bool metadata_only = false;  ///< Objects are of kind PartialObjectMetadata; for a ResourceWatch.
  std::optional<Duration> idle_timeout = {};  ///< Silence after which a connection is replaced; unset: 150 s.
  std::size_t max_buffered_bytes = 4UL << 20;  ///< Read-ahead limit, above which the server is throttled.
};

namespace detail {

struct RawWatchEvent {
  WatchEventType type = WatchEventType::bookmark;
  std::shared_ptr<const std::string> frame = {};
  std::string_view object = {};  // within frame
  std::string resource_version = {};
  std::string what = {};  // "pods/default/web-0"
};

/// Watch without the type of its objects.
class EVENKEEL_API RawWatch {
 public:
  RawWatch(Client client, const ResourceId& resource, WatchOptions options);
  ~RawWatch();
  RawWatch(RawWatch&&) noexcept;
  RawWatch& operator=(RawWatch&&) noexcept;

  std::optional<RawWatchEvent> next(const std::stop_token& stop);
  void restart(std::string resource_version);

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace detail

/// A watch started by start_watch(). Dropping the handle does not end the watch.
/// Thread safety: all members may be called concurrently, also by the listener.
class EVENKEEL_API WatchCall : public http::Call {
 public:
  /// Continues from the version of a new list; necessary after `gone`.
  virtual void restart(std::string resource_version) = 0;
};

/// Receives the events of a watch. The functions are called one at a time, on threads of the client; they
/// must neither block nor throw.
template <class T>
struct WatchListener {
  /// Gets each event, or the DecodeError of one whose object is not a T.
  std::function<void(Outcome<WatchEvent<T>>)> on_event = {};
  /// Called once, last: Cancelled after cancel(), otherwise the error of Watch::next() after which the watch
  /// cannot go on.
  std::function<void(std::exception_ptr)> on_end = {};
};

namespace detail {

struct RawWatchListener {
  std::function<void(RawWatchEvent)> on_event;
  std::function<void(std::exception_ptr)> on_end;
};
EVENKEEL_API std::shared_ptr<WatchCall> start_raw_watch(const Client& client, const ResourceId& resource,
                                                        WatchOptions options, RawWatchListener listener);

template <class T>
RawWatchListener decoding(WatchListener<T> listener, WatchEvent<T> (*decode)(RawWatchEvent)) {
  auto on_event = [on_event = std::move(listener.on_event), decode](RawWatchEvent event) {
    std::optional<Outcome<WatchEvent<T>>> outcome;
    try {
      outcome.emplace(decode(std::move(event)));
    } catch (const DecodeError&) {
      outcome.emplace(std::current_exception());
    }
    on_event(std::move(*outcome));
  };
  return {std::move(on_event), std::move(listener.on_end)};
}

template <ObjectType T>
WatchEvent<T> decode_event(RawWatchEvent event) {
  WatchEvent<T> result{.type = event.type, .resource_version = std::move(event.resource_version)};
  if (!event.object.empty()) {
    result.object = Snapshot<T>(from_json<T>(event.object, event.what), event.object, std::move(event.frame));
  }
  return result;
}

}  // namespace detail

/// Watches the objects of a kind across everything that ends a single watch request: the server's time limit,
/// broken and silent connections, server restarts. It resumes after the last event that next() returned, so
/// no event is lost. Only a watch without a resource_version cannot resume before the server has sent a
/// change or a bookmark: after a disconnect it begins again, delivers an `added` for every existing object a
/// second time, and nothing for objects that were deleted in between. List first where that matters.
/// Disconnects are logged and followed by a back-off of 0.8 to 30 s. Three accepted watches in a row that end
/// within a second and without an event count as `gone`, because some servers and proxies end the watch of an
/// expired version so.
///
///     auto pods = client.list<Pod>();
///     Watch<Pod> watch(client, {.resource_version = pods.resource_version});
///     while (auto event = watch.next(stop)) {
///       if (event->type == WatchEventType::gone) watch.restart(client.list<Pod>().resource_version);
///       ...
///     }
///
/// It has no thread: connections are made and kept only while a caller is in next().
/// Thread safety: one thread at a time.
template <ObjectType T>
class Watch {
 public:
  /// Throws std::invalid_argument if no path can contain the namespace or the resource.
  explicit Watch(Client client, WatchOptions options = {})
      : raw_(std::move(client), T::resource, std::move(options)) {}

  /// Returns the next event; nullopt once `stop` is requested. Throws ApiError if the server rejects the
  /// watch before it was first established (an unknown kind, an invalid selector, no permission),
  /// TransportError if TLS fails at that stage, and DecodeError if an object is not of this type, after which
  /// the watch remains usable. Throws Cancelled once the stop token that is bound to the client is triggered,
  /// and TransportError (timeout) once the deadline that is bound to it has passed. Throws
  /// std::invalid_argument after `gone` if restart() was not called.
  std::optional<WatchEvent<T>> next(const std::stop_token& stop) {
    auto event = raw_.next(stop);
    if (!event) return std::nullopt;
    return detail::decode_event<T>(std::move(*event));
  }

  /// Continues from the version of a new list.
  void restart(std::string resource_version) { raw_.restart(std::move(resource_version)); }

 private:
  detail::RawWatch raw_;
};

/// Like Watch, for a kind without a C++ type.
class EVENKEEL_API ResourceWatch {
 public:
  ResourceWatch(Client client, const ResourceId& resource, WatchOptions options = {})
      : raw_(std::move(client), resource, std::move(options)) {}

  std::optional<WatchEvent<DynamicObject>> next(const std::stop_token& stop);
  void restart(std::string resource_version) { raw_.restart(std::move(resource_version)); }

 private:
  detail::RawWatch raw_;
};

/// Starts a watch that calls `listener` instead of blocking; otherwise like Watch. It needs no thread of its
/// own. It does not keep the client: when the last copy of the client is gone, it ends with
/// TransportErrorCode::closed. Of the options bound to the client, only the stop token and the deadline
/// apply. Throws std::invalid_argument like the constructor of Watch.
template <ObjectType T>
std::shared_ptr<WatchCall> start_watch(const Client& client, WatchOptions options,
                                       WatchListener<T> listener) {
  return detail::start_raw_watch(client, T::resource, std::move(options),
                                 detail::decoding<T>(std::move(listener), &detail::decode_event<T>));
}

/// Like the other start_watch(), for a kind without a C++ type.
EVENKEEL_API std::shared_ptr<WatchCall> start_watch(const Client& client, const ResourceId& resource,
                                                    WatchOptions options,
                                                    WatchListener<DynamicObject> listener);

}  // namespace v0
}  // namespace evenkeel
