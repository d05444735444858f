// SPDX-License-Identifier: Apache-2.0
// Mappings from an event to keys: the object's own key, its owner's, or those that a function returns.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <evenkeel/api/resource.hpp>
#include <evenkeel/base/export.hpp>
#include <evenkeel/base/object_key.hpp>
#include <evenkeel/cache/informer.hpp>
#include <evenkeel/cache/object_event.hpp>

namespace evenkeel {
inline namespace v0 {

/// Adds the keys that one state of an object concerns to `keys`.
using KeyMapping = std::function<void(const WireObject& object, std::vector<ObjectKey>& keys)>;

enum class OwnerMatch : std::uint8_t {
  controller,  ///< The owner that is marked as the controller.
  any,         ///< Every owner of the kind.
};

/// Returns a mapping to the object's own key.
EVENKEEL_API KeyMapping map_to_object();

/// Returns a mapping to the keys of the object's owners of the kind `owner`. Group and kind are compared, the
/// version is not. A namespaced owner is in the object's namespace.
/// Source: controller-runtime EnqueueRequestForOwner.
EVENKEEL_API KeyMapping map_to_owner(ResourceId owner, OwnerMatch match = OwnerMatch::controller);

/// Selects the objects that refer to a watched object by their index, and the index value that stands for the
/// watched object.
enum class IndexScope : std::uint8_t {
  /// Objects of the watched object's namespace that have its name in the index. If one of the two kinds is
  /// cluster-scoped: those of all namespaces.
  same_namespace,
  all_namespaces,  ///< Objects of all namespaces that have its name in the index.
  /// Objects of all namespaces that have its "namespace/name" in the index: references across namespaces.
  qualified_name,
};

/// Selects the reconciled objects by an index of theirs; made by indexed().
struct IndexedKeys {
  std::string index = {};
  IndexScope scope = IndexScope::same_namespace;
};

/// For ControllerBuilder::watches(): the reconciled objects that have the watched object in this index.
inline IndexedKeys indexed(std::string index, IndexScope scope = IndexScope::same_namespace) {
  return {std::move(index), scope};
}

/// Returns a mapping to the keys of objects of the kind `resource` in these informers, which have the index,
/// sorted by namespace and name in each. Reads the index when it is called.
/// Lifetime: the informers must outlive the mapping.
EVENKEEL_API KeyMapping map_to_indexed(ResourceId resource, std::vector<const Informer*> informers,
                                       IndexedKeys keys);

/// Returns the keys that an event concerns, without duplicates, in the order found. For an update, both the
/// old and the new state are mapped, so that an owner that lost an object is reconciled as well.
EVENKEEL_API std::vector<ObjectKey> keys_of(const ObjectEvent& event, const KeyMapping& mapping);

}  // namespace v0
}  // namespace evenkeel
