// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>

#include <evenkeel/cache/detail/object_tree.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

bool before(const WireObject& object, const TreeKey& key) {
  return tree_key(object) < key;
}

}  // namespace

Counted<ObjectTree> ObjectTree::of(std::vector<WireObject> sorted) {
  Counted<ObjectTree> tree(new ObjectTree);
  tree->size = sorted.size();
  // Leave a quarter of each leaf empty, so that the first insertions do not split it.
  constexpr std::size_t fill = leaf_size - leaf_size / 4;
  tree->leaves.reserve(sorted.size() / fill + 1);
  for (std::size_t at = 0; at < sorted.size(); at += fill) {
    Counted<TreeLeaf> leaf(new TreeLeaf);
    const auto first = sorted.begin() + static_cast<std::ptrdiff_t>(at);
    const auto last = sorted.begin() + static_cast<std::ptrdiff_t>(std::min(at + fill, sorted.size()));
    leaf->objects.assign(std::make_move_iterator(first), std::make_move_iterator(last));
    tree->leaves.push_back(std::move(leaf));
  }
  return tree;
}

ObjectTree::Place ObjectTree::lower_bound(const TreeKey& key) const noexcept {
  const auto leaf = std::partition_point(leaves.begin(), leaves.end(), [&key](const Counted<TreeLeaf>& one) {
    return before(one->objects.back(), key);
  });
  if (leaf == leaves.end()) return end();
  const std::vector<WireObject>& objects = (*leaf)->objects;
  const auto at = std::lower_bound(objects.begin(), objects.end(), key, before);
  return {static_cast<std::size_t>(leaf - leaves.begin()), static_cast<std::size_t>(at - objects.begin())};
}

ObjectTree::Place ObjectTree::next(Place place) const noexcept {
  if (++place.at < leaves[place.leaf]->objects.size()) return place;
  return {place.leaf + 1, 0};
}

const WireObject* ObjectTree::find(const TreeKey& key) const noexcept {
  const Place place = lower_bound(key);
  if (place == end()) return nullptr;
  const WireObject& object = (*this)[place];
  return tree_key(object) == key ? &object : nullptr;
}

std::vector<WireObject>& ObjectTree::own(std::size_t leaf) {
  Counted<TreeLeaf>& handle = leaves[leaf];
  if (!handle.is_unique()) handle = Counted<TreeLeaf>(new TreeLeaf(*handle));
  return handle->objects;
}

void ObjectTree::put(WireObject object) {
  const TreeKey key = tree_key(object);
  Place place = lower_bound(key);
  if (place == end()) {
    if (leaves.empty()) leaves.emplace_back(new TreeLeaf);
    place = {leaves.size() - 1, leaves.back()->objects.size()};
  }
  std::vector<WireObject>& objects = own(place.leaf);
  if (place.at < objects.size() && tree_key(objects[place.at]) == key) {
    objects[place.at] = std::move(object);
    return;
  }
  objects.insert(objects.begin() + static_cast<std::ptrdiff_t>(place.at), std::move(object));
  ++size;
  if (objects.size() <= leaf_size) return;
  // Appending in order, the common case, leaves full leaves behind; elsewhere, both halves get space.
  const bool at_end = place.leaf + 1 == leaves.size() && place.at + 1 == objects.size();
  const auto middle = objects.begin() + static_cast<std::ptrdiff_t>(at_end ? leaf_size : leaf_size / 2);
  Counted<TreeLeaf> upper(new TreeLeaf);
  upper->objects.assign(std::make_move_iterator(middle), std::make_move_iterator(objects.end()));
  objects.erase(middle, objects.end());
  leaves.insert(leaves.begin() + static_cast<std::ptrdiff_t>(place.leaf) + 1, std::move(upper));
}

void ObjectTree::erase(const TreeKey& key) {
  const Place place = lower_bound(key);
  if (place == end() || tree_key((*this)[place]) != key) return;
  std::vector<WireObject>& objects = own(place.leaf);
  objects.erase(objects.begin() + static_cast<std::ptrdiff_t>(place.at));  // may free the strings of `key`
  --size;
  const auto leaf = leaves.begin() + static_cast<std::ptrdiff_t>(place.leaf);
  if (objects.empty()) {
    leaves.erase(leaf);
  } else if (place.leaf + 1 < leaves.size() &&
             objects.size() + (*(leaf + 1))->objects.size() <= leaf_size / 2) {
    std::vector<WireObject>& upper = own(place.leaf + 1);
    objects.insert(objects.end(), std::make_move_iterator(upper.begin()),
                   std::make_move_iterator(upper.end()));
    leaves.erase(leaf + 1);
  }
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
