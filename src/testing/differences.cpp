// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string_view>
#include <utility>

#include <evenkeel/testing/differences.hpp>

namespace evenkeel {
inline namespace v0 {
namespace testing {
namespace {

constexpr std::size_t longest_value = 200;

std::string shown(const Json& value) {
  std::string text = value.dump();
  if (text.size() <= longest_value) return text;
  text.resize(longest_value);
  return text + "...";
}

std::string member_path(const std::string& path, const std::string& name) {
  const bool plain = name.find_first_of("./[") == std::string::npos;
  if (!plain) return path + "[\"" + name + "\"]";
  return path.empty() ? name : path + "." + name;
}

std::string item_path(const std::string& path, std::size_t index) {
  return path + "[" + std::to_string(index) + "]";
}

// Returns the names of the members of two objects, without duplicates, in order.
std::vector<std::string> names_of(const Json& left, const Json& right) {
  std::vector<std::string> names;
  for (const Json* side : {&left, &right}) {
    for (const auto& [name, value] : side->as_object()) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

void compare(const std::string& path, const Json* before, const Json* after, std::vector<std::string>& out) {
  const std::string place = path.empty() ? "" : path + ": ";
  if (before == nullptr && after == nullptr) return;
  if (before == nullptr) return out.push_back(place + "added " + shown(*after));
  if (after == nullptr) return out.push_back(place + "removed " + shown(*before));
  if (*before == *after) return;
  if (before->is_object() && after->is_object()) {
    for (const std::string& name : names_of(*before, *after))
      compare(member_path(path, name), before->find(name), after->find(name), out);
    return;
  }
  if (before->is_array() && after->is_array()) {
    for (std::size_t at = 0; at < std::max(before->size(), after->size()); ++at) {
      compare(item_path(path, at), at < before->size() ? &(*before)[at] : nullptr,
              at < after->size() ? &(*after)[at] : nullptr, out);
    }
    return;
  }
  out.push_back(place + shown(*before) + " -> " + shown(*after));
}

void look_for(const std::string& path, const Json& part, const Json& document,
              std::vector<std::string>& out) {
  if (part.is_object() && (document.is_object() || document.is_null())) {
    for (const auto& [name, value] : part.as_object())
      look_for(member_path(path, name), value, document[name], out);
    if (document.is_null() && part.empty()) out.push_back(path + ": expected {}, found nothing");
    return;
  }
  if (part.is_array() && document.is_array() && part.size() == document.size()) {
    for (std::size_t at = 0; at < part.size(); ++at)
      look_for(item_path(path, at), part[at], document[at], out);
    return;
  }
  if (part == document) return;
  out.push_back((path.empty() ? "" : path + ": ") + "expected " + (part.is_null() ? "nothing" : shown(part)) +
                ", found " + (document.is_null() ? "nothing" : shown(document)));
}

}  // namespace

std::vector<std::string> differences(const Json& before, const Json& after) {
  std::vector<std::string> lines;
  compare("", before.is_null() ? nullptr : &before, after.is_null() ? nullptr : &after, lines);
  return lines;
}

std::vector<std::string> missing(const Json& part, const Json& document) {
  std::vector<std::string> lines;
  look_for("", part, document, lines);
  return lines;
}

}  // namespace testing
}  // namespace v0
}  // namespace evenkeel
