// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
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

std::vector<ObjectKey> keys_of(const ObjectEvent& event, const KeyMapping& mapping) {
  std::vector<ObjectKey> found;
  if (event.old != nullptr) mapping(*event.old, found);
  mapping(*event.object, found);
  std::vector<ObjectKey> keys;
  for (ObjectKey& key : found) {
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(std::move(key));
  }
  return keys;
}

}  // namespace v0
}  // namespace evenkeel
