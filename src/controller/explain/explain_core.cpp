// SPDX-License-Identifier: Apache-2.0
#include "controller/explain/explain_core.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include <evenkeel/api/time.hpp>
#include <evenkeel/base/duration_text.hpp>

#include "base/rounded_duration.hpp"
#include "controller/report.hpp"
#include "controller/run_ids.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

WallTime wall(const ExplainFacts& facts, TimePoint at) {
  return facts.wall_now + std::chrono::duration_cast<WallTime::duration>(at - facts.now);
}

std::string number(std::uint64_t count, std::string_view one) {
  return std::to_string(count) + " " + std::string(one) + (count == 1 ? "" : "s");
}

std::string ago(Duration span) {
  return format_rounded(std::max(span, Duration::zero())) + " ago";
}

std::string_view past_of(EventType type) {
  switch (type) {
    case EventType::added:
      return "created";
    case EventType::updated:
      return "updated";
    case EventType::deleted:
      return "deleted";
    case EventType::generic:
      return "reported by the program";
  }
  return "changed";
}

std::string cause_text(const Cause& cause, const std::string& source) {
  switch (cause.by) {
    case AddedBy::nobody:
      return "not known";
    case AddedBy::event:
      return source + ": " + std::string(past_of(cause.type));
    case AddedBy::initial:
      return source + ": in the first list";
    case AddedBy::resync:
      return source + ": resync";
    case AddedBy::source:
      return source.empty() ? "a source of the program" : source;
    case AddedBy::call:
      return "added by the program";
    case AddedBy::held:
      return "events during the previous run";
    case AddedBy::requeue:
      return "requested by the previous run";
    case AddedBy::retry:
      return "retry after a failure";
  }
  return "not known";
}

std::string fate_text(EventFate fate, bool pending) {
  switch (fate) {
    case EventFate::added:
      return pending ? "it was already going to run" : "added to the queue";
    case EventFate::refused:
      return "refused by the watch's predicate";
    case EventFate::held:
      return "it came during a run, at whose end it is decided";
    case EventFate::waits:
      return "an own write or no change; left to the retry that is due";
  }
  return {};
}

std::string end_text(const FlightEntry& entry) {
  const FlightRecord& record = entry.record;
  std::string text = "run ended after " + format_rounded(record.duration()) + ": " +
                     std::string(outcome_name(record.outcome()));
  if (record.timed_out()) text += ", it timed out";
  if (record.panic()) text += ", the exception indicates a bug in the program";
  if (!entry.text) return text + " (its text was overwritten)";
  return entry.text->empty() ? text : text + ": " + *entry.text;
}

std::string entry_text(const FlightEntry& entry, bool pending) {
  const FlightRecord& record = entry.record;
  switch (record.kind) {
    case FlightKind::event:
      return cause_text(record.cause(), entry.source) + "; " + fate_text(record.fate(), pending);
    case FlightKind::started:
      return "run started on worker " + std::to_string(record.worker()) + ", attempt " +
             std::to_string(record.attempt()) + ", reconcile_id " + RunIds::text(record.run());
    case FlightKind::ended:
      return end_text(entry);
    case FlightKind::waits:
      return "runs again in " + format_rounded(record.delay()) +
             (record.reason() == AddedBy::retry ? ": retry" : ": requested by the run");
    case FlightKind::renewed:
      break;
  }
  return {};
}

std::string_view kind_name(FlightKind kind) {
  switch (kind) {
    case FlightKind::event:
      return "event";
    case FlightKind::waits:
      return "waits";
    case FlightKind::started:
      return "started";
    case FlightKind::ended:
      return "ended";
    case FlightKind::renewed:
      break;
  }
  return {};
}

