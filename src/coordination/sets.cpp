// SPDX-License-Identifier: Apache-2.0
#include <set>
#include <stdexcept>

#include <evenkeel/coordination/sets.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination {
namespace {

std::string named(std::string_view phase, std::string_view action) {
  if (action.empty()) throw std::invalid_argument("an action must have a name");
  std::string set(phase);
  const char first = action.front();
  set += first >= 'a' && first <= 'z' ? static_cast<char>(first - 'a' + 'A') : first;
  return set.append(action.substr(1));
}

}  // namespace

std::string pending_set(std::string_view action) {
  return named("pendingFor", action);
}

std::string ready_set(std::string_view action) {
  return named("readyFor", action);
}

std::string summary_table(std::string_view action) {
  return named(summary_table_prefix, action);
}

std::vector<std::string> Domain::sets() const {
  std::set<std::string> names;
  const auto add = [&](std::string name) {
    if (!names.insert(name).second)
      throw std::invalid_argument("Domain: the set " + name + " is listed twice");
  };
  for (const std::string& action : actions) {
    add(pending_set(action));
    add(ready_set(action));
  }
  for (const std::string& mark : marks) add(pending_set(mark));
  return {names.begin(), names.end()};
}

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
