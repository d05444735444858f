// SPDX-License-Identifier: Apache-2.0
// Creates the initial namespaces, and deletes the content of namespaces that are being deleted.
// Source: kube-controller-manager's namespace controller.
#pragma once

#include <set>
#include <string>

#include <evenkeel/base/time.hpp>

#include "apiserver/store/store.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

struct Storage;

class NamespaceController {
 public:
  /// Creates default, kube-system, kube-public and kube-node-lease.
  static void create_initial(Storage& storage, WallTime now);

  void observe(const Store& store, const Change& change);
  bool has_work() const { return !dirty_.empty(); }
  /// Deletes the content of namespaces that are being deleted, and then the namespaces.
  void run(Storage& storage, WallTime now);

 private:
  void empty(Storage& storage, const std::string& name, WallTime now);
  /// Removes this controller's finalizer, and the namespace if that was the last one.
  void finalize(Storage& storage, const std::string& name, WallTime now);

  std::set<std::string> terminating_;
  std::set<std::string> dirty_;  // those of them that changed since the last run
};

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
