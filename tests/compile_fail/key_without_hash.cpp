// SPDX-License-Identifier: Apache-2.0
// A queue finds its keys by their hashes.
// first 1: a key needs a specialisation of std::hash, and operator==
#include <functional>

#include <evenkeel/workqueue/work_queue.hpp>

struct Key {
  int number = 0;
  bool operator==(const Key&) const = default;
};

#ifndef REJECTED
template <>
struct std::hash<Key> {
  std::size_t operator()(const Key& key) const noexcept { return std::hash<int>{}(key.number); }
};
#endif

int main() {
  evenkeel::WorkQueue<Key> queue;
  queue.add({1});
}
