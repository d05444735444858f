// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <evenkeel/coordination/process_groups/database.hpp>

#include "processes_by_group.hpp"

namespace evenkeel {
inline namespace v0 {
namespace coordination {

std::optional<std::string_view> group_of_numbered(std::string_view reported) {
  const auto dash = reported.rfind('-');
  if (dash == std::string_view::npos || dash + 1 == reported.size()) return std::nullopt;
  const bool is_number =
      std::ranges::all_of(reported.substr(dash + 1), [](char c) { return c >= '0' && c <= '9'; });
  return is_number ? std::optional(reported.substr(0, dash)) : std::nullopt;
}

std::string_view DatabaseProcess::where(std::string_view key) const {
  const auto found = locality.find(key);
  return found == locality.end() ? std::string_view() : std::string_view(found->second);
}

bool DatabaseProcess::has_role(std::string_view role) const {
  return std::ranges::find(roles, role) != roles.end();
}

std::string DatabaseProcess::dns_address() const {
  const std::string_view name = where(locality::dns_name);
  const auto port = address.rfind(':');
  if (name.empty() || port == std::string::npos) return {};
  return std::string(name) + address.substr(port);
}

bool DatabaseProcess::is_known_as(std::string_view coordinator) const {
  return coordinator == address || (!coordinator.empty() && coordinator == dns_address());
}

std::vector<const DatabaseProcess*> DatabaseStatus::of_group(std::string_view id) const {
  std::vector<const DatabaseProcess*> exact;
  std::vector<const DatabaseProcess*> numbered;
  for (const DatabaseProcess& process : processes) {
    const std::string_view group = process.group();
    if (group == id)
      exact.push_back(&process);
    else if (group_of_numbered(group) == id)
      numbered.push_back(&process);
  }
  return exact.empty() ? numbered : exact;
}

ProcessesByGroup::ProcessesByGroup(const DatabaseStatus& status) {
  for (const DatabaseProcess& process : status.processes) {
    const std::string_view group = process.group();
    exact_[group].push_back(&process);
    if (const auto numbered = group_of_numbered(group)) numbered_[*numbered].push_back(&process);
  }
}

const ProcessesByGroup::Processes& ProcessesByGroup::of(std::string_view id) const {
  static const Processes none;
  if (const auto found = exact_.find(id); found != exact_.end()) return found->second;
  const auto found = numbered_.find(id);
  return found == numbered_.end() ? none : found->second;
}

void AdminClient::raise_fence(const Fence& /*fence*/, std::stop_token /*stop*/) {}

bool DatabaseStatus::is_coordinator(const DatabaseProcess& process) const {
  if (process.has_role("coordinator")) return true;
  return std::ranges::any_of(coordinators, [&](const std::string& one) { return process.is_known_as(one); });
}

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
