// SPDX-License-Identifier: Apache-2.0
#include "testing/harness/harness_report.hpp"

#include <algorithm>

#include <evenkeel/testing/differences.hpp>
#include <evenkeel/testing/harness.hpp>

#include "api/server_metadata.hpp"
#include "apiserver/text/seconds_text.hpp"

namespace evenkeel {
inline namespace v0 {
namespace testing {
namespace {

// Formats "0s demo default/web attempt 2: error: boom".
std::string head_of(const ReconcileRun& run) {
  std::string text = ": " + std::string(outcome_name(run.outcome.kind));
  if (run.outcome.kind == OutcomeKind::requeue_after)
    text += " " + apiserver::seconds_text(run.outcome.delay);
  if (!run.outcome.message.empty()) text += ": " + run.outcome.message;
  return text;
}

std::string who_of(const ReconcileRun& run) {
  return run.controller + " " + run.key.str();
}

std::string body_of(const ReconcileRun& run) {
  std::string text;
  for (const Write& write : run.writes) text += "\n  " + write.str();
  for (const std::string& line : run.log) text += "\n  log: " + line;
  return text;
}

std::string text_of(const ReconcileRun& run, std::size_t times, Duration last) {
  std::string text = apiserver::seconds_text(run.at) + " " + who_of(run);
  if (run.attempt > 1) text += " attempt " + std::to_string(run.attempt);
  if (times > 1) text += " (x" + std::to_string(times) + ", until " + apiserver::seconds_text(last) + ")";
  return text + head_of(run) + body_of(run);
}

// Returns a log line without the fields that differ between equal runs.
std::string without_counters(const std::string& line) {
  std::string text;
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t end = std::min(line.find(' ', at), line.size());
    const std::string_view word = std::string_view(line).substr(at, end - at);
    const bool counter =
        word.starts_with("reconcile_id=") || word.starts_with("attempt=") || word.starts_with("next_try_in=");
    if (!counter) text.append(word).append(" ");
    at = end + 1;
  }
  return text;
}

bool alike(const ReconcileRun& one, const ReconcileRun& other) {
  return who_of(one) == who_of(other) && head_of(one) == head_of(other) &&
         std::equal(one.writes.begin(), one.writes.end(), other.writes.begin(), other.writes.end(),
                    [](const Write& left, const Write& right) { return left.str() == right.str(); }) &&
         std::equal(one.log.begin(), one.log.end(), other.log.begin(), other.log.end(),
                    [](const std::string& left, const std::string& right) {
                      return without_counters(left) == without_counters(right);
                    });
}

}  // namespace

std::vector<std::string> Write::changes() const {
  return differences(v0::detail::without_server_metadata(before), v0::detail::without_server_metadata(after));
}

std::string Write::str() const {
  std::string text = verb + " " + resource + " " + key.str();
  if (!ok()) return text + ": " + (status == 0 ? "" : std::to_string(status) + " ") + message;
  const std::vector<std::string> lines = changes();
  if (lines.empty()) return text + ": nothing changed";
  text += ": " + lines.front();
  for (std::size_t line = 1; line < lines.size(); ++line) text += "; " + lines[line];
  return text;
}

std::string ReconcileRun::str() const {
  return text_of(*this, 1, at);
}

std::string detail::story(std::span<const ReconcileRun> runs) {
  std::string text;
  for (std::size_t first = 0; first < runs.size();) {
    std::size_t next = first + 1;
    while (next < runs.size() && alike(runs[first], runs[next])) ++next;
    text += (text.empty() ? "" : "\n") + text_of(runs[first], next - first, runs[next - 1].at);
    first = next;
  }
  return text;
}

}  // namespace testing
}  // namespace v0
}  // namespace evenkeel
