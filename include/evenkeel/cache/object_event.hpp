// SPDX-License-Identifier: Apache-2.0
// Events that an informer delivers: an object was added, changed or deleted.
#pragma once

#include <cstdint>

#include <evenkeel/base/export.hpp>
#include <evenkeel/cache/wire_object.hpp>

namespace evenkeel {
inline namespace v0 {

enum class EventType : std::uint8_t {
  added,
  updated,
  deleted,
  generic,  ///< From outside of any watch: something happened that concerns the object.
};

/// One change of one object, as seen by a cache.
struct ObjectEvent {
  EventType type = EventType::added;
  const WireObject* object = nullptr;  ///< Current state; for deletions, the last known one. Never null.
  const WireObject* old = nullptr;     ///< Previous state; updates only.
  bool initial = false;                ///< Part of the first list.
  bool resync = false;                 ///< Delivered again without a change.
  bool final_state_unknown = false;    ///< Deleted during a gap of the watch: `object` may be out of date.
};

/// Receives the events of one informer, in the order in which they happened to each object.
/// Members are called one at a time on the cache's threads, under no lock; they must neither block nor throw.
class EVENKEEL_API EventHandler {
 public:
  virtual ~EventHandler() = default;
  virtual void on_event(const ObjectEvent& event) noexcept = 0;
  /// Called once, when all objects of the first list were delivered.
  virtual void on_synced() noexcept {}
  /// Called when the objects of further namespaces are held and were delivered; see Informer::select().
  virtual void on_held() noexcept {}
};

}  // namespace v0
}  // namespace evenkeel
