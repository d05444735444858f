// SPDX-License-Identifier: Apache-2.0
// The followed clusters as a part of a manager, and as a section of its console.
#pragma once

#include <memory>
#include <vector>

#include <evenkeel/api/json.hpp>
#include <evenkeel/base/mutex.hpp>
#include <evenkeel/clusters/cluster_set.hpp>

#include "manager/part.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {

class ClustersPart final : public Part {
 public:
  explicit ClustersPart(ClusterSet& clusters) : clusters_(clusters) {}
  ~ClustersPart() override;
  void start(Started started, Ended ended) override;
  void stop() override;
  void cancel() override {}

 private:
  /// The end of the clusters may come later than that of the manager's run.
  struct Report {
    Mutex mutex;
    Ended ended EVENKEEL_GUARDED_BY(mutex);
  };

  ClusterSet& clusters_;
  const std::shared_ptr<Report> report_ = std::make_shared<Report>();
};

/// Returns a table of clusters.
Json clusters_json(const std::vector<ClusterStatus>& clusters);

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
