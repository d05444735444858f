// SPDX-License-Identifier: Apache-2.0
// A reconciler in ordered steps, each of which goes on, ends the run, or asks to be looked at again later
// while the steps after it still run.
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

/// The answer of one step. A Result is one, too: done() goes on with the next step, requeue() and
/// requeue_after() end the run there.
class EVENKEEL_API Step {
 public:
  enum class Kind : std::uint8_t {
    go_on,  ///< The next step runs.
    stop,   ///< No later step runs; result() is that of the run.
    later,  ///< The next step runs, and the whole runs again after result().delay() at the latest.
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

/// The step has done its part.
inline Step go_on() {
  return {};
}

/// The run ends here, as done() unless `result` says otherwise: what comes later has nothing to do now.
inline Step stop_here(Result result = {}) {
  return {Step::Kind::stop, std::move(result)};
}

/// Not there yet, but nothing that later steps need: they run, and the whole is run again after `delay`. A
/// delay that is not positive is the same as go_on().
inline Step later(Duration delay, std::string reason = {}) {
  return {delay > Duration::zero() ? Step::Kind::later : Step::Kind::go_on,
          requeue_after(delay, std::move(reason))};
}

namespace detail {

/// What a run makes of the answers of its steps. Pure.
class EVENKEEL_API StepSummary {
 public:
  /// Takes the answer of the step `name`; whether the next one runs.
  bool add(std::string_view name, const Step& step);
  /// That of the whole: what ended the run, or the shortest delay asked for; the reasons of all, each with
  /// the name of its step, in order. A requeue under the limiter wins over delays.
  Result result() const;

 private:
  Result last_;
  std::optional<Duration> delay_;
  std::optional<Priority> priority_;
  std::string reasons_;
};

/// Writes to the run's log that a step failed; the exception that is being handled goes on.
EVENKEEL_API void report_failed_step(const Context& context, std::string_view name);

}  // namespace detail

/// Steps that are run in the order of adding, for each object of the kind T:
///
///     ek::Pipeline<Demo> steps;
///     steps.step("config", apply_config).step("rollout", wait_for_rollout).step("status", write_status);
///     manager.add(ek::controller_for<Demo>(steps));
///
/// A step is called as a reconciler is, with (Context&, const T&), and returns Step, Result or nothing, which
/// is go_on(). Each gets the object as the writes of the steps before left it. What a step throws ends the
/// run, is told with the step's name, and is retried as any failure: no later step runs.
/// Thread safety: as that of the steps; with several workers they are called concurrently.
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
