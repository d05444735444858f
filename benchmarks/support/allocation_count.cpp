// SPDX-License-Identifier: Apache-2.0
#include "allocation_count.hpp"

#include <atomic>
#include <cstdlib>
#include <malloc.h>
#include <new>

namespace {

std::atomic<bool> counting = false;
std::atomic<std::int64_t> allocations = 0;
std::atomic<std::int64_t> live_bytes = 0;

std::int64_t block_size(void* block) {
  return static_cast<std::int64_t>(malloc_usable_size(block) + sizeof(std::size_t));
}

void* counted(void* block) {
  if (block == nullptr) throw std::bad_alloc();
  if (counting.load(std::memory_order_relaxed)) {
    allocations.fetch_add(1, std::memory_order_relaxed);
    live_bytes.fetch_add(block_size(block), std::memory_order_relaxed);
  }
  return block;
}

void release(void* block) noexcept {
  if (counting.load(std::memory_order_relaxed) && block != nullptr) {
    live_bytes.fetch_sub(block_size(block), std::memory_order_relaxed);
  }
  std::free(block);
}

}  // namespace

void* operator new(std::size_t size) {
  return counted(std::malloc(size));
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  const auto align = static_cast<std::size_t>(alignment);
  return counted(std::aligned_alloc(align, (size + align - 1) / align * align));
}
void operator delete(void* block) noexcept {
  release(block);
}
void operator delete(void* block, std::size_t) noexcept {
  release(block);
}
void operator delete(void* block, std::align_val_t) noexcept {
  release(block);
}
void operator delete(void* block, std::size_t, std::align_val_t) noexcept {
  release(block);
}

namespace evenkeel::benchmarks {

AllocationCount::AllocationCount() {
  allocations = 0;
  live_bytes = 0;
  counting = true;
}

AllocationCount::~AllocationCount() {
  counting = false;
}

AllocationTotals AllocationCount::stop() {
  counting = false;
  return {.allocations = allocations, .live_bytes = live_bytes};
}

}  // namespace evenkeel::benchmarks
