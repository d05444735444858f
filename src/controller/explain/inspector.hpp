// SPDX-License-Identifier: Apache-2.0
// Inspects a controller: collects the data that explains a key, and finds stuck runs.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <evenkeel/base/log.hpp>
#include <evenkeel/base/metrics.hpp>
#include <evenkeel/controller/controller_spec.hpp>
#include <evenkeel/controller/explanation.hpp>

#include "controller/explain/explain_core.hpp"
#include "controller/followed_clusters.hpp"
#include "controller/gated_queue.hpp"
#include "controller/unlisted_keys.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// The state of a controller at one moment.
struct ControllerMoment {
  std::string blocked_reason = {};  ///< Reason why it does not run here; empty: it does.
  bool synced = false;
  bool stopping = false;
  std::vector<WatchExplanation> watches = {};
};

/// A key that names its cluster apart.
struct ClusterObject {
  std::string cluster = {};  ///< Empty: the home cluster.
  ObjectKey key = {};
};

/// Thread safety: all members may be called concurrently.
/// Lifetime: keeps references to its constructor arguments.
class Inspector {
 public:
  Inspector(const ControllerSpec& spec, const ControllerEnvironment& environment, GatedQueue& queue, Log log,
            const FollowedClusters& clusters, const UnlistedKeys& unlisted)
      : spec_(spec),
        environment_(environment),
        queue_(queue),
        log_(std::move(log)),
        clusters_(clusters),
        unlisted_(unlisted) {}

  /// Returns the cluster and the key in it for one whose namespace or name begins with a cluster, as
  /// Controller::explain() takes it.
  ClusterObject in_cluster(const ObjectKey& key) const;

  /// See the members of Controller with these names.
  Explanation explain(const ClusterObject& object, ControllerMoment moment);
  ControllerSummary summary(std::size_t most, ControllerMoment moment);
  std::optional<TimePoint> look_for_stuck();
  std::string problem(const ControllerMoment& moment);
  /// Collects the number of stuck runs and the duration of the longest run.
  void collect(MetricSink& sink) const;

 private:
  using Keys = std::vector<KeyInfo<RequestKey>>;

  Keys keys_by_turn() const;
  RunExplanation named(const RunInFlight& run, const Keys& keys) const;
  std::string wedge(const ControllerMoment& moment, const Keys& keys, TimePoint now) const;
  std::optional<bool> exists(const ClusterObject& object, const ControllerMoment& moment) const;
  std::string why_blocked(const ClusterObject& object) const;

  const ControllerSpec& spec_;
  const ControllerEnvironment& environment_;
  GatedQueue& queue_;
  const Log log_;
  const FollowedClusters& clusters_;
  const UnlistedKeys& unlisted_;
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
