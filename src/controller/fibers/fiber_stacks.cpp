// SPDX-License-Identifier: Apache-2.0
#include "controller/fibers/fiber_stacks.hpp"

#include <algorithm>
#include <new>
#include <sys/mman.h>
#include <unistd.h>

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

constexpr std::size_t most_in_a_slab = 64;
constexpr int madv_guard_install =
    102;  // MADV_GUARD_INSTALL, which C libraries before Linux 6.13 do not name

// No machine has room for more, and 64 of them can be counted.
constexpr std::size_t most_bytes = std::size_t{1} << 56;

std::size_t pages_for(std::size_t bytes, std::size_t page) {
  return std::max<std::size_t>(1, (bytes + page - 1) / page);
}

std::size_t page_bytes() {
  return static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

/// Returns null if there is no room.
char* map(std::size_t bytes) noexcept {
  void* const begin =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (begin == MAP_FAILED) return nullptr;
  madvise(begin, bytes, MADV_NOHUGEPAGE);  // one page of a stack must not commit its neighbours
  return static_cast<char*>(begin);
}

}  // namespace

FiberStacks::FiberStacks(std::size_t bytes, StackGuard guard)
    : page_(page_bytes()), bytes_(pages_for(std::min(bytes, most_bytes), page_) * page_), guard_(guard) {}

FiberStacks::~FiberStacks() {
  for (const Slab& slab : slabs_)
    if (slab.begin != nullptr) munmap(slab.begin, slab.stacks * (page_ + bytes_));
}

FiberStack FiberStacks::take() {
  if (unused_.empty()) add_slab();
  const FiberStack stack = unused_.back().stack;
  unused_.pop_back();
  --slabs_[stack.slab].unused;
  return stack;
}

void FiberStacks::give_back(const FiberStack& stack) noexcept {
  unused_.push_back({.stack = stack, .is_committed = true});  // add_slab() has reserved the memory
  ++slabs_[stack.slab].unused;
}

// Doubles the number of stacks, so that few fibers take little address space.
void FiberStacks::add_slab() {
  const std::size_t at = slot();
  for (std::size_t stacks = std::clamp<std::size_t>(mapped_, 1, most_in_a_slab);; stacks = 1) {
    unused_.reserve(mapped_ + stacks);
    char* const begin = map(stacks * (page_ + bytes_));
    if (begin == nullptr && stacks == 1) throw std::bad_alloc();
    if (begin == nullptr) continue;
    const std::size_t open = guard(begin, stacks);
    if (open < stacks) munmap(begin + open * (page_ + bytes_), (stacks - open) * (page_ + bytes_));
    if (open == 0) throw std::bad_alloc();
    slabs_[at] = {.begin = begin, .stacks = open, .unused = open};
    mapped_ += open;
    for (std::size_t i = open; i-- > 0;)  // the lowest is taken first
      unused_.push_back({.stack = {begin + i * (page_ + bytes_) + page_, bytes_, at}});
    return;
  }
}

std::size_t FiberStacks::guard(char* begin, std::size_t stacks) noexcept {
  std::size_t guarded = 0;
  while (guarded < stacks && guard(begin + guarded * (page_ + bytes_))) ++guarded;
  return guarded;
}

bool FiberStacks::guard(char* page) noexcept {
  if (guard_ == StackGuard::marker) {
    if (madvise(page, page_, madv_guard_install) == 0) return true;
    guard_ = StackGuard::protection;
  }
  return mprotect(page, page_, PROT_NONE) == 0;
}

std::size_t FiberStacks::slot() {
  const auto free =
      std::find_if(slabs_.begin(), slabs_.end(), [](const Slab& slab) { return slab.begin == nullptr; });
  if (free != slabs_.end()) return static_cast<std::size_t>(free - slabs_.begin());
  slabs_.emplace_back();
  return slabs_.size() - 1;
}

void FiberStacks::trim() noexcept {
  const auto is_idle = [](const Slab& slab) { return slab.begin != nullptr && slab.unused == slab.stacks; };
  if (std::any_of(slabs_.begin(), slabs_.end(), is_idle))
    std::erase_if(unused_, [&](const Unused& unused) { return is_idle(slabs_[unused.stack.slab]); });
  for (Slab& slab : slabs_) {
    if (!is_idle(slab)) continue;
    munmap(slab.begin, slab.stacks * (page_ + bytes_));
    mapped_ -= slab.stacks;
    slab = {};
  }
  // The stacks that were given back since the last trim() are at the end.
  for (auto unused = unused_.rbegin(); unused != unused_.rend() && unused->is_committed; ++unused) {
    madvise(unused->stack.bottom, unused->stack.bytes, MADV_DONTNEED);
    unused->is_committed = false;
  }
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
