// SPDX-License-Identifier: Apache-2.0
// Sorting of a queue's keys by the order in which they will run. A separate header because it needs
// <algorithm>.
#pragma once

#include <algorithm>
#include <vector>

#include <evenkeel/workqueue/key_info.hpp>

namespace evenkeel {
inline namespace v0 {

/// Sorts held keys first, then queued keys in the order in which they will be handed out, as far as level and
/// place determine it, then waiting keys by time.
template <class Key>
void sort_by_turn(std::vector<KeyInfo<Key>>& keys) {
  const auto turn = [](const KeyInfo<Key>& info) {
    if (info.state == KeyState::queued) return 1;
    return info.state == KeyState::waiting ? 2 : 0;
  };
  std::sort(keys.begin(), keys.end(), [&](const KeyInfo<Key>& a, const KeyInfo<Key>& b) {
    if (turn(a) != turn(b)) return turn(a) < turn(b);
    if (turn(a) == 0 && a.held_since != b.held_since) return a.held_since < b.held_since;
    if (turn(a) == 2) return a.next_attempt < b.next_attempt;
    return a.level != b.level ? a.level > b.level : a.place < b.place;
  });
}

}  // namespace v0
}  // namespace evenkeel
