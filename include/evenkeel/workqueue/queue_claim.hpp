// SPDX-License-Identifier: Apache-2.0
// A key in a worker's hands.
#pragma once

#include <utility>

#include <evenkeel/workqueue/queue_item.hpp>

namespace evenkeel {
inline namespace v0 {

/// A key that a queue handed out; nobody else is handed it before this ends. It ends with its scope. Only
/// queues make one, so none can be ended by who does not hold it. Known as WorkQueue::Claim.
/// Thread safety: one thread at a time. Lifetime: must end before the queue.
template <class Queue, class Node>
class QueueClaim {
 public:
  QueueClaim(QueueClaim&& other) noexcept
      : queue_(std::exchange(other.queue_, nullptr)), node_(other.node_), priority_(other.priority_) {}
  QueueClaim& operator=(QueueClaim&& other) noexcept {
    if (this == &other) return *this;
    done();
    queue_ = std::exchange(other.queue_, nullptr);
    node_ = other.node_;
    priority_ = other.priority_;
    return *this;
  }
  ~QueueClaim() { done(); }

  /// Valid until done().
  const auto& key() const { return node_->key(); }
  /// The priority that the key was handed out with.
  Priority priority() const { return priority_; }
  /// Ends the claim before its scope does. Harmless when repeated.
  void done() noexcept {
    if (Queue* queue = std::exchange(queue_, nullptr)) queue->finish(*node_);
  }

 private:
  friend Queue;
  QueueClaim(Queue& queue, Node& node) : queue_(&queue), node_(&node), priority_(node.priority()) {}

  // The node, which `queue` ends itself; null if it is not this claim's queue.
  Node* release(const Queue& queue) noexcept {
    if (queue_ != &queue) return nullptr;
    queue_ = nullptr;
    return node_;
  }

  Queue* queue_;
  Node* node_;
  Priority priority_;
};

}  // namespace v0
}  // namespace evenkeel
