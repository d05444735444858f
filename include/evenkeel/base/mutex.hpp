// SPDX-License-Identifier: Apache-2.0
// A mutex and a lock with annotations for clang's thread safety analysis (-Wthread-safety). With other
// compilers the annotations are empty. The condition variable is in base/cond_var.hpp.
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

/// A std::mutex with thread safety annotations. Not recursive. A contending thread spins for a few
/// microseconds before it blocks: our critical sections are usually over by then, and two system calls, one
/// to block and one to wake, cost more.
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

  // Tells the processor that this is a spin loop, so that it yields resources to the sibling thread.
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

/// Scoped holder of a Mutex. It can be unlocked early and locked again, and a CondVar can wait with it.
/// Thread safety: one thread at a time. Lifetime: keeps a reference to the mutex.
class EVENKEEL_SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) EVENKEEL_ACQUIRE(mutex) : mutex_(mutex), lock_(taken(mutex)) {}
  ~MutexLock() EVENKEEL_RELEASE() = default;
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

  void lock() EVENKEEL_ACQUIRE() { lock_ = taken(mutex_); }
  void unlock() EVENKEEL_RELEASE() { lock_.unlock(); }
  /// The mutex that this lock was made for, whether held or not.
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
