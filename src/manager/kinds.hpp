// SPDX-License-Identifier: Apache-2.0
// Kinds that the controllers of a manager use, and the CustomResourceDefinitions among them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <evenkeel/api/json.hpp>
#include <evenkeel/api/resource.hpp>
#include <evenkeel/controller/controller.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// A kind that a controller reconciles or watches.
struct UsedKind {
  ResourceId resource = {};
  std::function<Json()> crd = {};  ///< Null for kinds without a C++ type.
  bool installs_crd = false;
};

/// The reconciled kind first, then the watched ones; channels of the program's own objects are left out.
std::vector<UsedKind> kinds_of(const ControllerSpec& spec);
/// The definitions of those that say installs_crd, in order, each once.
std::vector<Json> crds_of(const std::vector<UsedKind>& kinds);
/// All others, in order, each once.
std::vector<ResourceId> without_crd(const std::vector<UsedKind>& kinds);

/// True for the API groups that kube-apiserver itself serves, "" and "apps" among them.
bool is_kubernetes_group(const std::string& group);
/// "Certificate (cert-manager.io/v1), Pod (v1)"; empty for none.
std::string list_kinds(const std::vector<ResourceId>& kinds);

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
