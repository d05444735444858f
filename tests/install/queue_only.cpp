// SPDX-License-Identifier: Apache-2.0
// Somebody who wants only the queue: no curl, no JSON in the link.
#include <cstdio>
#include <string>

#include <evenkeel/workqueue/work_queue.hpp>

int main() {
  evenkeel::WorkQueue<std::string> queue;
  queue.add("default/app");
  queue.shut_down();
  int runs = 0;
  while (auto item = queue.get(std::stop_token())) {
    std::printf("%s\n", item->key().c_str());
    ++runs;
  }
  return runs == 1 ? 0 : 1;
}
