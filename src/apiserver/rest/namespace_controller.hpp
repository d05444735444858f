// SPDX-License-Identifier: Apache-2.0
// Namespaces: those that there always are, and what happens to the content of those that are deleted.
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

  void observe(const ChangePtr& change);
  bool has_work() const { return !dirty_.empty(); }
  /// Deletes the content of namespaces that go, and those that have none left.
  void run(Storage& storage, WallTime now);

 private:
  void empty(Storage& storage, const std::string& name, WallTime now);
  /// Takes this controller's own finalizer away, and the namespace if that was the last.
  void finalize(Storage& storage, const std::string& name, WallTime now);

  std::set<std::string> terminating_;
  std::set<std::string> dirty_;  // of them, those in which something changed since the last look
};

/// Throws StatusError if objects of `resource` cannot be created in the namespace.
void require_namespace(Storage& storage, std::string_view namespace_, const struct ResourceType& type,
                       std::string_view name);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
