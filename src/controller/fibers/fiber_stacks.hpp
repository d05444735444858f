// SPDX-License-Identifier: Apache-2.0
// Memory for the stacks of fibers.
// Shared with floors above.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <evenkeel/base/export.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// A stack of FiberStacks; it grows downwards from bottom + bytes.
struct FiberStack {
  char* bottom = nullptr;
  std::size_t bytes = 0;
  std::size_t slab = 0;  ///< For FiberStacks.
};

/// The way in which the page below a stack is made inaccessible.
enum class StackGuard : std::uint8_t {
  marker,      ///< By MADV_GUARD_INSTALL, with Linux 6.13 or later; otherwise by protection.
  protection,  ///< By mprotect(): each stack is two mappings, of which a process has 65,530.
};

/// Stacks of one size, mapped in slabs of up to 64. Below each stack is a page that cannot be accessed.
/// Memory is committed when it is first used. Thread safety: one thread at a time. Lifetime: until all stacks
/// were given back.
class EVENKEEL_API FiberStacks {
 public:
  /// `bytes` are usable in each stack, at least; they are rounded up to pages.
  explicit FiberStacks(std::size_t bytes, StackGuard guard = StackGuard::marker);
  ~FiberStacks();
  FiberStacks(const FiberStacks&) = delete;
  FiberStacks& operator=(const FiberStacks&) = delete;

  /// Returns a stack, the one that was given back last if there is one. Throws std::bad_alloc if there is no
  /// memory, or no mapping left (vm.max_map_count).
  FiberStack take();
  void give_back(const FiberStack& stack) noexcept;
  /// Returns the memory of the stacks that were given back to the system, and the slabs without others.
  void trim() noexcept;

 private:
  struct Slab {
    char* begin = nullptr;  // null: a slot for another slab
    std::size_t stacks = 0;
    std::size_t unused = 0;
  };
  struct Unused {
    FiberStack stack;
    bool is_committed = false;  // has perhaps been used since the last trim()
  };

  void add_slab();
  /// Makes the page below each stack inaccessible; returns the number of stacks that have one.
  std::size_t guard(char* begin, std::size_t stacks) noexcept;
  bool guard(char* page) noexcept;
  std::size_t slot();

  const std::size_t page_;
  const std::size_t bytes_;
  StackGuard guard_;
  std::size_t mapped_ = 0;  // stacks in slabs
  std::vector<Slab> slabs_;
  std::vector<Unused> unused_;
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
