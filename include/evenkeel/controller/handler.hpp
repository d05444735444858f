// SPDX-License-Identifier: Apache-2.0
// Mappings from an event to keys: the object's own key, its owner's, or those that a function returns.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/api/resource.hpp>
#include <evenkeel/base/export.hpp>
#include <evenkeel/base/object_key.hpp>
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

/// Returns the keys that an event concerns, without duplicates, in the order found. For an update, both the
/// old and the new state are mapped, so that an owner that lost an object is reconciled as well.
EVENKEEL_API std::vector<ObjectKey> keys_of(const ObjectEvent& event, const KeyMapping& mapping);

}  // namespace v0
}  // namespace evenkeel
