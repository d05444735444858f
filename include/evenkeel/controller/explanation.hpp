// SPDX-License-Identifier: Apache-2.0
// Why an object is not being reconciled: the answer of a controller, in one sentence and in detail.
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

/// What keeps an object from being reconciled, or that nothing does.
enum class WhyIdle : std::uint8_t {
  blocked,      ///< The controller does not run here: this instance is not the leader, or the manager stops.
  not_synced,   ///< The first list of a watch has not been read.
  running,      ///< Nothing: it is being reconciled.
  stuck,        ///< It is being reconciled, and for too long.
  queued,       ///< It waits for a worker.
  backing_off,  ///< Its last run failed, and it waits for its retry.
  waiting,      ///< It waits because its last run asked for that, or to keep a distance between runs.
  gave_up,      ///< Its last run failed with an error that no retry can cure.
  refused,      ///< Predicates refused all that happened since its last run, if there was one.
  done,         ///< Its last run ended well, and nothing happened since.
  unknown,      ///< Nothing is known of it.
};

/// "blocked", "not_synced", "backing_off" ...: for machines.
EVENKEEL_API std::string_view why_idle_name(WhyIdle why) noexcept;

/// One run that goes on.
struct RunExplanation {
  std::string object = {};  ///< "namespace/name".
  WallTime since = {};
  Duration lasts = {};
  Duration limit = {};  ///< If it lasts longer it is stuck.
  bool stuck = false;
  std::string thread = {};  ///< "demo/0": of the worker.
  std::string reconcile_id = {};
  std::uint64_t attempt = 1;
  std::string cause = {};  ///< "configmaps (v1): updated"; what made the key run.
};

/// The failure that a key's last run ended with.
struct FailureExplanation {
  std::string object = {};
  WallTime at = {};
  Duration ago = {};
  std::uint64_t attempt = 1;  ///< 1, and one more for each failure since the last success.
  std::string outcome = {};   ///< "error", "conflict" or "terminal_error".
  std::string error = {};
};

/// One watch of the controller.
struct WatchExplanation {
  std::string watch = {};  ///< "configmaps (v1)".
  bool synced = false;
  std::string problem = {};  ///< Why it is not, or what is wrong with it now; empty: nothing.
};

/// One line of the timeline.
struct TimelineEntry {
  WallTime at = {};
  Duration ago = {};
  std::string kind = {};  ///< "event", "started", "ended" or "waits".
  std::string text = {};
};

/// Everything that is known of one key of one controller, at one moment.
struct Explanation {
  std::string controller = {};
  std::string object = {};  ///< "namespace/name", or "name".
  WhyIdle why = WhyIdle::unknown;
  std::string verdict = {};  ///< One sentence.

  std::string queue_state = {};  ///< "absent", "waiting", "queued", "processing" or "processing_and_dirty".
  std::string lane = {};         ///< Of stores that have lanes.
  std::int32_t priority = 0;
  std::optional<std::size_t> place = {};      ///< 1 is next; of a key that is queued.
  std::size_t queued = 0;                     ///< Keys that are ready.
  std::uint64_t failures = 0;                 ///< That its back-off counts.
  std::optional<WallTime> next_attempt = {};  ///< When its delay ends.
  std::optional<Duration> next_attempt_in = {};

  std::size_t workers = 0;
  std::size_t busy_workers = 0;
  std::optional<RunExplanation> run = {};
  std::optional<FailureExplanation> failure = {};
  std::vector<WatchExplanation> watches = {};

  std::vector<TimelineEntry> timeline = {};     ///< The oldest first.
  bool recording = true;                        ///< Whether there is a flight recorder.
  std::optional<WallTime> recorded_since = {};  ///< Of what is older nothing is known.
  std::uint64_t records_lost = 0;               ///< Overwritten, of this key and of others.
};

/// What is wrong with a controller, the worst first.
struct Troubles {
  std::string controller = {};
  std::string kind = {};     ///< That is reconciled.
  std::string verdict = {};  ///< One sentence.
  std::size_t workers = 0;
  std::size_t busy_workers = 0;
  std::size_t queued = 0;   ///< Keys that are ready.
  std::size_t waiting = 0;  ///< Keys that wait for a delay.
  std::vector<WatchExplanation> watches = {};
  std::vector<RunExplanation> running = {};      ///< The longest first.
  std::vector<FailureExplanation> failing = {};  ///< The latest first.
  /// Keys that wait for a worker, in the order in which they will run.
  struct Queued {
    std::string object = {};
    std::optional<Duration> since = {};
  };
  std::vector<Queued> first_queued = {};
};

/// For people: the verdict, then a line for each detail, then the timeline.
EVENKEEL_API std::string to_text(const Explanation& explanation);
EVENKEEL_API std::string to_text(const Troubles& troubles);
/// For machines: names in camelCase, times in RFC 3339, lengths of time in seconds.
EVENKEEL_API Json to_json(const Explanation& explanation);
EVENKEEL_API Json to_json(const Troubles& troubles);

}  // namespace v0
}  // namespace evenkeel
