// SPDX-License-Identifier: Apache-2.0
// Decides which objects get the label of their cell next. No thread, lock, clock or client.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <evenkeel/api/resource.hpp>
#include <evenkeel/base/hash_ranges.hpp>
#include <evenkeel/base/object_key.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/cache/reflector_types.hpp>
#include <evenkeel/cache/wire_object.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Returns true if this replica, which wants these mixed hashes, has to correct the label of an object that
/// the server sent to it: the object belongs to its share, and the label is not that of its cell; or the
/// label is that of another cell, so that the server sends the object to holders of that cell only.
bool must_label(const WireObject& object, std::string_view label, const HashRanges& wanted);

/// The objects whose label is missing or wrong. Few at a time are patched. After a failure those of the same
/// kind wait, twice as long each time, as a missing permission concerns all of them; the next attempt is in
/// another namespace, if there is one.
///
/// Driver:
///  1. calls on_found() with each object that must_label();
///  2. calls next_task() until it returns nothing, patches each object that it returns, and calls on_done()
///     or on_failed() at the end;
///  3. calls next_task() again after each call of 1 and 2, and at next_due().
/// Thread safety: one thread at a time.
class LabelCore {
 public:
  struct Task {
    ResourceId resource = {};
    ObjectKey key = {};
  };

  static constexpr std::size_t most_running = 4;
  static constexpr Duration first_pause = std::chrono::seconds{1};
  static constexpr Duration longest_pause = std::chrono::minutes{5};

  void on_found(const ResourceId& resource, ObjectKey key);
  std::optional<Task> next_task(TimePoint now);
  /// The object has the label, or does not exist any more. Returns true if that ends a series of failures.
  bool on_done(const Task& task, bool labelled);
  /// Returns true if it is the first failure of a series.
  bool on_failed(const Task& task, TimePoint now);
  /// Returns the time of the next call of next_task(); max() while it depends on a call of another member.
  TimePoint next_due() const;
  const CellLabelCounts& counts() const noexcept { return counts_; }

 private:
  enum class Phase : std::uint8_t { queued, running, found_again };
  struct Kind {
    ResourceId resource = {};
    std::map<ObjectKey, Phase> objects = {};
    std::deque<ObjectKey> queue = {};
    Duration pause = {};  // zero: the last patch did not fail
    TimePoint blocked_until = TimePoint::min();
  };

  Kind& kind_of(const ResourceId& resource);

  std::map<std::string, Kind> kinds_;  // by group and plural
  std::string last_;  // kind of the last task; the next one is of another kind if there is one
  std::size_t running_ = 0;
  CellLabelCounts counts_;
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
