// SPDX-License-Identifier: Apache-2.0
// A sorted set of wire objects whose versions share unchanged parts: readers keep the version that they took
// while the writer makes new ones. It has two levels: a tree of leaves, and leaves of objects.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include <evenkeel/base/export.hpp>
#include <evenkeel/cache/wire_object.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Sort order of objects: by namespace, then by name.
struct TreeKey {
  std::string_view namespace_;
  std::string_view name;
  auto operator<=>(const TreeKey&) const = default;  // NOLINT(modernize-use-nullptr): a false alarm
};

inline TreeKey tree_key(const WireObject& object) {
  return {object.namespace_(), object.name()};
}

/// A reference-counted pointer that can report whether it is the only one. shared_ptr cannot: its use_count()
/// does not synchronise with the release of the last other handle.
template <class T>
class Counted {
 public:
  Counted() noexcept = default;
  explicit Counted(T* node) noexcept : node_(node) {}
  Counted(const Counted& other) noexcept : node_(other.node_) {
    if (node_ != nullptr) node_->handles.fetch_add(1, std::memory_order_relaxed);
  }
  Counted(Counted&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
  Counted& operator=(Counted other) noexcept {
    std::swap(node_, other.node_);
    return *this;
  }
  ~Counted() {
    // Release pairs with the acquire of the thread that deletes the node, or of is_unique().
    if (node_ != nullptr && node_->handles.fetch_sub(1, std::memory_order_acq_rel) == 1) delete node_;
  }

  T* operator->() const noexcept { return node_; }
  T& operator*() const noexcept { return *node_; }
  explicit operator bool() const noexcept { return node_ != nullptr; }
  /// Returns true if no other handle exists. This stays true only if no other thread can copy this handle.
  bool is_unique() const noexcept { return node_->handles.load(std::memory_order_acquire) == 1; }

 private:
  T* node_ = nullptr;
};

struct TreeLeaf {
  TreeLeaf() = default;
  TreeLeaf(const TreeLeaf& other) : objects(other.objects) {}
  TreeLeaf& operator=(const TreeLeaf&) = delete;

  std::atomic<std::uint32_t> handles{1};
  std::vector<WireObject> objects;  // sorted; never empty in a tree
};

/// A persistent sorted tree with copy-on-write leaves.
/// Thread safety: one writer of a version that has no other reader; a shared version is never changed.
/// Complexity: find is logarithmic; insert and erase also move up to one leaf and, if the version is shared,
/// copy one leaf and the list of leaves (one pointer for each 64 to 128 objects).
struct EVENKEEL_API ObjectTree {
  static constexpr std::size_t leaf_size = 128;
  struct Place {
    std::size_t leaf = 0;
    std::size_t at = 0;
    bool operator==(const Place&) const = default;
  };

  ObjectTree() = default;
  ObjectTree(const ObjectTree& other) : leaves(other.leaves), size(other.size) {}
  ObjectTree& operator=(const ObjectTree&) = delete;

  /// Returns a tree of these objects, which must be sorted and without duplicates.
  static Counted<ObjectTree> of(std::vector<WireObject> sorted);

  /// Returns the position of the first object that is not before `key`, or end().
  Place lower_bound(const TreeKey& key) const noexcept;
  Place end() const noexcept { return {leaves.size(), 0}; }
  Place next(Place place) const noexcept;
  const WireObject& operator[](Place place) const noexcept { return leaves[place.leaf]->objects[place.at]; }
  /// Returns the object with this key, or null.
  const WireObject* find(const TreeKey& key) const noexcept;

  /// Inserts `object`, or replaces the one with its key. Copies leaves that other versions share.
  void put(WireObject object);
  void erase(const TreeKey& key);

  std::atomic<std::uint32_t> handles{1};
  std::vector<Counted<TreeLeaf>> leaves;
  std::size_t size = 0;

 private:
  std::vector<WireObject>& own(std::size_t leaf);
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
