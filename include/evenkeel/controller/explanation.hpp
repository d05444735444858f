// SPDX-License-Identifier: Apache-2.0
// The reason why an object is not being reconciled, in one sentence and in detail.
// Driver: none. Values and their text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/api/json.hpp>
#include <evenkeel/base/export.hpp>
#include <evenkeel/base/time.hpp>

namespace evenkeel {
inline namespace v0 {

/// State that keeps an object from being reconciled.
enum class WhyIdle : std::uint8_t {
  blocked,      ///< The controller does not run here: this instance is not the leader, or the manager is
                ///< stopping.
  not_synced,   ///< The first list of a watch has not been read.
  running,      ///< Not idle: it is being reconciled.
  stuck,        ///< It is being reconciled, and has been for longer than the limit.
  queued,       ///< It waits for a worker.
  backing_off,  ///< Its last run failed; it waits for the retry.
  waiting,      ///< Its last run requested a delay, or the minimum distance between runs has not passed.
  gave_up,      ///< Its last run failed with a TerminalError.
  refused,      ///< Predicates rejected all events since its last run.
  done,         ///< Its last run succeeded, and there was no event since.
  unknown,      ///< The controller has no record of it.
};

/// Returns "blocked", "not_synced", "backing_off" and so on, for machines.
EVENKEEL_API std::string_view why_idle_name(WhyIdle why) noexcept;

/// A reconcile that is running.
struct RunExplanation {
  std::string object = {};  ///< "namespace/name".
  WallTime since = {};
  Duration lasts = {};
  Duration limit = {};  ///< A run that takes longer is stuck.
  bool stuck = false;
  std::string thread = {};  ///< "demo/0": the worker's thread.
  std::string reconcile_id = {};
  std::uint64_t attempt = 1;
  std::string cause = {};  ///< "configmaps (v1): updated"; the reason of the run.
};

/// The failure of a key's last run.
struct FailureExplanation {
  std::string object = {};
  WallTime at = {};
  Duration ago = {};
  std::uint64_t attempt = 1;  ///< 1 plus the number of failures since the last success.
  std::string outcome = {};   ///< "error", "conflict" or "terminal_error".
  std::string error = {};
};

/// One watch of the controller.
struct WatchExplanation {
  std::string watch = {};  ///< "configmaps (v1)".
  bool synced = false;
  std::string problem = {};  ///< Cause of a failure or of not being synced; empty: none.
};

/// One line of the timeline.
struct TimelineEntry {
  WallTime at = {};
  Duration ago = {};
  std::string kind = {};  ///< "event", "started", "ended" or "waits".
  std::string text = {};
};

/// The records of one key of one controller, at one moment.
struct Explanation {
  std::string controller = {};
  std::string object = {};  ///< "namespace/name", or "name".
  WhyIdle why = WhyIdle::unknown;
  std::string verdict = {};  ///< One sentence.

  std::string queue_state = {};  ///< "absent", "waiting", "queued", "processing" or "processing_and_dirty".
  std::string lane = {};         ///< For stores that have lanes.
  std::int32_t priority = 0;
  std::optional<std::size_t> place = {};      ///< Position in the queue from 1, for a queued key.
  std::size_t queued = 0;                     ///< Keys that are ready.
  std::uint64_t failures = 0;                 ///< Failures that determine its back-off.
  std::optional<WallTime> next_attempt = {};  ///< End of its delay.
  std::optional<Duration> next_attempt_in = {};

  std::size_t workers = 0;
  std::size_t busy_workers = 0;
  std::optional<RunExplanation> run = {};
  std::optional<FailureExplanation> failure = {};
  std::vector<WatchExplanation> watches = {};

  std::vector<TimelineEntry> timeline = {};     ///< Oldest first.
  bool recording = true;                        ///< True if there is a flight recorder.
  std::optional<WallTime> recorded_since = {};  ///< Older records do not exist.
  std::uint64_t records_lost = 0;               ///< Overwritten records, of this and other keys.
};

/// The problems of a controller, the most severe first.
struct ControllerSummary {
  std::string controller = {};
  std::string kind = {};     ///< Kind that is reconciled.
  std::string verdict = {};  ///< One sentence.
  std::size_t workers = 0;
  std::size_t busy_workers = 0;
  std::size_t queued = 0;   ///< Keys that are ready.
  std::size_t waiting = 0;  ///< Keys that wait for a delay.
  std::vector<WatchExplanation> watches = {};
  std::vector<RunExplanation> running = {};      ///< Longest first.
  std::vector<FailureExplanation> failing = {};  ///< Most recent first.
  /// Keys that wait for a worker, in the order in which they will run.
  struct Queued {
    std::string object = {};
    std::optional<Duration> since = {};
  };
  std::vector<Queued> first_queued = {};
};

/// Formats for people: the verdict, then a line for each detail, then the timeline.
EVENKEEL_API std::string to_text(const Explanation& explanation);
EVENKEEL_API std::string to_text(const ControllerSummary& summary);
/// Formats for machines: names in camelCase, times in RFC 3339, durations in seconds.
EVENKEEL_API Json to_json(const Explanation& explanation);
EVENKEEL_API Json to_json(const ControllerSummary& summary);

}  // namespace v0
}  // namespace evenkeel
