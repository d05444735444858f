// SPDX-License-Identifier: Apache-2.0
// Derives the reason why a key is not being reconciled from its records.
// Driver:
//  1. gathers ExplainFacts under its locks;
//  2. calls the functions below under none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <evenkeel/base/time.hpp>
#include <evenkeel/controller/explanation.hpp>
#include <evenkeel/workqueue/key_info.hpp>
#include <evenkeel/workqueue/request_key.hpp>

#include "controller/explain/flight_story.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// The input of an explanation.
struct ExplainFacts {
  std::string controller = {};
  std::string object = {};
  std::uint64_t hash = 0;  ///< RequestKey::hash() of the object.
  TimePoint now = {};
  WallTime wall_now = {};
  std::string blocked_reason = {};  ///< Reason why the controller does not run here; empty: it does.
  bool synced = true;
  bool stopping = false;
  std::vector<WatchExplanation> watches = {};
  KeyInfo<RequestKey> queue = {};
  std::optional<std::size_t> place = {};  ///< 1 is next.
  std::string first_in_queue = {};        ///< The first key, if it is another one.
  std::size_t queued = 0;
  std::size_t workers = 1;
  std::vector<RunInFlight> runs = {};  ///< Runs of all keys, the longest first.
  std::optional<bool> exists = {};     ///< True if the cache holds the object; unset if unknown.
  KeyFlight flight = {};
};

Explanation explain(const ExplainFacts& facts);

/// Describes a run. `object` must be given because a run contains only the hash of its key.
RunExplanation explain_run(const RunInFlight& run, const std::string& object, const std::string& controller,
                           TimePoint now, WallTime wall_now);
FailureExplanation explain_failure(const LastFailure& failure, TimePoint now, WallTime wall_now);
/// "default/web has been reconciled for 12m3s, longer than 10m: ..."
std::string stuck_sentence(const RunExplanation& run);

/// Describes the state of a controller in one sentence.
std::string verdict_of(const ControllerSummary& summary, const std::string& blocked_reason, bool synced,
                       bool stopping, const std::vector<WatchExplanation>& watches);

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
