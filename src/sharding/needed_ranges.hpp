// SPDX-License-Identifier: Apache-2.0
// Decides which ranges of hashes the caches of a member must hold. No thread, lock, clock or client.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <evenkeel/base/hash_ranges.hpp>

#include "sharding/shard_table.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// The ranges of hashes that the caches of a member must hold: those of the slots that it may
/// run, of those whose last runs have not ended, and of those that the table promises to it, so that they are
/// there when it gets them. A member that has lost its membership needs what it needed before until the next
/// one has a slot, which is likely to be one of the same.
///
/// Driver:
///  1. calls on_joined() when a membership begins;
///  2. calls next_needed() after each change of the table, of the member's slots and of the runs in them, and
///     passes the result to the caches before the next run may begin in a slot that is gained later.
/// Thread safety: one thread at a time.
class NeededRanges {
 public:
  void on_joined() { settled_ = false; }
  /// Returns the ranges that the caches must hold, if they have changed. `used[slot]`: the member may run the
  /// slot, or runs of it have not ended.
  std::optional<HashRanges> next_needed(const ShardTable& table, const std::string& member,
                                        const std::vector<bool>& used);

 private:
  HashRanges needed_;
  bool settled_ = false;  // the membership has had a slot
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
