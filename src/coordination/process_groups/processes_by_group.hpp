// SPDX-License-Identifier: Apache-2.0
// The processes of each group, for plans that ask for those of many groups.
#pragma once

#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include <evenkeel/coordination/process_groups/database.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination {

/// Returns the group of one of several processes in a Pod: "log-1" for "log-1-2". Unset if `reported` does
/// not end in a number after a dash.
std::optional<std::string_view> group_of_numbered(std::string_view reported);

/// An index of DatabaseStatus::of_group(). Thread safety: immutable. Lifetime: refers to the status.
class ProcessesByGroup {
 public:
  using Processes = std::vector<const DatabaseProcess*>;

  explicit ProcessesByGroup(const DatabaseStatus& status);
  const Processes& of(std::string_view id) const;

 private:
  std::map<std::string_view, Processes> exact_;
  std::map<std::string_view, Processes> numbered_;
};

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
