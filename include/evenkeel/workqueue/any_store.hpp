// SPDX-License-Identifier: Apache-2.0
// Type-erased backing store.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <evenkeel/workqueue/queue_item.hpp>
#include <evenkeel/workqueue/store.hpp>

namespace evenkeel {
inline namespace v0 {

/// Holds any backing store for keys of type Key; movable, not copyable.
/// Thread safety: one thread at a time.
template <class Key>
class AnyStore {
 public:
  template <class S>
  requires(!std::same_as<std::remove_cvref_t<S>, AnyStore> && BackingStore<S, QueueNode<Key>>)
      AnyStore(S store)
      : held_(std::make_unique<Held<S>>(std::move(store))), limits_(limits<S>) {}

  void push(QueueNode<Key>& node) { held_->push(node); }
  QueueNode<Key>& pop() { return held_->pop(); }
  std::size_t size() const { return held_->size(); }
  void touch(QueueNode<Key>& node, std::uint64_t place) { held_->touch(node, place); }
  void unpop(QueueNode<Key>& node) { held_->unpop(node); }
  /// Forwards to the held store (store.hpp).
  bool touch_needs_raise() const { return held_->needs_raise(); }
  bool can_pop() const { return !limits_ || held_->can_pop(); }
  void done(QueueNode<Key>& node) {
    if (limits_) held_->done(node);
  }
  std::int64_t level(const QueueNode<Key>& node) const { return held_->level(node); }
  std::string lane(const QueueNode<Key>& node) const { return held_->lane(node); }
  std::vector<LabelledDepth> lanes() const { return held_->lanes(); }

 private:
  struct Base {
    virtual ~Base() = default;
    virtual void push(QueueNode<Key>& node) = 0;
    virtual QueueNode<Key>& pop() = 0;
    virtual std::size_t size() const = 0;
    virtual void touch(QueueNode<Key>& node, std::uint64_t place) = 0;
    virtual void unpop(QueueNode<Key>& node) = 0;
    virtual bool needs_raise() const = 0;
    virtual bool can_pop() const = 0;
    virtual void done(QueueNode<Key>& node) = 0;
    virtual std::int64_t level(const QueueNode<Key>& node) const = 0;
    virtual std::string lane(const QueueNode<Key>& node) const = 0;
    virtual std::vector<LabelledDepth> lanes() const = 0;
  };

  template <class S>
  struct Held final : Base {
    explicit Held(S held) : store(std::move(held)) {}
    void push(QueueNode<Key>& node) override { store.push(node); }
    QueueNode<Key>& pop() override { return static_cast<QueueNode<Key>&>(store.pop()); }
    std::size_t size() const override { return store.size(); }
    void touch(QueueNode<Key>& node, std::uint64_t place) override { store.touch(node, place); }
    void unpop(QueueNode<Key>& node) override { evenkeel::unpop(store, node); }
    bool needs_raise() const override { return evenkeel::touch_needs_raise(store); }
    bool can_pop() const override { return may_pop(store); }
    void done(QueueNode<Key>& node) override { notify_done(store, node); }
    std::int64_t level(const QueueNode<Key>& node) const override { return level_of(store, node); }
    std::string lane(const QueueNode<Key>& node) const override { return lane_of(store, node); }
    std::vector<LabelledDepth> lanes() const override { return lanes_of(store); }
    S store;
  };

  template <class S>
  static constexpr bool limits = requires(S& store, QueueNode<Key>& node) {
    requires requires {
      store.can_pop();
    } || requires {
      store.done(node);
    };
  };

  std::unique_ptr<Base> held_;
  bool limits_;  // true if the store has can_pop() and done()
};

}  // namespace v0
}  // namespace evenkeel
