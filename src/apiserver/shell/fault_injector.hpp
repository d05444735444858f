// SPDX-License-Identifier: Apache-2.0
// Applies fault rules: which rule hits a request, and how often each did.
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

/// What a rule does to one request.
struct FaultPlan {
  FaultId rule = 0;  ///< 0: nothing happens.
  Duration delay = {};
  std::optional<http::Response> answer =
      {};  ///< Instead of the server's, or (with a cut) the event's Status.
  FaultDrop drop = FaultDrop::never;
  FaultBody body = FaultBody::usual;
  std::string garbage = {};  ///< For FaultBody::garbage: no JSON, no line feed.
  std::optional<std::size_t> cut_after = {};
  std::optional<std::size_t> cut_after_events = {};
  std::optional<Duration> cut_after_time = {};
  FaultEnding ending = FaultEnding::close;
  FaultBookmarks bookmarks = FaultBookmarks::all;
  CacheLag lag = {};
  bool watch = false;    ///< The request is one.
  bool at_once = false;  ///< What it speaks comes first of all.

  bool cuts() const { return cut_after || cut_after_events || cut_after_time; }
  /// A watch is told something between two events, and is over.
  bool speaks() const { return answer || body != FaultBody::usual; }
};

/// The Status that a rule answers with.
http::Response fault_answer(const FaultRule& rule);

/// Thread safety: one thread at a time.
class FaultInjector {
 public:
  /// Throws std::invalid_argument as check() does.
  FaultId add(FaultRule rule);
  void remove(FaultId id);
  void clear();
  FaultCounts counts(FaultId id) const;
  bool empty() const { return rules_.empty(); }

  /// Chooses what happens to a request. A rule that cuts is only reserved: either fired() or spared()
  /// must follow, once it is known whether the answer was long enough. All others have fired.
  FaultPlan plan(const RequestTarget& target, std::string_view user);
  void fired(const FaultPlan& plan);
  void spared(const FaultPlan& plan);

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
  std::vector<Entry> retired_;  // removed, kept for their counts
  FaultId next_ = 1;
};

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
