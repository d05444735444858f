// SPDX-License-Identifier: Apache-2.0
#include <evenkeel/testing/bench.hpp>
#include <evenkeel/testing/differences.hpp>

#include "testing/seconds_text.hpp"

namespace evenkeel::inline v0::testing {
namespace {

Json without_books(Json object) {
  if (!object.is_object() || !object["metadata"].is_object()) return object;
  for (const char* member : {"uid", "resourceVersion", "generation", "creationTimestamp", "managedFields"})
    object["metadata"].erase(member);
  return object;
}

}  // namespace

std::vector<std::string> Write::changes() const {
  return differences(without_books(before), without_books(after));
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
  std::string text = seconds_text(at) + " " + controller + " " + key.str();
  if (attempt > 1) text += " attempt " + std::to_string(attempt);
  text += ": " + std::string(outcome_name(outcome.kind));
  if (outcome.kind == OutcomeKind::requeue_after) text += " " + seconds_text(outcome.delay);
  if (!outcome.message.empty()) text += ": " + outcome.message;
  for (const Write& write : writes) text += "\n  " + write.str();
  for (const std::string& line : log) text += "\n  log: " + line;
  return text;
}

}  // namespace evenkeel::inline v0::testing
