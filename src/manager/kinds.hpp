// SPDX-License-Identifier: Apache-2.0
// The kinds that a manager's controllers use, and the CustomResourceDefinitions among them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <evenkeel/api/json.hpp>
#include <evenkeel/api/resource.hpp>
#include <evenkeel/controller/controller_spec.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// A kind that a controller reconciles or watches.
struct UsedKind {
  ResourceId resource = {};
  std::function<Json()> crd = {};  ///< Null for kinds without a C++ type.
  bool installs_crd = false;
};

/// Returns the reconciled kind, followed by the watched ones; channels of the program's own objects are left
/// out.
std::vector<UsedKind> kinds_of(const ControllerSpec& spec);
/// Returns the definitions of the kinds with installs_crd, in order, without duplicates.
std::vector<Json> crds_of(const std::vector<UsedKind>& kinds);
/// Returns all other kinds, in order, without duplicates.
std::vector<ResourceId> without_crd(const std::vector<UsedKind>& kinds);

/// Returns true for the API groups that kube-apiserver itself serves, such as "" and "apps".
bool is_kubernetes_group(const std::string& group);
/// Returns "Certificate (cert-manager.io/v1), Pod (v1)"; empty if there are none.
std::string list_kinds(const std::vector<ResourceId>& kinds);

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
