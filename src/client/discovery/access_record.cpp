// SPDX-License-Identifier: Apache-2.0
#include <sstream>

#include <evenkeel/api/json.hpp>
#include <evenkeel/client/access_record.hpp>
#include <evenkeel/http/message.hpp>

#include "base/shown_text.hpp"

namespace evenkeel {
inline namespace v0 {
namespace {

constexpr std::size_t most_kinds = 1000;
constexpr std::size_t most_names = 16;
constexpr std::size_t most_namespaces = 16;
const std::string various = "*";

constexpr std::size_t quoted_bytes = 60;

// Returns one word of a line: only visible characters of ASCII stand for themselves.
std::string word(const std::string& text) {
  if (text.empty()) return "-";
  if (text == "-") return "%2D";
  std::string out;
  for (const char& c : text)
    out += c > ' ' && c <= '~' && c != '%' ? std::string(1, c) : http::percent_encode({&c, 1});
  return out;
}

std::string text_of_word(const std::string& word) {
  return word == "-" ? std::string() : http::percent_decode(word);
}

// Throws what is wrong with the line, without its number.
Access parse_line(const std::string& line, const std::string& where) {
  std::istringstream words(line);
  std::string verb, group, resource, namespace_, name, more;
  words >> verb >> group >> resource >> namespace_ >> name;
  if (name.empty() || (words >> more))
    throw DecodeError(where, "expected VERB GROUP RESOURCE NAMESPACE NAME, found \"" +
                                 detail::shown_text(line, quoted_bytes) + "\"");
  return {.verb = text_of_word(verb),
          .group = text_of_word(group),
          .resource = text_of_word(resource),
          .namespace_ = text_of_word(namespace_),
          .name = text_of_word(name)};
}

}  // namespace

bool AccessRecord::add(const Access& access) {
  const Kind kind{access.verb, access.group, access.resource};
  if (kinds_.size() >= most_kinds && !kinds_.contains(kind)) return false;
  auto& namespaces = kinds_[kind];
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
    text += word(access.verb) + " " + word(access.group) + " " + word(access.resource) + " " +
            word(access.namespace_) + " " + word(access.name) + "\n";
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
