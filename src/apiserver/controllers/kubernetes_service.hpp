// SPDX-License-Identifier: Apache-2.0
// Maintains the Service "kubernetes" of the default namespace with its Endpoints and EndpointSlice, as every
// API server does.
// Source: kubernetes pkg/controlplane/controller/kubernetesservice and pkg/controlplane/reconcilers.
#pragma once

#include <evenkeel/base/time.hpp>

#include "apiserver/store/store.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

struct Storage;

class KubernetesService {
 public:
  /// Creates those of the three objects that are missing.
  void run(Storage& storage, WallTime now);

  void observe(const Store& store, const Change& change);
  bool has_work() const { return missing_; }

 private:
  bool missing_ = false;
};

/// Stores an object that the API server itself creates (manager kube-apiserver), with defaults but without
/// validation. Has no effect if an object with this name exists.
void store_as_server(Storage& storage, const struct ResourceType& type, Json object, WallTime now);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
