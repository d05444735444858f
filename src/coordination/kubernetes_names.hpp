// SPDX-License-Identifier: Apache-2.0
// Maps keys to the objects of the Kubernetes store.
#pragma once

#include <string>
#include <string_view>

#include <evenkeel/coordination/kubernetes_store.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination::detail {

/// Validates options. Throws std::invalid_argument for options out of their bounds.
void check_options(const KubernetesStoreOptions& options);

/// Thread safety: all members may be called concurrently.
class KubernetesNames {
 public:
  explicit KubernetesNames(const KubernetesStoreOptions& options)
      : root_(options.root), name_(options.name), objects_(options.objects) {}

  /// Throws std::invalid_argument for a key that is not below the root.
  std::string object_of(std::string_view key) const;
  /// Returns the object of all keys of a range, which must lie within one object.
  std::string object_of(const KeyRange& range) const;
  /// Returns the object that `commit`, in normal form, writes; empty if it writes nothing. Throws if there
  /// are two.
  std::string object_of(const Commit& commit) const;

 private:
  /// Returns the common prefix of all keys in the same set and object as `key`, and the scope.
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
