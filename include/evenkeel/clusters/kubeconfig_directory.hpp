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
  Duration period = std::chrono::seconds{10};  ///< Time between two looks at the directory. > 0.
  Log log = {};
  std::shared_ptr<const Clock> clock = real_clock();
};

/// Returns a provider of one cluster for each kubeconfig in `directory`, that of its current context. The
/// name of the cluster is that of the file without ".kubeconfig", ".yaml", ".yml" or ".conf". Files whose
/// name begins with '.' are not looked at, so that a mounted Secret or ConfigMap can be the directory.
///
/// A file that changes replaces its cluster, and one that is removed withdraws it. One that cannot be read,
/// or is no usable kubeconfig, is logged once for each problem and tried again each time; a cluster that it
/// offered before stays. So do all while the directory itself cannot be read. Throws std::invalid_argument
/// for an empty directory name or period.
EVENKEEL_API std::shared_ptr<ClusterProvider> kubeconfig_directory(std::string directory,
                                                                   KubeconfigDirectoryOptions options = {});

}  // namespace v0
}  // namespace evenkeel
