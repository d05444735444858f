// SPDX-License-Identifier: Apache-2.0
// Which keys an event concerns: the object's own, its owner's, or what a function of yours says.
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

/// Finds the keys that one state of an object concerns, and adds them to `keys`.
using KeyMapping = std::function<void(const WireObject& object, std::vector<ObjectKey>& keys)>;

enum class OwnerMatch : std::uint8_t {
  controller,  ///< The one owner that is marked as the controller.
  any,         ///< Every owner of the kind.
};

/// The object's own key.
EVENKEEL_API KeyMapping map_to_object();

/// The keys of the object's owners of the kind `owner`. Group and kind are compared, the version is not. A
/// namespaced owner is in the object's namespace.
/// Source: controller-runtime EnqueueRequestForOwner.
EVENKEEL_API KeyMapping map_to_owner(ResourceId owner, OwnerMatch match = OwnerMatch::controller);

/// The keys that an event concerns, each once, in the order found: of an update both the state before and
/// the state now are asked, so that an owner that lost an object hears of it.
EVENKEEL_API std::vector<ObjectKey> keys_of(const ObjectEvent& event, const KeyMapping& mapping);

}  // namespace v0
}  // namespace evenkeel
