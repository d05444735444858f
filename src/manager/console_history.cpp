// SPDX-License-Identifier: Apache-2.0
#include "manager/console_history.hpp"

#include <algorithm>
#include <chrono>

namespace evenkeel {
inline namespace v0 {
namespace detail {

ConsoleHistory::Point ConsoleHistory::point_of(const Track& before, const ControllerSample& now,
                                               double seconds) {
  const auto per_second = [&](double later, double earlier) {
    return seconds > 0 ? std::max(0.0, later - earlier) / seconds : 0.0;
  };
  const double runs = now.reconciles - before.reconciles;
  LatencyHistogram waits = now.latency;
  waits -= before.latency;
  const auto quantile = [&](double share) {
    return std::chrono::duration<double>(waits.quantile(share)).count();
  };
  const std::array<double, console_series_names.size()> values{
      now.depth,
      now.busy,
      per_second(now.reconciles, before.reconciles),
      per_second(now.errors, before.errors),
      per_second(now.retries, before.retries),
      quantile(0.5),
      quantile(0.99),
      runs > 0 ? std::max(0.0, now.run_seconds - before.run_seconds) / runs : 0.0};
  Point point;
  std::transform(values.begin(), values.end(), point.begin(),
                 [](double value) { return static_cast<float>(value); });
  return point;
}

void ConsoleHistory::on_sample(TimePoint now, const std::vector<ControllerSample>& samples) {
  next_due_ = now + options_.interval;
  const bool first = tracks_.empty();
  if (!first) ++sequence_;
  for (const ControllerSample& sample : samples) {
    auto found = tracks_.find(sample.controller);
    const bool known = found != tracks_.end();
    if (!known) {
      if (tracks_.size() >= options_.max_controllers) continue;
      found = tracks_.emplace(sample.controller, Track()).first;
      found->second.ring.resize(options_.points);
    }
    Track& track = found->second;
    if (known) {
      const double seconds = std::chrono::duration<double>(now - track.at).count();
      track.ring[track.count++ % options_.points] = point_of(track, sample, seconds);
      track.last = sequence_;
    }
    track.at = now;
    track.reconciles = sample.reconciles;
    track.errors = sample.errors;
    track.retries = sample.retries;
    track.run_seconds = sample.run_seconds;
    track.latency = sample.latency;
  }
}

std::vector<ConsoleHistory::Point> ConsoleHistory::points(const std::string& controller,
                                                          std::uint64_t after) const {
  const auto found = tracks_.find(controller);
  if (found == tracks_.end() || found->second.last <= after) return {};
  const Track& track = found->second;
  const std::uint64_t wanted =
      std::min({track.count, static_cast<std::uint64_t>(options_.points), track.last - after});
  std::vector<Point> points;
  points.reserve(static_cast<std::size_t>(wanted));
  for (std::uint64_t at = track.count - wanted; at < track.count; ++at) {
    points.push_back(track.ring[at % options_.points]);
  }
  return points;
}

std::size_t ConsoleHistory::bytes() const {
  return tracks_.size() * (options_.points * sizeof(Point) + sizeof(Track));
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
