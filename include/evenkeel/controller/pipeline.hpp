// SPDX-License-Identifier: Apache-2.0
// A reconciler made of ordered steps. After each step, the next one runs, the run ends, or the next one runs
// and another run is requested for later.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <evenkeel/base/export.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/controller/context.hpp>
#include <evenkeel/controller/result.hpp>

namespace evenkeel {
inline namespace v0 {

/// Outcome of one step. Converts from Result: done() continues with the next step, requeue() and
/// requeue_after() end the run, whatever the delay.
class EVENKEEL_API Step {
 public:
  enum class Kind : std::uint8_t {
    go_on,  ///< The next step runs.
    stop,   ///< No later step runs; result() is the result of the run.
    later,  ///< The next step runs, and all steps run again after at most result().delay().
  };

  Step(Result result = {})
      : kind_(result.kind() == Result::Kind::done ? Kind::go_on : Kind::stop), result_(std::move(result)) {}
  Step(Kind kind, Result result) : kind_(kind), result_(std::move(result)) {}

  Kind kind() const noexcept { return kind_; }
  const Result& result() const noexcept { return result_; }

 private:
  Kind kind_;
  Result result_;
};

/// The step is complete; continues with the next one.
inline Step go_on() {
  return {};
}

/// Ends the run with `result`, done() by default: the later steps have nothing to do now.
inline Step stop_here(Result result = {}) {
  return {Step::Kind::stop, std::move(result)};
}

/// Continues with the next step, and runs all steps again after `delay`: for incomplete work on which later
/// steps do not depend. A delay that is not positive is a time that has passed: they run again as after
/// requeue().
inline Step later(Duration delay, std::string reason = {}) {
  return {Step::Kind::later, requeue_after(delay, std::move(reason))};
}

namespace detail {

/// Combines the outcomes of the steps of a run into its result. Pure.
class EVENKEEL_API StepSummary {
 public:
  /// Adds the outcome of the step `name`; returns true if the next one runs.
  bool add(std::string_view name, const Step& step);
  /// Returns the result of the run: that of the step that ended it, or the shortest requested delay, with the
  /// reasons of all steps in order, each prefixed by the name of its step. A rate-limited requeue, or a delay
  /// that is not positive, takes precedence over delays.
  Result result() const;

 private:
  bool requeues_ = false;
  std::optional<Duration> delay_;
  std::optional<Priority> priority_;
  std::string reasons_;
};

/// Logs the exception that is being handled as the failure of a step, and does not consume it.
EVENKEEL_API void report_failed_step(const Context& context, std::string_view name);

}  // namespace detail

/// Steps that run in the order in which they were added, for each object of the kind T:
///
///     ek::Pipeline<Demo> steps;
///     steps.step("config", apply_config).step("rollout", wait_for_rollout).step("status", write_status);
///     manager.add(ek::controller_for<Demo>(steps));
///
/// A step is called like a reconciler, with (Context&, const T&), and returns Step, Result or void; void
/// means go_on(). Each step gets the object as the writes of the earlier steps left it. An exception thrown
/// by a step ends the run without the later steps, is logged with the step's name, and is retried like any
/// failure.
/// Thread safety: that of the steps; with several workers they are called concurrently.
/// Source: the sub-reconcilers of the FoundationDB operator.
template <ObjectType T>
class Pipeline {
 public:
  template <class F>
  Pipeline& step(std::string name, F run) {
    static_assert(std::invocable<F&, Context&, const T&>,
                  "a step takes (Context&, const T&), with T the kind of its Pipeline<T>");
    steps_.push_back({std::move(name), [run = std::move(run)](Context& context, const T& object) mutable {
                        return call(run, context, object);
                      }});
    return *this;
  }

  Result operator()(Context& context, const T&) {
    detail::StepSummary summary;
    for (Named& step : steps_) {
      if (!summary.add(step.name, perform(step, context))) break;
    }
    return summary.result();
  }

 private:
  struct Named {
    std::string name;
    std::function<Step(Context&, const T&)> run;
  };

  template <class F>
  static Step call(F& run, Context& context, const T& object) {
    if constexpr (std::is_void_v<std::invoke_result_t<F&, Context&, const T&>>) {
      std::invoke(run, context, object);
      return go_on();
    } else {
      return std::invoke(run, context, object);
    }
  }
  static Step perform(Named& step, Context& context) {
    const Snapshot<T> object = context.latest<T>();
    context.set_primary(std::make_unique<detail::PrimaryOf<T>>(object));
    try {
      return step.run(context, *object);
    } catch (...) {
      detail::report_failed_step(context, step.name);
      throw;
    }
  }

  std::vector<Named> steps_;
};

}  // namespace v0
}  // namespace evenkeel
