// SPDX-License-Identifier: Apache-2.0
// Returns memory of the allocator to the system.
#pragma once

#include <cstddef>
#include <cstdlib>
#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Returns the memory that is free to the system. glibc keeps what a large document took in the arena of its
/// thread, where other threads do not use it: between chunks that are in use, which malloc_trim() returns,
/// and behind the last one, which free() returns beyond a threshold that rises with the largest buffer. From
/// the first call on the threshold is fixed. Without effect for other allocators. Complexity: some
/// milliseconds; for what happens rarely.
inline void return_free_memory() noexcept {
#ifdef __GLIBC__
  constexpr int kept_by_arena = 1 << 20;
  constexpr std::size_t enough_to_trim = std::size_t{100}
                                         << 10;  // free() looks at the threshold above 64 KiB
  ::mallopt(M_TRIM_THRESHOLD, kept_by_arena);
  ::malloc_trim(0);
  void* volatile last = std::malloc(enough_to_trim);
  std::free(last);
#endif
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
