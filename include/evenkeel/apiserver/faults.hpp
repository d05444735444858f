// SPDX-License-Identifier: Apache-2.0
// What can be made to go wrong between a client and the embedded API server, as rules: which requests, how
// often, and what happens to them. The rules work the same through sockets and in the same process.
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

/// When a connection is dropped without an answer.
enum class FaultDrop : std::uint8_t {
  never,
  before,  ///< The request has no effect.
  after,   ///< The request has its effect, but the client is not told.
};

/// How a connection ends that a rule drops or cuts.
enum class FaultEnding : std::uint8_t {
  close,     ///< The server closes it (FIN): less came than Content-Length, or a chunk, said.
  reset,     ///< The server resets it (RST).
  silence,   ///< It stays open, but nothing comes any more until the client or the server's stop() ends it.
  complete,  ///< As if nothing were missing: Content-Length says what came, a watch gets its last chunk.
};

/// What comes in place of an answer's body. Its request has its effect all the same.
enum class FaultBody : std::uint8_t {
  usual,
  garbage,    ///< Bytes that are no JSON; in a watch a line of them, which is its last.
  html,       ///< A page of HTML with its Content-Type, as from a proxy that wants a login first.
  no_object,  ///< Of a watch: an ADDED event without an object, which is its last.
};

/// Which bookmarks a watch sends of those it should.
enum class FaultBookmarks : std::uint8_t {
  all,
  initial,  ///< Only the one that ends a streaming list's initial events.
  none,
};

/// One rule: which requests, how often, and what happens. The first rule that selects a request decides what
/// happens to it; rules are asked in the order in which they were injected. What only a watch can have
/// (cut_after_events, cut_after_time, event_delay, bookmarks, no_object) selects watches only; a lag selects
/// reads that a watch cache answers only.
struct FaultRule {
  // Which requests. An empty member matches everything.

  /// "get", "list", "watch", "create", "update", "patch", "delete" or "deletecollection".
  std::string verb = {};
  /// Plural, with the group and a subresource where wanted: "pods", "deployments.apps", "demos/status".
  /// Without a subresource the main resource alone matches; "*" matches every resource and subresource.
  std::string resource = {};
  std::string namespace_ = {};
  std::string name = {};
  std::string user = {};  ///< Name of the user that the server took the caller for.

  // How often.

  std::size_t skip = 0;      ///< Lets so many requests that match pass first.
  std::size_t count = 0;     ///< Fires at most so often; 0: no limit.
  double probability = 1.0;  ///< Of each request that matches; 0 to 1.
  std::uint64_t seed = 1;    ///< Of the random numbers of this rule.

  // What happens: first.

  /// Waits before anything else happens; alone, the request is then answered as usual.
  Duration delay = {};

  // What happens: instead of the answer, one of these.

  /// Answers with a Status of this code instead of doing anything, unless 0. With one of the cuts and a watch
  /// the watch begins, and gets the Status as an ERROR event between two events at that point.
  int status = 0;
  std::string reason = {};   ///< Of the Status; empty: the usual one for the code.
  std::string message = {};  ///< Of the Status; empty: one that says that it was injected.
  /// Retry-After of the answer and details.retryAfterSeconds of the Status.
  std::optional<std::chrono::seconds> retry_after = {};
  FaultDrop drop = FaultDrop::never;
  /// With one of the cuts a watch gets it between two events at that point, otherwise at once.
  FaultBody body = FaultBody::usual;

  // What happens: in the middle of the answer. What comes first, cuts.

  /// Cuts after so many bytes of the answer's body, be it inside a watch event. An answer that is not longer
  /// is not touched, and does not count.
  std::optional<std::size_t> cut_after = {};
  /// Adds a random number of bytes, 0 to cut_spread, to cut_after: anew for each request.
  std::size_t cut_spread = 0;
  /// Cuts a watch after so many events, bookmarks included.
  std::optional<std::size_t> cut_after_events = {};
  /// Cuts a watch when it has run for so long.
  std::optional<Duration> cut_after_time = {};
  /// How a drop or a cut ends the connection; unset: close, and complete after an event that the rule adds.
  std::optional<FaultEnding> ending = {};

  // What happens: to what reads see.

  /// A watch is told of each change so much later than it happened, in order. What it begins with is not
  /// held back.
  Duration event_delay = {};
  FaultBookmarks bookmarks = FaultBookmarks::all;
  /// The watch cache learns of each change so much later than it happened. Watches and reads that a cache
  /// answers (resourceVersion=0, or a version: then at least that one) see what it knows; others see what is.
  Duration lag = {};
  /// The watch cache learns of a change only when so many more, of anything, were made.
  std::uint64_t lag_versions = 0;
};

/// Names a rule that was injected.
using FaultId = std::uint64_t;

/// How often a rule was applied.
struct FaultCounts {
  std::uint64_t matched = 0;  ///< Requests that fit the first group of members.
  std::uint64_t fired = 0;    ///< Requests to which the rule did something.
};

/// Throws std::invalid_argument if `rule` does nothing or a member is out of its bounds; names the member.
EVENKEEL_API void check(const FaultRule& rule);

/// Reads the form used on command lines, members joined by commas, dashes for underscores:
/// "verb=watch,resource=pods,cut-after=1000,cut-spread=500,count=3", "status=429,retry-after=2",
/// "delay=200ms,probability=0.1,seed=7", "verb=update,drop=after,ending=reset", "lag=2s". `namespace=` is
/// `namespace_`.
/// Throws std::invalid_argument naming what is wrong.
EVENKEEL_API FaultRule parse_fault_rule(std::string_view text);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
