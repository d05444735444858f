// SPDX-License-Identifier: Apache-2.0
// The rows are those of controller-runtime's reconcileHandler, with the deviations named in the header.
#include <chrono>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/client/errors.hpp>
#include <evenkeel/controller/result_core.hpp>

namespace evenkeel {
namespace {

using namespace std::chrono_literals;
using Add = QueueCalls::Add;

template <class E>
std::exception_ptr thrown(E error) {
  return std::make_exception_ptr(std::move(error));
}

ApiError api_error(int code, const std::string& reason) {
  return ApiError("patch demos default/web", Status{.code = code, .reason = reason, .message = "refused"});
}

// Throws `outer` with `inner` as its cause.
template <class Outer, class Inner>
std::exception_ptr nested(const Outer& outer, const Inner& inner) {
  try {
    try {
      throw inner;
    } catch (...) {
      std::throw_with_nested(outer);
    }
  } catch (...) {
    return std::current_exception();
  }
}

ReconcileCounts counted(const ReconcileOutcome& outcome) {
  ReconcileCounts counts;
  counts.add(outcome);
  return counts;
}

struct Row {
  const char* what;
  ReconcileOutcome outcome;
  OutcomeKind kind;
  QueueCalls calls;
  ReconcileCounts counts;
};

TEST(ResultTable, HasARowForEveryEndOfAReconcile) {
  const std::vector<Row> rows = {
      {"done", outcome_of(done()), OutcomeKind::success, {.forget = true}, {.reconciles = 1, .success = 1}},
      {"requeue: the count of failures is kept",
       outcome_of(requeue("not there yet")),
       OutcomeKind::requeue,
       {.add = Add::rate_limited},
       {.reconciles = 1, .requeue = 1, .retries = 1}},
      {"requeue_after: forgets first",
       outcome_of(requeue_after(5h)),
       OutcomeKind::requeue_after,
       {.forget = true, .add = Add::after, .delay = 5h},
       {.reconciles = 1, .requeue_after = 1}},
      {"requeue_after of zero is success",
       outcome_of(requeue_after(0s)),
       OutcomeKind::success,
       {.forget = true},
       {.reconciles = 1, .success = 1}},
      {"requeue_after of less than zero: the time has passed",
       outcome_of(requeue_after(-1s)),
       OutcomeKind::requeue,
       {.add = Add::rate_limited},
       {.reconciles = 1, .requeue = 1, .retries = 1}},
      {"an error",
       outcome_of(thrown(std::runtime_error("no such image")), false),
       OutcomeKind::error,
       {.add = Add::rate_limited},
       {.reconciles = 1, .error = 1, .retries = 1}},
      {"an error of the server",
       outcome_of(thrown(api_error(500, "InternalError")), false),
       OutcomeKind::error,
       {.add = Add::rate_limited},
       {.reconciles = 1, .error = 1, .retries = 1}},
      {"a conflict is counted apart",
       outcome_of(thrown(api_error(409, "Conflict")), false),
       OutcomeKind::conflict,
       {.add = Add::rate_limited},
       {.reconciles = 1, .conflict = 1, .retries = 1}},
      {"AlreadyExists has the same code and is no conflict",
       outcome_of(thrown(api_error(409, "AlreadyExists")), false),
       OutcomeKind::error,
       {.add = Add::rate_limited},
       {.reconciles = 1, .error = 1, .retries = 1}},
      {"a terminal error is not retried and forgets",
       outcome_of(thrown(TerminalError("bad spec")), false),
       OutcomeKind::terminal_error,
       {.forget = true},
       {.reconciles = 1, .error = 1, .terminal_error = 1}},
      {"a bug in the program is retried as any error",
       outcome_of(thrown(std::out_of_range("map::at")), false),
       OutcomeKind::error,
       {.add = Add::rate_limited},
       {.reconciles = 1, .error = 1, .panics = 1, .retries = 1}},
      {"so is what is no std::exception",
       outcome_of(thrown(42), false),
       OutcomeKind::error,
       {.add = Add::rate_limited},
       {.reconciles = 1, .error = 1, .panics = 1, .retries = 1}},
      {"cancelled while stopping is no failure",
       outcome_of(thrown(Cancelled("stopping")), true),
       OutcomeKind::cancelled,
       {},
       {.reconciles = 1, .cancelled = 1}},
      {"cancelled by the reconciler's own doing is",
       outcome_of(thrown(Cancelled("own timer")), false),
       OutcomeKind::error,
       {.add = Add::rate_limited},
       {.reconciles = 1, .error = 1, .retries = 1}},
      {"another failure while stopping stays one",
       outcome_of(thrown(std::runtime_error("x")), true),
       OutcomeKind::error,
       {.add = Add::rate_limited},
       {.reconciles = 1, .error = 1, .retries = 1}},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(row.outcome.kind, row.kind) << row.what;
    EXPECT_EQ(queue_calls(row.outcome), row.calls) << row.what;
    EXPECT_EQ(counted(row.outcome), row.counts) << row.what;
  }
}

// The kind of an error survives wrapping.
TEST(ResultTable, CausesDecideWhateverTheyAreWrappedIn) {
  const auto terminal = outcome_of(nested(std::runtime_error("reconcile"), TerminalError("bad spec")), false);
  EXPECT_EQ(terminal.kind, OutcomeKind::terminal_error);
  EXPECT_EQ(terminal.message, "reconcile: bad spec");
  EXPECT_EQ(outcome_of(nested(TerminalError("give up"), std::runtime_error("x")), false).kind,
            OutcomeKind::terminal_error);
  EXPECT_EQ(outcome_of(nested(std::runtime_error("apply"), api_error(409, "Conflict")), false).kind,
            OutcomeKind::conflict);
  EXPECT_EQ(outcome_of(nested(TerminalError("give up"), api_error(409, "Conflict")), false).kind,
            OutcomeKind::terminal_error);
  EXPECT_EQ(outcome_of(nested(std::runtime_error("apply"), Cancelled("stop")), true).kind,
            OutcomeKind::cancelled);
  EXPECT_TRUE(outcome_of(nested(std::runtime_error("x"), 7), false).panic);
}

TEST(ResultTable, ReasonsAreKept) {
  EXPECT_EQ(outcome_of(requeue("waiting for DNS")).message, "waiting for DNS");
  EXPECT_EQ(outcome_of(requeue_after(1s, "rolling out")).message, "rolling out");
  EXPECT_EQ(outcome_of(requeue_after(1s, "rolling out")).delay, 1s);
}

TEST(ResultTable, TimeoutsAreCountedBesideTheOutcome) {
  ReconcileOutcome outcome = outcome_of(thrown(Cancelled("deadline")), false);
  outcome.timed_out = true;
  EXPECT_EQ(counted(outcome), (ReconcileCounts{.reconciles = 1, .error = 1, .timeouts = 1, .retries = 1}));
}

TEST(ReconcileCounts, Add) {
  ReconcileCounts sum{.reconciles = 1, .success = 1};
  sum += ReconcileCounts{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  EXPECT_EQ(sum, (ReconcileCounts{2, 3, 3, 4, 5, 6, 7, 8, 9, 10, 11}));
}

TEST(OutcomeName, IsTheLabelOfItsCounter) {
  EXPECT_EQ(outcome_name(OutcomeKind::success), "success");
  EXPECT_EQ(outcome_name(OutcomeKind::requeue), "requeue");
  EXPECT_EQ(outcome_name(OutcomeKind::requeue_after), "requeue_after");
  EXPECT_EQ(outcome_name(OutcomeKind::error), "error");
  EXPECT_EQ(outcome_name(OutcomeKind::conflict), "conflict");
  EXPECT_EQ(outcome_name(OutcomeKind::terminal_error), "terminal_error");
  EXPECT_EQ(outcome_name(OutcomeKind::cancelled), "cancelled");
}

}  // namespace
}  // namespace evenkeel
