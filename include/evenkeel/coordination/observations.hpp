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

/// The versions that series of one kind have gone through, for instance the guards of scopes: answers when a
/// series was first observed at a version or a later one. Thread safety: one thread at a time.
class EVENKEEL_API VersionHistories {
 public:
  /// Records the versions of all series at `now`, by name, and forgets other series. If a version is less
  /// than before, the store has been restored, and the history of this series starts over.
  void see_all(const std::map<std::string, Version>& versions, TimePoint now);
  /// Returns when `name` was first observed at `version` or later; nullopt if it was not. If `name` has had
  /// more than 64 versions, some answers are a little later than the truth.
  std::optional<TimePoint> since(std::string_view name, Version version) const;

 private:
  using History = std::map<Version, TimePoint>;
  static void add(History& history, Version version, TimePoint now);

  std::map<std::string, History, std::less<>> series_;
};

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
