// SPDX-License-Identifier: Apache-2.0
// Measures for how long a record has been unchanged, as observed by this process. Expiry is decided by this
// duration, so the clocks of different machines are never compared.
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

/// The time at which each key was first observed at its present version. A new process has observed nothing,
/// so every waiting period starts over with it, which is safe. Thread safety: one thread at a time. Source:
/// client-go leaderelection's observedTime.
class EVENKEEL_API Observations {
 public:
  /// Records that `key` has `version` at `now`. Returns when it was first observed at that version.
  TimePoint see(std::string_view key, Version version, TimePoint now);
  /// Returns when `key` was first observed at `version`; nullopt if it was not, or has another version now.
  std::optional<TimePoint> since(std::string_view key, Version version) const;
  void forget(std::string_view key);
  /// Records all of `entries`, which are the complete contents of `range`, and forgets the other keys of
  /// `range`.
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
