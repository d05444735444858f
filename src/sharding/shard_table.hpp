// SPDX-License-Identifier: Apache-2.0
// The table of a ring: which member holds each slot, and to which one it is to be handed over.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include <evenkeel/api/json.hpp>
#include <evenkeel/sharding/slot.hpp>

#include "sharding/slot_ranges.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Returns the text by which Leases name a division of the keys into slots: "object", "namespace",
/// "namespace-range", or "namespace-cell" for ShardBy::namespace_range with a label.
std::string division_name(ShardBy by, bool by_label = false);

/// One slot of the table.
struct SlotEntry {
  std::string holder = {};  ///< Member that may run its keys; empty: none.
  std::string next = {};    ///< Member to which the holder is asked to hand it over; empty: none.
  std::uint64_t generation =
      0;  ///< Incremented whenever the slot is given to a member, also to the same one.
  bool operator==(const SlotEntry&) const = default;
};

/// A value, kept in an annotation and a label of a Lease.
struct ShardTable {
  std::vector<SlotEntry> slots = {};
  std::set<std::string> leaving = {};  ///< Members that hand over everything and get nothing.
  std::string division = "object";     ///< Name of the division of the keys.
  SlotRanges ranges = {};              ///< Ranges of the slots, if they are ranges; otherwise empty.
  bool operator==(const ShardTable&) const = default;

  /// Name of the annotation.
  static constexpr const char* annotation = "sharding.evenkeel.dev/table";
  /// Name of the label that has the division, of the table's Lease and of the members'.
  static constexpr const char* division_label = "sharding.evenkeel.dev/division";
  /// Reads the table in `lease`. Without the label, as earlier versions wrote it, the division is "object".
  /// Throws DecodeError that names Lease and annotation.
  static ShardTable read(const Json& lease);
  /// Returns the value of the annotation.
  std::string text() const;
  /// Returns true if it names the member.
  bool names(const std::string& member) const;

  /// Distributes the slots over the eligible members, as evenly as possible and with as few moves as
  /// possible. A slot without a holder, or with one that has ended, is given away at once; any other one gets
  /// a `next`. Depends on its arguments only, so that all members come to the same plan.
  void plan(const std::set<std::string>& eligible, const std::function<bool(const std::string&)>& has_ended);
  /// Gives the slot to a member.
  void give(Slot slot, const std::string& member);
  /// Begins another division: no slot has a holder, and each generation to come is greater than all earlier
  /// ones of all slots, because a key is in another slot than before.
  void divide(const std::string& by, SlotRanges by_ranges = {});
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
