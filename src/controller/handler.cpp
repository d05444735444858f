// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <unordered_set>
#include <utility>

#include <evenkeel/controller/handler.hpp>

namespace evenkeel {
inline namespace v0 {

KeyMapping map_to_object() {
  return [](const WireObject& object, std::vector<ObjectKey>& keys) { keys.push_back(object.key()); };
}

KeyMapping map_to_owner(ResourceId owner, OwnerMatch match) {
  return [owner = std::move(owner), match](const WireObject& object, std::vector<ObjectKey>& keys) {
    for (const WireOwner& reference : object.owners()) {
      if (match == OwnerMatch::controller && !reference.controller) continue;
      if (reference.kind != owner.kind || reference.group() != owner.group) continue;
      const std::string_view place =
          owner.scope == Scope::namespaced ? object.namespace_() : std::string_view();
      keys.push_back({std::string(place), std::string(reference.name)});
    }
  };
}

KeyMapping map_to_indexed(ResourceId resource, std::vector<const Informer*> informers, IndexedKeys keys) {
  return [resource = std::move(resource), informers = std::move(informers), keys = std::move(keys)](
             const WireObject& object, std::vector<ObjectKey>& found) {
    const bool local = keys.scope == IndexScope::same_namespace && resource.scope == Scope::namespaced;
    const IndexListOptions options{.namespace_ = local ? std::string(object.namespace_()) : std::string()};
    const std::string value =
        keys.scope == IndexScope::qualified_name ? object.key().str() : std::string(object.name());
    for (const Informer* informer : informers) {
      for (const WireObject& user : informer->store().by_index(keys.index, value, options))
        found.push_back(user.key());
    }
  };
}

std::vector<ObjectKey> keys_of(const ObjectEvent& event, const KeyMapping& mapping) {
  std::vector<ObjectKey> found;
  if (event.old != nullptr) mapping(*event.old, found);
  mapping(*event.object, found);
  std::vector<ObjectKey> keys;
  constexpr std::size_t few = 16;
  if (found.size() <= few) {
    for (ObjectKey& key : found) {
      if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(std::move(key));
    }
    return keys;
  }
  std::unordered_set<ObjectKey> seen;
  for (ObjectKey& key : found) {
    if (seen.insert(key).second) keys.push_back(std::move(key));
  }
  return keys;
}

}  // namespace v0
}  // namespace evenkeel
