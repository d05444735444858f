// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <evenkeel/cache/object_store.hpp>

namespace evenkeel {
inline namespace v0 {

using detail::ObjectTree;
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

/// Returns true if `candidate` is an older state than `stored`, or the same.
bool is_not_newer(const WireObject& candidate, const WireObject& stored) {
  const auto order = compare_resource_versions(candidate.resource_version(), stored.resource_version());
  if (!order) return false;
  if (*order == std::strong_ordering::less) return true;
  return *order == std::strong_ordering::equal && !stored.resource_version().empty();
}

bool is_older(const WireObject& candidate, const WireObject& stored) {
  return compare_resource_versions(candidate.resource_version(), stored.resource_version()) ==
         std::strong_ordering::less;
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

}  // namespace

ObjectStore::ObjectStore(ObjectStoreOptions options) : options_(options), tree_(ObjectTree::of({})) {}

StoreSnapshot ObjectStore::snapshot() const {
  MutexLock lock(mutex_);
  return StoreSnapshot(tree_);
}

std::size_t ObjectStore::bytes() const {
  MutexLock lock(mutex_);
  return bytes_;
}

std::vector<WireObject> ObjectStore::by_owner(std::string_view uid) const {
  const auto is_child = [uid](const WireObject& object) {
    const auto owners = object.owners();
    return std::any_of(owners.begin(), owners.end(),
                       [uid](const WireOwner& owner) { return owner.uid == uid; });
  };
  if (!options_.index_owners) return list({}, is_child);
  std::vector<WireObject> children;
  {
    MutexLock lock(mutex_);
    if (const auto found = owners_.find(uid); found != owners_.end()) {
      children.reserve(found->second.size());
      for (const auto& [key, object] : found->second) children.push_back(object);
    }
  }
  overlay(children, is_child);
  return children;
}

WireObject ObjectStore::find(std::string_view namespace_, std::string_view name) const {
  MutexLock lock(mutex_);
  const WireObject* const told = tree_->find({namespace_, name});
  const WireObject object = told == nullptr ? WireObject() : *told;
  if (own_writes_.empty()) return object;
  const auto own = own_writes_.find({std::string(namespace_), std::string(name)});
  if (own == own_writes_.end() || (object && !is_older(object, own->second))) return object;
  return own->second;
}

std::vector<WireObject> ObjectStore::list(std::optional<std::string_view> namespace_,
                                          const Selects& selects) const {
  const auto fits = [&](const WireObject& object) {
    return (!namespace_ || object.namespace_() == *namespace_) && (!selects || selects(object));
  };
  const StoreSnapshot all = snapshot();
  std::vector<WireObject> result;
  if (!namespace_ && !selects) result.reserve(all.size());
  const auto range =
      namespace_ ? all.in_namespace(*namespace_) : StoreSnapshot::Range{all.begin(), all.end()};
  for (const WireObject& object : range) {
    if (!selects || selects(object)) result.push_back(object);
  }
  overlay(result, fits);
  return result;
}

void ObjectStore::overlay(std::vector<WireObject>& sorted, const Selects& selects) const {
  MutexLock lock(mutex_);
  if (own_writes_.empty()) return;
  const OwnWrites own = own_writes_;
  lock.unlock();
  for (const auto& [key, object] : own) {
    auto at =
        std::lower_bound(sorted.begin(), sorted.end(), tree_key(object),
                         [](const WireObject& left, const TreeKey& right) { return tree_key(left) < right; });
    const bool there = at != sorted.end() && tree_key(*at) == tree_key(object);
    const WireObject told = there ? *at : stored(object.namespace_(), object.name());
    if (told && !is_older(told, object)) continue;
    const bool selected = selects(object);
    if (there && selected)
      *at = object;
    else if (there)
      sorted.erase(at);
    else if (selected)
      sorted.insert(at, object);
  }
}

void ObjectStore::written(const WireObject& object) {
  const std::string_view version = object.resource_version();
  if (!compare_resource_versions(version, "0")) return;
  MutexLock lock(mutex_);
  // Nothing reached yet: reads are not served from here yet. Already reached: delivered by the watch, or
  // deleted since.
  if (compare_resource_versions(reached_, version) != std::strong_ordering::less) return;
  WireObject& own = own_writes_[{std::string(object.namespace_()), std::string(object.name())}];
  if (!own || is_older(own, object)) own = object;
}

void ObjectStore::reached(std::string_view version) {
  MutexLock lock(mutex_);
  if (reached_ == version) return;
  // The version decreased, so the server was restored: our writes may be lost.
  if (compare_resource_versions(version, reached_) != std::strong_ordering::greater) own_writes_.clear();
  reached_ = version;
  std::erase_if(own_writes_, [version](const auto& entry) {
    return compare_resource_versions(entry.second.resource_version(), version) !=
           std::strong_ordering::greater;
  });
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
    if (is_older(object, old)) return deltas;
    deltas.push_back(tombstone(old));
    deltas.push_back(addition(object));
  }
  commit(deltas);
  return deltas;
}

std::vector<StoreDelta> ObjectStore::remove(const WireObject& object) {
  const WireObject old = stored(object.namespace_(), object.name());
  std::vector<StoreDelta> deltas;
  if (!old || is_older(object, old)) return deltas;
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
  std::size_t bytes = 0;
  for (const WireObject& object : objects) bytes += object.bytes();
  auto tree = ObjectTree::of(std::move(objects));
  Owners owners;
  const bool first = size() == 0;  // the index is also built without the lock then
  if (first) {
    for (const StoreDelta& delta : deltas) index(owners, delta);
  }
  MutexLock lock(mutex_);
  std::swap(tree_, tree);
  bytes_ = bytes;
  if (first)
    std::swap(owners_, owners);
  else
    for (const StoreDelta& delta : deltas) index(owners_, delta);
  lock.unlock();  // free the old tree without the lock
  return deltas;
}

ObjectTree& ObjectStore::own_tree() {
  if (!tree_.is_unique()) tree_ = detail::Counted<ObjectTree>(new ObjectTree(*tree_));
  return *tree_;
}

void ObjectStore::commit(const std::vector<StoreDelta>& deltas) {
  MutexLock lock(mutex_);
  ObjectTree& tree = own_tree();
  for (const StoreDelta& delta : deltas) {
    if (delta.old) bytes_ -= delta.old.bytes();
    index(owners_, delta);
    if (delta.type == EventType::deleted) {
      tree.erase(tree_key(delta.old));
    } else {
      bytes_ += delta.object.bytes();
      tree.put(delta.object);
    }
  }
}

void ObjectStore::index(Owners& owners, const StoreDelta& delta) const {
  if (!options_.index_owners) return;
  if (delta.old) {
    for (const WireOwner& owner : delta.old.owners()) {
      const auto found = owners.find(owner.uid);
      if (found == owners.end()) continue;
      found->second.erase(tree_key(delta.old));
      if (found->second.empty()) owners.erase(found);
    }
  }
  if (delta.type == EventType::deleted) return;
  for (const WireOwner& owner : delta.object.owners()) {
    if (!owner.uid.empty()) owners[std::string(owner.uid)].emplace(tree_key(delta.object), delta.object);
  }
}

}  // namespace v0
}  // namespace evenkeel
