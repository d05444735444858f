// SPDX-License-Identifier: Apache-2.0
#include "controller/run_span.hpp"

#include <chrono>
#include <utility>

namespace evenkeel {
inline namespace v0 {
namespace detail {

Span start_run_span(Tracer& tracer, RunFacts facts) {
  Span span = tracer.start("reconcile " + std::string(facts.controller), {.links = std::move(facts.links)});
  if (!span.is_recording()) return span;
  const RequestKey& key = facts.key;
  span.set_attribute("evenkeel.controller", std::string(facts.controller));
  if (!key.cluster().empty()) span.set_attribute("k8s.cluster.name", std::string(key.cluster()));
  if (!key.namespace_().empty()) span.set_attribute("k8s.namespace.name", std::string(key.namespace_()));
  span.set_attribute("k8s.object.name", std::string(key.name()));
  span.set_attribute("evenkeel.reconcile_id", std::string(facts.reconcile_id));
  span.set_attribute("evenkeel.attempt", static_cast<std::int64_t>(facts.attempt));
  return span;
}

void describe_outcome(Span& span, const ReconcileOutcome& outcome) {
  if (!span.is_recording()) return;
  span.set_attribute("evenkeel.result", std::string(outcome_name(outcome.kind)));
  if (outcome.delay > Duration::zero())
    span.set_attribute("evenkeel.requeue_after_s", std::chrono::duration<double>(outcome.delay).count());
  if (outcome.kind == OutcomeKind::error || outcome.kind == OutcomeKind::terminal_error)
    span.set_status(SpanStatus::error, outcome.message);
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
