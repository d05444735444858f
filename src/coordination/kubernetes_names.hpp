// SPDX-License-Identifier: Apache-2.0
// Which object of the Kubernetes store a key lives in.
#pragma once

#include <string>
#include <string_view>

#include <evenkeel/coordination/kubernetes_store.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination::detail {

/// Throws std::invalid_argument for options out of their bounds.
void check_options(const KubernetesStoreOptions& options);

/// Thread safety: all members may be called concurrently.
class KubernetesNames {
 public:
  explicit KubernetesNames(const KubernetesStoreOptions& options)
      : root_(options.root), name_(options.name), objects_(options.objects) {}

  /// Throws std::invalid_argument for a key that is not below the root.
  std::string object_of(std::string_view key) const;
  /// The same for all keys of a range, which must be within what surely lives in one object.
  std::string object_of(const KeyRange& range) const;
  /// The object that `commit`, in normal form, writes; empty if it writes nothing. Throws for two.
  std::string object_of(const Commit& commit) const;

 private:
  /// What all keys begin with that live in the same set and object as `key`, and its scope.
  struct Home {
    std::string prefix;
    std::string object;
  };
  Home home_of(std::string_view key) const;

  const std::string root_;
  const std::string name_;
  const KubernetesObjects objects_;
};

}  // namespace coordination::detail
}  // namespace v0
}  // namespace evenkeel
