// SPDX-License-Identifier: Apache-2.0
// Decides how a copy of a kind's objects is kept current: what to list or watch next and from which
// resourceVersion, what a response changes, how long to wait after a failure. No thread, clock or socket.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <evenkeel/base/export.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/cache/reflector_types.hpp>
#include <evenkeel/cache/watch_health.hpp>
#include <evenkeel/cache/wire_object.hpp>
#include <evenkeel/client/list_splitter.hpp>

namespace evenkeel {
inline namespace v0 {

/// Reason for the premature end of a list or a watch.
struct ReflectorFailure {
  enum class Kind : std::uint8_t {
    refused,      ///< The server answered with an error; `status` says which.
    unreachable,  ///< No connection could be made.
    broken,       ///< The connection or the response ended early.
    undecodable,  ///< The response is not a list, frame or object.
    silent,       ///< The server accepted the request, or kept the stream open, and sent nothing.
  };
  Kind kind = Kind::broken;
  std::string message = {};
  Status status = {};
};

/// Effect of a response on the copy.
struct ReflectorChange {
  enum class Kind : std::uint8_t {
    apply,    ///< `object` was added or changed.
    remove,   ///< The object was deleted; `object` is its last state.
    replace,  ///< `objects` are all objects.
  };
  Kind kind = Kind::apply;
  WireObject object = {};
  std::vector<WireObject> objects = {};
  bool first = false;  ///< The first replacement.
};

/// Meaning of a watch event.
struct WatchVerdict {
  std::optional<ReflectorChange> change = {};
  bool ends_watch = false;  ///< Drop the stream without on_watch_ended(), and call next_step().
};

namespace detail {
namespace reflector {

/// Objects of a list or of a streamed first state, so far.
struct Collected {
  std::vector<WireObject> objects = {};
  std::size_t bytes = 0;
  std::size_t pages = 0;
};
/// Immediate retries that the lists of this cycle have made; each is allowed once.
struct UsedRetries {
  bool newest = false;        // at the newest version, because the requested one was unavailable
  bool in_one_piece = false;  // without pages, because a continue token had expired
};

// ---- The states. Those without a running request name what follows.

/// A cycle begins after `pause`: with a stream of the first state if options ask for it, else with a list.
struct Starting {
  std::optional<Duration> pause = {};
};
/// A list follows at once: the stream of the first state failed, or the version of the list did.
struct Relisting {
  UsedRetries used = {};
};
/// A list is running.
struct Listing {
  std::string version = {};  // resourceVersion of the request for its first page
  UsedRetries used = {};
  std::string continue_token = {};  // of the page that is running or follows; "": the first
  bool restarts = false;            // it follows once more from its first item, in one piece
  Collected collected = {};
};
/// A watch is running that still sends the first state.
struct Streaming {
  TimePoint began = {};
  std::string from = {};
  Collected collected = {};
};
/// The state at resource_version_ is complete; a watch follows after `pause`.
struct Resuming {
  std::optional<Duration> pause = {};
};
/// A watch is running.
struct Watching {
  TimePoint began = {};
  std::string from = {};   // resource_version_ at its begin
  bool unordered = false;  // its events are not in order yet (synthetic ADDED)
};
using State = std::variant<Starting, Relisting, Listing, Streaming, Resuming, Watching>;

}  // namespace reflector
}  // namespace detail

/// State machine of list and watch for one kind.
/// Driver:
///  1. calls next_step() and carries out the step;
///  2. for a ListRequest, calls on_item() for each item, then on_list_ended(), or on_list_failed() as soon as
///     the list fails or list_excess() returns a failure;
///  3. for a WatchRequest, calls on_watch_opened() when the server accepts it, on_event() for each event and
///     on_watch_ended() at the end, unless a verdict or on_undecodable() ended the watch;
///  4. while a watch is running, calls on_timeout() at next_due(), which an event may change, and drops the
///     stream if that returns true;
///  5. for a PauseRequest, waits that long;
///  6. begins again at 1.
/// A call that does not belong to the running step is ignored.
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

  /// Returns what to do now.
  ReflectorStep next_step(TimePoint now);

  void on_item(WireObject object);
  /// The page is complete. Returns the replacement once the last page is.
  std::optional<ReflectorChange> on_list_ended(const ListMetadata& metadata);
  void on_list_failed(const ReflectorFailure& failure, TimePoint now);

  /// The server accepted the watch.
  void on_watch_opened() noexcept { works(); }
  WatchVerdict on_event(const WireEvent& event, TimePoint now);
  /// A frame of the running watch could not be read; drop the stream without on_watch_ended().
  void on_undecodable(const std::string& message, TimePoint now);
  /// The stream ended, properly if there is no failure.
  void on_watch_ended(const std::optional<ReflectorFailure>& failure, TimePoint now);

  /// The deadline of a streamed first state; nothing while none is running.
  std::optional<TimePoint> next_due() const;
  /// Returns true if the streamed first state is overdue: drop the stream without on_watch_ended().
  bool on_timeout(TimePoint now);

  /// The failure of a running list that holds more than ReflectorOptions allow.
  std::optional<ReflectorFailure> list_excess() const;
  /// True once a complete state was seen.
  bool synced() const noexcept { return synced_; }
  /// Where a watch would resume; "" before the first list.
  const std::string& resource_version() const noexcept { return resource_version_; }
  /// Description of the last failure that no success followed; else "".
  const std::string& last_error() const noexcept { return last_error_; }
  /// Class of that failure. A failed list is forgotten when a list succeeds, a failed watch not before the
  /// server accepts one: a role may allow the one and not the other.
  WatchProblem problem() const noexcept { return problem_; }
  const ReflectorCounters& counters() const noexcept { return counters_; }

 private:
  using Collected = detail::reflector::Collected;
  using UsedRetries = detail::reflector::UsedRetries;
  using Starting = detail::reflector::Starting;
  using Relisting = detail::reflector::Relisting;
  using Listing = detail::reflector::Listing;
  using Streaming = detail::reflector::Streaming;
  using Resuming = detail::reflector::Resuming;
  using Watching = detail::reflector::Watching;

  std::optional<Duration> take_pause();
  ListRequest begin_list();
  ListRequest continue_list(Listing& listing);
  WatchRequest begin_watch(TimePoint now);
  WatchRequest begin_streaming(TimePoint now);
  ReflectorChange replacement(std::string resource_version, std::vector<WireObject> objects);
  WatchVerdict on_initial_event(Streaming& streaming, const WireEvent& event);
  void on_streaming_ended(const std::optional<ReflectorFailure>& failure);
  void on_watching_ended(const Watching& watching, const std::optional<ReflectorFailure>& failure,
                         TimePoint now);
  static void collect(Collected& collected, WireObject object);
  const Collected* collected() const;
  void advance_to(std::string_view version);
  void fails(std::string why, const std::optional<ReflectorFailure>& failure, bool watching);
  void works() noexcept;
  void start_cycle(TimePoint now, std::optional<Duration> retry_after = {});
  Duration back_off(TimePoint now, std::optional<Duration> retry_after);
  std::chrono::seconds watch_life();
  double random() const { return options_.random ? options_.random() : 0.0; }

  ReflectorOptions options_;
  detail::reflector::State state_;

  // Members that are valid in all states.
  std::string resource_version_;
  bool synced_ = false;
  bool version_unavailable_ = false;  // the server does not have resource_version_: list the newest
  bool pages_at_zero_ = false;        // the server pages lists at "0": it has no watch cache to serve us
  unsigned short_watches_ = 0;        // in a row
  TimePoint last_backoff_ = TimePoint::min();
  Duration backoff_{};
  std::string last_error_;
  WatchProblem problem_ = WatchProblem::none;
  bool watch_failed_ = false;  // last_error_ is the failure of a watch, not of a list
  ReflectorCounters counters_;
};

}  // namespace v0
}  // namespace evenkeel
