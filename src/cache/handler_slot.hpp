// SPDX-License-Identifier: Apache-2.0
// One handler of an informer, and the delivery of its events.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include <evenkeel/base/cond_var.hpp>
#include <evenkeel/base/mutex.hpp>
#include <evenkeel/cache/informer.hpp>

#include "cache/call_gate.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Thread safety: notify*() one thread at a time; all others may be called concurrently.
/// Lifetime: its thread shares ownership, so that a handler may remove itself and still take its time.
class HandlerSlot : public std::enable_shared_from_this<HandlerSlot> {
 public:
  static std::shared_ptr<HandlerSlot> make(HandlerId id, std::shared_ptr<EventHandler> handler,
                                           Delivery delivery);
  HandlerSlot(HandlerId id, std::shared_ptr<EventHandler> handler, Delivery delivery)
      : id_(id), handler_(std::move(handler)), queued_(delivery == Delivery::queued) {}
  ~HandlerSlot();
  HandlerSlot(const HandlerSlot&) = delete;
  HandlerSlot& operator=(const HandlerSlot&) = delete;

  HandlerId id() const noexcept { return id_; }
  void notify(const StoreDelta& delta, bool initial);
  void notify_synced();
  void notify_held();
  bool synced() const noexcept { return synced_.load(std::memory_order_acquire); }
  /// Begins no further call, and waits for a running one unless it is the caller's own.
  void close();

 private:
  struct Waiting {
    std::optional<StoreDelta> delta = {};  // none: on_synced(), or on_held()
    bool initial = false;
    bool held = false;
  };

  void call(const Waiting& what);
  void push(Waiting what) EVENKEEL_EXCLUDES(mutex_);
  void work() EVENKEEL_EXCLUDES(mutex_);

  const HandlerId id_;
  const std::shared_ptr<EventHandler> handler_;
  const bool queued_;
  std::atomic<bool> synced_ = false;  // stored after on_synced() returned
  CallGate gate_{GateEntry::shared};
  Mutex mutex_;
  CondVar changed_;
  std::deque<Waiting> waiting_ EVENKEEL_GUARDED_BY(mutex_);
  bool ending_ EVENKEEL_GUARDED_BY(mutex_) = false;
  Mutex joining_;
  std::thread thread_ EVENKEEL_GUARDED_BY(joining_);  // queued only
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
