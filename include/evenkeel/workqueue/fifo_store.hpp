// SPDX-License-Identifier: Apache-2.0
// First-in-first-out backing store.
#pragma once

#include <cstddef>
#include <cstdint>

#include <evenkeel/workqueue/queue_item.hpp>

namespace evenkeel {
inline namespace v0 {

/// Hands out items in the order in which they were added. Adding a queued key again does not move it.
/// Priorities are ignored.
class FifoStore {
 public:
  static constexpr bool touch_needs_raise = true;

  void push(QueueItem& item) { items_.insert(item); }
  QueueItem& pop() { return items_.pop_front(); }
  std::size_t size() const { return items_.size(); }
  void touch(QueueItem& /*item*/, std::uint64_t /*place*/) {}
  std::int64_t level(const QueueItem& /*item*/) const { return 0; }

 private:
  ItemList items_;
};

}  // namespace v0
}  // namespace evenkeel
