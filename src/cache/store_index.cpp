// SPDX-License-Identifier: Apache-2.0
#include "cache/store_index.hpp"

#include <algorithm>
#include <stdexcept>

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

/// Returns the tree for a change; readers keep the version that they took.
ObjectTree& own_version(Counted<ObjectTree>& tree) {
  if (!tree) {
    tree = Counted<ObjectTree>(new ObjectTree);
  } else if (!tree.is_unique()) {
    tree = Counted<ObjectTree>(new ObjectTree(*tree));
  }
  return *tree;
}

/// The uids of an object's owners.
struct OwnerUids {
  std::vector<std::string_view> operator()(const WireObject& object) const {
    std::vector<std::string_view> uids;
    for (const WireOwner& owner : object.owners()) uids.push_back(owner.uid);
    return uids;
  }
};

}  // namespace

void refuse_nameless_index() {
  throw std::invalid_argument("an index needs a name");
}

IndexDefinition owner_index() {
  return {.name = {},
          .function = std::make_shared<const IndexFunctionOf<WireObject, OwnerUids>>(OwnerUids()),
          .form = WireForm::metadata_only};
}

IndexValues StoreIndex::values_of(const WireObject& object) const {
  IndexValues values;
  definition.function->add_values(object, values);
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  if (!values.empty() && values.front().empty()) values.erase(values.begin());
  return values;
}

bool StoreIndex::has(const WireObject& object, std::string_view value) const noexcept {
  try {
    const IndexValues values = values_of(object);
    return std::binary_search(values.begin(), values.end(), value, std::less<>());
  } catch (...) {
    return false;
  }
}

Counted<ObjectTree> IndexEntries::find(std::string_view value) const {
  const auto found = entries_.find(value);
  return found == entries_.end() ? Counted<ObjectTree>() : found->second;
}

void IndexEntries::apply(const StoreDelta& delta, const IndexValues& values) {
  replace(delta.old, delta.type == EventType::deleted ? WireObject() : delta.object, values);
}

/// Replaces the state `old`, if any, by the state `object`, if any. Both have the same key.
void IndexEntries::replace(const WireObject& old, const WireObject& object, const IndexValues& values) {
  std::vector<Entry*> left;
  if (old) {
    const auto [first, last] = places_.equal_range(old.name().data());
    for (auto place = first; place != last; ++place) left.push_back(place->second);
    places_.erase(first, last);
  }
  if (object) {
    for (const std::string& value : values) {
      Entry& entry = *entries_.try_emplace(value).first;
      own_version(entry.second).put(object);  // replaces the old state
      places_.emplace(object.name().data(), &entry);
      std::erase(left, &entry);
    }
  }
  for (Entry* entry : left) drop(*entry, tree_key(old));
}

void IndexEntries::drop(Entry& entry, const TreeKey& key) {
  ObjectTree& tree = own_version(entry.second);
  tree.erase(key);
  if (tree.size == 0) entries_.erase(entries_.find(entry.first));
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
