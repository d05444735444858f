// SPDX-License-Identifier: Apache-2.0
// Decides how a copy of a collection is kept equal to the server's: what to list or watch next and from
// which resourceVersion, what an answer changes, how long to wait after a failure. No thread, clock or
// socket.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <evenkeel/base/export.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/cache/watch_health.hpp>
#include <evenkeel/cache/wire_object.hpp>
#include <evenkeel/client/list_splitter.hpp>

namespace evenkeel {
inline namespace v0 {

struct ReflectorOptions {
  std::size_t page_size = 500;  ///< Items per page of a list that may be paged; > 0.
  /// Shortest life that a watch asks for; the longest is twice that. Whole seconds, at least 1.
  std::chrono::seconds watch_timeout = std::chrono::minutes{5};
  Duration backoff_base =
      std::chrono::milliseconds{800};               ///< First wait; each gets up to as much again at random.
  Duration backoff_max = std::chrono::seconds{30};  ///< Ceiling before the random part; >= backoff_base.
  /// The same while the server does not know the kind: a CustomResourceDefinition may come at any time, and a
  /// program that waits for it should see that soon.
  Duration missing_max = std::chrono::seconds{10};
  Duration backoff_reset =
      std::chrono::minutes{2};                     ///< This long without a wait, and the ladder starts anew.
  Duration short_watch = std::chrono::seconds{1};  ///< A watch that ends sooner, without news, is a failure.
  /// Watches in a row that end sooner than that with news before the next one is a failure, too.
  unsigned short_watches = 3;
  Duration retry_after_max = std::chrono::minutes{2};  ///< The longest Retry-After that is obeyed.
  /// Time in which the head of an answer must come; without one the server counts as unreachable. An API
  /// server sends that of a watch at once, and gives up a list after a minute.
  Duration watch_head_timeout = std::chrono::seconds{30};
  Duration list_head_timeout = std::chrono::seconds{75};
  /// Bounds on one list: pages, and bytes of its objects in memory. A list beyond either fails, and its
  /// objects are dropped.
  std::size_t max_list_pages = 100'000;
  std::size_t max_list_bytes = std::size_t{2} << 30;
  /// Ask for the first state as a stream (sendInitialEvents), and for a list only where that fails.
  bool streaming_list = false;
  Duration streaming_deadline =
      std::chrono::seconds{30};         ///< For the whole first state to arrive in that way.
  std::function<double()> random = {};  ///< Gives numbers in [0, 1); empty: always 0.
};

/// Read one page, or all, of the collection.
struct ListRequest {
  std::string resource_version = {};  ///< "" = the newest, "0" = whatever the server has at hand.
  std::string continue_token = {};    ///< Not empty: the next page; resource_version must not be sent.
  std::size_t limit = 0;              ///< 0: no paging.
  bool operator==(const ListRequest&) const = default;
};

/// Follow the collection. Bookmarks are always asked for.
struct WatchRequest {
  std::string resource_version = {};
  std::chrono::seconds timeout = {};
  bool initial_events = false;  ///< With sendInitialEvents and resourceVersionMatch=NotOlderThan.
  /// Set: call streaming_timed_out() if the first state is not complete after this long.
  std::optional<Duration> initial_deadline = {};
  bool operator==(const WatchRequest&) const = default;
};

/// Wait.
struct PauseRequest {
  Duration delay = {};
  bool operator==(const PauseRequest&) const = default;
};

using ReflectorStep = std::variant<ListRequest, WatchRequest, PauseRequest>;

/// The query parameters that carry a request, in a fixed order. Pauses have none.
EVENKEEL_API std::vector<std::pair<std::string, std::string>> query_of(const ReflectorStep& step);

/// Why a list or a watch ended before its time.
struct ReflectorFailure {
  enum class Kind : std::uint8_t {
    refused,      ///< The server answered with an error; `status` says which.
    unreachable,  ///< No connection came about.
    broken,       ///< The connection or the answer ended early.
    undecodable,  ///< What came is no list, frame or object.
    silent,       ///< The server took the request, or kept the stream open, and sent nothing for too long.
  };
  Kind kind = Kind::broken;
  std::string message = {};
  Status status = {};
};

/// What an answer does to the copy.
struct ReflectorChange {
  enum class Kind : std::uint8_t {
    apply,    ///< `object` was added or changed.
    remove,   ///< `object` is gone; it is its last state.
    replace,  ///< The collection is exactly `objects`.
  };
  Kind kind = Kind::apply;
  WireObject object = {};
  std::vector<WireObject> objects = {};
  bool first = false;  ///< The first replacement.
};

/// What a watch event means.
struct WatchVerdict {
  std::optional<ReflectorChange> change = {};
  bool ends_watch = false;  ///< Drop the stream, do not report its end, ask next() what to do.
};

/// Counted since the start.
struct ReflectorCounters {
  std::uint64_t lists = 0;        ///< Lists begun, pages not counted.
  std::uint64_t watches = 0;      ///< Watches begun.
  std::uint64_t events = 0;       ///< Events of watches, bookmarks included.
  std::uint64_t expired = 0;      ///< Times that a resourceVersion was too old or too new.
  std::uint64_t failures = 0;     ///< Times that a wait was due.
  std::uint64_t undecodable = 0;  ///< Answers and objects that could not be read.
};

/// The rules of list and watch. Its driver repeats: `next()`; do that; report what came of it, which is one
/// of
/// - ListRequest: item() for each, then list_ended() or list_failed();
/// - WatchRequest: event() for each, then watch_ended(), or nothing if a verdict ended it;
/// - PauseRequest: nothing.
/// Thread safety: one thread at a time.
/// Source: client-go's Reflector (tools/cache/reflector.go). It differs in these points: an undecodable event
/// relists instead of being skipped; a Retry-After lengthens the wait; a short watch counts as a failure also
/// if its events moved the resourceVersion nowhere, and from the fourth in a row whatever it brought
/// (client-go has a rate limit for all its requests instead); silence is a failure; the resourceVersion never
/// moves back between two lists.
class EVENKEEL_API Reflector {
 public:
  /// Throws std::invalid_argument if `options` break the bounds above.
  explicit Reflector(ReflectorOptions options = {});

  ReflectorStep next(TimePoint now);

  void item(WireObject object);
  /// The running list holds more than ReflectorOptions allow: report list_failed() with this.
  std::optional<ReflectorFailure> list_excess() const;
  /// The page is whole. Gives the replacement once the last page is.
  std::optional<ReflectorChange> list_ended(const ListMetadata& metadata);
  void list_failed(const ReflectorFailure& failure, TimePoint now);

  /// The server accepted the watch.
  void watch_opened() noexcept { works(); }
  WatchVerdict event(const WireEvent& event, TimePoint now);
  /// A frame of the running watch could not be read; drop the stream, do not report its end.
  void event_undecodable(const std::string& message, TimePoint now);
  /// The stream ended, properly if there is no failure.
  void watch_ended(const std::optional<ReflectorFailure>& failure, TimePoint now);
  /// The streamed first state is overdue; drop the stream, do not report its end.
  void streaming_timed_out(TimePoint now);

  /// A whole state was seen.
  bool synced() const noexcept { return synced_; }
  /// Where a watch would resume; "" before the first list.
  const std::string& resource_version() const noexcept { return resource_version_; }
  /// What went wrong last and was not followed by a success; else "".
  const std::string& last_error() const noexcept { return last_error_; }
  /// The same in one word. A failed list is forgotten when a list succeeds, a failed watch not before the
  /// server accepts one: a role may allow the one and not the other.
  WatchProblem problem() const noexcept { return problem_; }
  const ReflectorCounters& counters() const noexcept { return counters_; }

 private:
  enum class Want : std::uint8_t { first_state, list, page, whole_list, watch };

  ListRequest begin_list();
  WatchRequest begin_watch(TimePoint now);
  WatchRequest begin_streaming(TimePoint now);
  ReflectorChange replacement(std::string resource_version);
  WatchVerdict initial_event(const WireEvent& event, TimePoint now);
  void advance_to(std::string_view version);
  void fails(std::string why, const std::optional<ReflectorFailure>& failure, bool watching);
  void works() noexcept;
  void relist(TimePoint now, std::optional<Duration> retry_after = {});
  void back_off(TimePoint now, std::optional<Duration> retry_after);
  void begin_objects();
  std::chrono::seconds watch_life();
  double random() const { return options_.random ? options_.random() : 0.0; }

  ReflectorOptions options_;
  std::string resource_version_;
  std::string list_version_;  // that of the running list's first page
  std::string continue_token_;
  std::string last_error_;
  WatchProblem problem_ = WatchProblem::none;
  bool watch_failed_ = false;        // what last_error_ is about: a watch, or a list
  std::vector<WireObject> objects_;  // of the running list
  std::size_t list_bytes_ = 0;       // likewise
  std::size_t list_pages_ = 0;       // likewise
  unsigned short_watches_ = 0;       // in a row
  std::optional<Duration> pause_;
  TimePoint watch_began_{};
  TimePoint last_backoff_ = TimePoint::min();
  Duration backoff_{};
  std::string watch_from_;
  ReflectorCounters counters_;
  Want want_ = Want::first_state;
  bool synced_ = false;
  bool version_unavailable_ = false;  // the server does not have resource_version_: list the newest
  bool retried_expired_ = false;      // the one immediate retry of a list was used
  bool read_whole_ = false;           // after a token had expired
  bool pages_at_zero_ = false;        // the server pages lists at "0": it has no watch cache to serve us
  bool unordered_ = false;            // events of the running watch are not in order yet (synthetic ADDED)
  bool streaming_ = false;            // the running watch still sends the first state
  bool streaming_failed_ = false;     // list this time; the next cycle may stream again
};

}  // namespace v0
}  // namespace evenkeel
