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

namespace evenkeel::inline v0::testing {

/// When a connection is dropped without an answer.
enum class FaultDrop : std::uint8_t {
  never,
  before,  ///< The request has no effect.
  after,   ///< The request has its effect, but the client is not told.
};

/// One rule. The first rule that selects a request decides what happens to it; rules are asked in the order
/// in which they were injected. An empty member of the first group matches everything.
struct FaultRule {
  /// "get", "list", "watch", "create", "update", "patch", "delete" or "deletecollection".
  std::string verb = {};
  /// Plural, with the group and a subresource where wanted: "pods", "deployments.apps", "demos/status".
  /// Without a subresource the main resource alone matches; "*" matches every resource and subresource.
  std::string resource = {};
  std::string namespace_ = {};
  std::string name = {};
  std::string user = {};  ///< Name of the user that the server took the caller for.

  std::size_t skip = 0;      ///< Lets so many requests that match pass first.
  std::size_t count = 0;     ///< Fires at most so often; 0: no limit.
  double probability = 1.0;  ///< Of each request that matches; 0 to 1.
  std::uint64_t seed = 1;    ///< Of the random numbers of this rule.

  /// Waits before anything else happens; alone, the request is then answered as usual.
  Duration delay = {};
  /// Answers with a Status of this code instead of doing anything, unless 0. With cut_after and a watch
  /// the watch begins, and gets the Status as an ERROR event between two events after so many bytes.
  int status = 0;
  std::string reason = {};   ///< Of the Status; empty: the usual one for the code.
  std::string message = {};  ///< Of the Status; empty: one that says that it was injected.
  /// Retry-After of the answer and details.retryAfterSeconds of the Status.
  std::optional<std::chrono::seconds> retry_after = {};
  FaultDrop drop = FaultDrop::never;
  /// Ends the connection after so many bytes of the answer's body, be it inside a watch event. An answer
  /// that is not longer is not touched, and does not count.
  std::optional<std::size_t> cut_after = {};
  /// Adds a random number of bytes, 0 to cut_spread, to cut_after: anew for each request.
  std::size_t cut_spread = 0;
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
/// "delay=200ms,probability=0.1,seed=7", "verb=update,drop=after". `namespace=` is `namespace_`.
/// Throws std::invalid_argument naming what is wrong.
EVENKEEL_API FaultRule parse_fault_rule(std::string_view text);

}  // namespace evenkeel::inline v0::testing
