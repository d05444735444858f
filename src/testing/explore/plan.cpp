// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include <evenkeel/api/json.hpp>
#include <evenkeel/testing/plan.hpp>

namespace evenkeel {
inline namespace v0 {
namespace testing {
namespace {

// Returns a C++ string literal.
std::string quoted(const std::string& text) {
  return Json(text).dump();
}

std::string code_of(const Moment& moment) {
  return "{" + quoted(moment.write) + (moment.nth == 1 ? "" : ", " + std::to_string(moment.nth)) + "}";
}

std::string window_text(const PlanStep& step) {
  const std::string end =
      step.other.write.empty() ? "nothing is left to do at that time" : "right after " + step.other.str();
  const char* const how = step.delivery == WithheldDelivery::late ? ", then arrive in order"
                                                                  : ", then only the last states arrive";
  return "events of " + step.resource + " from " + step.at.str() + " on wait until " + end + how;
}

std::string overtaking_end(const PlanStep& step) {
  if (step.other.write.empty()) return "when nothing is left to do at that time";
  return "when nothing is left to do after " + step.other.str();
}

}  // namespace

std::string Moment::str() const {
  return write + (nth == 1 ? "" : " (" + std::to_string(nth) + ")");
}

std::string PlanStep::str() const {
  switch (kind) {
    case PlanStepKind::crash:
      return "crash right after " + at.str() + ", before its answer";
    case PlanStepKind::refusal:
      return "answer " + at.str() + " with " + std::to_string(status) + " without applying it";
    case PlanStepKind::lost_answer:
      return "apply " + at.str() + " and lose the answer";
    case PlanStepKind::stale_restart:
      return "restart after " + at.str() + " with the cache as before " + other.str();
    case PlanStepKind::downtime:
      return "no process runs during " + at.str();
    case PlanStepKind::withheld:
      return window_text(*this);
    case PlanStepKind::crash_at_point:
      return "crash at " + at.str() + ", before its effect";
    case PlanStepKind::crash_past_point:
      return "crash past " + at.str() + ", after its effect";
    case PlanStepKind::leadership_lost_before:
      return "lose leadership right before " + at.str();
    case PlanStepKind::leadership_lost_after:
      return "lose leadership right after " + at.str();
    case PlanStepKind::overtaken:
      return "another replica takes over at " + at.str() + ", whose effect follows " + overtaking_end(*this);
  }
  return {};
}

std::string PlanStep::code() const {
  const std::string scope = "ek::testing::";
  switch (kind) {
    case PlanStepKind::crash:
      return scope + "crash_after(" + code_of(at) + ")";
    case PlanStepKind::refusal:
      return scope + "refuse(" + code_of(at) + ", " + std::to_string(status) + ")";
    case PlanStepKind::lost_answer:
      return scope + "lose_answer(" + code_of(at) + ")";
    case PlanStepKind::stale_restart:
      return scope + "restart_stale({.after = " + code_of(at) + ", .as_before = " + code_of(other) + "})";
    case PlanStepKind::downtime:
      return scope + "down_during(" + code_of(at) + ")";
    case PlanStepKind::withheld:
      return scope + "withhold(" + quoted(resource) + ", {.from = " + code_of(at) +
             ", .until = " + code_of(other) + "}, " + scope +
             (delivery == WithheldDelivery::late ? "WithheldDelivery::late)" : "WithheldDelivery::merged)");
    case PlanStepKind::crash_at_point:
      return scope + "crash_at(" + code_of(at) + ")";
    case PlanStepKind::crash_past_point:
      return scope + "crash_past(" + code_of(at) + ")";
    case PlanStepKind::leadership_lost_before:
      return scope + "lose_leadership_before(" + code_of(at) + ")";
    case PlanStepKind::leadership_lost_after:
      return scope + "lose_leadership_after(" + code_of(at) + ")";
    case PlanStepKind::overtaken:
      return scope + "overtake_at(" + code_of(at) + (other.write.empty() ? "" : ", " + code_of(other)) + ")";
  }
  return {};
}

PlanStep crash_after(Moment write) {
  return {.kind = PlanStepKind::crash, .at = std::move(write)};
}

PlanStep refuse(Moment write, int status) {
  return {.kind = PlanStepKind::refusal, .at = std::move(write), .status = status};
}

PlanStep lose_answer(Moment write) {
  return {.kind = PlanStepKind::lost_answer, .at = std::move(write)};
}

PlanStep crash_at(Moment point) {
  return {.kind = PlanStepKind::crash_at_point, .at = std::move(point)};
}

PlanStep crash_past(Moment point) {
  return {.kind = PlanStepKind::crash_past_point, .at = std::move(point)};
}

PlanStep lose_leadership_before(Moment write) {
  return {.kind = PlanStepKind::leadership_lost_before, .at = std::move(write)};
}

PlanStep lose_leadership_after(Moment write) {
  return {.kind = PlanStepKind::leadership_lost_after, .at = std::move(write)};
}

PlanStep overtake_at(Moment point, Moment until) {
  return {.kind = PlanStepKind::overtaken, .at = std::move(point), .other = std::move(until)};
}

PlanStep restart_stale(StaleRestart restart) {
  return {.kind = PlanStepKind::stale_restart,
          .at = std::move(restart.after),
          .other = std::move(restart.as_before)};
}

PlanStep down_during(Moment workload_write) {
  return {.kind = PlanStepKind::downtime, .at = std::move(workload_write)};
}

PlanStep withhold(std::string resource, Window window, WithheldDelivery delivery) {
  return {.kind = PlanStepKind::withheld,
          .at = std::move(window.from),
          .other = std::move(window.until),
          .resource = std::move(resource),
          .delivery = delivery};
}

std::string Plan::str() const {
  std::string text;
  for (const PlanStep& step : steps) text += (text.empty() ? "" : "; then ") + step.str();
  return text.empty() ? "no step" : text;
}

std::string Plan::code() const {
  std::string text = "ek::testing::Plan{{";
  for (const PlanStep& step : steps) text += "\n    " + step.code() + ",";
  return text + "\n}}";
}

}  // namespace testing
}  // namespace v0
}  // namespace evenkeel
