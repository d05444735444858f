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
#include <evenkeel/base/hash_ranges.hpp>
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
    extend,   ///< `objects` are all objects of `ranges`, in addition to those of other ranges.
    drop,     ///< The objects of `ranges` are not kept any more. They were not deleted.
  };
  Kind kind = Kind::apply;
  WireObject object = {};
  std::vector<WireObject> objects = {};
  bool first = false;  ///< The first replacement.
  HashRanges ranges = {};
};

/// Meaning of a watch event.
struct WatchVerdict {
  std::optional<ReflectorChange> change = {};
  bool ends_watch = false;  ///< Drop the stream without on_watch_ended(), and call next_step().
};

/// Outcome of a streaming list.
struct StreamingOutcome {
  enum class Kind : std::uint8_t {
    complete,     ///< The server marked its end.
    unsupported,  ///< The server rejected it or did not mark its end: it will not do so the next time either.
    failed,       ///< It failed in a way that says nothing about the next one.
  };
  Kind kind = Kind::complete;
  std::string reason = {};  ///< Empty if complete.
};

namespace detail {
namespace reflector {

/// A deletion within a streaming list.
struct Removal {
  WireObject object = {};
  std::size_t before = 0;  // items before this one are removed, later ones are new objects of that name
};
/// Objects of a list or of a streaming list, so far.
struct Collected {
  std::vector<WireObject> objects = {};
  std::vector<Removal> removals = {};
  std::size_t bytes = 0;
  std::size_t pages = 0;
};
/// Immediate retries that the lists of this cycle have made; each is allowed once.
struct UsedRetries {
  bool newest = false;        // at the newest version, because the requested one was unavailable
  bool in_one_piece = false;  // without pages, because a continue token had expired
};

/// A copy from before the start.
struct Saved {
  std::string version = {};
  Collected collected = {};
};

// ---- The states. Those without a running request name what follows.

/// A short list follows after `pause`, or is running: it shows whether the server has objects of the copy.
struct Recognizing {
  Saved saved = {};
  std::optional<Duration> pause = {};
  std::size_t items = 0;    // of the list, so far
  bool recognized = false;  // by the uid of an object
};
/// A watch from the version of the copy follows after `pause`, or is running.
struct CatchingUp {
  Saved saved = {};
  std::string newest = {};  // the server's version when the watch began
  std::optional<Duration> pause = {};
  TimePoint began = {};
  std::string from = {};
  Duration settle = {};               // the time without events, set when the watch was accepted
  std::optional<TimePoint> due = {};  // end of it
};

/// A cycle begins after `pause`: with a streaming list if options ask for it, else with a list.
struct Starting {
  std::optional<Duration> pause = {};
};
/// A list follows at once: the streaming list failed, or the version of the list did.
struct Relisting {
  UsedRetries used = {};
  bool grows = false;  // the list covers only the missing ranges
};
/// A list is running.
struct Listing {
  std::string version = {};  // resourceVersion of the request for its first page
  UsedRetries used = {};
  std::string continue_token = {};  // of the page that is running or follows; "": the first
  bool restarts = false;            // it follows once more from its first item, in one piece
  Collected collected = {};
  HashRanges of = {};
  bool grows = false;  // covers only the missing ranges
};
/// A streaming list is running: a watch that still sends the first state.
struct Streaming {
  TimePoint began = {};
  TimePoint due = {};     // the next progress
  TimePoint latest = {};  // of `due`
  std::string from = {};
  bool opened = false;     // the server accepted it
  bool only_added = true;  // so far: additions, which are the first state
  Collected collected = {};
  HashRanges of = {};
};
/// The state at resource_version_ is complete; a watch follows after `pause`.
struct Resuming {
  std::optional<Duration> pause = {};
};
/// A watch is running.
struct Watching {
  TimePoint began = {};
  TimePoint heard = {};    // the acceptance or the last event; TimePoint::min(): neither has come
  std::string from = {};   // resource_version_ at its begin
  bool unordered = false;  // its events are not in order yet (synthetic ADDED)
  HashRanges of = {};
};
/// Ranges that were listed at a later version than that of the watch, which repeats what the list has.
struct Fresh {
  HashRanges ranges = {};
  std::string version = {};
};
using State =
    std::variant<Recognizing, CatchingUp, Starting, Relisting, Listing, Streaming, Resuming, Watching>;

}  // namespace reflector
}  // namespace detail

