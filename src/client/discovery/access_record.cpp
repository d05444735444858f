// SPDX-License-Identifier: Apache-2.0
#include <sstream>

#include <evenkeel/api/json.hpp>
#include <evenkeel/client/access_record.hpp>

namespace evenkeel {
inline namespace v0 {
namespace {

constexpr std::size_t most_names = 16;
constexpr std::size_t most_namespaces = 16;
const std::string various = "*";

std::string word(const std::string& text) {
  return text.empty() ? "-" : text;
}

// Throws what is wrong with the line, without its number.
Access parse_line(const std::string& line, const std::string& where) {
  std::istringstream words(line);
  Access access;
  std::string more;
  words >> access.verb >> access.group >> access.resource >> access.namespace_ >> access.name;
  if (access.name.empty() || (words >> more))
    throw DecodeError(where, "expected VERB GROUP RESOURCE NAMESPACE NAME, found \"" + line + "\"");
  for (std::string* each : {&access.group, &access.namespace_, &access.name}) {
    if (*each == "-") each->clear();
  }
  return access;
}

}  // namespace

bool AccessRecord::add(const Access& access) {
  auto& namespaces = kinds_[{access.verb, access.group, access.resource}];
  if (namespaces.contains(various)) return false;
  Names& names = namespaces[access.namespace_];
  if (namespaces.size() > most_namespaces) {
    namespaces = {{various, {various}}};
    return true;
  }
  if (names.contains(various) || !names.insert(access.name).second) return false;
  if (names.size() > most_names) names = {various};
  if (access.namespace_ == various) namespaces = {{various, {various}}};
  return true;
}

void AccessRecord::add(const AccessRecord& other) {
  for (const Access& access : other.accesses()) add(access);
}

std::vector<Access> AccessRecord::accesses() const {
  std::vector<Access> all;
  for (const auto& [kind, namespaces] : kinds_)
    for (const auto& [space, names] : namespaces)
      for (const std::string& name : names)
        all.push_back({kind.verb, kind.group, kind.resource, space, name});
  return all;
}

std::string AccessRecord::str() const {
  std::string text;
  for (const Access& access : accesses()) {
    text += access.verb + " " + word(access.group) + " " + access.resource + " " + word(access.namespace_) +
            " " + word(access.name) + "\n";
  }
  return text;
}

AccessRecord AccessRecord::parse(std::string_view text, const std::string& where) {
  AccessRecord record;
  std::size_t number = 1;
  for (; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    const std::string line(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (!line.empty() && line[0] != '#') record.add(parse_line(line, where + ":" + std::to_string(number)));
  }
  return record;
}

}  // namespace v0
}  // namespace evenkeel
