// SPDX-License-Identifier: Apache-2.0
// Key of a controller's queue: the name of an object, stored in a KeyTable.
#pragma once

#include <compare>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include <evenkeel/base/object_key.hpp>
#include <evenkeel/workqueue/detail/key_entry.hpp>

namespace evenkeel {
inline namespace v0 {

namespace detail {
class InternedIndex;
}  // namespace detail

/// A counted handle to an interned (cluster, namespace, name). A copy increments the count; keys of one table
/// are compared by address. A default-constructed or moved-from key is empty: all its parts are empty.
/// Thread safety: const members may be called concurrently; different handles to one key are independent.
/// Lifetime: keeps its entry alive; views are valid as long as any handle to the key is.
class RequestKey {
 public:
  RequestKey() = default;
  RequestKey(const RequestKey& other) noexcept : entry_(other.entry_) {
    if (entry_ != nullptr) detail::KeyTableState::add_handle(*entry_);
  }
  RequestKey(RequestKey&& other) noexcept : entry_(std::exchange(other.entry_, nullptr)) {}
  RequestKey& operator=(RequestKey other) noexcept {
    std::swap(entry_, other.entry_);
    return *this;
  }
  ~RequestKey() {
    if (entry_ != nullptr) detail::KeyTableState::drop_handle(*entry_);
  }

  /// Empty for the cluster that the process treats as its own.
  std::string_view cluster() const { return entry_ == nullptr ? std::string_view() : entry_->cluster(); }
  /// Empty for cluster-scoped kinds.
  std::string_view namespace_() const {
    return entry_ == nullptr ? std::string_view() : entry_->namespace_();
  }
  std::string_view name() const { return entry_ == nullptr ? std::string_view() : entry_->name(); }
  /// Returns a copy of namespace and name.
  ObjectKey object_key() const {
    return {.namespace_ = std::string(namespace_()), .name = std::string(name())};
  }

  /// Returns "namespace/name" or "name", prefixed with "cluster:" if there is a cluster.
  std::string str() const {
    std::string text;
    if (!cluster().empty()) text.append(cluster()).append(":");
    if (!namespace_().empty()) text.append(namespace_()).append("/");
    return text.append(name());
  }

  std::size_t hash() const { return entry_ == nullptr ? 0 : entry_->table_hash(); }
  /// Returns the hash() of the key with these names, whether or not such a key exists.
  static std::size_t hash_of(std::string_view cluster, std::string_view object_namespace,
                             std::string_view object_name) {
    return detail::KeyTableState::hash(cluster, object_namespace, object_name);
  }

  friend bool operator==(const RequestKey& a, const RequestKey& b) {
    if (a.entry_ == b.entry_) return true;
    if (a.entry_ == nullptr || b.entry_ == nullptr || a.entry_->table() == b.entry_->table()) return false;
    return a.name() == b.name() && a.namespace_() == b.namespace_() && a.cluster() == b.cluster();
  }

  /// Orders by cluster, then namespace, then name.
  friend std::strong_ordering operator<=>(const RequestKey& a, const RequestKey& b) {
    if (a == b) return std::strong_ordering::equal;
    if (const auto order = a.cluster() <=> b.cluster(); std::is_neq(order)) return order;
    if (const auto order = a.namespace_() <=> b.namespace_(); std::is_neq(order)) return order;
    return a.name() <=> b.name();
  }

 private:
  friend class KeyTable;
  friend class detail::InternedIndex;
  explicit RequestKey(detail::KeyEntry* entry) noexcept : entry_(entry) {}  // takes ownership of a handle

  detail::KeyEntry* entry_ = nullptr;
};

}  // namespace v0
}  // namespace evenkeel

template <>
struct std::hash<evenkeel::RequestKey> {
  std::size_t operator()(const evenkeel::RequestKey& key) const noexcept { return key.hash(); }
};
