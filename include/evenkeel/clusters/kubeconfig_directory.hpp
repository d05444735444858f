// SPDX-License-Identifier: Apache-2.0
// Clusters from the kubeconfig files of a directory.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include <evenkeel/base/clock.hpp>
#include <evenkeel/base/export.hpp>
#include <evenkeel/base/log.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/clusters/cluster_provider.hpp>

namespace evenkeel {
inline namespace v0 {

struct KubeconfigDirectoryOptions {
  Duration period = std::chrono::seconds{10};  ///< Time between two reads of the directory. > 0.
  Log log = {};
  std::shared_ptr<const Clock> clock = real_clock();
};

/// Returns a provider of one cluster for each kubeconfig in `directory`: the cluster of its current context,
/// named after the file without ".kubeconfig", ".yaml", ".yml" or ".conf". Files whose name begins with '.'
/// are ignored, so that the directory can be a mounted Secret or ConfigMap.
///
/// A file that changes replaces its cluster, and a file that is removed withdraws it. A file that cannot be
/// read or is not a usable kubeconfig is logged once for each problem and read again each time; a cluster
/// that it offered before stays. If the directory itself cannot be read, all clusters stay. Throws
/// std::invalid_argument for an empty directory name or period.
EVENKEEL_API std::shared_ptr<ClusterProvider> kubeconfig_directory(std::string directory,
                                                                   KubeconfigDirectoryOptions options = {});

}  // namespace v0
}  // namespace evenkeel
