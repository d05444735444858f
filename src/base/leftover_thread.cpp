// SPDX-License-Identifier: Apache-2.0
#include "base/leftover_thread.hpp"

#include <atomic>
#include <iterator>
#include <list>
#include <memory>
#include <utility>

#include <evenkeel/base/mutex.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

using Flag = std::shared_ptr<std::atomic<bool>>;

// Reports that its thread has ended except for the destructors of other thread-local objects.
struct Announcement {
  ~Announcement() {
    if (over) over->store(true, std::memory_order_release);
  }
  Flag over;
};

class LeftoverThreads {
 public:
  ~LeftoverThreads() {
    join([](const Entry&) { return true; });
  }

  // Must be called on the thread `own`.
  void take(std::thread own) {
    thread_local Announcement announcement;
    if (!announcement.over) announcement.over = std::make_shared<std::atomic<bool>>(false);
    join([](const Entry& entry) { return entry.over->load(std::memory_order_acquire); });
    MutexLock lock(mutex_);
    entries_.push_back({std::move(own), announcement.over});
  }

 private:
  struct Entry {
    std::thread thread;
    Flag over;
  };

  template <class Condition>
  void join(Condition condition) {
    std::list<Entry> joined;
    {
      MutexLock lock(mutex_);
      for (auto at = entries_.begin(); at != entries_.end();) {
        const auto next = std::next(at);
        if (condition(*at)) joined.splice(joined.end(), entries_, at);
        at = next;
      }
    }
    for (Entry& entry : joined) {
      if (entry.thread.get_id() == std::this_thread::get_id()) {
        entry.thread.detach();  // this thread ends the program
      } else {
        entry.thread.join();
      }
    }
  }

  Mutex mutex_;
  std::list<Entry> entries_ EVENKEEL_GUARDED_BY(mutex_);
};

}  // namespace

void join_or_leave(std::thread thread) noexcept {
  static LeftoverThreads leftover;
  if (!thread.joinable()) return;
  if (thread.get_id() != std::this_thread::get_id()) {
    thread.join();
  } else {
    leftover.take(std::move(thread));
  }
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
