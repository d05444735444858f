// SPDX-License-Identifier: Apache-2.0
// How long something has been as it is, as far as this process saw. What has not changed for so long has
// expired: clocks of other machines say nothing about that.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/base/export.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/coordination/store.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination {

/// When each key was first seen at the version that it has now. A process that has just begun has seen
/// nothing, so every wait begins anew with it; that is safe. Thread safety: one thread at a time. Source:
/// client-go leaderelection's observedTime.
class EVENKEEL_API Observations {
 public:
  /// `key` has `version` at `now`. Since when that is known.
  TimePoint see(std::string_view key, Version version, TimePoint now);
  /// Since when `key` is known to have `version`; nothing if it was seen at none or another.
  std::optional<TimePoint> since(std::string_view key, Version version) const;
  void forget(std::string_view key);
  /// `entries` are all that `range` has: sees each, and forgets what is there no more.
  void see_all(const KeyRange& range, const std::vector<Entry>& entries, TimePoint now);

 private:
  struct Seen {
    Version version = 0;
    TimePoint since;
  };
  std::map<std::string, Seen, std::less<>> seen_;
};

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