std::vector<TimelineEntry> timeline_of(const ExplainFacts& facts) {
  std::vector<TimelineEntry> lines;
  bool pending = false;  // added, and no run began since
  for (const FlightEntry& entry : facts.flight.story) {
    const TimePoint at = entry.record.time();
    lines.push_back({.at = wall(facts, at),
                     .ago = facts.now - at,
                     .kind = std::string(kind_name(entry.record.kind)),
                     .text = entry_text(entry, pending)});
    if (entry.record.kind == FlightKind::started) pending = false;
    if (entry.record.kind == FlightKind::event && entry.record.fate() == EventFate::added) pending = true;
  }
  return lines;
}

// The recorded events since the end of the key's last run.
struct Aftermath {
  const FlightEntry* last_end = nullptr;
  const FlightEntry* last_refusal = nullptr;
  const FlightEntry* last_wait = nullptr;
  std::size_t refused = 0;
};

Aftermath aftermath_of(const KeyFlight& flight) {
  Aftermath after;
  for (const FlightEntry& entry : flight.story) {
    switch (entry.record.kind) {
      case FlightKind::started:
        after = {};
        break;
      case FlightKind::ended:
        after.last_end = &entry;
        break;
      case FlightKind::waits:
        after.last_wait = &entry;
        break;
      case FlightKind::event:
        if (entry.record.fate() != EventFate::refused) break;
        ++after.refused;
        after.last_refusal = &entry;
        break;
      case FlightKind::renewed:
        break;
    }
  }
  return after;
}

std::string_view state_name(KeyState state) {
  switch (state) {
    case KeyState::absent:
      return "absent";
    case KeyState::waiting:
      return "waiting";
    case KeyState::queued:
      return "queued";
    case KeyState::processing:
      return "processing";
    case KeyState::processing_and_dirty:
      return "processing_and_dirty";
  }
  return "absent";
}

std::string not_synced_text(const std::vector<WatchExplanation>& watches) {
  std::string missing;
  for (const WatchExplanation& watch : watches) {
    if (watch.synced) continue;
    missing += (missing.empty() ? "" : "; ") + watch.watch;
    if (!watch.problem.empty()) missing += ", because " + watch.problem;
  }
  return "the controller waits for the first list of " +
         (missing.empty() ? "a watch, which is being handled" : missing);
}

std::string hindered_text(const std::string& blocked_reason) {
  return "nothing is reconciled here: " + blocked_reason;
}

class Judge {
 public:
  Judge(const ExplainFacts& facts, Explanation& out)
      : facts_(facts), out_(out), after_(aftermath_of(facts.flight)) {}

  void judge() {
    if (out_.run) return running();
    if (!facts_.blocked_reason.empty()) return say(WhyIdle::blocked, hindered_text(facts_.blocked_reason));
    if (facts_.stopping) return say(WhyIdle::blocked, "the controller is stopping and takes no more keys");
    if (!facts_.synced) return say(WhyIdle::not_synced, not_synced_text(facts_.watches));
    switch (facts_.queue.state) {
      case KeyState::queued:
        return queued();
      case KeyState::waiting:
        return waiting();
      case KeyState::processing:
      case KeyState::processing_and_dirty:
        return say(WhyIdle::running, "a worker holds its key; the run is about to start or has just ended");
      case KeyState::absent:
        return idle();
    }
  }

 private:
  void say(WhyIdle why, std::string sentence) {
    out_.why = why;
    out_.verdict = out_.controller + " " + out_.object + ": " + std::move(sentence);
  }

  void running() {
    const RunExplanation& run = *out_.run;
    std::string again =
        facts_.queue.state == KeyState::processing_and_dirty ? "; it will run once more after that" : "";
    if (!run.stuck) {
      return say(WhyIdle::running, "it is being reconciled now, for " + format_rounded(run.lasts) +
                                       ", on thread " + run.thread + again);
    }
    say(WhyIdle::stuck, "it is stuck: it has been reconciled for " + format_rounded(run.lasts) +
                            " on thread " + run.thread + ", longer than " + format_rounded(run.limit) +
                            "; started by: " + run.cause + again);
  }

