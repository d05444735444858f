// SPDX-License-Identifier: Apache-2.0
// The story of one run for people: writes, beside what the controllers saw.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <evenkeel/api/json.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/testing/harness.hpp>
#include <evenkeel/testing/plan.hpp>

#include "testing/explore/trace.hpp"

namespace evenkeel {
inline namespace v0 {
namespace testing::detail {

class Timeline {
 public:
  /// Appends a write, with its most telling changes.
  void add_write(const TracedWrite& write);
  void add_step(Duration at, const PlanStep& step);
  /// Appends what happens outside of the cluster's objects: a point, a new process.
  void add_fact(Duration at, const std::string& text) { add(at, text, ""); }
  void add_run(const ReconcileRun& run);
  /// Appends the events in a piece of a watch, or the objects of a list.
  void add_seen(Duration at, const std::string& resource, std::string_view piece);
  void add_note(Duration at, const std::string& text) { add(at, "", text); }

  /// Returns a line for each entry: time, what was so, and what the controllers saw.
  std::string str() const;

 private:
  struct Entry {
    Duration at;
    std::string world;
    std::string seen;
  };
  void add(Duration at, std::string world, std::string seen) {
    entries_.push_back({at, std::move(world), std::move(seen)});
  }
  std::vector<Entry> entries_;
};

}  // namespace testing::detail
}  // namespace v0
}  // namespace evenkeel
