// SPDX-License-Identifier: Apache-2.0
// A work queue that serves the namespace with the fewest keys first: a backing store of one's own in
// twenty lines, and nothing else to write. Prints the order in which keys are handed out.
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>

#include <evenkeel/workqueue/work_queue.hpp>

namespace ek = evenkeel;
using Node = ek::QueueNode<std::string>;

class SmallestNamespaceFirst {
 public:
  void push(Node& node) {
    namespaces_[namespace_of(node)].insert(node);
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
  void touch(Node&, std::uint64_t) {}

 private:
  static std::string namespace_of(const Node& node) { return node.key().substr(0, node.key().find('/')); }

  std::map<std::string, ek::ItemList> namespaces_;
  std::size_t size_ = 0;
};

int main() {
  ek::WorkQueue<std::string, SmallestNamespaceFirst> queue;
  for (const char* key : {"big/a", "big/b", "big/c", "small/x", "middle/p", "middle/q"}) queue.add(key);
  queue.shut_down();  // nothing more is added; what is queued is handed out
  while (auto item = queue.get()) std::printf("%s\n", item->key().c_str());
}
