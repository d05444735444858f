// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <evenkeel/coordination/process_groups/cluster.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination {
namespace {

/// Returns "7.1" for "7.1.57"; versions with the same result can communicate.
std::string_view protocol(std::string_view version) {
  const auto minor = version.find('.');
  if (minor == std::string_view::npos) return version;
  return version.substr(0, version.find('.', minor + 1));
}

}  // namespace

const ProcessGroup* ProcessCluster::find(std::string_view id) const {
  const auto found = std::ranges::find(process_groups, id, &ProcessGroup::id);
  return found == process_groups.end() ? nullptr : &*found;
}

ProcessGroup* ProcessCluster::find(std::string_view id) {
  const auto found = std::ranges::find(process_groups, id, &ProcessGroup::id);
  return found == process_groups.end() ? nullptr : &*found;
}

bool ProcessCluster::has_incompatible_upgrade() const {
  return !running_version.empty() && protocol(running_version) != protocol(version);
}

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
