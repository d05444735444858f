// SPDX-License-Identifier: Apache-2.0
// A work queue that serves the namespace with the fewest keys first: a custom backing store in twenty lines.
// Prints the order in which two workers get the same keys from a plain queue and from this one; everything
// else, for example that a key is processed by one worker at a time, is provided by the queue.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>

#include <evenkeel/workqueue/fifo_store.hpp>
#include <evenkeel/workqueue/work_queue.hpp>

namespace ek = evenkeel;
using Node = ek::QueueNode<std::string>;

class SmallestNamespaceFirst {
 public:
  void push(Node& node) {
    namespaces_[namespace_of(node)].insert(node);  // at node.place(), usually the end
    ++size_;
  }
  Node& pop() {
    auto smallest = namespaces_.begin();
    for (auto it = namespaces_.begin(); it != namespaces_.end(); ++it) {
      if (it->second.size() < smallest->second.size()) smallest = it;
    }
    Node& node = static_cast<Node&>(smallest->second.pop_front());
    if (smallest->second.empty()) namespaces_.erase(smallest);
    --size_;
    return node;
  }
  std::size_t size() const { return size_; }
  void touch(Node& /*node*/, std::uint64_t /*place*/) {}  // a key that is added again keeps its position

 private:
  static std::string namespace_of(const Node& node) { return node.key().substr(0, node.key().find('/')); }

  std::map<std::string, ek::ItemList> namespaces_;
  std::size_t size_ = 0;
};

template <class Store>
void tell(const char* title) {
  std::printf("%s\n", title);
  ek::WorkQueue<std::string, Store> queue;
  for (const char* key : {"big/a", "big/b", "big/c", "big/d", "small/x", "middle/p", "middle/q"}) {
    queue.add(key);
  }
  auto first = queue.get();
  auto second = queue.get();
  std::printf("  the first worker has %s, the second %s\n", first->key().c_str(), second->key().c_str());
  queue.add(first->key());
  queue.add("big/d");  // already queued: one run
  std::printf("  %s has changed meanwhile; nobody is handed it before the first worker is done\n",
              first->key().c_str());
  first->done();
  second->done();
  queue.shut_down();  // no further adds; queued keys are still handed out
  std::printf("  then come");
  while (auto claim = queue.get()) std::printf(" %s", claim->key().c_str());
  std::printf("\n");
}

int main() {
  tell<ek::FifoStore>("First in, first out:");
  tell<SmallestNamespaceFirst>("The smallest namespace first:");
}
