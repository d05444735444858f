// SPDX-License-Identifier: Apache-2.0
// The ranges of hashes whose objects an informer is to hold, and those that it holds.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include <evenkeel/base/hash_ranges.hpp>
#include <evenkeel/base/time.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// The ranges of hashes of namespaces that an informer has to hold, and those that it holds. Thread safety:
/// one thread at a time.
class InformerRanges {
 public:
  /// Sets the ranges to hold. Has no effect after require_all().
  void select(HashRanges wanted) {
    selected_ = true;
    changed_ = true;
    if (!for_all_) wanted_ = std::move(wanted);
  }
  /// Requires all ranges, finally.
  void require_all() {
    for_all_ = true;
    changed_ = true;
    wanted_ = HashRanges::all();
  }
  /// Records the ranges that are held at `now`. Returns true if they changed.
  bool on_held(const HashRanges& held, TimePoint now) {
    const bool held_changed = held != held_;
    if (!held_changed && !std::exchange(changed_, false)) return false;
    held_ = held;
    if (wanted_.without(held_).empty())
      missing_since_.reset();
    else if (!missing_since_)
      missing_since_ = now;
    return held_changed;
  }

  const HashRanges& wanted() const noexcept { return wanted_; }
  /// Returns true if select() was called, and has an effect.
  bool is_selected() const noexcept { return selected_ && !for_all_; }
  /// Returns true if select() was called, and not everything is held and wanted.
  bool is_divided() const noexcept { return selected_ && !(wanted_.is_all() && held_.is_all()); }
  /// Returns true if every object of a namespace with this hash is held, and will be until the next select().
  bool holds(std::uint64_t hash) const noexcept { return wanted_.contains(hash) && held_.contains(hash); }
  /// Returns the time since which wanted ranges are missing.
  const std::optional<TimePoint>& missing_since() const noexcept { return missing_since_; }

 private:
  HashRanges wanted_ = HashRanges::all();
  HashRanges held_;
  bool selected_ = false;
  bool for_all_ = false;
  bool changed_ = true;  // since on_held()
  std::optional<TimePoint> missing_since_;
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
