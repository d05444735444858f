// SPDX-License-Identifier: Apache-2.0
// The objects of one kind, read by many threads while one thread applies the server's changes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <evenkeel/base/export.hpp>
#include <evenkeel/base/mutex.hpp>
#include <evenkeel/base/object_key.hpp>
#include <evenkeel/cache/detail/object_tree.hpp>
#include <evenkeel/cache/object_event.hpp>
#include <evenkeel/cache/wire_object.hpp>

namespace evenkeel {
inline namespace v0 {

/// An immutable copy of a store, sorted by namespace and name. Cheap to copy; later changes of the store do
/// not affect it.
/// Thread safety: that of a std::shared_ptr to a const object.
class EVENKEEL_API StoreSnapshot {
 public:
  class Iterator {
   public:
    using value_type = WireObject;
    using difference_type = std::ptrdiff_t;
    using reference = const WireObject&;
    using pointer = const WireObject*;
    using iterator_category = std::forward_iterator_tag;
    Iterator() = default;
    Iterator(const detail::ObjectTree* tree, detail::ObjectTree::Place place) : tree_(tree), place_(place) {}
    reference operator*() const { return (*tree_)[place_]; }
    pointer operator->() const { return &(*tree_)[place_]; }
    Iterator& operator++() {
      place_ = tree_->next(place_);
      return *this;
    }
    Iterator operator++(int) {
      Iterator before = *this;
      ++*this;
      return before;
    }
    bool operator==(const Iterator&) const = default;

   private:
    const detail::ObjectTree* tree_ = nullptr;
    detail::ObjectTree::Place place_;
  };
  /// A range of adjacent objects. Valid as long as the snapshot.
  struct Range {
    Iterator first;
    Iterator last;
    Iterator begin() const { return first; }
    Iterator end() const { return last; }
  };

  std::size_t size() const noexcept { return tree_->size; }
  bool empty() const noexcept { return size() == 0; }
  Iterator begin() const { return {&*tree_, {0, 0}}; }
  Iterator end() const { return {&*tree_, tree_->end()}; }
  /// Returns the objects of one namespace; the cost is linear in their number.
  Range in_namespace(std::string_view namespace_) const;
  /// Returns the object, or an empty handle.
  WireObject find(std::string_view namespace_, std::string_view name) const;

 private:
  friend class ObjectStore;
  explicit StoreSnapshot(detail::Counted<detail::ObjectTree> tree) : tree_(std::move(tree)) {}

  detail::Counted<detail::ObjectTree> tree_;
};

/// One change of a store.
struct StoreDelta {
  EventType type = EventType::added;
  WireObject object = {};            ///< Current state; for deletions, the last known one.
  WireObject old = {};               ///< Previous state, for updates and deletions.
  bool final_state_unknown = false;  ///< Deleted during a gap of the watch: `object` may be out of date.
  bool resync = false;               ///< Delivered again without a change.
};

struct ObjectStoreOptions {
  bool index_owners = true;  ///< For a fast by_owner(); about 150 bytes for each owner reference.
};

/// A map from namespace and name to object, with an index by owner.
/// The writer's members keep the newer state: where resourceVersions can be compared, an older state of an
/// object is ignored, and so is an equal one. An object with another uid is another object: the deletion of
/// the first is reported, then the addition of the second.
/// Thread safety: apply(), remove() and replace() by one thread at a time; all others may be called
/// concurrently, also with these. Readers take a snapshot under a lock that is held for some tens of
/// nanoseconds (by a writer: for one change) and then read without a lock.
class EVENKEEL_API ObjectStore {
 public:
  explicit ObjectStore(ObjectStoreOptions options = {});

  StoreSnapshot snapshot() const EVENKEEL_EXCLUDES(mutex_);
  /// Returns the last state received from the server, without the program's own writes. Empty if there is
  /// none.
  WireObject stored(std::string_view namespace_, std::string_view name) const {
    return snapshot().find(namespace_, name);
  }
  /// Returns the object, including own writes. Empty if there is none.
  WireObject find(std::string_view namespace_, std::string_view name) const EVENKEEL_EXCLUDES(mutex_);
  /// Returns all objects for which `selects` is true (all if it is empty), of one namespace if given,
  /// including own writes, sorted by namespace and name.
  std::vector<WireObject> list(std::optional<std::string_view> namespace_ = {},
                               const std::function<bool(const WireObject&)>& selects = {}) const
      EVENKEEL_EXCLUDES(mutex_);
  /// Returns the objects that have an owner reference with this uid, sorted by namespace and name. Linear in
  /// the number of objects without an index of owners.
  std::vector<WireObject> by_owner(std::string_view uid) const EVENKEEL_EXCLUDES(mutex_);
  std::size_t size() const { return snapshot().size(); }
  /// Records the state with which the server answered a write of this program: find(), list() and by_owner()
  /// return it until the watch has delivered it or a newer one. Ignored if resourceVersions cannot be
  /// compared.
  void written(const WireObject& object) EVENKEEL_EXCLUDES(mutex_);
  /// Records that the watch has reached this resourceVersion.
  void reached(std::string_view version) EVENKEEL_EXCLUDES(mutex_);
  /// Returns the memory of the objects held, in bytes.
  std::size_t bytes() const EVENKEEL_EXCLUDES(mutex_);

  /// Applies an addition or update. Returns no delta, one, or two if it is another object with the same name.
  std::vector<StoreDelta> apply(const WireObject& object) EVENKEEL_EXCLUDES(mutex_);
  /// Applies a deletion; `object` is the last state.
  std::vector<StoreDelta> remove(const WireObject& object) EVENKEEL_EXCLUDES(mutex_);
  /// Replaces all objects by `objects`, atomically for readers. Of several with one key the last one is used.
  /// Deletions come first, then updates and additions, each sorted.
  std::vector<StoreDelta> replace(std::vector<WireObject> objects) EVENKEEL_EXCLUDES(mutex_);

 private:
  // Objects of one owner, by key. The keys are views into the objects.
  using Children = std::map<detail::TreeKey, WireObject>;
  struct UidHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const noexcept {
      return std::hash<std::string_view>{}(text);
    }
  };
  using Owners = std::unordered_map<std::string, Children, UidHash, std::equal_to<>>;

  // Own writes that the watch has not delivered yet; usually none.
  using OwnWrites = std::map<std::pair<std::string, std::string>, WireObject>;
  using Selects = std::function<bool(const WireObject&)>;

  void overlay(std::vector<WireObject>& sorted, const Selects& selects) const EVENKEEL_EXCLUDES(mutex_);
  detail::ObjectTree& own_tree() EVENKEEL_REQUIRES(mutex_);
  void commit(const std::vector<StoreDelta>& deltas) EVENKEEL_EXCLUDES(mutex_);
  void index(Owners& owners, const StoreDelta& delta) const;

  const ObjectStoreOptions options_;
  mutable Mutex mutex_;
  detail::Counted<detail::ObjectTree> tree_ EVENKEEL_GUARDED_BY(mutex_);
  Owners owners_ EVENKEEL_GUARDED_BY(mutex_);
  std::size_t bytes_ EVENKEEL_GUARDED_BY(mutex_) = 0;
  OwnWrites own_writes_ EVENKEEL_GUARDED_BY(mutex_);
  std::string reached_ EVENKEEL_GUARDED_BY(mutex_);
};

}  // namespace v0
}  // namespace evenkeel
