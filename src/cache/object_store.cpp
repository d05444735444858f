// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <exception>
#include <limits>
#include <stdexcept>

#include <evenkeel/base/clock.hpp>
#include <evenkeel/base/hash_ranges.hpp>
#include <evenkeel/cache/object_store.hpp>

#include "base/caught.hpp"
#include "base/cells.hpp"
#include "cache/own_writes.hpp"
#include "cache/store_index.hpp"

namespace evenkeel {
inline namespace v0 {

using detail::IndexValues;
using detail::is_older_state;
using detail::ObjectTree;
using detail::OwnWrites;
using detail::PendingTable;
using detail::StoreIndex;
using detail::tree_key;
using detail::TreeKey;

StoreSnapshot::Range StoreSnapshot::in_namespace(std::string_view namespace_) const {
  const Iterator first(&*tree_, tree_->lower_bound({namespace_, {}}));
  // No namespace sorts between this one and itself followed by a zero byte.
  std::string after(namespace_);
  after += '\0';
  return {first, Iterator(&*tree_, tree_->lower_bound({after, {}}))};
}

WireObject StoreSnapshot::find(std::string_view namespace_, std::string_view name) const {
  const WireObject* const found = tree_->find({namespace_, name});
  return found == nullptr ? WireObject() : *found;
}

namespace {

bool is_in(const HashRanges& ranges, const WireObject& object, NamespaceHash hash) {
  return ranges.contains(detail::hash_of(object.namespace_(), hash));
}

/// Returns true if `candidate` is an older state than `stored`, or the same.
bool is_not_newer(const WireObject& candidate, const WireObject& stored) {
  const auto order = compare_resource_versions(candidate.resource_version(), stored.resource_version());
  if (!order) return false;
  if (*order == std::strong_ordering::less) return true;
  return *order == std::strong_ordering::equal && !stored.resource_version().empty();
}

bool same_state(const WireObject& left, const WireObject& right) {
  return left == right || (left.uid() == right.uid() && !left.resource_version().empty() &&
                           left.resource_version() == right.resource_version());
}

StoreDelta tombstone(const WireObject& old) {
  return {.type = EventType::deleted, .object = old, .old = old, .final_state_unknown = true};
}

StoreDelta addition(const WireObject& object) {
  return {.type = EventType::added, .object = object};
}

StoreDelta update(const WireObject& object, const WireObject& old) {
  return {.type = EventType::updated, .object = object, .old = old};
}

/// Returns the changes from `before` to `now`; both are sorted. Unchanged objects are taken from `before`, so
/// that the copies in `now` are freed.
std::vector<StoreDelta> difference(const StoreSnapshot& before, std::vector<WireObject>& now) {
  std::vector<StoreDelta> deleted;
  std::vector<StoreDelta> changed;
  auto old = before.begin();
  for (WireObject& object : now) {
    for (; old != before.end() && tree_key(*old) < tree_key(object); ++old)
      deleted.push_back(tombstone(*old));
    if (old == before.end() || tree_key(*old) != tree_key(object)) {
      changed.push_back(addition(object));
      continue;
    }
    if (same_state(*old, object)) {
      object = *old;
    } else if (old->uid() == object.uid()) {
      changed.push_back(update(object, *old));
    } else {
      deleted.push_back(tombstone(*old));
      changed.push_back(addition(object));
    }
    ++old;
  }
  for (; old != before.end(); ++old) deleted.push_back(tombstone(*old));
  deleted.insert(deleted.end(), std::make_move_iterator(changed.begin()),
                 std::make_move_iterator(changed.end()));
  return deleted;
}

/// Returns true if the options of a list by index permit an object with this key.
bool in_scope(const TreeKey& key, const IndexListOptions& options) {
  if (!options.namespace_.empty() && key.namespace_ != options.namespace_) return false;
  return !options.after || TreeKey{options.after->namespace_, options.after->name} < key;
}

/// Returns the first place of a tree that these options permit, if the place that they end at comes after it.
ObjectTree::Place first_in_scope(const ObjectTree& tree, const IndexListOptions& options) {
  const TreeKey first{options.namespace_, {}};
  if (!options.after) return tree.lower_bound(first);
  // No name sorts between this one and itself followed by a zero byte.
  const std::string name = options.after->name + '\0';
  return tree.lower_bound(std::max(first, TreeKey{options.after->namespace_, name}));
}

}  // namespace

/// The effects of a change on the indexes. The values are computed without the store's lock.
class ObjectStore::IndexChanges {
 public:
  /// `first`: the store is empty, so that the change makes all entries.
  IndexChanges(const std::vector<StoreDelta>& deltas, bool first) : deltas_(deltas), first_(first) {}

  /// Returns the number of indexes for which compute() was called.
  std::size_t size() const { return changes_.size(); }
  void compute(const ObjectStore& store, const StoreIndex& index) {
    Change& change = changes_.emplace_back();
    if (!index.kept) return;
    for (const StoreDelta& delta : deltas_) {
      IndexValues values;
      if (delta.type != EventType::deleted) values = store.values_of(index, delta.object);
      if (first_)
        change.entries.apply(delta, values);
      else
        change.values.push_back(std::move(values));
    }
  }
  /// Called under the store's lock.
  void apply(const Indexes& indexes) {
    for (std::size_t i = 0; i < changes_.size(); ++i) {
      if (indexes[i]->kept) apply(changes_[i], *indexes[i]);
    }
  }

 private:
  struct Change {
    std::vector<IndexValues> values = {};  // of the new state of each delta
    detail::IndexEntries entries = {};     // if it is the first change
  };

  void apply(Change& change, StoreIndex& index) {
    if (first_) {
      std::swap(index.entries, change.entries);
      index.ready = true;
      return;
    }
    for (std::size_t i = 0; i < deltas_.size(); ++i) {
      if (index.ready)
        index.entries.apply(deltas_[i], change.values[i]);
      else
        index.missed.emplace_back(deltas_[i], std::move(change.values[i]));
    }
  }

  const std::vector<StoreDelta>& deltas_;
  const bool first_;
  std::vector<Change> changes_;
};

ObjectStore::ObjectStore(ObjectStoreOptions options)
    : options_(std::move(options)), tree_(ObjectTree::of({})), own_(std::make_unique<OwnWrites>()) {
  indexes_.push_back(std::make_shared<StoreIndex>(detail::owner_index(), options_.index_owners));
  indexes_.front()->ready = options_.index_owners;
}

ObjectStore::~ObjectStore() = default;

StoreSnapshot ObjectStore::snapshot() const {
  MutexLock lock(mutex_);
  return StoreSnapshot(tree_);
}

std::pair<StoreSnapshot, std::string> ObjectStore::resume_point() const {
  MutexLock lock(mutex_);
  return {StoreSnapshot(tree_), reached_};
}

std::size_t ObjectStore::bytes() const {
  MutexLock lock(mutex_);
  return bytes_;
}

std::vector<WireObject> ObjectStore::by_owner(std::string_view uid, const IndexListOptions& options) const {
  MutexLock lock(mutex_);
  const auto owners = indexes_.front();
  lock.unlock();
  return read_index(*owners, uid, options);
}

std::vector<WireObject> ObjectStore::by_index(std::string_view name, std::string_view value,
                                              const IndexListOptions& options) const {
  MutexLock lock(mutex_);
  const auto index = find_index(name);
  if (index != nullptr) {
    lock.unlock();
    return read_index(*index, value, options);
  }
  std::string known;
  for (const auto& one : indexes_) {
    if (one->definition.name.empty()) continue;
    known.append(known.empty() ? "" : ", ").append("\"").append(one->definition.name).append("\"");
  }
  throw std::invalid_argument("there is no index \"" + std::string(name) +
                              "\"; indexes: " + (known.empty() ? "none" : known));
}

std::shared_ptr<StoreIndex> ObjectStore::find_index(std::string_view name) const {
  const auto found = std::find_if(indexes_.begin() + 1, indexes_.end(),
                                  [name](const auto& index) { return index->definition.name == name; });
  return found == indexes_.end() ? nullptr : *found;
}

std::vector<WireObject> ObjectStore::read_index(const StoreIndex& index, std::string_view value,
                                                const IndexListOptions& options) const {
  std::vector<WireObject> result;
  if (value.empty()) return result;
  MutexLock lock(mutex_);
  const bool indexed = index.ready;
  const detail::Counted<ObjectTree> tree = indexed ? index.entries.find(value) : tree_;
  const StoreSnapshot at(tree_);
  const auto own = pending();
  lock.unlock();
  const auto has = [&](const WireObject& object) {
    return in_scope(tree_key(object), options) && index.has(object, value);
  };
  constexpr std::size_t all = std::numeric_limits<std::size_t>::max();
  const std::size_t limit = options.limit == 0 ? all : options.limit;
  const std::size_t spare = own == nullptr ? 0 : own->objects.size();  // own writes may remove as many
  const std::size_t most = limit > all - spare ? all : limit + spare;
  if (tree) {
    for (auto place = first_in_scope(*tree, options); place != tree->end(); place = tree->next(place)) {
      const WireObject& object = (*tree)[place];
      if (!in_scope(tree_key(object), options) || result.size() == most) break;
      if (indexed || index.has(object, value)) result.push_back(object);
    }
  }
  overlay(result, at, own.get(), has);
  if (result.size() > limit) result.resize(limit);
  return result;
}

/// Returns the values of a stored object; none if the function throws, which is reported.
IndexValues ObjectStore::values_of(const StoreIndex& index, const WireObject& object) const {
  try {
    return index.values_of(object);
  } catch (const std::exception& error) {
    if (options_.on_index_failure)
      options_.on_index_failure({.index = index.definition, .object = object, .error = error.what()});
  } catch (...) {
    if (options_.on_index_failure)
      options_.on_index_failure(
          {.index = index.definition, .object = object, .error = detail::foreign_exception});
  }
  return {};
}

void ObjectStore::add_index(IndexDefinition definition) {
  const auto index = std::make_shared<StoreIndex>(std::move(definition), true);
  MutexLock lock(mutex_);
  if (const auto known = find_index(index->definition.name)) {
    if (known->definition.function->is_same(*index->definition.function)) return;
    throw std::invalid_argument("there is an index \"" + index->definition.name + "\" with another function");
  }
  const StoreSnapshot objects(tree_);
  index->ready = objects.empty();
  indexes_.push_back(index);
  lock.unlock();
  if (!objects.empty()) build(*index, objects);
}

/// Indexes the objects of a snapshot, and then what has changed since it was taken.
void ObjectStore::build(StoreIndex& index, const StoreSnapshot& objects) {
  constexpr std::size_t few = 64;
  detail::IndexEntries entries;
  for (const WireObject& object : objects) entries.put(object, values_of(index, object));
  std::vector<std::pair<StoreDelta, IndexValues>> missed;
  while (true) {
    {
      MutexLock lock(mutex_);
      if (index.ready) return index.missed.clear();  // a first change has made all entries
      std::swap(missed, index.missed);
      if (missed.size() <= few) {
        for (const auto& [delta, values] : missed) entries.apply(delta, values);
        std::swap(index.entries, entries);
        index.ready = true;
        return;
      }
    }
    for (const auto& [delta, values] : missed) entries.apply(delta, values);
    missed.clear();
  }
}

WireObject ObjectStore::find(std::string_view namespace_, std::string_view name) const {
  const TreeKey key{namespace_, name};
  MutexLock lock(mutex_);
  const WireObject* const delivered = tree_->find(key);
  const WireObject object = delivered == nullptr ? WireObject() : *delivered;
  if (own_->empty()) return object;
  end_own_writes();
  const detail::PendingWrites* const own = own_->find(key);
  return own == nullptr ? object : own->over(object);
}

std::vector<WireObject> ObjectStore::list(std::optional<std::string_view> namespace_,
                                          const Selects& selects) const {
  const auto fits = [&](const WireObject& object) {
    return (!namespace_ || object.namespace_() == *namespace_) && (!selects || selects(object));
  };
  // Both under one lock: an effect that the watch has delivered must be in the snapshot.
  MutexLock lock(mutex_);
  const StoreSnapshot all(tree_);
  const auto own = pending();
  lock.unlock();
  std::vector<WireObject> result;
  if (!namespace_ && !selects) result.reserve(all.size());
  const auto range =
      namespace_ ? all.in_namespace(*namespace_) : StoreSnapshot::Range{all.begin(), all.end()};
  for (const WireObject& object : range) {
    if (!selects || selects(object)) result.push_back(object);
  }
  overlay(result, all, own.get(), fits);
  return result;
}

std::unique_ptr<const PendingTable> ObjectStore::pending() const {
  if (own_->empty()) return nullptr;
  end_own_writes();
  return std::make_unique<const PendingTable>(own_->table());
}

void ObjectStore::end_own_writes() const {
  if (options_.clock == nullptr || own_->next_due() == TimePoint::max()) return;
  if (const TimePoint now = options_.clock->now(); own_->next_due() <= now) own_->on_timeout(now);
  unknown_.store(own_->unknown(), std::memory_order_release);
}

void ObjectStore::overlay(std::vector<WireObject>& sorted, const StoreSnapshot& at, const PendingTable* own,
                          const Selects& selects) {
  if (own == nullptr) return;
  for (const auto& [key, pending] : own->objects) {
    const TreeKey place{key.namespace_, key.name};
    const WireObject delivered = at.find(place.namespace_, place.name);
    const WireObject shown = pending.over(delivered);
    if (shown == delivered) continue;
    const auto found =
        std::lower_bound(sorted.begin(), sorted.end(), place,
                         [](const WireObject& left, const TreeKey& right) { return tree_key(left) < right; });
    const bool there = found != sorted.end() && tree_key(*found) == place;
    const bool selected = shown && selects(shown);
    if (there && selected)
      *found = shown;
    else if (there)
      sorted.erase(found);
    else if (selected)
      sorted.insert(found, shown);
  }
}

void ObjectStore::written(const WireObject& object) {
  record({.kind = WriteEffect::Kind::written,
          .namespace_ = std::string(object.namespace_()),
          .name = std::string(object.name()),
          .object = object});
}

void ObjectStore::record(WriteEffect effect) {
  MutexLock lock(mutex_);
  end_own_writes();
  const WireObject* const delivered = tree_->find({effect.namespace_, effect.name});
  own_->on_write(std::move(effect), delivered == nullptr ? WireObject() : *delivered);
  unknown_.store(own_->unknown(), std::memory_order_release);
}

bool ObjectStore::is_unknown(std::string_view namespace_, std::string_view name) const {
  if (unknown_.load(std::memory_order_acquire) == 0) return false;
  MutexLock lock(mutex_);
  end_own_writes();
  const TreeKey key{namespace_, name};
  const detail::PendingWrites* const own = own_->find(key);
  if (own == nullptr) return false;
  const WireObject* const delivered = tree_->find(key);
  return own->is_unknown(delivered == nullptr ? WireObject() : *delivered);
}

std::vector<ObjectKey> ObjectStore::unknown(std::optional<std::string_view> namespace_) const {
  std::vector<ObjectKey> keys;
  if (unknown_.load(std::memory_order_acquire) == 0) return keys;
  MutexLock lock(mutex_);
  end_own_writes();
  for (const auto& [key, own] : own_->table().objects) {
    if (!own.may_be_unknown() || (namespace_ && key.namespace_ != *namespace_)) continue;
    const WireObject* const delivered = tree_->find({key.namespace_, key.name});
    if (own.is_unknown(delivered == nullptr ? WireObject() : *delivered)) keys.push_back(key);
  }
  return keys;
}

void ObjectStore::reached(std::string_view version) {
  MutexLock lock(mutex_);
  if (reached_ != version) reached_ = version;
  own_->on_reached(version);
  unknown_.store(own_->unknown(), std::memory_order_release);
}

std::vector<StoreDelta> ObjectStore::apply(const WireObject& object) {
  const WireObject old = stored(object.namespace_(), object.name());
  std::vector<StoreDelta> deltas;
  if (!old) {
    deltas.push_back(addition(object));
  } else if (old.uid() == object.uid()) {
    if (is_not_newer(object, old)) return deltas;
    deltas.push_back(update(object, old));
  } else {
    if (is_older_state(object, old)) return deltas;
    deltas.push_back(tombstone(old));
    deltas.push_back(addition(object));
  }
  commit(deltas);
  return deltas;
}

std::vector<StoreDelta> ObjectStore::remove(const WireObject& object) {
  const WireObject old = stored(object.namespace_(), object.name());
  std::vector<StoreDelta> deltas;
  if (!old || is_older_state(object, old)) return deltas;
  if (old.uid() == object.uid()) {
    deltas.push_back({.type = EventType::deleted, .object = object, .old = old});
  } else {
    deltas.push_back(tombstone(old));  // the state before this deletion was never seen
  }
  commit(deltas);
  return deltas;
}

std::vector<StoreDelta> ObjectStore::replace(std::vector<WireObject> objects) {
  std::stable_sort(objects.begin(), objects.end(), [](const WireObject& left, const WireObject& right) {
    return tree_key(left) < tree_key(right);
  });
  // The last of equal keys stays: unique() keeps the first ones, hence the reverse iterators.
  const auto kept = std::unique(
      objects.rbegin(), objects.rend(),
      [](const WireObject& left, const WireObject& right) { return tree_key(left) == tree_key(right); });
  objects.erase(objects.begin(), kept.base());
  std::vector<StoreDelta> deltas = difference(snapshot(), objects);
  auto tree = ObjectTree::of(std::move(objects));
  commit(deltas, &tree);
  return deltas;
}

std::vector<StoreDelta> ObjectStore::extend(const HashRanges& ranges, std::vector<WireObject> objects) {
  for (const WireObject& object : snapshot()) {
    if (!is_in(ranges, object, options_.namespace_hash)) objects.push_back(object);
  }
  return replace(std::move(objects));
}

void ObjectStore::drop(const HashRanges& ranges) {
  std::vector<WireObject> rest;
  for (const WireObject& object : snapshot()) {
    if (!is_in(ranges, object, options_.namespace_hash)) rest.push_back(object);
  }
  static_cast<void>(replace(std::move(rest)));
}

ObjectTree& ObjectStore::own_tree() {
  if (!tree_.is_unique()) tree_ = detail::Counted<ObjectTree>(new ObjectTree(*tree_));
  return *tree_;
}

/// Makes the deltas visible; `whole` is the tree that they lead to, if the caller has it.
void ObjectStore::commit(const std::vector<StoreDelta>& deltas, detail::Counted<ObjectTree>* whole) {
  IndexChanges changes(deltas, whole != nullptr && size() == 0);
  MutexLock lock(mutex_);
  while (changes.size() < indexes_.size()) {
    const Indexes indexes = indexes_;
    lock.unlock();
    while (changes.size() < indexes.size()) changes.compute(*this, *indexes[changes.size()]);
    lock.lock();
  }
  for (const StoreDelta& delta : deltas) {
    if (delta.old) bytes_ -= delta.old.bytes();
    if (delta.type != EventType::deleted) bytes_ += delta.object.bytes();
  }
  changes.apply(indexes_);
  for (const StoreDelta& delta : deltas) retire(delta);
  if (whole != nullptr) return std::swap(tree_, *whole);  // the caller frees the old one, without the lock
  ObjectTree& tree = own_tree();
  for (const StoreDelta& delta : deltas) {
    if (delta.type == EventType::deleted)
      tree.erase(tree_key(delta.old));
    else
      tree.put(delta.object);
  }
}

void ObjectStore::retire(const StoreDelta& delta) {
  if (delta.type == EventType::deleted)
    own_->on_removed(delta.old);
  else if (delta.type == EventType::added)
    own_->on_added(delta.object);
  else
    own_->on_stored(delta.object);
  unknown_.store(own_->unknown(), std::memory_order_release);
}

}  // namespace v0
}  // namespace evenkeel
