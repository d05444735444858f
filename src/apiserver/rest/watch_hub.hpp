// SPDX-License-Identifier: Apache-2.0
// Running watches: selects and formats the changes for each of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <evenkeel/apiserver/api_server_core.hpp>

#include "apiserver/query/negotiation.hpp"
#include "apiserver/query/selector.hpp"
#include "apiserver/rest/lost_versions.hpp"
#include "apiserver/store/resource_type.hpp"
#include "apiserver/store/store.hpp"
#include "apiserver/webhook/conversion_desk.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// The parameters of a watch.
struct WatchRequest {
  ResourceTypePtr type = {};
  std::string prefix = {};  ///< Prefix of the keys: "default/", or empty.
  Selection selection = {};
  Representation form = {};
  IncludeObject include = IncludeObject::metadata;
  bool bookmarks = false;
  std::uint64_t after = 0;  ///< Has only changes and bookmarks with larger versions.
  WallTime ends = {};
  /// Delay of changes, by time and by number of later changes.
  WallTime::duration held_for = {};
  std::uint64_t held_versions = 0;
};

/// Thread safety: one thread at a time. A change costs one queue entry per watch; an object's text is
/// formatted once for all of them.
class WatchHub {
 public:
  WatchHub(Duration bookmark_interval, std::size_t max_unread_bytes)
      : bookmark_interval_(std::chrono::duration_cast<WallTime::duration>(bookmark_interval)),
        max_unread_(max_unread_bytes) {}

  /// Continues after `version`, the last change of a server that this one begins from.
  void continue_after(std::uint64_t version) { version_ = version; }
  WatchId open(WatchRequest request, WallTime now);
  /// Queues an ADDED event; the object must match.
  void add_present(WatchId id, StoredPtr object);
  /// Queues a bookmark; `kind` may mark the end of the initial events.
  enum class Bookmark : bool { plain, end_of_initial_events };
  void add_bookmark(WatchId id, std::uint64_t version, Bookmark kind);
  /// Queues an ERROR event and ends the watch.
  void fail(WatchId id, const Json& status);
  /// Queues the event that the change is for this watch.
  void deliver(WatchId id, const ChangePtr& change);

  /// Returns the calls of webhooks that queued changes wait for, and takes their answers.
  std::vector<WatchWebhookCall> take_calls();
  void on_answer(std::uint64_t id, const WebhookAnswer& answer);
  LostVersions& lost() { return lost_; }

  /// Queues a change for every watch that selects it.
  void publish(const ChangePtr& change);
  /// Ends every watch on the collection, after its queued events.
  void end_all(CollectionId collection);
  /// Ends the delay of a watch, for queued and future events.
  void catch_up(WatchId id);
  void close(WatchId id);

  WatchOutput read(WatchId id, WallTime now);
  std::vector<WatchId> take_ready();
  /// Sends due bookmarks and ends expired watches; `version` is the last change, which has been queued for
  /// every watch.
  void on_timeout(WallTime now, std::uint64_t version);
  std::optional<WallTime> next_due() const;

 private:
  enum class EventType : std::uint8_t { added, modified, deleted, text };
  /// A change before its objects have the version of the watch; null where there was or is none.
  struct Conversion {
    bool ends = false;  ///< The object was deleted.
    ConvertedPtr before = {};
    ConvertedPtr after = {};  ///< The new state; the last one if the object was deleted.

    bool settled() const { return (!before || before->settled()) && (!after || after->settled()); }
  };
  struct Pending {
    EventType type;
    StoredPtr object;  ///< Null for text.
    std::string text;
    WallTime due = {};  ///< Delayed until then, and until enough changes were made.
    std::uint64_t due_version = 0;
    bool present = false;                       ///< Belongs to the state at the start of the watch.
    std::optional<Conversion> conversion = {};  ///< Set: not an event yet.

    std::size_t size() const { return object ? object->text().size() : text.size(); }
  };
  struct Watch {
    WatchRequest request;
    std::deque<Pending> pending = {};
    std::size_t unread = 0;
    std::size_t unread_present = 0;  ///< Part of it: the client did not fall behind, it has just begun.
    std::optional<WallTime> next_bookmark = {};
    bool columns_sent = false;
    bool closing = false;  ///< Gets no further changes, and ends when its queued ones are converted.
    bool ended = false;
    bool announced = false;

    bool converts() const;
  };
  using Watches = std::map<WatchId, Watch>;

  bool is_due(const Pending& event) const {
    return !event.conversion && event.due <= now_ && event.due_version <= version_;
  }
  void hold(const Watch& watch, Pending& event, WallTime from, std::uint64_t version) const;
  void release(WatchId id, Watch& watch);
  void queue(WatchId id, Watch& watch, Pending event);
  void announce(WatchId id, Watch& watch);
  void end(WatchId id, Watch& watch);
  void deliver(WatchId id, Watch& watch, const ChangePtr& change);
  bool defer(WatchId id, Watch& watch, const ChangePtr& change);
  void settle_all();
  void settle(WatchId id, Watch& watch);
  void lose(const ResourceType& type);
  bool settle(const WatchRequest& request, Pending& event) const;
  void append(Watch& watch, const Pending& event, WallTime now, std::string& out);
  Json shaped(Watch& watch, const Stored& object, WallTime now) const;
  void reschedule();
  /// Returns the time of the next bookmark of a watch. One that still lasts for weeks needs few.
  WallTime bookmark_after(WallTime now, const WatchRequest& request) const {
    return now + std::max(bookmark_interval_, (request.ends - now) / 1000);
  }

  const WallTime::duration bookmark_interval_;
  const std::size_t max_unread_;
  std::uint64_t last_id_ = 0;
  WallTime now_ = {};
  std::uint64_t version_ = 0;  ///< The last change.
  Watches watches_;
  ConversionDesk desk_;
  LostVersions lost_;
  std::map<CollectionId, std::vector<WatchId>> by_collection_;
  std::vector<WatchId> held_by_version_;
  std::vector<WatchId> ready_;
  std::optional<WallTime> next_;
};

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
