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

// The threads to join. Never destroyed: a thread may leave itself while the program ends.
class LeftoverThreads {
 public:
  // Joins all at the end of the program. Threads that leave themselves later are detached.
  void close() {
    {
      MutexLock lock(mutex_);
      closed_ = true;
    }
    join([](const Entry&) { return true; });
  }

  // Must be called on the thread `own`.
  void take(std::thread own) {
    thread_local Announcement announcement;
    if (!announcement.over) announcement.over = std::make_shared<std::atomic<bool>>(false);
    join([](const Entry& entry) { return entry.over->load(std::memory_order_acquire); });
    MutexLock lock(mutex_);
    if (closed_) return own.detach();
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
  bool closed_ EVENKEEL_GUARDED_BY(mutex_) = false;
};

// Closes `threads` when the program destroys its static objects.
struct AtExit {
  explicit AtExit(LeftoverThreads& threads_) : threads(threads_) {}
  AtExit(const AtExit&) = delete;
  AtExit& operator=(const AtExit&) = delete;
  ~AtExit() { threads.close(); }
  LeftoverThreads& threads;
};

LeftoverThreads& leftover() {
  static LeftoverThreads& threads = *new LeftoverThreads;
  return threads;
}

// For a thread that is the first to leave itself, while the program ends: too late for an object of its own.
const AtExit last(leftover());

}  // namespace

void join_or_leave(std::thread thread) noexcept {
  // Joins as early as possible: these threads may use static objects that are older than this one.
  static const AtExit first(leftover());
  if (!thread.joinable()) return;
  if (thread.get_id() != std::this_thread::get_id()) {
    thread.join();
  } else {
    leftover().take(std::move(thread));
  }
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
