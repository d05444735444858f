// SPDX-License-Identifier: Apache-2.0
// Counts the heap allocations of a part of a benchmark. Linking allocation_count.cpp replaces operator new.
#pragma once

#include <cstddef>
#include <cstdint>

namespace evenkeel::benchmarks {

/// Memory allocated and not freed since the count began. Bytes include the allocator's overhead, a word per
/// block.
struct AllocationTotals {
  std::int64_t allocations = 0;  ///< Calls of operator new; frees are not subtracted.
  std::int64_t live_bytes = 0;   ///< Allocated minus freed.
};

/// Counts from construction to stop(). While there is no instance, operator new costs one predictable branch
/// more than the allocator. One instance at a time.
class AllocationCount {
 public:
  AllocationCount();
  ~AllocationCount();
  AllocationCount(const AllocationCount&) = delete;
  AllocationCount& operator=(const AllocationCount&) = delete;

  /// Ends the count; idempotent.
  AllocationTotals stop();
};

}  // namespace evenkeel::benchmarks
