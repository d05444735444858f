// SPDX-License-Identifier: Apache-2.0
// A worker's claim to a key.
#pragma once

#include <utility>

#include <evenkeel/workqueue/queue_item.hpp>

namespace evenkeel {
inline namespace v0 {

/// A key that a queue handed out; it is handed to no other worker until the claim ends. The claim ends with
/// its scope. Only queues create claims, so only the holder can end one. Also known as WorkQueue::Claim.
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
  /// The priority with which the key was handed out.
  Priority priority() const { return priority_; }
  /// Ends the claim before its scope does. Idempotent.
  void done() noexcept {
    if (Queue* queue = std::exchange(queue_, nullptr)) queue->finish(*node_);
  }

 private:
  friend Queue;
  QueueClaim(Queue& queue, Node& node) : queue_(&queue), node_(&node), priority_(node.priority()) {}

  // Returns the node, for `queue` to end the claim itself; null if this is not a claim of `queue`.
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
