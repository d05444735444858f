// SPDX-License-Identifier: Apache-2.0
// Table of the names of the objects in use, each stored once.
#pragma once

#include <cstddef>
#include <string_view>

#include <evenkeel/base/object_key.hpp>
#include <evenkeel/workqueue/detail/key_entry.hpp>
#include <evenkeel/workqueue/request_key.hpp>

namespace evenkeel {
inline namespace v0 {

/// A table of interned keys. Interning the same names twice gives two handles to one entry, so keys of one
/// table are compared by address and hashed once. An entry lives as long as a handle to it: the key of a
/// deleted object still works, and costs nothing once its last handle is gone.
/// Thread safety: all members may be called concurrently. Lifetime: handles may outlive the table.
class KeyTable {
 public:
  KeyTable() : state_(new detail::KeyTableState()) {}
  ~KeyTable() { state_->abandon(); }
  KeyTable(const KeyTable&) = delete;
  KeyTable& operator=(const KeyTable&) = delete;

  /// Returns the key with these names. `cluster` is empty for the cluster that the process treats as its own,
  /// `object_namespace` for cluster-scoped kinds.
  RequestKey intern(std::string_view cluster, std::string_view object_namespace,
                    std::string_view object_name) {
    return RequestKey(state_->acquire(cluster, object_namespace, object_name));
  }
  RequestKey intern(const ObjectKey& key) { return intern({}, key.namespace_, key.name); }

  /// Number of entries, which all have at least one handle.
  std::size_t size() const { return state_->size(); }

 private:
  detail::KeyTableState* state_;
};

}  // namespace v0
}  // namespace evenkeel
