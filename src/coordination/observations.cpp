// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <string>

#include <evenkeel/coordination/observations.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination {

TimePoint Observations::see(std::string_view key, Version version, TimePoint now) {
  const auto found = seen_.find(key);
  if (found == seen_.end()) return seen_.emplace(key, Seen{version, now}).first->second.since;
  if (found->second.version != version) found->second = {version, now};
  return found->second.since;
}

std::optional<TimePoint> Observations::since(std::string_view key, Version version) const {
  const auto found = seen_.find(key);
  if (found == seen_.end() || found->second.version != version) return std::nullopt;
  return found->second.since;
}

void Observations::forget(std::string_view key) {
  const auto found = seen_.find(key);
  if (found != seen_.end()) seen_.erase(found);
}

void Observations::see_all(const KeyRange& range, const std::vector<Entry>& entries, TimePoint now) {
  std::vector<std::string_view> present;
  for (const Entry& entry : entries) {
    see(entry.key, entry.version, now);
    present.push_back(entry.key);
  }
  std::ranges::sort(present);
  std::erase_if(seen_, [&](const auto& one) {
    return range.contains(one.first) && !std::ranges::binary_search(present, std::string_view(one.first));
  });
}

void VersionHistories::see_all(const std::map<std::string, Version>& versions, TimePoint now) {
  std::erase_if(series_, [&](const auto& one) { return !versions.contains(one.first); });
  for (const auto& [name, version] : versions) add(series_[name], version, now);
}

void VersionHistories::add(History& history, Version version, TimePoint now) {
  constexpr std::size_t most_versions = 64;
  if (!history.empty() && version < history.rbegin()->first) history.clear();
  history.try_emplace(version, now);
  if (history.size() <= most_versions) return;
  // The answers for a version that is dropped become that of the next one. The first and the last are kept.
  auto least = history.end();
  Duration shortest = Duration::max();
  for (auto one = std::next(history.begin()); std::next(one) != history.end(); ++one) {
    const Duration span = std::next(one)->second - std::prev(one)->second;
    if (span < shortest) least = one;
    shortest = std::min(shortest, span);
  }
  history.erase(least);
}

std::optional<TimePoint> VersionHistories::since(std::string_view name, Version version) const {
  const auto found = series_.find(name);
  if (found == series_.end()) return std::nullopt;
  const auto seen = found->second.lower_bound(version);
  if (seen == found->second.end()) return std::nullopt;
  return seen->second;
}

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
