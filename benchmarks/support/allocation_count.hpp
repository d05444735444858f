// SPDX-License-Identifier: Apache-2.0
// Counts what a piece of a benchmark takes from the heap. Linking allocation_count.cpp replaces operator new.
#pragma once

#include <cstddef>
#include <cstdint>

namespace evenkeel::benchmarks {

/// What was allocated and not freed since the count began. Bytes are those of the allocator's blocks, its
/// own word for each included.
struct AllocationTotals {
  std::int64_t allocations = 0;  ///< Calls of operator new; frees are not taken off.
  std::int64_t live_bytes = 0;   ///< Allocated minus freed.
};

/// Counts from its construction to stop(). While none is alive, operator new costs one predictable branch
/// more than the allocator. One at a time.
class AllocationCount {
 public:
  AllocationCount();
  ~AllocationCount();
  AllocationCount(const AllocationCount&) = delete;
  AllocationCount& operator=(const AllocationCount&) = delete;

  /// Ends the count; harmless when repeated.
  AllocationTotals stop();
};

}  // namespace evenkeel::benchmarks
