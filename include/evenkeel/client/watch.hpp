// SPDX-License-Identifier: Apache-2.0
// A watch that reconnects, for programs without a cache.
#pragma once

#include <cstddef>
#include <cstdint>
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
  bool bookmarks = false;                     ///< Deliver bookmarks, too.
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

/// Watches the objects of a kind across everything that ends a single watch request: the server's time limit,
/// broken and silent connections, server restarts. It resumes after the last event that next() returned, so
/// no event is lost; after a disconnect an event may be delivered twice if the watch started without a
/// resource_version and the server had not yet sent one. Disconnects are logged and followed by a back-off of
/// 0.8 to 30 s.
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
  explicit Watch(Client client, WatchOptions options = {})
      : raw_(std::move(client), T::resource, std::move(options)) {}

  /// Returns the next event; nullopt once `stop` is requested. Throws ApiError if the server rejects the
  /// watch before it was first established (an unknown kind, an invalid selector, no permission),
  /// TransportError if TLS fails at that stage, and DecodeError if an object is not of this type, after which
  /// the watch remains usable. Throws std::invalid_argument after `gone` if restart() was not called.
  std::optional<WatchEvent<T>> next(const std::stop_token& stop) {
    auto event = raw_.next(stop);
    if (!event) return std::nullopt;
    WatchEvent<T> result{.type = event->type, .resource_version = std::move(event->resource_version)};
    if (!event->object.empty()) {
      result.object =
          Snapshot<T>(from_json<T>(event->object, event->what), event->object, std::move(event->frame));
    }
    return result;
  }

  /// Continues from the version of a new list.
  void restart(std::string resource_version) { raw_.restart(std::move(resource_version)); }

 private:
  detail::RawWatch raw_;
};

}  // namespace v0
}  // namespace evenkeel
