// SPDX-License-Identifier: Apache-2.0
// Interface between a ClusterSet and the providers that offer clusters to it.
#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/base/export.hpp>
#include <evenkeel/client/policy_rule.hpp>
#include <evenkeel/clusters/cluster.hpp>

namespace evenkeel {
inline namespace v0 {

/// Receives the clusters of one provider. Calls return at once; clusters are engaged in the background.
/// Thread safety: all members may be called concurrently.
class EVENKEEL_API ClusterSink {
 public:
  virtual ~ClusterSink() = default;
  /// Offers a cluster, or a new configuration of one. If another provider has offered the same name, a
  /// message is logged, and this offer takes effect once the other provider has withdrawn the name. Throws
  /// std::invalid_argument for an invalid name.
  virtual void offer(ClusterDescription description) = 0;
  /// Withdraws a cluster. Unknown names are ignored.
  virtual void withdraw(std::string_view name) = 0;
};

/// A source of clusters, such as kubeconfig_directory(); see Manager::follow().
class EVENKEEL_API ClusterProvider {
 public:
  virtual ~ClusterProvider() = default;
  /// Name in logs; unique in its set.
  virtual const std::string& name() const noexcept = 0;
  /// Offers and withdraws clusters until `stop`. Called once, on a dedicated thread. Clusters that were
  /// offered stay engaged after it returns. An exception ends the manager.
  virtual void run(ClusterSink& sink, std::stop_token stop) = 0;
  /// Returns the rights that run() needs in the home cluster.
  virtual std::vector<PolicyRule> rules() const { return {}; }
  /// Returns the namespace in which it needs these; empty: all.
  virtual std::string rules_namespace() const { return {}; }
};

}  // namespace v0
}  // namespace evenkeel
