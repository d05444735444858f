// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <evenkeel/coordination/process_groups/process_group.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination {

std::optional<WallTime> ProcessGroup::since(std::string_view type) const {
  const auto found = std::ranges::find(conditions, type, &ProcessGroupCondition::type);
  if (found == conditions.end()) return std::nullopt;
  return found->since.value();
}

void ProcessGroup::set(std::string_view type, WallTime now) {
  if (!has(type)) conditions.push_back({std::string(type), now});
}

void ProcessGroup::clear(std::string_view type) {
  std::erase_if(conditions, [&](const ProcessGroupCondition& one) { return one.type == type; });
}

std::string ProcessGroup::exclusion_text() const {
  return std::string(locality_exclusion_prefix) + id;
}

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