  void queued() {
    std::string text = "it is queued";
    if (facts_.place) {
      text += " at place " + std::to_string(*facts_.place) + " of " + std::to_string(facts_.queued);
    }
    if (!facts_.queue.lane.empty()) text += " in lane " + facts_.queue.lane;
    if (!facts_.first_in_queue.empty()) text += ", behind " + facts_.first_in_queue;
    text += "; " + std::to_string(out_.busy_workers) + " of " + number(out_.workers, "worker") + " busy";
    if (!facts_.runs.empty()) {
      text += ", the longest for " + format_rounded(facts_.now - facts_.runs.front().run.since);
    }
    say(WhyIdle::queued, std::move(text));
  }

  void waiting() {
    const std::string when = until();
    if (facts_.flight.failure && out_.failures > 0) {
      const LastFailure& failure = *facts_.flight.failure;
      return say(WhyIdle::backing_off, "it waits for its retry " + when + " after " +
                                           number(out_.failures, "failure") + "; the last one, " +
                                           ago(facts_.now - failure.at) + ": " + failure.text);
    }
    if (out_.failures > 0) {
      const std::string reason = last_reason();
      return say(WhyIdle::backing_off, "it waits for its retry " + when +
                                           ", after it failed or asked for it " +
                                           number(out_.failures, "time") + reason);
    }
    if (after_.last_wait != nullptr && after_.last_wait->record.reason() == AddedBy::requeue) {
      return say(WhyIdle::waiting, "it waits " + when + ", as its last run requested" + last_reason());
    }
    say(WhyIdle::waiting, "it waits " + when + ", for its debounce or minimum interval");
  }

  std::string until() const {
    if (!out_.next_attempt_in) return "for a time that is not known";
    return "until " + time_of_day(*out_.next_attempt) + " (in " + format_rounded(*out_.next_attempt_in) + ")";
  }

  static std::string time_of_day(WallTime time) { return MicroTime(time).str(); }

  std::string last_reason() const {
    if (after_.last_end == nullptr || !after_.last_end->text || after_.last_end->text->empty()) return {};
    return ": " + *after_.last_end->text;
  }

  void idle() {
    if (facts_.flight.failure && facts_.flight.failure->kind == OutcomeKind::terminal_error) return gave_up();
    if (after_.refused > 0) return refused();
    if (after_.last_end != nullptr) {
      return say(WhyIdle::done, "there is nothing to do: its last run ended " +
                                    ago(facts_.now - after_.last_end->record.time()) + " with " +
                                    std::string(outcome_name(after_.last_end->record.outcome())) +
                                    ", and nothing happened since");
    }
    unknown();
  }

  void gave_up() {
    const LastFailure& failure = *facts_.flight.failure;
    say(WhyIdle::gave_up,
        "its last run, " + ago(facts_.now - failure.at) +
            ", failed without a retry, and only an event triggers another run: " + failure.text);
  }

  void refused() {
    std::string text = "the predicate of " + after_.last_refusal->source + " refused ";
    text += after_.last_end == nullptr ? "all recorded events, "
                                       : "what happened since its last run ended well, ";
    text += number(after_.refused, "event") + ", the last " +
            ago(facts_.now - after_.last_refusal->record.time()) + " (" +
            std::string(past_of(after_.last_refusal->record.cause().type)) + ")";
    say(WhyIdle::refused, std::move(text));
  }

  void unknown() {
    std::string text = "nothing is recorded about it";
    if (facts_.exists) {
      text += *facts_.exists ? ": the object is there, and no event requested a run"
                             : ": there is no such object, and nothing asked for a run of it";
    }
    if (!facts_.flight.recording) {
      text += "; the flight recorder is off";
    } else if (facts_.flight.lost > 0 && facts_.flight.since) {
      text += "; the flight recorder reaches back to " + ago(facts_.now - *facts_.flight.since) + " only";
    }
    say(WhyIdle::unknown, std::move(text));
  }

  const ExplainFacts& facts_;
  Explanation& out_;
  const Aftermath after_;
};

