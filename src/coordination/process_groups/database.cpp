// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <evenkeel/coordination/process_groups/database.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination {
namespace {

/// Returns true if `reported` is `id`, or `id` followed by "-<number>".
bool names_group(std::string_view reported, std::string_view id) {
  if (!reported.starts_with(id)) return false;
  const std::string_view rest = reported.substr(id.size());
  if (rest.empty()) return true;
  return rest.size() > 1 && rest[0] == '-' &&
         std::ranges::all_of(rest.substr(1), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

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
    else if (names_group(group, id))
      numbered.push_back(&process);
  }
  return exact.empty() ? numbered : exact;
}

void AdminClient::raise_fence(const Fence& /*fence*/, std::stop_token /*stop*/) {}

bool DatabaseStatus::is_coordinator(const DatabaseProcess& process) const {
  if (process.has_role("coordinator")) return true;
  return std::ranges::any_of(coordinators, [&](const std::string& one) { return process.is_known_as(one); });
}

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
