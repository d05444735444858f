// SPDX-License-Identifier: Apache-2.0
// The content of a section that somebody looks at now and then: decides when the store is read, and what is
// shown until then and while the store does not answer.
//
// Driver:
// 1. For each look call on_look(); if it returns true, read the store, without letting the look wait for it.
// 2. At the end of the read call on_read() or on_failure().
// 3. Answer the look with latest().
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include <evenkeel/api/json.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/coordination/store.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination::detail {

/// The content of a section, and the times of its reads: at most one at a time; none begins earlier than
/// `interval` after the end of the last one, nor without a look. Thread safety: one thread at a time.
class OverviewFeed {
 public:
  /// `store` and `root` are shown, as the name of the store and the prefix of its keys.
  OverviewFeed(std::string_view store, std::string_view root, Duration interval);

  /// Returns true if a read has to begin now.
  bool on_look(TimePoint now);
  /// `blocks` of the section, as of `version`; see blocks_of().
  void on_read(Json blocks, Version version, TimePoint now);
  void on_failure(std::string_view problem, TimePoint now);

  /// Returns the block "Store", with the age of the others and with a "problem" if there is one, and the
  /// blocks that were read last.
  Json latest(TimePoint now) const;

 private:
  struct Idle {
    TimePoint due;  // no read begins earlier
  };
  struct Reading {
    TimePoint since;
  };
  std::string problem(TimePoint now) const;

  const std::string store_;
  const std::string root_;
  const Duration interval_;
  std::variant<Idle, Reading> phase_ = Idle{TimePoint::min()};
  std::string failure_;                                // of the last read; empty: it succeeded
  std::optional<std::pair<TimePoint, Version>> read_;  // the last successful read
  Json blocks_ = Json::array();                        // its result
};

}  // namespace coordination::detail
}  // namespace v0
}  // namespace evenkeel
