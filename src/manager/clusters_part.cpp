// SPDX-License-Identifier: Apache-2.0
#include "manager/clusters_part.hpp"

#include <utility>

namespace evenkeel {
inline namespace v0 {
namespace detail {

ClustersPart::~ClustersPart() {
  MutexLock lock(report_->mutex);
  report_->ended = nullptr;
}

void ClustersPart::start(Started started, Ended ended) {
  {
    MutexLock lock(report_->mutex);
    report_->ended = std::move(ended);
  }
  clusters_.start();
  started();
}

void ClustersPart::stop() {
  clusters_.stop([report = report_] {
    MutexLock lock(report->mutex);
    if (report->ended) report->ended(nullptr);
  });
}

Json clusters_json(const std::vector<ClusterStatus>& clusters) {
  Json table = Json::array();
  for (const ClusterStatus& one : clusters) {
    table.push_back(Json::object({{"cluster", one.name},
                                  {"state", cluster_state_name(one.state)},
                                  {"synced", one.synced},
                                  {"watches", one.watches},
                                  {"objects", one.objects},
                                  {"running", one.running},
                                  {"reconciles", one.reconciles},
                                  {"errors", one.failures},
                                  {"problem", one.problem}}));
  }
  return table;
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
