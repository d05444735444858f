// SPDX-License-Identifier: Apache-2.0
#include "programs/evenkeel/types/lost_parts.hpp"

#include <algorithm>

namespace evenkeel::program {

void LostParts::add(const std::string& path, const std::string& part) {
  constexpr std::string_view properties = ".properties.";
  std::string left = path.substr(std::min(path.size(), root_.size()));
  std::string shown;
  for (std::size_t at; (at = left.find(properties)) != std::string::npos;) {
    shown += left.substr(0, at) + ".";
    left.erase(0, at + properties.size());
  }
  shown += left;
  parts_.push_back((shown.empty() ? "" : shown + ": ") + part);
}

void LostParts::add_members(const Json& schema, const std::string& path,
                            std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    if (schema.contains(name)) add(path, std::string(name));
  }
}

}  // namespace evenkeel::program
