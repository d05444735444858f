// SPDX-License-Identifier: Apache-2.0
#include "manager/kinds.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

// Source: groups of k8s.io/api, k8s.io/apiextensions-apiserver and k8s.io/kube-aggregator, Kubernetes 1.36.
constexpr std::array<std::string_view, 23> kubernetes_groups = {"",
                                                                "admissionregistration.k8s.io",
                                                                "apiextensions.k8s.io",
                                                                "apiregistration.k8s.io",
                                                                "apps",
                                                                "authentication.k8s.io",
                                                                "authorization.k8s.io",
                                                                "autoscaling",
                                                                "batch",
                                                                "certificates.k8s.io",
                                                                "coordination.k8s.io",
                                                                "discovery.k8s.io",
                                                                "events.k8s.io",
                                                                "flowcontrol.apiserver.k8s.io",
                                                                "internal.apiserver.k8s.io",
                                                                "networking.k8s.io",
                                                                "node.k8s.io",
                                                                "policy",
                                                                "rbac.authorization.k8s.io",
                                                                "resource.k8s.io",
                                                                "scheduling.k8s.io",
                                                                "storage.k8s.io",
                                                                "storagemigration.k8s.io"};

}  // namespace

std::vector<UsedKind> kinds_of(const ControllerSpec& spec) {
  std::vector<UsedKind> kinds = {{spec.resource, spec.crd, spec.installs_crd}};
  for (const WatchSpec& watch : spec.watches) {
    if (watch.crd) kinds.push_back({watch.resource, watch.crd, watch.installs_crd});
  }
  return kinds;
}

std::vector<Json> crds_of(const std::vector<UsedKind>& kinds) {
  std::vector<Json> documents;
  for (const UsedKind& kind : kinds) {
    if (!kind.installs_crd || !kind.crd) continue;
    Json document = kind.crd();
    if (std::find(documents.begin(), documents.end(), document) == documents.end())
      documents.push_back(std::move(document));
  }
  return documents;
}

std::vector<ResourceId> without_crd(const std::vector<UsedKind>& kinds) {
  std::vector<ResourceId> found;
  for (const UsedKind& kind : kinds) {
    const auto installed = [&kind](const UsedKind& other) {
      return other.installs_crd && other.crd && other.resource == kind.resource;
    };
    if (std::any_of(kinds.begin(), kinds.end(), installed)) continue;
    if (std::find(found.begin(), found.end(), kind.resource) == found.end()) found.push_back(kind.resource);
  }
  return found;
}

bool is_kubernetes_group(const std::string& group) {
  return std::find(kubernetes_groups.begin(), kubernetes_groups.end(), group) != kubernetes_groups.end();
}

std::string list_kinds(const std::vector<ResourceId>& kinds) {
  std::string text;
  for (const ResourceId& kind : kinds) {
    text += (text.empty() ? "" : ", ") + kind.kind + " (" + kind.api_version() + ")";
  }
  return text;
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
