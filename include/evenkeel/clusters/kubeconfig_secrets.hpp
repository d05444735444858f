// SPDX-License-Identifier: Apache-2.0
// Clusters from kubeconfigs in Secrets of the home cluster.
#pragma once

#include <memory>
#include <string>

#include <evenkeel/base/clock.hpp>
#include <evenkeel/base/export.hpp>
#include <evenkeel/base/log.hpp>
#include <evenkeel/client/client.hpp>
#include <evenkeel/clusters/cluster_provider.hpp>

namespace evenkeel {
inline namespace v0 {

struct KubeconfigSecretsOptions {
  std::string namespace_ = {};  ///< Empty: all namespaces.
  std::string label_selector = "sigs.k8s.io/multicluster-runtime-kubeconfig=true";
  std::string key = "kubeconfig";  ///< Member of `data` that is the kubeconfig.
  /// Suffix of the names of Secrets, which is removed to get the name of the cluster; Secrets without it are
  /// ignored.
  std::string name_suffix = {};
  /// Permits kubeconfigs that run programs (exec) or name files of this machine. Anyone who may write such a
  /// Secret can then run programs here, or have files sent to a server of their own.
  bool allow_local = false;
  Log log = {};
};

/// Returns options for the Secrets that Cluster API makes: "<cluster>-kubeconfig" with the label
/// cluster.x-k8s.io/cluster-name.
EVENKEEL_API KubeconfigSecretsOptions cluster_api_secrets();

/// Returns a provider of one cluster for each Secret that matches. `home` reads the Secrets. The name of the
/// cluster is that of the Secret without the suffix; with all namespaces "<namespace>.<name>".
///
/// A Secret that changes replaces its cluster, and one that is deleted or no longer matches withdraws it. A
/// Secret without a usable kubeconfig is logged; a cluster that it offered before stays. Throws
/// std::invalid_argument for a selector that cannot be parsed and for an empty key.
EVENKEEL_API std::shared_ptr<ClusterProvider> kubeconfig_secrets(const Client& home,
                                                                 KubeconfigSecretsOptions options = {});

}  // namespace v0
}  // namespace evenkeel
