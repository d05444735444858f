// SPDX-License-Identifier: Apache-2.0
#include "apiserver/schema/builtin_checks.hpp"

#include <algorithm>

#include "apiserver/schema/name_rules.hpp"
#include "apiserver/text/address_formats.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver::checks {

FieldError field_not_found(std::string field, const Json& value) {
  return {"FieldValueNotFound", "Not found: " + value.dump(), std::move(field)};
}

bool is_empty(const Json& value) {
  return value.is_null() || (value.is_string() && value.as_string().empty()) ||
         ((value.is_array() || value.is_object()) && value.empty());
}

bool is_address(std::string_view text) {
  return is_ip_address(text);
}

std::string indexed(const std::string& path, std::size_t index) {
  return path + "[" + std::to_string(index) + "]";
}

void add_all(const std::string& field, const std::string& value, const std::vector<std::string>& problems,
             Errors& errors) {
  for (const std::string& problem : problems) errors.push_back(field_invalid(field, value, problem));
}

void check_subdomain(const std::string& name, const std::string& field, Errors& errors) {
  add_all(field, name, name_problems(name, NameRule::dns_subdomain), errors);
}

void check_label(const std::string& name, const std::string& field, Errors& errors) {
  add_all(field, name, name_problems(name, NameRule::dns_label), errors);
}

void check_labels(const Json& labels, const std::string& field, Errors& errors) {
  if (!labels.is_object()) return;
  for (const auto& [key, value] : labels.as_object()) {
    add_all(field, key, qualified_name_problems(key), errors);
    add_all(field, value.string_or(""), label_value_problems(value.string_or("")), errors);
  }
}

void check_port_name(const std::string& name, const std::string& field, Errors& errors) {
  const auto refuse = [&](std::string_view problem) {
    errors.push_back(field_invalid(field, name, problem));
  };
  const auto is_letter = [](char c) { return c >= 'a' && c <= 'z'; };
  const auto is_allowed = [&](char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '-'; };
  if (name.size() > 15) refuse("must be no more than 15 characters");
  if (name.empty() || !std::all_of(name.begin(), name.end(), is_allowed))
    refuse("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
  if (std::none_of(name.begin(), name.end(), is_letter)) refuse("must contain at least one letter (a-z)");
  if (name.find("--") != std::string::npos) refuse("must not contain consecutive hyphens");
  if (!name.empty() && (name.front() == '-' || name.back() == '-'))
    refuse("must not begin or end with a hyphen");
}

void check_port(const Json& port, const std::string& field, Errors& errors) {
  if (port.is_string()) return check_port_name(port.as_string(), field, errors);
  const std::int64_t number = port.integer_or(0);
  if (number < 1 || number > 65535) errors.push_back(field_invalid(field, Json(number), port_text));
}

void check_not_negative(const Json& value, const std::string& field, Errors& errors) {
  if (value.is_integer() && value.as_integer() < 0)
    errors.push_back(field_invalid(field, value, "must be greater than or equal to 0"));
}

void check_path_segment(const Json& name, const std::string& field, Errors& errors) {
  const std::string text = name.string_or("");
  add_all(field, text, name_problems(text, NameRule::path_segment), errors);
}

bool is_whole(const Quantity& amount) {
  // Larger amounts do not fit into thousandths, and have no fractions in practice.
  const Quantity limit(std::int64_t{9'000'000'000'000'000});
  return amount > limit || -amount > limit || amount.milli_value() % 1000 == 0;
}

bool is_negative(const Json& quantity) {
  return amount_of(quantity) < Quantity();
}
bool is_not_positive(const Json& quantity) {
  return amount_of(quantity) <= Quantity();
}

Quantity amount_of(const Json& quantity) {
  const std::string text = quantity.is_string() ? quantity.as_string() : quantity.dump();
  return Quantity::parse(text).value_or(Quantity());
}

void check_immutable(const Json& value, const Json& old, const std::string& field, Errors& errors) {
  if (value != old) errors.push_back(field_invalid(field, value, immutable_text));
}

void check_one_of(const Json& value, const std::string& field, const Json::Array& allowed, Errors& errors) {
  if (std::find(allowed.begin(), allowed.end(), value) == allowed.end())
    errors.push_back(field_not_supported(field, value.is_null() ? Json("") : value, allowed));
}

Errors selector_problems(const Json& selector, const std::string& path) {
  Errors errors;
  check_labels(selector["matchLabels"], path + ".matchLabels", errors);
  const Json& rules = selector["matchExpressions"];
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const std::string here = indexed(path + ".matchExpressions", i);
    const std::string how = rules[i]["operator"].string_or("");
    const bool listed = how == "In" || how == "NotIn";
    if (!listed && how != "Exists" && how != "DoesNotExist")
      errors.push_back(field_invalid(here + ".operator", how, "not a valid selector operator"));
    if (listed && is_empty(rules[i]["values"]))
      errors.push_back(
          field_required(here + ".values", "must be specified when `operator` is 'In' or 'NotIn'"));
    if (!listed && (how == "Exists" || how == "DoesNotExist") && !is_empty(rules[i]["values"]))
      errors.push_back(field_forbidden(here + ".values",
                                       "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"));
    for (std::size_t j = 0; j < rules[i]["values"].size(); ++j) {
      const std::string value = rules[i]["values"][j].string_or("");
      add_all(indexed(here + ".values", j), value, label_value_problems(value), errors);
    }
    const std::string key = rules[i]["key"].string_or("");
    add_all(here + ".key", key, qualified_name_problems(key), errors);
  }
  return errors;
}

}  // namespace apiserver::checks
}  // namespace v0
}  // namespace evenkeel
