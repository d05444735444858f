// SPDX-License-Identifier: Apache-2.0
// The compared queues behind a common interface: construction with a number of keys, an add by the key's
// number, a worker's step. Keys are a namespace of 10 and a name of 36 characters.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <evenkeel/workqueue/fair_store.hpp>
#include <evenkeel/workqueue/fifo_store.hpp>
#include <evenkeel/workqueue/key_table.hpp>
#include <evenkeel/workqueue/priority_store.hpp>
#include <evenkeel/workqueue/request_queue.hpp>
#include <evenkeel/workqueue/two_lane_store.hpp>
#include <evenkeel/workqueue/work_queue.hpp>

#include "textbook_queue.hpp"

namespace evenkeel::benchmarks {

inline std::string name_of(std::size_t index) {
  std::string name = "deployment-with-a-long-name-00000000";
  for (std::size_t at = name.size(); index > 0; index /= 10) name[--at] = static_cast<char>('0' + index % 10);
  return name;
}

inline std::vector<std::string> string_keys(std::size_t count) {
  std::vector<std::string> keys;
  keys.reserve(count);
  for (std::size_t i = 0; i < count; ++i) keys.push_back("namespace0/" + name_of(i));
  return keys;
}

struct Textbook {
  explicit Textbook(std::size_t count) : keys(string_keys(count)) {}

  void add(std::size_t index) { queue.queue().add(keys[index]); }
  void add_after(std::size_t index, Duration delay) { queue.add_after(keys[index], delay); }
  bool step() {
    const auto key = queue.queue().get();
    if (!key) return false;
    queue.queue().done(*key);
    return true;
  }
  /// A worker that processes one key after the other.
  struct Worker {
    Textbook& textbook;
    bool step() { return textbook.step(); }
  };
  /// A step with work between get and done: `work` gets a function that adds the key again.
  template <class Work>
  bool step(const Work& work) {
    const auto key = queue.queue().get();
    if (!key) return false;
    work([&] { queue.queue().add(*key); });
    queue.queue().done(*key);
    return true;
  }
  std::size_t size() { return queue.queue().size(); }
  void shut_down() { queue.queue().shut_down(); }

  std::vector<std::string> keys;
  TextbookDelayingQueue<std::string> queue;
};

/// Common part of Strings and Interned.
template <class Key, class Queue, class Options>
struct Ours {
  Ours(Options options, std::vector<Key> made) : keys(std::move(made)), queue(std::move(options)) {}

  void add(std::size_t index, Priority priority = {}) { queue.add(keys[index], priority); }
  void add_after(std::size_t index, Duration delay) { queue.add_after(keys[index], delay); }
  bool step() { return queue.get().has_value(); }
  struct Worker {
    Ours& ours;
    std::optional<typename Queue::Claim> last = std::nullopt;
    bool step() {
      last = last ? ours.queue.get(std::move(*last)) : ours.queue.get();
      return last.has_value();
    }
  };
  template <class Work>
  bool step(const Work& work) {
    const auto claim = queue.get();
    if (!claim) return false;
    work([&] { queue.add(claim->key()); });
    return true;
  }
  std::size_t size() { return queue.size(); }
  void shut_down() { queue.shut_down_now(); }

  std::vector<Key> keys;
  Queue queue;
};

/// WorkQueue with string keys: the store is part of the type, and the queue copies each key.
template <class Store>
struct Strings : Ours<std::string, WorkQueue<std::string, Store>, WorkQueueOptions<std::string, Store>> {
  using StoreType = Store;
  explicit Strings(std::size_t count, Store store = Store(), std::string name = {})
      : Ours<std::string, WorkQueue<std::string, Store>, WorkQueueOptions<std::string, Store>>(
            {.name = std::move(name), .store = std::move(store)}, string_keys(count)) {}
};

/// Groups keys by the last three characters of their names, into a thousand groups.
struct ByEndOfName {
  std::string_view operator()(const std::string& key) const {
    return std::string_view(key).substr(key.size() - 3);
  }
  std::string_view operator()(const RequestKey& key) const {
    return key.name().substr(key.name().size() - 3);
  }
};

inline std::vector<RequestKey> interned_keys(KeyTable& table, std::size_t count) {
  std::vector<RequestKey> keys;
  keys.reserve(count);
  for (std::size_t i = 0; i < count; ++i) keys.push_back(table.intern({}, "namespace0", name_of(i)));
  return keys;
}

struct TableFirst {
  KeyTable table;
};

/// RequestQueue, as used by controllers: interned keys, a type-erased store.
template <class Store>
struct Interned : TableFirst, Ours<RequestKey, RequestQueue, RequestQueueOptions> {
  using StoreType = Store;
  explicit Interned(std::size_t count, RequestStore store = Store(), std::string name = {})
      : Ours({.name = std::move(name), .store = std::move(store)}, interned_keys(table, count)) {}
};

/// A queue with a name, and therefore with metrics.
template <class Q>
struct Metered : Q {
  explicit Metered(std::size_t count) : Q(count, typename Q::StoreType(), "benchmark") {}
};

}  // namespace evenkeel::benchmarks
