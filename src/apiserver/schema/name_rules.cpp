// SPDX-License-Identifier: Apache-2.0
#include "apiserver/schema/name_rules.hpp"

#include <algorithm>
#include <cctype>

namespace evenkeel {
inline namespace v0 {
namespace apiserver {
namespace {

constexpr std::string_view label_text =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start "
    "and end "
    "with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
constexpr std::string_view dots_text = "must not contain dots";
constexpr std::string_view subdomain_text =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must "
    "start "
    "and end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
constexpr std::string_view label_1035_text =
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic "
    "character, "
    "and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is "
    "'[a-z]([-a-z0-9]*[a-z0-9])?')";
constexpr std::string_view qualified_text =
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
    "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
constexpr std::string_view value_text =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must "
    "start "
    "and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for "
    "validation "
    "is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

bool is_lower_alnum(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}
bool is_alnum(char c) {
  return is_lower_alnum(c) || (c >= 'A' && c <= 'Z');
}

std::string too_long(std::size_t limit, std::string_view unit) {
  return "must be no more than " + std::to_string(limit) + " " + std::string(unit);
}

/// [a-z0-9]([-a-z0-9]*[a-z0-9])?
bool is_label(std::string_view text) {
  return !text.empty() && is_lower_alnum(text.front()) && is_lower_alnum(text.back()) &&
         std::all_of(text.begin(), text.end(), [](char c) { return is_lower_alnum(c) || c == '-'; });
}

bool is_subdomain(std::string_view text) {
  while (true) {
    const auto dot = text.find('.');
    if (!is_label(text.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

bool is_qualified(std::string_view text) {
  return !text.empty() && is_alnum(text.front()) && is_alnum(text.back()) &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return is_alnum(c) || c == '-' || c == '_' || c == '.'; });
}

std::vector<std::string> path_segment_problems(std::string_view name) {
  if (name == "." || name == "..") return {"may not be '" + std::string(name) + "'"};
  std::vector<std::string> problems;
  for (const char c : {'/', '%'})
    if (name.find(c) != std::string_view::npos)
      problems.push_back(std::string("may not contain '") + c + "'");
  return problems;
}

}  // namespace

std::vector<std::string> name_problems(std::string_view name, NameRule rule, NamePart part) {
  if (rule == NameRule::path_segment) return path_segment_problems(name);
  std::string text(name);
  // Source: apimachinery validation maskTrailingDash.
  if (part == NamePart::prefix && text.size() > 1 && text.back() == '-') text.back() = 'a';
  const std::size_t limit = rule == NameRule::dns_subdomain ? 253 : 63;
  std::vector<std::string> problems;
  if (text.size() > limit) problems.push_back(too_long(limit, "characters"));
  switch (rule) {
    case NameRule::dns_label:
      if (!is_label(text)) problems.emplace_back(is_subdomain(text) ? dots_text : label_text);
      break;
    case NameRule::dns_1035_label:
      if (!is_label(text) || !std::islower(static_cast<unsigned char>(text.front())))
        problems.emplace_back(label_1035_text);
      break;
    default:
      if (!is_subdomain(text)) problems.emplace_back(subdomain_text);
  }
  return problems;
}

std::vector<std::string> qualified_name_problems(std::string_view name) {
  std::vector<std::string> problems;
  const auto slash = name.find('/');
  if (slash != std::string_view::npos && name.find('/', slash + 1) != std::string_view::npos)
    return {"a valid label key " + std::string(qualified_text) +
            " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"};
  if (slash != std::string_view::npos) {
    const std::string_view prefix = name.substr(0, slash);
    name.remove_prefix(slash + 1);
    if (prefix.empty())
      problems.emplace_back("prefix part must be non-empty");
    else
      for (const std::string& problem : name_problems(prefix, NameRule::dns_subdomain))
        problems.push_back("prefix part " + problem);
  }
  if (name.empty())
    problems.emplace_back("name part must be non-empty");
  else if (name.size() > 63)
    problems.push_back("name part " + too_long(63, "bytes"));
  if (!is_qualified(name)) problems.push_back("name part " + std::string(qualified_text));
  return problems;
}

std::vector<std::string> label_value_problems(std::string_view value) {
  std::vector<std::string> problems;
  if (value.size() > 63) problems.push_back(too_long(63, "bytes"));
  if (!value.empty() && !is_qualified(value)) problems.emplace_back(value_text);
  return problems;
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
