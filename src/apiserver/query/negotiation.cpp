// SPDX-License-Identifier: Apache-2.0
// Source: github.com/munnerz/goautoneg, apiserver pkg/endpoints/handlers/negotiation, go-restful route.go.
#include "apiserver/query/negotiation.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>
#include <vector>

#include "apiserver/schema/status_error.hpp"
#include "base/ascii.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {
namespace {

constexpr std::array<std::string_view, 2> media_types = {"application/json", "application/yaml"};

std::string_view trim(std::string_view text, std::string_view blanks = " ") {
  const auto first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

/// Removes and returns the text before `separator`; the caller trims blanks.
std::string_view cut(std::string_view& rest, char separator) {
  const auto at = rest.find(separator);
  const std::string_view piece = rest.substr(0, at);
  rest = at == std::string_view::npos ? std::string_view() : rest.substr(at + 1);
  return piece;
}

/// One entry of an Accept header.
struct Clause {
  std::string_view type = {};
  std::string_view subtype = {};
  double q = 1;
  std::optional<std::string_view> as = {};
  std::string_view group = {};
  std::string_view version = {};
  bool converts = false;  ///< Requests another kind than the object's own.

  bool matches(std::string_view media) const {
    std::string_view rest = media;
    const std::string_view wanted = cut(rest, '/');
    if (type == "*" && subtype == "*") return true;
    return type == wanted && (subtype == "*" || subtype == rest);
  }
};

void read_parameter(Clause& clause, std::string_view text) {
  const std::string_view name = trim(cut(text, '='));
  const std::string_view value = trim(text);
  if (value.empty()) return;
  if (name == "q" && std::from_chars(value.data(), value.data() + value.size(), clause.q).ec != std::errc())
    clause.q = 0;
  if (name == "as") clause.as = value;
  if (name == "g") clause.group = value;
  if (name == "v") clause.version = value;
  clause.converts = clause.converts || name == "as" || name == "g" || name == "v";
}

std::optional<Clause> read_clause(std::string_view text) {
  std::string_view range = cut(text, ';');
  Clause clause{.type = trim(cut(range, '/')), .subtype = trim(range)};
  if (clause.subtype.empty() && clause.type == "*") clause.subtype = "*";
  if (clause.subtype.empty() || clause.subtype.find('/') != std::string_view::npos) return std::nullopt;
  while (!text.empty()) read_parameter(clause, cut(text, ';'));
  return clause;
}

bool goes_before(const Clause& one, const Clause& other) {
  return one.q > other.q || (one.type != "*" && other.type == "*") ||
         (one.subtype != "*" && other.subtype == "*");
}

/// Returns the entries in order of preference.
std::vector<Clause> clauses_of(std::string_view header) {
  std::vector<Clause> out;
  while (!header.empty()) {
    const auto clause = read_clause(trim(cut(header, ',')));
    if (!clause) continue;
    out.push_back(*clause);
    // goes_before() is not a strict order; the result is that of the sort in the source.
    for (std::size_t i = out.size() - 1; i > 0 && goes_before(out[i], out[i - 1]); --i)
      std::swap(out[i], out[i - 1]);
  }
  return out;
}

std::string_view accept_of(const http::Headers& headers) {
  const std::string* accept = headers.find("Accept");
  return accept == nullptr ? std::string_view() : std::string_view(*accept);
}

std::optional<Representation> served(const Clause& clause) {
  if (!clause.converts) return Representation{};
  if (!clause.as || clause.group != "meta.k8s.io" || (clause.version != "v1" && clause.version != "v1beta1"))
    return std::nullopt;
  Representation out{.api_version = "meta.k8s.io/" + std::string(clause.version)};
  if (*clause.as == "Table") {
    out.form = Representation::Form::table;
  } else if (*clause.as == "PartialObjectMetadata" || *clause.as == "PartialObjectMetadataList") {
    out.form = Representation::Form::partial;
    out.list = *clause.as == "PartialObjectMetadataList";
  } else {
    return std::nullopt;
  }
  return out;
}

/// Returns true if the router accepts the header: types by name, regardless of parameters.
bool router_takes(std::string_view header) {
  if (header.empty()) return true;
  while (!header.empty()) {
    std::string_view entry = cut(header, ',');
    const std::string_view type = trim(cut(entry, ';'));
    if (type == "*/*" || std::find(media_types.begin(), media_types.end(), type) != media_types.end())
      return true;
  }
  return false;
}

[[noreturn]] void refuse() {
  throw StatusError::not_acceptable({media_types.begin(), media_types.end()});
}

}  // namespace

Representation negotiate(const http::Headers& headers, Front front) {
  const std::string_view header = accept_of(headers);
  if (front == Front::router && !router_takes(header))
    throw StatusError::no_representation({media_types.begin(), media_types.end()});
  if (header.empty()) return {};
  for (const Clause& clause : clauses_of(header))
    for (const std::string_view media : media_types)
      if (auto found = clause.matches(media) ? served(clause) : std::nullopt) {
        found->yaml = media == media_types[1];
        return *found;
      }
  refuse();
}

DiscoveryForm negotiate_discovery(const http::Headers& headers, bool aggregated) {
  const std::string_view header = accept_of(headers);
  if (header.empty()) return {};
  const std::vector<Clause> clauses = clauses_of(header);
  for (const bool wants_aggregated : {true, false}) {
    if (wants_aggregated && !aggregated) continue;
    for (const Clause& clause : clauses) {
      const bool is_aggregated = clause.as && *clause.as == "APIGroupDiscoveryList" &&
                                 clause.version == "v2" && clause.group == "apidiscovery.k8s.io";
      if (wants_aggregated ? !is_aggregated : clause.converts) continue;
      for (const std::string_view media : media_types)
        if (clause.matches(media)) return {.aggregated = wants_aggregated, .yaml = media == media_types[1]};
    }
  }
  refuse();
}

bool prefers_yaml(const http::Headers& headers) {
  for (const Clause& clause : clauses_of(accept_of(headers)))
    for (const std::string_view media : media_types)
      if (clause.matches(media) && served(clause)) return media == media_types[1];
  return false;
}

std::string negotiate_any(const http::Headers& headers, std::initializer_list<std::string_view> accepted) {
  const std::string_view header = accept_of(headers);
  if (header.empty()) return std::string(*accepted.begin());
  for (const Clause& clause : clauses_of(header))
    for (const std::string_view type : accepted)
      if (clause.matches(type)) return std::string(type);
  return {};
}

std::string media_type(std::string_view content_type) {
  return evenkeel::detail::ascii::lower(trim(content_type.substr(0, content_type.find(';')), " \t"));
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
