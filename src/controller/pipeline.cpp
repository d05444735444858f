// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <evenkeel/controller/pipeline.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

bool StepSummary::add(std::string_view name, const Step& step) {
  if (step.kind() == Step::Kind::go_on) return true;
  const Result result = unfinished(step.result());
  requeues_ = requeues_ || result.kind() == Result::Kind::requeue;
  if (result.priority()) priority_ = result.priority();
  if (result.kind() == Result::Kind::requeue_after)
    delay_ = delay_ ? std::min(*delay_, result.delay()) : result.delay();
  if (result.kind() != Result::Kind::done) {
    if (!reasons_.empty()) reasons_ += "; ";
    reasons_ += name;
    if (!result.reason().empty()) reasons_ += ": " + result.reason();
  }
  return step.kind() == Step::Kind::later;
}

Result StepSummary::result() const {
  Result result;
  if (requeues_) {
    result = requeue(reasons_);
  } else if (delay_) {
    result = requeue_after(*delay_, reasons_);
  }
  return priority_ ? result.with_priority(*priority_) : result;
}

void report_failed_step(const Context& context, std::string_view name) {
  context.log().info("a step failed", {{"step", name}});
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
