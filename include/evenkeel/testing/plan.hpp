// SPDX-License-Identifier: Apache-2.0
// Plans of testing::explore(): lists of steps, each a fault at one write or explore point of a run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <evenkeel/base/export.hpp>

namespace evenkeel {
inline namespace v0 {
namespace testing {

/// A write of a run, or an explore point that it reaches, identified by its text and its number among those
/// with the same text.
struct Moment {
  /// Verb, resource and key: "create pods default/web-0", "patch demos.demo.evenkeel.dev/status default/web".
  /// In a creation, a name that the server generates is its prefix and '*'. Writes of the workload begin with
  /// "workload: ". An explore point is "point ", its name and the key of the reconciled object: "point resize
  /// volume default/web".
  std::string write = {};
  std::size_t nth = 1;  ///< From 1.

  bool operator==(const Moment&) const = default;
  /// Returns the text, and the number if it is not 1: "create pods default/web-0 (2)".
  EVENKEEL_API std::string str() const;
};

enum class PlanStepKind : std::uint8_t {
  crash,                   ///< See crash_after().
  refusal,                 ///< See refuse().
  lost_answer,             ///< See lose_answer().
  stale_restart,           ///< See restart_stale().
  downtime,                ///< See down_during().
  withheld,                ///< See withhold().
  crash_at_point,          ///< See crash_at().
  crash_past_point,        ///< See crash_past().
  leadership_lost_before,  ///< See lose_leadership_before().
  leadership_lost_after,   ///< See lose_leadership_after().
  overtaken,               ///< See overtake_at().
};

/// Delivery of watch events that were withheld.
enum class WithheldDelivery : std::uint8_t {
  late,    ///< All of them, in order.
  merged,  ///< Only the last state of each object, as after a list; nothing of objects that came and went.
};

/// One fault; made by the functions below.
struct PlanStep {
  PlanStepKind kind = PlanStepKind::crash;
  Moment at = {};
  Moment other = {};          ///< as_before of restart_stale(); until of withhold() and overtake_at().
  int status = 0;             ///< HTTP status that refuse() returns.
  std::string resource = {};  ///< Resource whose events withhold() keeps back.
  WithheldDelivery delivery = WithheldDelivery::late;

  bool operator==(const PlanStep&) const = default;
  /// Returns a sentence: "crash right after create pods default/web-0, before its answer".
  EVENKEEL_API std::string str() const;
  /// Returns the C++ expression that makes it.
  EVENKEEL_API std::string code() const;
};

/// The operator's process ends after a write of it was applied and before its answer arrives; it starts
/// again at once, with an empty queue and an empty cache.
EVENKEEL_API PlanStep crash_after(Moment write);
/// The server refuses a write of the operator with this code, such as 409 or 500, and does not apply it.
EVENKEEL_API PlanStep refuse(Moment write, int status);
/// A write of the operator is applied, but the client gets a timeout instead of the answer.
EVENKEEL_API PlanStep lose_answer(Moment write);

/// The process ends at an explore point, before the call outside that it marks, and starts again at once. See
/// Context::explore_point().
EVENKEEL_API PlanStep crash_at(Moment point);
/// The process ends after the call outside that an explore point marks: when the effect that was given to
/// Context::explore_point() has returned, else at the next request or point of the run, or at its end.
EVENKEEL_API PlanStep crash_past(Moment point);

/// Leadership is lost right before a write of the operator, which is therefore not sent: the controllers are
/// stopped and cancelled as by a manager, without grace, and writes throw NotLeader. When the run has ended,
/// or waits 5 s later, another replica takes over, with an empty queue and an empty cache.
EVENKEEL_API PlanStep lose_leadership_before(Moment write);
/// Likewise right after a write of the operator was applied and its answer has arrived.
EVENKEEL_API PlanStep lose_leadership_after(Moment write);

/// The process is suspended at an explore point, before the outside call that it marks, and another replica
/// takes over. When that replica has nothing left to do at that time, but not before `until`, a write of the
/// workload, the process continues: it makes the call, and its writes throw NotLeader. This is the effect of
/// a long pause of the process.
EVENKEEL_API PlanStep overtake_at(Moment point, Moment until = {});

struct StaleRestart {
  Moment after = {};      ///< The process ends after this write of the operator or of the workload.
  Moment as_before = {};  ///< An earlier write, or the same: its effect and all later ones are not seen.
};
/// The process starts again, and its watches and lists show an old state until it has nothing left to do at
/// that time, or has begun ten runs; then they catch up. Reads that bypass the cache, and writes, see the
/// current state. This is the effect of a list from the watch cache of a server that lags behind.
EVENKEEL_API PlanStep restart_stale(StaleRestart restart);

/// The process ends before a write of the workload, and starts again when the workload next lets time pass.
EVENKEEL_API PlanStep down_during(Moment workload_write);

/// A part of a run, between two writes.
struct Window {
  Moment from = {};  ///< The first write whose event is withheld.
  Moment until =
      {};  ///< The last one. An empty text: until the operator has nothing left to do at that time.
};
/// Watches of one resource ("pods", "demos.demo.evenkeel.dev") do not deliver the events of a window until it
/// ends, or until ten runs have begun in it.
EVENKEEL_API PlanStep withhold(std::string resource, Window window, WithheldDelivery delivery);

/// Steps of one run. Each takes effect when its write occurs, independently of the others.
struct Plan {
  std::vector<PlanStep> steps = {};

  bool operator==(const Plan&) const = default;
  /// Returns the sentences of the steps, joined by "; then ".
  EVENKEEL_API std::string str() const;
  /// Returns the C++ expression that makes it, with `ek` for the namespace evenkeel.
  EVENKEEL_API std::string code() const;
};

}  // namespace testing
}  // namespace v0
}  // namespace evenkeel
