// SPDX-License-Identifier: Apache-2.0
// A claim on a key has one holder: it moves, but is never copied.
// expect: use of deleted function|call to (implicitly-)?deleted
#include <string>
#include <utility>

#include <evenkeel/workqueue/work_queue.hpp>

int main() {
  evenkeel::WorkQueue<std::string> queue;
  queue.add("a");
  auto claim = queue.get({});
#ifdef REJECTED
  auto second = claim;
#else
  auto second = std::move(claim);
#endif
  return second ? 0 : 1;
}
