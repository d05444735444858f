// SPDX-License-Identifier: Apache-2.0
// Writes the kubeconfig of an embedded server, for kubectl and other clients. Shared with floors above.
#pragma once

#include <string>

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// Empty members are left out.
struct KubeconfigParts {
  std::string server = {};
  std::string certificate_authority = {};  ///< PEM
  std::string token = {};
  std::string client_certificate = {};  ///< PEM
  std::string client_key = {};          ///< PEM
};

/// Returns a kubeconfig as YAML with one cluster, user and context, all named "evenkeel"; namespace default.
std::string write_kubeconfig(const KubeconfigParts& parts);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
