// SPDX-License-Identifier: Apache-2.0
#include "testing/negotiation.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "testing/status_error.hpp"

namespace evenkeel::inline v0::testing {
namespace {

std::string_view trim(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

struct Range {
  std::string type;
  std::string as;
  std::string group;
  std::string version;
};

Range parse_range(std::string_view text) {
  Range range;
  bool first = true;
  while (true) {
    const auto at = text.find(';');
    const std::string_view part = trim(text.substr(0, at));
    if (first)
      range.type = lower(part);
    else if (part.starts_with("as="))
      range.as = part.substr(3);
    else if (part.starts_with("g="))
      range.group = part.substr(2);
    else if (part.starts_with("v="))
      range.version = part.substr(2);
    first = false;
    if (at == std::string_view::npos) return range;
    text.remove_prefix(at + 1);
  }
}

std::vector<Range> accept_ranges(const http::Headers& headers) {
  const std::string* accept = headers.find("Accept");
  std::string_view text = accept ? std::string_view(*accept) : "";
  std::vector<Range> out;
  while (!trim(text).empty()) {
    const auto at = text.find(',');
    if (!trim(text.substr(0, at)).empty()) out.push_back(parse_range(text.substr(0, at)));
    if (at == std::string_view::npos) break;
    text.remove_prefix(at + 1);
  }
  return out;
}

bool matches(std::string_view range, std::string_view type) {
  if (range == "*/*" || range == type) return true;
  return range.ends_with("/*") && type.substr(0, range.size() - 1) == range.substr(0, range.size() - 1);
}

std::optional<Representation> served(const Range& range) {
  if (!matches(range.type, "application/json")) return std::nullopt;
  if (range.as.empty()) return Representation{};
  if (range.group != "meta.k8s.io" || (range.version != "v1" && range.version != "v1beta1"))
    return std::nullopt;
  const std::string api_version = "meta.k8s.io/" + range.version;
  if (range.as == "Table") return Representation{Representation::Form::table, api_version};
  if (range.as == "PartialObjectMetadata" || range.as == "PartialObjectMetadataList")
    return Representation{Representation::Form::partial, api_version};
  return std::nullopt;
}

}  // namespace

Representation negotiate(const http::Headers& headers) {
  const std::vector<Range> ranges = accept_ranges(headers);
  if (ranges.empty()) return {};
  for (const Range& range : ranges)
    if (const auto found = served(range)) return *found;
  throw StatusError::not_acceptable({"application/json"});
}

std::string negotiate_any(const http::Headers& headers, std::initializer_list<std::string_view> accepted) {
  const std::vector<Range> ranges = accept_ranges(headers);
  if (ranges.empty()) return std::string(*accepted.begin());
  for (const Range& range : ranges)
    for (const std::string_view type : accepted)
      if (matches(range.type, type)) return std::string(type);
  return {};
}

std::string media_type(std::string_view content_type) {
  return lower(trim(content_type.substr(0, content_type.find(';'))));
}

}  // namespace evenkeel::inline v0::testing
