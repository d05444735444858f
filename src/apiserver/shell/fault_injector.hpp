// SPDX-License-Identifier: Apache-2.0
// Applies fault rules: selects the rule for a request, and counts.
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/apiserver/api_server_core.hpp>
#include <evenkeel/apiserver/faults.hpp>
#include <evenkeel/http/message.hpp>

#include "apiserver/shell/request_target.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// The faults of one request.
struct FaultPlan {
  FaultId rule = 0;  ///< 0: no rule applies.
  Duration delay = {};
  std::optional<http::Response> answer =
      {};  ///< Replaces the server's response, or (with a cut) is the Status of an event.
  FaultDrop drop = FaultDrop::never;
  FaultBody body = FaultBody::usual;
  std::string garbage = {};  ///< For FaultBody::garbage: not JSON, no line feed.
  std::optional<std::size_t> cut_after = {};
  std::optional<std::size_t> cut_after_events = {};
  std::optional<Duration> cut_after_time = {};
  FaultEnding ending = FaultEnding::close;
  FaultBookmarks bookmarks = FaultBookmarks::all;
  CacheLag lag = {};
  bool watch = false;    ///< The request is a watch.
  bool at_once = false;  ///< The replacement comes first.

  bool cuts() const { return cut_after || cut_after_events || cut_after_time; }
  /// Returns true if a watch gets an additional event, and ends.
  bool speaks() const { return answer || body != FaultBody::usual; }
};

/// Returns the Status response of a rule.
http::Response fault_answer(const FaultRule& rule);

/// Thread safety: one thread at a time.
class FaultInjector {
 public:
  /// Throws std::invalid_argument like check().
  FaultId add(FaultRule rule);
  void remove(FaultId id);
  void clear();
  FaultCounts counts(FaultId id) const;
  bool empty() const { return rules_.empty(); }

  /// Selects the rule for a request. A rule that cuts is only reserved: on_fired() or on_not_fired() must be
  /// called once it is known if the response was long enough, or that there is none. All others are counted
  /// at once.
  FaultPlan plan(const RequestTarget& target, std::string_view user);
  void on_fired(const FaultPlan& plan);
  void on_not_fired(const FaultPlan& plan);

 private:
  struct Entry {
    FaultId id = 0;
    FaultRule rule = {};
    std::mt19937_64 random{};
    std::uint64_t matched = 0;
    std::uint64_t fired = 0;
    std::uint64_t reserved = 0;
  };

  static bool takes(Entry& entry);
  static FaultPlan plan_of(Entry& entry, const RequestTarget& target);
  Entry* find(FaultId id);

  std::vector<Entry> rules_;
  std::vector<Entry> retired_;  // removed, kept for their counters
  FaultId next_ = 1;
};

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