/// State machine of list and watch for one kind.
/// Driver:
///  1. calls next_step() and carries out the step;
///  2. for a ListRequest, calls on_item() for each item, then on_list_ended(), or on_list_failed() as soon as
///     the list fails or list_excess() returns a failure;
///  3. for a WatchRequest, calls on_watch_opened() when the server accepts it, on_event() for each event and
///     on_watch_ended() at the end, unless a verdict or on_undecodable() ended the watch;
///  4. while a watch is running, calls on_timeout() at next_due(), which on_watch_opened() and an event may
///     change;
///  5. for a PauseRequest, waits that long; for an IdleRequest, until reselect();
///  6. begins again at 1.
/// It may call reselect() at any time, also before 1.
/// A driver that knows more of the server than one reflector does: if wants_streaming_list() before 1, it may
/// delay the step, or call list_instead(); take_streaming_outcome() after 3 and 4 has the result. A driver
/// that has a copy from before its start calls restore() before 1. A call that does not belong to the running
/// step is ignored. Thread safety: one thread at a time. Source: client-go's Reflector
/// (tools/cache/reflector.go). It differs in these points: an undecodable event relists instead of being
/// skipped; a Retry-After lengthens the wait; a short watch counts as a failure also if its events did not
/// change the resourceVersion, and from the fourth in a row regardless of its events (client-go has a rate
/// limit for all its requests instead); silence is a failure; the resourceVersion never moves back between
/// two lists; a streaming list has a deadline, and after one that failed and a list that failed as well the
/// next cycle begins with a list.
class EVENKEEL_API Reflector {
 public:
  /// Throws std::invalid_argument if `options` break the bounds above.
  explicit Reflector(ReflectorOptions options = {});

  /// Begins with a copy of the objects at a resourceVersion instead of a list. The copy becomes the first
  /// replacement once a watch from its version has caught up with the server. The copy is dropped and a list
  /// follows if the server is another one (none of its first objects is in the copy, or it has not reached
  /// the version), or if it no longer has the version. Has no effect after next_step(), or without objects.
  void restore(std::string version, std::vector<WireObject> objects);
  /// Returns the reason for which the copy was dropped, once.
  std::optional<std::string> take_restore_failure();

  /// Restricts the copy to objects in namespaces whose hashes (NamespaceHash::plain; with
  /// ReflectorOptions::cell_label, NamespaceHash::mixed) are in `wanted`; initially all. Ranges no longer
  /// wanted are dropped at once and the watch resumes at its position with the smaller selection. Only the
  /// objects of added ranges are listed, with the watch paused; if that list fails, the watch continues and
  /// the list is retried with back-off. An empty selection needs no request, and is complete at once. Objects
  /// outside of the selection are ignored, so the server need not know the selector. Carry out the result
  /// like that of on_event(); `ends_watch` may concern a list as well, which is to be dropped without
  /// on_list_failed().
  WatchVerdict reselect(HashRanges wanted);
  /// Returns the wanted ranges that the copy has.
  const HashRanges& held() const noexcept { return held_; }
  const HashRanges& wanted() const noexcept { return wanted_; }
  /// Returns the time of the next list of missing ranges after one that failed; nothing if none has.
  std::optional<TimePoint> next_growth_attempt() const;

  /// Returns what to do now.
  ReflectorStep next_step(TimePoint now);

  void on_item(WireObject object);
  /// The page is complete. Returns the replacement once the last page is.
  std::optional<ReflectorChange> on_list_ended(const ListMetadata& metadata);
  void on_list_failed(const ReflectorFailure& failure, TimePoint now);

  /// True if next_step() will start a streaming list.
  bool wants_streaming_list() const;
  /// Replaces the streaming list of this cycle by a list in pages. No effect unless wants_streaming_list().
  void list_instead();
  /// Returns the outcome of the last streaming list, once.
  std::optional<StreamingOutcome> take_streaming_outcome();

  /// The server accepted the watch.
  void on_watch_opened(TimePoint now);
  WatchVerdict on_event(const WireEvent& event, TimePoint now);
  /// A frame of the running watch could not be read; drop the stream without on_watch_ended().
  void on_undecodable(const std::string& message, TimePoint now);
  /// The stream ended, properly if there is no failure.
  void on_watch_ended(const std::optional<ReflectorFailure>& failure, TimePoint now);

  /// The deadline of a streaming list's next progress, the time at which a watch that resumes a copy has
  /// caught up, or that at which a watch makes way for a list of missing ranges; nothing while none of these
  /// is due.
  std::optional<TimePoint> next_due() const;
  /// Like on_event(). Nothing happens before next_due().
  WatchVerdict on_timeout(TimePoint now);
  /// Reports that a read has shown a state newer than resource_version(). Restarts the watch if it has
  /// delivered nothing for ReflectorOptions::suspicious_silence; otherwise it is only behind and continues.
  /// Ignored while no complete state is being watched.
  WatchVerdict on_suspicion(TimePoint now);
  /// True while the objects of a running watch belong to a first state.
  bool collects_events() const;

