// SPDX-License-Identifier: Apache-2.0
// Fault injection between a client and the embedded API server. Rules select requests, and specify how often
// and which faults occur. They have the same effect through sockets and in-process transports.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <evenkeel/base/export.hpp>
#include <evenkeel/base/time.hpp>

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// Drops the connection without a response.
enum class FaultDrop : std::uint8_t {
  never,
  before,  ///< The request has no effect.
  after,   ///< The request has its effect, but the client gets no response.
};

/// The way in which a rule that drops or cuts ends a connection.
enum class FaultEnding : std::uint8_t {
  close,     ///< The server closes it (FIN), before the end announced by Content-Length or the last chunk.
  reset,     ///< The server resets it (RST).
  silence,   ///< It stays open without data until the client or the server's stop() ends it.
  complete,  ///< A regular end: Content-Length is that of the bytes sent; a watch gets its last chunk.
};

/// Replacement of a response's body. The request has its effect.
enum class FaultBody : std::uint8_t {
  usual,
  garbage,    ///< Invalid JSON; in a watch, as its last line.
  html,       ///< A page of HTML with its Content-Type, like that of a proxy that requires a login.
  no_object,  ///< For watches: an ADDED event without an object, as the last event.
};

/// Selects the bookmarks that a watch sends.
enum class FaultBookmarks : std::uint8_t {
  all,
  initial,  ///< Only the one that ends the initial events of a streaming list.
  none,
};

/// One rule: which requests, how often, and which fault. The first rule, in the order of injection, that
/// selects a request applies to it. Faults of watches (cut_after_events, cut_after_time, event_delay,
/// bookmarks, no_object) select watches only; a lag selects only reads that are served from a watch cache.
struct FaultRule {
  // Which requests. Empty members match everything.

  /// "get", "list", "watch", "create", "update", "patch", "delete" or "deletecollection".
  std::string verb = {};
  /// Plural, optionally with group and subresource: "pods", "deployments.apps", "demos/status". Without a
  /// subresource only the main resource matches; "*" matches all resources and subresources.
  std::string resource = {};
  std::string namespace_ = {};
  std::string name = {};
  std::string user = {};  ///< Name of the authenticated user.

  // Frequency.

  std::size_t skip = 0;      ///< Number of matching requests that are not affected first.
  std::size_t count = 0;     ///< Maximum number of times that the rule applies; 0: unlimited.
  double probability = 1.0;  ///< Probability for each matching request; 0 to 1.
  std::uint64_t seed = 1;    ///< Seed of the random numbers of this rule.

  // Faults: delay.

  /// Delay before anything else; by itself, the request is then answered normally.
  Duration delay = {};

  // Faults: replacement of the response, one of these.

  /// Unless 0: responds with a Status of this code and does nothing else. For a watch with one of the cuts,
  /// the watch begins and gets the Status as an ERROR event at the cut, between two events.
  int status = 0;
  std::string reason = {};   ///< Reason of the Status; empty: the usual one for the code.
  std::string message = {};  ///< Message of the Status; empty: one that says that it was injected.
  /// Retry-After of the response and details.retryAfterSeconds of the Status.
  std::optional<std::chrono::seconds> retry_after = {};
  FaultDrop drop = FaultDrop::never;
  /// For a watch with one of the cuts, sent at the cut, between two events; otherwise at once.
  FaultBody body = FaultBody::usual;

  // Faults: cut of the response. The first condition that is met applies.

  /// Cuts after this number of bytes of the body, even inside a watch event. Responses that are not longer
  /// are not affected and do not count.
  std::optional<std::size_t> cut_after = {};
  /// Upper bound of a random number of bytes, drawn for each request, that is added to cut_after.
  std::size_t cut_spread = 0;
  /// Cuts a watch after this number of events, bookmarks included.
  std::optional<std::size_t> cut_after_events = {};
  /// Cuts a watch after this time.
  std::optional<Duration> cut_after_time = {};
  /// End of the connection on a drop or cut; unset: close, and complete after an event that the rule adds.
  std::optional<FaultEnding> ending = {};

  // Faults: staleness of reads.

  /// Delay of the events of a watch, in order. The initial events are not delayed.
  Duration event_delay = {};
  FaultBookmarks bookmarks = FaultBookmarks::all;
  /// Delay from a change to the watch cache. Watches and reads that are served from the cache
  /// (resourceVersion=0, or not older than a version) see its state; other reads see the current state.
  Duration lag = {};
  /// Number of later changes, of any resource, after which a change reaches the watch cache.
  std::uint64_t lag_versions = 0;
};

/// Identifies an injected rule.
using FaultId = std::uint64_t;

/// Counters of a rule.
struct FaultCounts {
  std::uint64_t matched = 0;  ///< Requests that match the selecting members.
  std::uint64_t fired = 0;    ///< Requests to which the rule was applied.
};

/// Throws std::invalid_argument naming the member if `rule` has no effect or a member is out of range.
EVENKEEL_API void check(const FaultRule& rule);

/// Parses the form used on command lines, members joined by commas, with dashes for underscores:
/// "verb=watch,resource=pods,cut-after=1000,cut-spread=500,count=3", "status=429,retry-after=2",
/// "delay=200ms,probability=0.1,seed=7", "verb=update,drop=after,ending=reset", "lag=2s". `namespace=` sets
/// `namespace_`.
/// Throws std::invalid_argument naming the invalid part.
EVENKEEL_API FaultRule parse_fault_rule(std::string_view text);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
