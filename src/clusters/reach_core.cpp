// SPDX-License-Identifier: Apache-2.0
#include "clusters/reach_core.hpp"

#include <algorithm>
#include <utility>

namespace evenkeel {
inline namespace v0 {
namespace detail {

bool ReachCore::on_answer() {
  failed_ = 0;
  first_failure_.reset();
  return std::exchange(away_since_, std::nullopt).has_value();
}

bool ReachCore::on_failure(TimePoint now) {
  if (!first_failure_) first_failure_ = now;
  ++failed_;
  if (away_since_ || failed_ < options_.failures) return false;
  away_since_ = first_failure_;
  wait_ = options_.first_probe;
  next_probe_ = deadline_after(now, wait_);
  return true;
}

bool ReachCore::on_timeout(TimePoint now) {
  if (!away_since_ || now < next_probe_) return false;
  wait_ = std::min(2 * wait_, options_.longest_probe);
  next_probe_ = deadline_after(now, wait_);
  return true;
}

std::optional<TimePoint> ReachCore::next_due() const {
  return away_since_ ? std::optional(next_probe_) : std::nullopt;
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
