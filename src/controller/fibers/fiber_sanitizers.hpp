// SPDX-License-Identifier: Apache-2.0
// Announcements of stack switches to AddressSanitizer and ThreadSanitizer; no-ops without them.
#pragma once

#include <cstddef>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define EVENKEEL_ASAN 1
#endif
#if __has_feature(thread_sanitizer)
#define EVENKEEL_TSAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define EVENKEEL_ASAN 1
#endif
#if defined(__SANITIZE_THREAD__)
#define EVENKEEL_TSAN 1
#endif

#if defined(EVENKEEL_ASAN)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(EVENKEEL_TSAN)
#include <sanitizer/tsan_interface.h>
#endif

namespace evenkeel {
inline namespace v0 {
namespace detail::sanitizers {

#if defined(EVENKEEL_ASAN)
/// Before a switch to the stack [bottom, bottom + size); `save` null: the current stack is left for good.
inline void start_switch(void** save, const void* bottom, std::size_t size) {
  __sanitizer_start_switch_fiber(save, bottom, size);
}
/// After a switch, on the new stack; reports the stack that was left.
inline void finish_switch(void* saved, const void** bottom, std::size_t* size) {
  __sanitizer_finish_switch_fiber(saved, bottom, size);
}
/// Before a stack is unmapped: other memory may come to its address.
inline void forget_stack(const void* bottom, std::size_t size) {
  __asan_unpoison_memory_region(bottom, size);
}
#else
inline void start_switch(void**, const void*, std::size_t) {}
inline void finish_switch(void*, const void**, std::size_t*) {}
inline void forget_stack(const void*, std::size_t) {}
#endif

#if defined(EVENKEEL_TSAN)
inline void* new_fiber() {
  return __tsan_create_fiber(0);
}
inline void* current_fiber() {
  return __tsan_get_current_fiber();
}
inline void switch_to(void* fiber) {
  __tsan_switch_to_fiber(fiber, 0);
}
inline void drop_fiber(void* fiber) {
  __tsan_destroy_fiber(fiber);
}
#else
inline void* new_fiber() {
  return nullptr;
}
inline void* current_fiber() {
  return nullptr;
}
inline void switch_to(void*) {}
inline void drop_fiber(void*) {}
#endif

}  // namespace detail::sanitizers
}  // namespace v0
}  // namespace evenkeel
