// SPDX-License-Identifier: Apache-2.0
// A mutex and a lock that clang's thread safety analysis understands (-Wthread-safety). Off clang the
// annotations are empty. Its condition variable is in base/cond_var.hpp.
#pragma once

#include <mutex>

#if defined(__clang__)
#define EVENKEEL_ANNOTATE(attribute) __attribute__((attribute))
#else
#define EVENKEEL_ANNOTATE(attribute)
#endif

#define EVENKEEL_CAPABILITY(name) EVENKEEL_ANNOTATE(capability(name))
#define EVENKEEL_SCOPED_CAPABILITY EVENKEEL_ANNOTATE(scoped_lockable)
#define EVENKEEL_GUARDED_BY(mutex) EVENKEEL_ANNOTATE(guarded_by(mutex))
#define EVENKEEL_PT_GUARDED_BY(mutex) EVENKEEL_ANNOTATE(pt_guarded_by(mutex))
#define EVENKEEL_REQUIRES(...) EVENKEEL_ANNOTATE(requires_capability(__VA_ARGS__))
#define EVENKEEL_EXCLUDES(...) EVENKEEL_ANNOTATE(locks_excluded(__VA_ARGS__))
#define EVENKEEL_ACQUIRE(...) EVENKEEL_ANNOTATE(acquire_capability(__VA_ARGS__))
#define EVENKEEL_RELEASE(...) EVENKEEL_ANNOTATE(release_capability(__VA_ARGS__))
#define EVENKEEL_TRY_ACQUIRE(...) EVENKEEL_ANNOTATE(try_acquire_capability(__VA_ARGS__))
#define EVENKEEL_RETURN_CAPABILITY(mutex) EVENKEEL_ANNOTATE(lock_returned(mutex))
#define EVENKEEL_NO_THREAD_SAFETY_ANALYSIS EVENKEEL_ANNOTATE(no_thread_safety_analysis)

namespace evenkeel {
inline namespace v0 {

/// A std::mutex whose holders clang can check. Not recursive. Who finds it taken looks again for some
/// microseconds before going to sleep: what is done under our locks is mostly over by then, and a system call
/// that puts a thread to sleep and one that wakes it are not.
/// Thread safety: all members may be called concurrently.
class EVENKEEL_CAPABILITY("mutex") Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void lock() EVENKEEL_ACQUIRE() {
    if (!mutex_.try_lock()) lock_taken();
  }
  void unlock() EVENKEEL_RELEASE() { mutex_.unlock(); }
  bool try_lock() EVENKEEL_TRY_ACQUIRE(true) { return mutex_.try_lock(); }

 private:
  friend class MutexLock;

  static constexpr int spins = 100;

  // Tells the processor that this is a loop that waits, so that it leaves room for the other thread.
  static void pause() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__) || defined(__arm__)
    asm volatile("yield" ::: "memory");
#endif
  }

  [[gnu::noinline]] void lock_taken() {
    for (int i = 0; i < spins; ++i) {
      pause();
      if (mutex_.try_lock()) return;
    }
    mutex_.lock();
  }

  std::mutex mutex_;
};

/// Holds a Mutex for a scope. It may be released early and taken again, and a CondVar may wait on it.
/// Thread safety: one thread at a time. Lifetime: keeps a reference to the mutex.
class EVENKEEL_SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) EVENKEEL_ACQUIRE(mutex) : mutex_(mutex), lock_(taken(mutex)) {}
  ~MutexLock() EVENKEEL_RELEASE() = default;
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

  void lock() EVENKEEL_ACQUIRE() { lock_ = taken(mutex_); }
  void unlock() EVENKEEL_RELEASE() { lock_.unlock(); }
  /// The mutex that this lock was made for, held or not.
  Mutex& mutex() const { return mutex_; }

 private:
  friend class CondVar;

  static std::unique_lock<std::mutex> taken(Mutex& mutex) EVENKEEL_NO_THREAD_SAFETY_ANALYSIS {
    mutex.lock();
    return {mutex.mutex_, std::adopt_lock};
  }

  Mutex& mutex_;
  std::unique_lock<std::mutex> lock_;
};

}  // namespace v0
}  // namespace evenkeel
