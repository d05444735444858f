// SPDX-License-Identifier: Apache-2.0
#include "events/similar_events.hpp"

#include <functional>

namespace evenkeel {
inline namespace v0 {
namespace detail {

std::string SimilarEvents::correlate(EventRecord& record, TimePoint now) {
  std::string key = similar_key(record);
  Group& group = groups_.at(key);
  if (now - group.last > interval_) group.messages.clear();
  group.last = now;
  const std::size_t message = std::hash<std::string>()(record.message);
  group.messages.insert(message);
  if (group.messages.size() < most_) return counted_key(record);
  // One is forgotten, so that the set does not grow.
  auto other = group.messages.begin();
  if (*other == message) ++other;
  if (other != group.messages.end()) group.messages.erase(other);
  record.message = cut_text("(combined from similar events): " + record.message, longest_message);
  return key;
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
