// SPDX-License-Identifier: Apache-2.0
#include "cache/handler_slot.hpp"

#include <utility>

#include "base/leftover_thread.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {

std::shared_ptr<HandlerSlot> HandlerSlot::make(HandlerId id, std::shared_ptr<EventHandler> handler,
                                               Delivery delivery) {
  auto slot = std::make_shared<HandlerSlot>(id, std::move(handler), delivery);
  if (slot->queued_) {
    MutexLock lock(slot->joining_);
    slot->thread_ = std::thread([slot] { slot->work(); });
  }
  return slot;
}

HandlerSlot::~HandlerSlot() {
  // If it was not joined, the handler closed its own slot, and this is its thread, which is about to end.
  MutexLock lock(joining_);
  join_or_leave(std::move(thread_));
}

void HandlerSlot::notify(const StoreDelta& delta, bool initial) {
  Waiting what{.delta = delta, .initial = initial};
  queued_ ? push(std::move(what)) : call(what);
}

void HandlerSlot::notify_synced() {
  queued_ ? push({}) : call({});
}

void HandlerSlot::notify_held() {
  Waiting what{.held = true};
  queued_ ? push(std::move(what)) : call(what);
}

void HandlerSlot::call(const Waiting& what) {
  const CallGate::Pass pass(gate_);
  if (!pass) return;
  if (what.delta) {
    const StoreDelta& delta = *what.delta;
    handler_->on_event({.type = delta.type,
                        .object = &delta.object,
                        .old = delta.type == EventType::updated ? &delta.old : nullptr,
                        .initial = what.initial,
                        .resync = delta.resync,
                        .final_state_unknown = delta.final_state_unknown});
  } else if (what.held) {
    handler_->on_held();
  } else {
    handler_->on_synced();
    synced_.store(true, std::memory_order_release);
  }
}

void HandlerSlot::push(Waiting what) {
  MutexLock lock(mutex_);
  if (ending_) return;
  waiting_.push_back(std::move(what));
  changed_.notify_one();
}

void HandlerSlot::work() {
  MutexLock lock(mutex_);
  while (true) {
    while (waiting_.empty() && !ending_) changed_.wait(lock);
    if (ending_) return;
    std::deque<Waiting> batch = std::exchange(waiting_, {});
    lock.unlock();
    for (; !batch.empty(); batch.pop_front()) call(batch.front());
    lock.lock();
  }
}

void HandlerSlot::close() {
  {
    MutexLock lock(mutex_);
    ending_ = true;
    waiting_.clear();
    changed_.notify_all();
  }
  if (!gate_.close()) return;  // called by the handler itself
  MutexLock lock(joining_);
  if (thread_.joinable()) thread_.join();
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
