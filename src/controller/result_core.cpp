// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>

#include <evenkeel/client/errors.hpp>
#include <evenkeel/controller/result_core.hpp>

#include "base/caught.hpp"

namespace evenkeel {
inline namespace v0 {
namespace {

// The properties of an exception and its nested causes.
struct Causes {
  std::string message;
  bool terminal = false;
  bool conflict = false;
  bool cancelled = false;
  bool panic = false;
};

void walk(const std::exception_ptr& thrown, Causes& causes);

void walk(const std::exception& error, Causes& causes) {
  if (!causes.message.empty()) causes.message += ": ";
  causes.message += error.what();
  if (dynamic_cast<const TerminalError*>(&error) != nullptr) causes.terminal = true;
  if (dynamic_cast<const Cancelled*>(&error) != nullptr) causes.cancelled = true;
  if (dynamic_cast<const std::logic_error*>(&error) != nullptr) causes.panic = true;
  if (const auto* api = dynamic_cast<const ApiError*>(&error); api != nullptr && api->is_conflict()) {
    causes.conflict = true;
  }
  const auto* nested = dynamic_cast<const std::nested_exception*>(&error);
  if (nested != nullptr && nested->nested_ptr()) walk(nested->nested_ptr(), causes);
}

void walk(const std::exception_ptr& thrown, Causes& causes) {
  try {
    std::rethrow_exception(thrown);
  } catch (const std::exception& error) {
    walk(error, causes);
  } catch (...) {
    if (!causes.message.empty()) causes.message += ": ";
    causes.message += detail::foreign_exception;
    causes.panic = true;
  }
}

}  // namespace

std::string_view outcome_name(OutcomeKind kind) noexcept {
  switch (kind) {
    case OutcomeKind::success:
      return "success";
    case OutcomeKind::requeue:
      return "requeue";
    case OutcomeKind::requeue_after:
      return "requeue_after";
    case OutcomeKind::error:
      return "error";
    case OutcomeKind::conflict:
      return "conflict";
    case OutcomeKind::terminal_error:
      return "terminal_error";
    case OutcomeKind::cancelled:
      return "cancelled";
  }
  return "error";
}

ReconcileOutcome outcome_of(const Result& result) {
  ReconcileOutcome outcome{.message = result.reason(), .priority = result.priority()};
  switch (result.kind()) {
    case Result::Kind::done:
      outcome.kind = OutcomeKind::success;
      break;
    case Result::Kind::requeue:
      outcome.kind = OutcomeKind::requeue;
      break;
    case Result::Kind::requeue_after:
      if (result.delay() > Duration::zero()) {
        outcome.kind = OutcomeKind::requeue_after;
        outcome.delay = result.delay();
      } else if (result.delay() < Duration::zero()) {
        outcome.kind = OutcomeKind::requeue;  // limited, as the time may have passed in the next run, too
      } else {
        outcome.kind = OutcomeKind::success;
        outcome.message.clear();
      }
      break;
  }
  return outcome;
}

ReconcileOutcome outcome_of(std::exception_ptr thrown, bool stopping) {
  Causes causes;
  walk(thrown, causes);
  ReconcileOutcome outcome{
      .kind = OutcomeKind::error, .message = std::move(causes.message), .panic = causes.panic};
  if (causes.cancelled && stopping) {
    outcome.kind = OutcomeKind::cancelled;
  } else if (causes.terminal) {
    outcome.kind = OutcomeKind::terminal_error;
  } else if (causes.conflict) {
    outcome.kind = OutcomeKind::conflict;
  }
  return outcome;
}

QueueCalls queue_calls(const ReconcileOutcome& outcome) noexcept {
  switch (outcome.kind) {
    case OutcomeKind::success:
    case OutcomeKind::terminal_error:
      return {.forget = true};
    case OutcomeKind::requeue_after:
      return {.forget = true, .add = QueueCalls::Add::after, .delay = outcome.delay};
    case OutcomeKind::requeue:
    case OutcomeKind::conflict:
    case OutcomeKind::error:
      return {.add = QueueCalls::Add::rate_limited};
    case OutcomeKind::cancelled:
      return {};
  }
  return {};
}

void ReconcileCounts::add(const ReconcileOutcome& outcome) noexcept {
  ++reconciles;
  switch (outcome.kind) {
    case OutcomeKind::success:
      ++success;
      break;
    case OutcomeKind::requeue:
      ++requeue;
      break;
    case OutcomeKind::requeue_after:
      ++requeue_after;
      break;
    case OutcomeKind::error:
      ++error;
      break;
    case OutcomeKind::conflict:
      ++conflict;
      break;
    case OutcomeKind::cancelled:
      ++cancelled;
      break;
    case OutcomeKind::terminal_error:
      ++error;
      ++terminal_error;
      break;
  }
  if (outcome.panic) ++panics;
  if (outcome.timed_out) ++timeouts;
  if (queue_calls(outcome).add == QueueCalls::Add::rate_limited) ++retries;
}

ReconcileCounts& ReconcileCounts::operator+=(const ReconcileCounts& other) noexcept {
  reconciles += other.reconciles;
  success += other.success;
  requeue += other.requeue;
  requeue_after += other.requeue_after;
  error += other.error;
  conflict += other.conflict;
  cancelled += other.cancelled;
  terminal_error += other.terminal_error;
  panics += other.panics;
  timeouts += other.timeouts;
  retries += other.retries;
  return *this;
}

}  // namespace v0
}  // namespace evenkeel
