// SPDX-License-Identifier: Apache-2.0
// The span of one run of a reconciler.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/base/trace.hpp>
#include <evenkeel/controller/result_core.hpp>
#include <evenkeel/workqueue/request_key.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Facts that are known when a run begins.
struct RunFacts {
  std::string_view controller = {};
  const RequestKey& key;
  std::string_view reconcile_id = {};
  std::uint64_t attempt = 1;
  std::vector<SpanLink> links = {};
};

/// Starts the span "reconcile <controller>".
Span start_run_span(Tracer& tracer, RunFacts facts);
/// Adds the outcome; failures other than conflicts make it an error.
void describe_outcome(Span& span, const ReconcileOutcome& outcome);

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
