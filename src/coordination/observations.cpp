// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

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

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
