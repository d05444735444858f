// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include <evenkeel/api/time.hpp>
#include <evenkeel/controller/explanation.hpp>

#include "base/rounded_duration.hpp"
#include "base/shown_text.hpp"
#include "controller/explain/explain_core.hpp"

namespace evenkeel {
inline namespace v0 {
namespace {

using detail::format_rounded;
using detail::shown_text;

double seconds(Duration span) {
  return std::chrono::duration<double>(span).count();
}

std::string time_text(WallTime time) {
  return MicroTime(time).str();
}

// Appends "name            value", with a column that is wide enough for all names.
void line(std::string& out, std::string_view name, const std::string& value) {
  if (value.empty()) return;
  out.append(name);
  out.append(name.size() < 16 ? 16 - name.size() : 1, ' ');
  out.append(shown_text(value)).append("\n");
}

std::string run_line(const RunExplanation& run) {
  return "for " + format_rounded(run.lasts) + ", since " + time_text(run.since) + ", on thread " +
         run.thread + ", attempt " + std::to_string(run.attempt) + ", reconcile_id " + run.reconcile_id +
         ", started by: " + run.cause +
         (run.stuck ? "; stuck: longer than " + format_rounded(run.limit) : std::string());
}

std::string failure_line(const FailureExplanation& failure) {
  return failure.outcome + " of attempt " + std::to_string(failure.attempt) + ", " +
         format_rounded(failure.ago) + " ago: " + failure.error;
}

std::string watch_line(const WatchExplanation& watch) {
  return watch.watch + (watch.synced ? ": synced" : ": not synced") +
         (watch.problem.empty() ? std::string() : ", " + watch.problem);
}

std::string queue_line(const Explanation& e) {
  std::string text = e.queue_state;
  if (e.place) text += ", place " + std::to_string(*e.place) + " of " + std::to_string(e.queued);
  if (!e.lane.empty()) text += ", lane " + e.lane;
  if (e.queue_state != "absent") text += ", priority " + std::to_string(e.priority);
  return text;
}

void timeline_text(std::string& out, const Explanation& e) {
  if (!e.recording) {
    out += "\nThe flight recorder is off: there is no timeline.\n";
    return;
  }
  out += e.timeline.empty() ? "\nThe timeline is empty" : "\nTimeline, the oldest first";
  if (e.recorded_since && e.records_lost > 0) {
    out += " (the recorder reaches back to " + time_text(*e.recorded_since) + "; " +
           std::to_string(e.records_lost) + " older records of this controller were overwritten)";
  }
  out += e.timeline.empty() ? ".\n" : ":\n";
  for (const TimelineEntry& entry : e.timeline) {
    out += "  " + time_text(entry.at) + "  " + shown_text(entry.text) + "\n";
  }
}

Json run_json(const RunExplanation& run) {
  return Json::object({{"object", run.object},
                       {"since", time_text(run.since)},
                       {"seconds", seconds(run.lasts)},
                       {"limitSeconds", seconds(run.limit)},
                       {"stuck", run.stuck},
                       {"thread", run.thread},
                       {"reconcileID", run.reconcile_id},
                       {"attempt", run.attempt},
                       {"startedBy", run.cause}});
}

Json failure_json(const FailureExplanation& failure) {
  return Json::object({{"object", failure.object},
                       {"time", time_text(failure.at)},
                       {"secondsAgo", seconds(failure.ago)},
                       {"attempt", failure.attempt},
                       {"outcome", failure.outcome},
                       {"error", failure.error}});
}

Json watches_json(const std::vector<WatchExplanation>& watches) {
  Json array = Json::array();
  for (const WatchExplanation& watch : watches) {
    Json entry = Json::object({{"watch", watch.watch}, {"synced", watch.synced}});
    if (!watch.problem.empty()) entry["problem"] = watch.problem;
    array.push_back(std::move(entry));
  }
  return array;
}

Json queue_json(const Explanation& e) {
  Json queue = Json::object({{"state", e.queue_state}, {"priority", e.priority}, {"failures", e.failures}});
  if (!e.lane.empty()) queue["lane"] = e.lane;
  if (e.place) queue["place"] = *e.place;
  queue["ready"] = e.queued;
  if (e.next_attempt) queue["nextAttempt"] = time_text(*e.next_attempt);
  if (e.next_attempt_in) queue["nextAttemptInSeconds"] = seconds(*e.next_attempt_in);
  return queue;
}

}  // namespace

std::string_view why_idle_name(WhyIdle why) noexcept {
  switch (why) {
    case WhyIdle::blocked:
      return "blocked";
    case WhyIdle::not_synced:
      return "not_synced";
    case WhyIdle::running:
      return "running";
    case WhyIdle::stuck:
      return "stuck";
    case WhyIdle::queued:
      return "queued";
    case WhyIdle::backing_off:
      return "backing_off";
    case WhyIdle::waiting:
      return "waiting";
    case WhyIdle::gave_up:
      return "gave_up";
    case WhyIdle::refused:
      return "refused";
    case WhyIdle::done:
      return "done";
    case WhyIdle::unknown:
      return "unknown";
  }
  return "unknown";
}

std::string to_text(const Explanation& e) {
  std::string out = shown_text(e.verdict) + "\n\n";
  line(out, "queue", queue_line(e));
  if (e.failures > 0) line(out, "failures", std::to_string(e.failures));
  if (e.next_attempt && e.next_attempt_in) {
    line(out, "next attempt", time_text(*e.next_attempt) + ", in " + format_rounded(*e.next_attempt_in));
  }
  if (e.run) line(out, "running", run_line(*e.run));
  if (e.failure) line(out, "last failure", failure_line(*e.failure));
  line(out, "workers", std::to_string(e.busy_workers) + " of " + std::to_string(e.workers) + " busy");
  for (const WatchExplanation& watch : e.watches) line(out, "watch", watch_line(watch));
  timeline_text(out, e);
  return out;
}

std::string to_text(const ControllerSummary& summary) {
  std::string out = shown_text(summary.verdict) + "\n\n";
  line(out, "kind", summary.kind);
  line(out, "workers",
       std::to_string(summary.busy_workers) + " of " + std::to_string(summary.workers) + " busy");
  line(out, "queue",
       std::to_string(summary.queued) + " ready, " + std::to_string(summary.waiting) + " waiting");
  for (const WatchExplanation& watch : summary.watches) line(out, "watch", watch_line(watch));
  if (!summary.running.empty()) out += "\nRunning, the longest first:\n";
  for (const RunExplanation& run : summary.running)
    out += "  " + shown_text(run.object + ": " + run_line(run)) + "\n";
  if (!summary.failing.empty()) out += "\nFailing, the latest first:\n";
  for (const FailureExplanation& one : summary.failing) {
    out += "  " + shown_text(one.object + ": " + failure_line(one)) + "\n";
  }
  if (!summary.first_queued.empty()) out += "\nNext to run:\n";
  for (const ControllerSummary::Queued& key : summary.first_queued) {
    out += "  " + shown_text(key.object) +
           (key.since ? ", ready for " + format_rounded(*key.since) : std::string()) + "\n";
  }
  return out;
}

Json to_json(const Explanation& e) {
  Json json = Json::object({{"controller", e.controller},
                            {"object", e.object},
                            {"reason", why_idle_name(e.why)},
                            {"verdict", e.verdict},
                            {"queue", queue_json(e)},
                            {"workers", e.workers},
                            {"busyWorkers", e.busy_workers},
                            {"watches", watches_json(e.watches)}});
  if (e.run) json["running"] = run_json(*e.run);
  if (e.failure) json["lastFailure"] = failure_json(*e.failure);
  Json timeline = Json::array();
  for (const TimelineEntry& entry : e.timeline) {
    timeline.push_back(Json::object({{"time", time_text(entry.at)},
                                     {"secondsAgo", seconds(entry.ago)},
                                     {"kind", entry.kind},
                                     {"text", entry.text}}));
  }
  json["timeline"] = std::move(timeline);
  Json recorder = Json::object({{"on", e.recording}, {"recordsLost", e.records_lost}});
  if (e.recorded_since) recorder["since"] = time_text(*e.recorded_since);
  json["recorder"] = std::move(recorder);
  return json;
}

Json to_json(const ControllerSummary& summary) {
  Json json = Json::object({{"controller", summary.controller},
                            {"kind", summary.kind},
                            {"verdict", summary.verdict},
                            {"workers", summary.workers},
                            {"busyWorkers", summary.busy_workers},
                            {"ready", summary.queued},
                            {"waiting", summary.waiting},
                            {"watches", watches_json(summary.watches)}});
  Json running = Json::array();
  for (const RunExplanation& run : summary.running) running.push_back(run_json(run));
  json["running"] = std::move(running);
  Json failing = Json::array();
  for (const FailureExplanation& failure : summary.failing) failing.push_back(failure_json(failure));
  json["failing"] = std::move(failing);
  Json next = Json::array();
  for (const ControllerSummary::Queued& key : summary.first_queued) {
    Json entry = Json::object({{"object", key.object}});
    if (key.since) entry["readySeconds"] = seconds(*key.since);
    next.push_back(std::move(entry));
  }
  json["nextToRun"] = std::move(next);
  return json;
}

}  // namespace v0
}  // namespace evenkeel
