// SPDX-License-Identifier: Apache-2.0
// The roles and bindings of every cluster, and the rules of ClusterRoles that aggregate others.
// Source: kubernetes plugin/pkg/auth/authorizer/rbac/bootstrappolicy, pkg/controller/clusterroleaggregation.
#pragma once

#include <evenkeel/base/time.hpp>

#include "apiserver/store/storage.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// Used only with RBAC.
class RoleController {
 public:
  /// Creates the roles and bindings of every cluster, and aggregates them.
  void create_initial(Storage& storage, WallTime now);
  void observe(const Store& store, const Change& change);
  bool has_work() const { return changed_; }
  /// Writes the rules of aggregating ClusterRoles.
  void run(Storage& storage, WallTime now);

 private:
  bool enabled_ = false;
  bool changed_ = false;
};

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
