// SPDX-License-Identifier: Apache-2.0
#include "coordination/tables.hpp"

#include <algorithm>
#include <array>

#include <evenkeel/coordination/keys.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination::detail {

std::vector<std::string> children_of(StoreSnapshot& snapshot, std::string_view prefix) {
  std::vector<std::string> children;
  KeyRange rest = prefix_range(prefix);
  while (true) {
    const ScanPage page = snapshot.scan(rest, 1);
    if (page.entries.empty()) {
      if (page.next.empty()) return children;
      rest.begin = page.next;
      continue;
    }
    const std::string_view key = page.entries.front().key;
    const std::string_view element = key.substr(prefix.size(), key.find('/', prefix.size()) - prefix.size());
    children.push_back(key_text(element));
    // Skips everything below the element, and a key that is the element itself.
    rest.begin = prefix_range(std::string(prefix) + std::string(element) + "/").end;
    if (!rest.end.empty() && rest.begin >= rest.end) return children;
  }
}

std::vector<std::string> tables_of(StoreSnapshot& snapshot, const Layout& layout) {
  constexpr std::array<std::string_view, 4> others{"arbiter", "guard", "instances", "tokens"};
  std::vector<std::string> tables = children_of(snapshot, layout.all_prefix());
  std::erase_if(tables,
                [&](const std::string& name) { return std::ranges::find(others, name) != others.end(); });
  return tables;
}

}  // namespace coordination::detail
}  // namespace v0
}  // namespace evenkeel
