// SPDX-License-Identifier: Apache-2.0
// Looks at a controller from outside: gathers what explains a key, and finds what is stuck.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <evenkeel/base/log.hpp>
#include <evenkeel/base/metrics.hpp>
#include <evenkeel/controller/controller.hpp>
#include <evenkeel/controller/explanation.hpp>

#include "controller/explain_core.hpp"
#include "controller/gated_queue.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// How a controller is doing when somebody asks.
struct ControllerMoment {
  std::string blocked_reason = {};  ///< Why it does not run here; empty: it does.
  bool synced = false;
  bool stopping = false;
  std::vector<WatchExplanation> watches = {};
};

/// Thread safety: all members may be called concurrently. Lifetime: keeps references to all that it is made
/// of.
class Inspector {
 public:
  Inspector(const ControllerSpec& spec, const ControllerEnvironment& environment, GatedQueue& queue, Log log)
      : spec_(spec), environment_(environment), queue_(queue), log_(std::move(log)) {}

  /// See the members of Controller with these names.
  Explanation explain(const ObjectKey& key, ControllerMoment moment);
  Troubles troubles(std::size_t most, ControllerMoment moment);
  std::optional<TimePoint> look_for_stuck();
  std::string trouble(const ControllerMoment& moment);
  /// How many runs are stuck, and how long the longest lasts.
  void collect(MetricSink& sink) const;

 private:
  using Keys = std::vector<KeyInfo<RequestKey>>;

  Keys keys_by_turn() const;
  RunExplanation named(const RunInFlight& run, const Keys& keys) const;
  std::string wedge(const ControllerMoment& moment, const Keys& keys, TimePoint now) const;
  std::optional<bool> exists(const ObjectKey& key, const ControllerMoment& moment) const;

  const ControllerSpec& spec_;
  const ControllerEnvironment& environment_;
  GatedQueue& queue_;
  const Log log_;
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
