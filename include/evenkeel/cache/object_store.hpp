// SPDX-License-Identifier: Apache-2.0
// The objects of one collection, read by many threads while one keeps them equal to the server's.
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

/// All objects of a collection at one moment, sorted by namespace and name. Cheap to copy; what happens to
/// the store later does not reach it.
/// Thread safety: as a std::shared_ptr to something const.
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
  /// A run of neighbours. Valid as long as the snapshot.
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
  /// Those of one namespace; costs what it returns.
  Range in_namespace(std::string_view namespace_) const;
  /// Empty if there is none.
  WireObject find(std::string_view namespace_, std::string_view name) const;

 private:
  friend class ObjectStore;
  explicit StoreSnapshot(detail::Counted<detail::ObjectTree> tree) : tree_(std::move(tree)) {}

  detail::Counted<detail::ObjectTree> tree_;
};

/// One change that a store went through.
struct StoreDelta {
  EventType type = EventType::added;
  WireObject object = {};            ///< The object now; of deleted ones, the last state that is known.
  WireObject old = {};               ///< The state before, for updates and deletions.
  bool final_state_unknown = false;  ///< Deleted while nobody looked: `object` is the last state seen.
  bool resync = false;               ///< Told again without a change.
};

struct ObjectStoreOptions {
  bool index_owners = true;  ///< For a fast by_owner(); about 150 bytes for each owner reference.
};

/// A map from namespace and name to object, with an index by owner.
/// The writer's members keep what is newer: where resourceVersions can be compared, an older state of an
/// object is ignored, as is the same state again. An object of another uid is another object: the first is
/// reported as deleted, then the second as added.
/// Thread safety: apply(), remove() and replace() one thread at a time; all others may be called
/// concurrently, and with those. A reader takes a snapshot under a lock that is held for some tens of
/// nanoseconds, by a writer for one change; it reads without a lock.
class EVENKEEL_API ObjectStore {
 public:
  explicit ObjectStore(ObjectStoreOptions options = {});

  StoreSnapshot snapshot() const EVENKEEL_EXCLUDES(mutex_);
  /// What the server told last, without own writes. Empty if there is none.
  WireObject stored(std::string_view namespace_, std::string_view name) const {
    return snapshot().find(namespace_, name);
  }
  /// The object, own writes included. Empty if there is none.
  WireObject find(std::string_view namespace_, std::string_view name) const EVENKEEL_EXCLUDES(mutex_);
  /// All objects for which `selects` is true (all, if it is empty), of one namespace if one is given, own
  /// writes included, sorted by namespace and name.
  std::vector<WireObject> list(std::optional<std::string_view> namespace_ = {},
                               const std::function<bool(const WireObject&)>& selects = {}) const
      EVENKEEL_EXCLUDES(mutex_);
  /// Those that have an owner reference with this uid, sorted by namespace and name.
  /// Without an index of owners it looks at every object.
  std::vector<WireObject> by_owner(std::string_view uid) const EVENKEEL_EXCLUDES(mutex_);
  std::size_t size() const { return snapshot().size(); }
  /// The server answered a write of ours with this state: find(), list() and by_owner() give it until the
  /// server's own account has passed it. Ignored where resourceVersions cannot be compared.
  void written(const WireObject& object) EVENKEEL_EXCLUDES(mutex_);
  /// The server's account has reached this resourceVersion.
  void reached(std::string_view version) EVENKEEL_EXCLUDES(mutex_);
  /// Memory of the objects held.
  std::size_t bytes() const EVENKEEL_EXCLUDES(mutex_);

  /// `object` was added or changed. Gives nothing, one delta, or two if it is another object of the same
  /// name.
  std::vector<StoreDelta> apply(const WireObject& object) EVENKEEL_EXCLUDES(mutex_);
  /// `object` is gone; it is the last state.
  std::vector<StoreDelta> remove(const WireObject& object) EVENKEEL_EXCLUDES(mutex_);
  /// The collection is exactly `objects`, at once for readers. Of several of one key the last counts.
  /// Deletions come first, then updates and additions, each sorted.
  std::vector<StoreDelta> replace(std::vector<WireObject> objects) EVENKEEL_EXCLUDES(mutex_);

 private:
  // Children of one owner, by key. The views point into the objects.
  using Children = std::map<detail::TreeKey, WireObject>;
  struct UidHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const noexcept {
      return std::hash<std::string_view>{}(text);
    }
  };
  using Owners = std::unordered_map<std::string, Children, UidHash, std::equal_to<>>;

  // Own writes that the watch has not brought yet; few, and mostly none.
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
