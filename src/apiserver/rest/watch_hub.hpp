// SPDX-License-Identifier: Apache-2.0
// Running watches: which changes reach which of them, and in which form.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <evenkeel/apiserver/api_server_core.hpp>

#include "apiserver/rest/negotiation.hpp"
#include "apiserver/rest/selector.hpp"
#include "apiserver/store/resource_type.hpp"
#include "apiserver/store/store.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// What a request asks to be told of.
struct WatchRequest {
  ResourceTypePtr type = {};
  std::string prefix = {};  ///< Of the keys: "default/", or empty.
  Selection selection = {};
  Representation form = {};
  IncludeObject include = IncludeObject::metadata;
  bool bookmarks = false;
  WallTime ends = {};
  /// Changes are told so much later than they were made, or when so many more were made.
  WallTime::duration held_for = {};
  std::uint64_t held_versions = 0;
};

/// Thread safety: one thread at a time. A change costs each of its watches one queue entry; an object's text
/// is written once for all of them.
class WatchHub {
 public:
  WatchHub(Duration bookmark_interval, std::size_t max_unread_bytes)
      : bookmark_interval_(std::chrono::duration_cast<WallTime::duration>(bookmark_interval)),
        max_unread_(max_unread_bytes) {}

  WatchId open(WatchRequest request, WallTime now);
  /// Queues an ADDED event; the object must match.
  void add_present(WatchId id, StoredPtr object);
  /// Queues a bookmark; `annotated` marks the end of the initial events.
  enum class Bookmark : bool { plain, end_of_initial_events };
  void add_bookmark(WatchId id, std::uint64_t version, Bookmark kind);
  /// Queues an ERROR event and ends the watch.
  void fail(WatchId id, const Json& status);
  /// Queues what the change is to this watch.
  void deliver(WatchId id, const ChangePtr& change);

  /// Queues a change for every watch that it concerns.
  void publish(const ChangePtr& change);
  /// Ends every watch on the collection, after what is queued.
  void end_all(const Collection& collection);
  /// Lets a watch read what is held back, now and from now on.
  void catch_up(WatchId id);
  void close(WatchId id);

  WatchOutput read(WatchId id, WallTime now);
  std::vector<WatchId> take_ready();
  /// Bookmarks and ends that are due; `version` is the last change, which every watch has been told of.
  void tick(WallTime now, std::uint64_t version);
  std::optional<WallTime> next_tick() const { return next_; }

 private:
  enum class EventType : std::uint8_t { added, modified, deleted, text };
  struct Pending {
    EventType type;
    StoredPtr object;  ///< Null for text.
    std::string text;
    WallTime due = {};  ///< It is held back until then, and until so many changes were made.
    std::uint64_t due_version = 0;

    std::size_t size() const { return object ? object->text().size() : text.size(); }
  };
  struct Watch {
    WatchRequest request;
    std::deque<Pending> pending = {};
    std::size_t unread = 0;
    std::optional<WallTime> next_bookmark = {};
    bool columns_sent = false;
    bool ended = false;
    bool announced = false;
  };
  using Watches = std::map<WatchId, Watch>;

  bool is_due(const Pending& event) const { return event.due <= now_ && event.due_version <= version_; }
  void hold(const Watch& watch, Pending& event, WallTime from, std::uint64_t version) const;
  void release(WatchId id, Watch& watch);
  void queue(WatchId id, Watch& watch, Pending event);
  void announce(WatchId id, Watch& watch);
  void end(WatchId id, Watch& watch);
  void deliver(WatchId id, Watch& watch, const ChangePtr& change);
  void append(Watch& watch, const Pending& event, WallTime now, std::string& out);
  Json shaped(Watch& watch, const Stored& object, WallTime now) const;
  void reschedule();

  const WallTime::duration bookmark_interval_;
  const std::size_t max_unread_;
  std::uint64_t last_id_ = 0;
  WallTime now_ = {};
  std::uint64_t version_ = 0;  ///< The last change.
  Watches watches_;
  std::map<const Collection*, std::vector<WatchId>> by_collection_;
  std::vector<WatchId> held_by_version_;
  std::vector<WatchId> ready_;
  std::optional<WallTime> next_;
};

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