  /// The failure of a running list that holds more than ReflectorOptions allow.
  std::optional<ReflectorFailure> list_excess() const;
  /// Bytes of the objects of a running list, which are not stored yet.
  std::size_t listed_bytes() const;
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
  using Saved = detail::reflector::Saved;
  using Recognizing = detail::reflector::Recognizing;
  using CatchingUp = detail::reflector::CatchingUp;
  using Starting = detail::reflector::Starting;
  using Relisting = detail::reflector::Relisting;
  using Listing = detail::reflector::Listing;
  using Streaming = detail::reflector::Streaming;
  using Resuming = detail::reflector::Resuming;
  using Watching = detail::reflector::Watching;
  using Fresh = detail::reflector::Fresh;

  std::optional<Duration> take_pause();
  ListRequest begin_list();
  ListRequest continue_list(Listing& listing);
  WatchRequest begin_watch(TimePoint now);
  WatchRequest begin_streaming(TimePoint now);
  ReflectorChange replacement(std::string resource_version, std::vector<WireObject> objects,
                              const HashRanges& of);
  HashRanges missing() const { return wanted_.without(held_); }
  ReflectorStep rest(TimePoint now);
  std::optional<ReflectorChange> on_growth_ended(Listing listing, const std::string& version);
  bool keeps(const WireObject& object) const;
  std::uint64_t hash_of(const WireObject& object) const;
  template <class Request>
  Request selecting(Request request, const HashRanges& ranges) const;
  void take_version(std::string_view version);
  ListRequest begin_recognizing();
  WatchRequest begin_catching_up(CatchingUp& catching_up, TimePoint now);
  void recognize(const WireObject& item);
  std::optional<ReflectorChange> on_recognized(const ListMetadata& metadata);
  void on_recognizing_failed(const ReflectorFailure& failure, TimePoint now);
  WatchVerdict on_missed_event(CatchingUp& catching_up, const WireEvent& event, TimePoint now);
  ReflectorChange caught_up();
  void on_catching_up_ended(const std::optional<ReflectorFailure>& failure, TimePoint now);
  void drop_saved(std::string why);
  WatchVerdict on_initial_event(Streaming& streaming, const WireEvent& event, TimePoint now);
  void on_streaming_ended(const std::optional<ReflectorFailure>& failure, bool in_stream, TimePoint now);
  void fall_back(StreamingOutcome::Kind kind, const std::string& why,
                 const std::optional<ReflectorFailure>& failure);
  void end_watch(const std::optional<ReflectorFailure>& failure, bool in_stream, TimePoint now);
  void on_watching_ended(const Watching& watching, const std::optional<ReflectorFailure>& failure,
                         TimePoint now);
  static void collect(Collected& collected, WireObject object);
  static void collect(Collected& collected, const WireEvent& event);
  static std::vector<WireObject> take_objects(Collected& collected);
  const Collected* collected() const;
  void advance_to(std::string_view version);
  void fails(std::string why, const std::optional<ReflectorFailure>& failure, bool watching);
  void works() noexcept;
  void start_cycle(TimePoint now, std::optional<Duration> retry_after = {});
  Duration back_off(TimePoint now, std::optional<Duration> retry_after);
  std::chrono::seconds watch_life();
  double random() const { return options_.random ? options_.random() : 0.0; }

  ReflectorOptions options_;
  detail::reflector::State state_ = Starting{};

  // Members that are valid in all states.
  std::string resource_version_;
  HashRanges wanted_ = HashRanges::all();
  HashRanges held_;                       // of the complete state; part of wanted_
  std::vector<Fresh> fresh_;              // parts of held_ that are ahead of resource_version_
  TimePoint grow_at_ = TimePoint::min();  // of the next list of missing ranges
  bool growth_failed_ = false;            // and none has succeeded since
  bool synced_ = false;
  bool version_unavailable_ = false;  // the server does not have resource_version_: list the newest
  bool list_first_ = false;           // a streaming list failed, and no list has succeeded since
  bool pages_at_zero_ = false;        // the server pages lists at "0": it has no watch cache to serve us
  unsigned short_watches_ = 0;        // in a row
  TimePoint last_backoff_ = TimePoint::min();
  Duration backoff_{};
  std::string last_error_;
  WatchProblem problem_ = WatchProblem::none;
  bool watch_failed_ = false;  // last_error_ is the failure of a watch, not of a list
  ReflectorCounters counters_;
  std::optional<StreamingOutcome> outcome_;
  std::optional<std::string> restore_failure_;
};

}  // namespace v0
}  // namespace evenkeel