void tell_queue(const ExplainFacts& facts, Explanation& out) {
  out.queue_state = state_name(facts.queue.state);
  out.lane = facts.queue.lane;
  out.priority = facts.queue.priority;
  out.place = facts.place;
  out.queued = facts.queued;
  out.failures = facts.queue.attempts;
  if (facts.queue.next_attempt) {
    out.next_attempt = wall(facts, *facts.queue.next_attempt);
    out.next_attempt_in = *facts.queue.next_attempt - facts.now;
  }
}

}  // namespace

RunExplanation explain_run(const RunInFlight& run, const std::string& object, const std::string& controller,
                           TimePoint now, WallTime wall_now) {
  const Duration lasts = now - run.run.since;
  return {.object = object,
          .since = wall_now - std::chrono::duration_cast<WallTime::duration>(lasts),
          .lasts = lasts,
          .limit = run.run.limit - run.run.since,
          .stuck = now >= run.run.limit,
          .thread = controller + "/" + std::to_string(run.run.worker),
          .reconcile_id = RunIds::text(run.run.id),
          .attempt = run.run.attempt,
          .cause = cause_text(run.run.cause, run.source)};
}

FailureExplanation explain_failure(const LastFailure& failure, TimePoint now, WallTime wall_now) {
  const Duration ago = now - failure.at;
  return {.object = failure.key.str(),
          .at = wall_now - std::chrono::duration_cast<WallTime::duration>(ago),
          .ago = ago,
          .attempt = failure.attempt,
          .outcome = std::string(outcome_name(failure.kind)),
          .error = failure.text};
}

std::string stuck_sentence(const RunExplanation& run) {
  return run.object + " has been reconciled for " + format_rounded(run.lasts) + ", longer than " +
         format_rounded(run.limit) + ", on thread " + run.thread + ", reconcile_id " + run.reconcile_id +
         ", started by: " + run.cause;
}

std::string verdict_of(const ControllerSummary& summary, const std::string& blocked_reason, bool synced,
                       bool stopping, const std::vector<WatchExplanation>& watches) {
  const std::string prefix = summary.controller + ": ";
  if (!blocked_reason.empty()) return prefix + hindered_text(blocked_reason);
  if (stopping) return prefix + "the controller is stopping";
  if (!synced) return prefix + not_synced_text(watches);
  const auto stuck = std::count_if(summary.running.begin(), summary.running.end(),
                                   [](const RunExplanation& run) { return run.stuck; });
  if (stuck > 0)
    return prefix + number(static_cast<std::uint64_t>(stuck), "run") + " stuck; " +
           stuck_sentence(summary.running.front());
  if (!summary.failing.empty()) {
    return prefix + "it works, and keys fail; the latest is " + summary.failing.front().object;
  }
  if (summary.queued > 0 && summary.busy_workers >= summary.workers) {
    return prefix + "all workers are busy, and " + number(summary.queued, "key") +
           (summary.queued == 1 ? " waits" : " wait") + " for one";
  }
  return prefix + "nothing is wrong";
}

Explanation explain(const ExplainFacts& facts) {
  Explanation out{.controller = facts.controller, .object = facts.object};
  tell_queue(facts, out);
  out.workers = facts.workers;
  out.busy_workers = facts.runs.size();
  out.watches = facts.watches;
  for (const RunInFlight& run : facts.runs) {
    if (facts.hash != 0 && run.run.key == facts.hash) {
      out.run = explain_run(run, facts.object, facts.controller, facts.now, facts.wall_now);
    }
  }
  if (facts.flight.failure) out.failure = explain_failure(*facts.flight.failure, facts.now, facts.wall_now);
  out.timeline = timeline_of(facts);
  out.recording = facts.flight.recording;
  if (facts.flight.since) out.recorded_since = wall(facts, *facts.flight.since);
  out.records_lost = facts.flight.lost;
  Judge(facts, out).judge();
  return out;
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
