// SPDX-License-Identifier: Apache-2.0
// The objects of one kind, read by many threads while one thread applies the server's changes.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <evenkeel/base/export.hpp>
#include <evenkeel/base/mutex.hpp>
#include <evenkeel/base/object_key.hpp>
#include <evenkeel/cache/detail/object_tree.hpp>
#include <evenkeel/cache/object_event.hpp>
#include <evenkeel/cache/object_index.hpp>
#include <evenkeel/cache/wire_object.hpp>

namespace evenkeel {
inline namespace v0 {

class Clock;
class HashRanges;
enum class NamespaceHash : std::uint8_t;
struct WriteEffect;  // cache/write_effect.hpp

namespace detail {
class OwnWrites;
struct PendingTable;
}

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

/// A call of the function of an index that threw.
struct IndexFailure {
  const IndexDefinition& index;
  const WireObject& object;
  std::string_view error;  ///< Text of the exception.
};

struct ObjectStoreOptions {
  bool index_owners = true;  ///< Without it, by_owner() looks at all objects.
  /// For WriteEffect::until; outlives the store. Null: effects do not end by time.
  const Clock* clock = nullptr;
  /// Called when the function of an index throws for a stored object, which then is in no entry of it. Called
  /// under no lock by the thread that calls apply(), replace() or add_index(); must not throw.
  std::function<void(const IndexFailure&)> on_index_failure = {};
  NamespaceHash namespace_hash = {};  ///< Divides the ranges of extend() and drop(). Default: plain.
};

namespace detail {
struct StoreIndex;
}

/// A map from namespace and name to object, with an index by owner and the indexes that were added. The
/// writer's members keep the newer state: where resourceVersions can be compared, an older state of an object
/// is ignored, and so is an equal one. An object with another uid is another object: the deletion of the
/// first is reported, then the addition of the second. A change and its effects on all indexes become visible
/// at once.
/// Thread safety: apply(), remove() and replace() by one thread at a time; all others may be called
/// concurrently, also with these. Readers take a snapshot, of the objects or of one entry of an index, under
/// a lock that is held for some tens of nanoseconds (by a writer: for one change) and then read without a
/// lock.
class EVENKEEL_API ObjectStore {
 public:
  explicit ObjectStore(ObjectStoreOptions options = {});
  ~ObjectStore();

  StoreSnapshot snapshot() const EVENKEEL_EXCLUDES(mutex_);
  /// Returns the objects and a resourceVersion from which a watch completes them: it may deliver some of them
  /// again. The version is empty if none was reached().
  std::pair<StoreSnapshot, std::string> resume_point() const EVENKEEL_EXCLUDES(mutex_);
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
  std::vector<WireObject> by_owner(std::string_view uid, const IndexListOptions& options = {}) const
      EVENKEEL_EXCLUDES(mutex_);
  /// Returns the objects that have this value in the index, including own writes, sorted by namespace and
  /// name. Throws std::invalid_argument, with the names of all indexes, if there is no such index.
  /// Complexity: linear in the result, and in the number of own writes that the watch has not delivered.
  std::vector<WireObject> by_index(std::string_view index, std::string_view value,
                                   const IndexListOptions& options = {}) const EVENKEEL_EXCLUDES(mutex_);
  /// Adds an index. Objects that exist are indexed by the calling thread; until it returns, reads by this
  /// index look at all objects. Has no effect if the index exists with the same function. Throws
  /// std::invalid_argument if it exists with another one.
  void add_index(IndexDefinition definition) EVENKEEL_EXCLUDES(mutex_);
  std::size_t size() const { return snapshot().size(); }
  /// Records the state with which the server answered a write of this program: record() of a
  /// WriteEffect::Kind::written.
  void written(const WireObject& object) EVENKEEL_EXCLUDES(mutex_);
  /// Records the effect of a write of this program. Until the watch has delivered the same state or a newer
  /// one, all reads return the written state and hide removed objects. Of an object whose state is_unknown(),
  /// they return the state that the watch has delivered. Written states are ignored if resourceVersions
  /// cannot be compared.
  void record(WriteEffect effect) EVENKEEL_EXCLUDES(mutex_);
  /// Returns true if only the server knows the state of the object: a write changed it, and neither its
  /// answer nor the watch has shown its state so far.
  bool is_unknown(std::string_view namespace_, std::string_view name) const EVENKEEL_EXCLUDES(mutex_);
  /// Returns the keys of all objects with an unknown state, of one namespace if given, sorted.
  std::vector<ObjectKey> unknown(std::optional<std::string_view> namespace_ = {}) const
      EVENKEEL_EXCLUDES(mutex_);
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
  /// Replaces the objects in namespaces whose hashes are in `ranges`, like replace().
  std::vector<StoreDelta> extend(const HashRanges& ranges, std::vector<WireObject> objects)
      EVENKEEL_EXCLUDES(mutex_);
  /// Frees the objects in namespaces whose hashes are in `ranges`. They were not deleted: there are no
  /// deltas.
  void drop(const HashRanges& ranges) EVENKEEL_EXCLUDES(mutex_);

 private:
  using Selects = std::function<bool(const WireObject&)>;

  /// Returns a copy of the effects of own writes that the watch has not delivered yet; usually null.
  std::unique_ptr<const detail::PendingTable> pending() const EVENKEEL_REQUIRES(mutex_);
  void end_own_writes() const EVENKEEL_REQUIRES(mutex_);
  /// Overlays `sorted`, which were selected in `at`, with the effects in `own`.
  static void overlay(std::vector<WireObject>& sorted, const StoreSnapshot& at,
                      const detail::PendingTable* own, const Selects& selects);
  using Indexes = std::vector<std::shared_ptr<detail::StoreIndex>>;
  class IndexChanges;

  std::shared_ptr<detail::StoreIndex> find_index(std::string_view name) const EVENKEEL_REQUIRES(mutex_);
  std::vector<WireObject> read_index(const detail::StoreIndex& index, std::string_view value,
                                     const IndexListOptions& options) const EVENKEEL_EXCLUDES(mutex_);
  std::vector<std::string> values_of(const detail::StoreIndex& index, const WireObject& object) const;
  void build(detail::StoreIndex& index, const StoreSnapshot& objects) EVENKEEL_EXCLUDES(mutex_);
  detail::ObjectTree& own_tree() EVENKEEL_REQUIRES(mutex_);
  void commit(const std::vector<StoreDelta>& deltas, detail::Counted<detail::ObjectTree>* whole = nullptr)
      EVENKEEL_EXCLUDES(mutex_);
  /// Drops the effects of own writes that a change by the watch has overtaken.
  void retire(const StoreDelta& delta) EVENKEEL_REQUIRES(mutex_);

  const ObjectStoreOptions options_;
  mutable Mutex mutex_;
  detail::Counted<detail::ObjectTree> tree_ EVENKEEL_GUARDED_BY(mutex_);
  Indexes indexes_ EVENKEEL_GUARDED_BY(mutex_);  // grows only; the first is that of owners
  std::size_t bytes_ EVENKEEL_GUARDED_BY(mutex_) = 0;
  std::string reached_ EVENKEEL_GUARDED_BY(mutex_);
  const std::unique_ptr<detail::OwnWrites> own_ EVENKEEL_GUARDED_BY(mutex_);
  // own_->unknown(), for readers without the lock: stored before the call that records a write returns.
  mutable std::atomic<std::size_t> unknown_ = 0;
};

}  // namespace v0
}  // namespace evenkeel
