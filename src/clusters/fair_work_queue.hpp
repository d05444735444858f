// SPDX-License-Identifier: Apache-2.0
// Decides whose work is done next, so that none of several owners occupies all threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <unordered_map>
#include <utility>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Work of several owners. That of one owner is done in its order, one piece at a time; owners take turns.
///
/// Driver:
///  1. calls add() for new work;
///  2. takes each next_turn(), does it, and then calls on_done().
/// Complexity: constant. An owner without work takes no memory.
/// Thread safety: one thread at a time.
class FairWorkQueue {
 public:
  using Owner = std::uint64_t;
  using Work = std::function<void()>;
  struct Turn {
    Owner owner = 0;
    Work work = {};
  };

  void add(Owner owner, Work work);
  /// Returns the work to begin; std::nullopt: there is none, or only that of owners whose work goes on.
  std::optional<Turn> next_turn();
  /// The work that next_turn() returned for this owner has ended.
  void on_done(Owner owner);
  /// Returns how often next_turn() has work now.
  std::size_t ready() const noexcept { return ready_.size(); }

 private:
  struct Entry {
    std::deque<Work> work = {};
    bool runs = false;
  };
  std::unordered_map<Owner, Entry> owners_;  // that have work, or whose work goes on
  std::deque<Owner> ready_;                  // that have work which may begin, in the order of their turns
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
