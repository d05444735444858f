// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "apiserver/query/selector.hpp"
#include "apiserver/text/member_path.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {
namespace {

/// Splits at commas without a preceding backslash; sorted, because the first problem found is reported.
std::vector<std::string> terms_of(std::string_view text) {
  std::vector<std::string> out(1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) {
      out.back().append(text.substr(i++, 2));
    } else if (text[i] == ',') {
      out.emplace_back();
    } else {
      out.back() += text[i];
    }
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::string unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ',' || text[i] == '=')
      throw StatusError::bad_request("invalid field selector: unescaped character in value: " +
                                     std::to_string(static_cast<int>(text[i])));
    if (text[i] == '\\') {
      const std::string_view sequence = text.substr(i++, 2);
      if (sequence.size() < 2 || std::string_view("\\,=").find(sequence[1]) == std::string_view::npos)
        throw StatusError::bad_request("invalid field selector: invalid escape sequence: " +
                                       std::string(sequence));
    }
    out += text[i];
  }
  return out;
}

/// Returns position and length of the first operator: !=, == or =.
std::pair<std::size_t, std::size_t> operator_in(std::string_view term) {
  const auto equals = term.find('=');
  if (equals == std::string_view::npos) return {equals, 0};
  if (equals > 0 && term[equals - 1] == '!') return {equals - 1, 2};
  return {equals, term.substr(equals, 2) == "==" ? 2 : 1};
}

std::string text_of(const Json& value) {
  if (value.is_null()) return "";
  return value.is_string() ? value.as_string() : value.dump();
}

/// Throws the error text of the kind.
[[noreturn]] void refuse_field(const std::string& field, const ResourceType& type) {
  if (!type.custom && type.group == "batch" && type.kind == "Job")
    throw StatusError::bad_request("field label " + Json(field).dump() + " not supported for Job");
  if (type.only_known_fields && !type.custom)
    throw StatusError::bad_request(
        "\"" + field + "\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\"");
  throw StatusError::bad_request("field label not supported: " + field);
}

bool is_selectable(const std::string& field, const ResourceType& type) {
  if (field == "metadata.name") return true;
  if (field == "metadata.namespace") return type.namespaced || !type.custom;
  return std::find(type.selectable_fields.begin(), type.selectable_fields.end(), field) !=
         type.selectable_fields.end();
}

/// Returns the value of an absent field: numbers and booleans are never empty in Go.
std::string absent_value(const std::string& field) {
  if (field == "spec.unschedulable" || field == "spec.hostNetwork") return "false";
  if (field == "status.replicas" || field == "status.successful") return "0";
  return "";
}

Json part_of(const Json& object, std::string_view path) {
  return value_at(object, path);
}
Json part_of(const Stored& object, std::string_view path) {
  return object.part(path);
}

template <class Object>
std::string field_value(const Object& object, const std::string& field) {
  if (field == "source") {
    const std::string component = part_of(object, "source.component").string_or("");
    return component.empty() ? part_of(object, "reportingComponent").string_or("") : component;
  }
  const Json value = part_of(object, field == "status.successful" ? "status.succeeded" : field);
  if (field == "status.podIPs") {
    std::string joined;
    for (std::size_t i = 0; i < value.size(); ++i)
      joined.append(i == 0 ? "" : ",").append(std::as_const(value)[i]["ip"].string_or(""));
    return joined;
  }
  return value.is_null() ? absent_value(field) : text_of(value);
}

}  // namespace

FieldQuery::FieldQuery(std::string_view text, const ResourceType& type) {
  for (const std::string& term : terms_of(text)) {
    if (term.empty()) continue;
    const auto [at, length] = operator_in(term);
    if (length == 0)
      throw StatusError::bad_request("invalid selector: '" + std::string(text) + "'; can't understand '" +
                                     term + "'");
    std::string field = term.substr(0, at);
    terms_.push_back({.field = std::move(field),
                      .value = unescaped(std::string_view(term).substr(at + length)),
                      .equal = term[at] != '!'});
  }
  for (const Term& term : terms_)
    if (!is_selectable(term.field, type)) refuse_field(term.field, type);
}

template <class Object>
bool FieldQuery::holds(const Object& object) const {
  return std::all_of(terms_.begin(), terms_.end(), [&](const Term& term) {
    return (field_value(object, term.field) == term.value) == term.equal;
  });
}

bool FieldQuery::matches(const Json& object) const {
  return holds(object);
}
bool FieldQuery::matches(const Stored& object) const {
  return holds(object);
}

std::string FieldQuery::name() const {
  for (const Term& term : terms_)
    if (term.equal && term.field == "metadata.name") return term.value;
  return {};
}

bool Selection::matches(const Stored& object, const ResourceType& type) const {
  if (!shards.matches(object)) return false;
  if (!labels.empty() && !labels.matches(object)) return false;
  if (fields.empty()) return true;
  return type.reads_as_stored(object.form()) ? fields.matches(object) : fields.matches(type.read(object));
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
