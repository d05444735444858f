// SPDX-License-Identifier: Apache-2.0
// Source: apiextensions pkg/apiserver/schema/cel/validation.go.
#include "testing/cel_validation.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "testing/cel.hpp"
#include "testing/cel_node.hpp"

namespace evenkeel::inline v0::testing {

namespace {

using Errors = std::vector<FieldError>;

/// Steps that all rules of one object may take together.
constexpr std::int64_t total_budget = 2'000'000;

bool any_rules(const Schema& schema, std::set<const Schema*>& seen) {
  if (!schema.type_name.empty() || !seen.insert(&schema).second) return false;
  if (schema.constraints && !schema.constraints->rules.empty()) return true;
  if (schema.items != nullptr && any_rules(*schema.items, seen)) return true;
  if (schema.additional != nullptr && any_rules(*schema.additional, seen)) return true;
  return std::any_of(schema.properties.begin(), schema.properties.end(),
                     [&](const Property& property) { return any_rules(*property.schema, seen); });
}

std::string_view type_word(const Json& value) {
  if (value.is_object()) return "object";
  if (value.is_array()) return "array";
  return value.kind_name();
}

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

/// How an error names a rule: by its message, else by its text.
std::string rule_name(const CelRule& rule) {
  if (!rule.message.empty()) return trimmed(rule.message);
  return trimmed(rule.rule);
}

FieldError broken(const CelRule& rule, std::string field, const Json& value, const std::string& detail) {
  const bool shown = !value.is_object() && !value.is_array();
  if (rule.reason == "FieldValueForbidden") return field_forbidden(std::move(field), detail);
  if (rule.reason == "FieldValueRequired") return field_required(std::move(field), detail);
  if (rule.reason == "FieldValueDuplicate")
    return shown ? field_duplicate(std::move(field), value)
                 : FieldError{"FieldValueDuplicate", "Duplicate value: " + detail, std::move(field)};
  if (shown) return field_invalid(std::move(field), value, detail);
  return {"FieldValueInvalid", "Invalid value: " + detail, std::move(field)};
}

class RuleCheck {
 public:
  void visit(const Json& value, const Schema& schema, const std::string& path, const Json* old) {
    if (exhausted_ || !schema.type_name.empty()) return;
    if (schema.constraints && (!value.is_null() || schema.nullable)) {
      for (const CelRule& rule : schema.constraints->rules) check(value, schema, rule, path, old);
    }
    if (value.is_object()) visit_fields(value, schema, path, old);
    if (value.is_array() && schema.items != nullptr) visit_items(value, schema, path, old);
  }

  Errors errors;

 private:
  void visit_fields(const Json& value, const Schema& schema, const std::string& path, const Json* old) {
    for (const auto& [name, member] : value.as_object()) {
      const Schema* known = schema.member(name);
      if (known == nullptr) continue;
      const bool listed = schema.property(name) != nullptr;
      const std::string here = !listed ? path + "[" + name + "]" : path.empty() ? name : path + "." + name;
      visit(member, *known, here, old == nullptr ? nullptr : old->find(name));
    }
  }

  /// Only items of lists of type map have something that they were before.
  void visit_items(const Json& value, const Schema& schema, const std::string& path, const Json* old) {
    for (std::size_t i = 0; i < value.size(); ++i) {
      const Json* before = nullptr;
      if (schema.list_type == ListType::map && old != nullptr && old->is_array()) {
        const auto same_key = [&](const Json& candidate) {
          return std::all_of(schema.list_keys.begin(), schema.list_keys.end(),
                             [&](const std::string& key) { return candidate[key] == value[i][key]; });
        };
        const Json::Array& items = old->as_array();
        const auto found = std::find_if(items.begin(), items.end(), same_key);
        if (found != items.end()) before = &*found;
      }
      visit(value[i], *schema.items, path + "[" + std::to_string(i) + "]", before);
    }
  }

  void check(const Json& value, const Schema& schema, const CelRule& rule, const std::string& path,
             const Json* old) {
    if (exhausted_ || trimmed(rule.rule).empty()) return;
    try {
      const CelExpression expression(rule.rule);
      const bool transition = expression.uses("oldSelf");
      if (transition && old == nullptr && !rule.optional_old_self) return;
      if (!transition && old != nullptr && *old == value) return;  // unchanged values are not judged again
      const CelExpression::Variables variables = variables_of(value, schema, rule, old);
      const CelValue result = expression.evaluate(variables, budget_);
      if (result.data() == Json(true)) return;
      const std::string field = path + rule.field_path;
      errors.push_back(
          broken(rule, field.starts_with('.') ? field.substr(1) : field, value, detail(rule, variables)));
    } catch (const CelError& problem) {
      report(value, rule, path, problem.what());
    }
  }

  static CelExpression::Variables variables_of(const Json& value, const Schema& schema, const CelRule& rule,
                                               const Json* old) {
    CelExpression::Variables variables;
    variables["self"] = cel_value_of(std::make_shared<const Json>(), value, &schema);
    if (old != nullptr) variables["oldSelf"] = cel_value_of(std::make_shared<const Json>(), *old, &schema);
    if (rule.optional_old_self) {
      CelValue& before = variables["oldSelf"];
      before.type = CelValue::Type::optional;
    }
    return variables;
  }

  std::string detail(const CelRule& rule, const CelExpression::Variables& variables) {
    if (!rule.message_expression.empty()) {
      try {
        const CelValue text = CelExpression(rule.message_expression).evaluate(variables, budget_);
        const std::string message = trimmed(text.data().string_or(""));
        if (!message.empty() && message.find('\n') == std::string::npos) return message;
      } catch (const CelError&) {
        // Then the message stands, as in the real server.
      }
    }
    return rule.message.empty() ? "failed rule: " + rule_name(rule) : trimmed(rule.message);
  }

  void report(const Json& value, const CelRule& rule, const std::string& path, const std::string& problem) {
    const Json type(type_word(value));
    if (budget_ < 0) {
      exhausted_ = true;
      errors.push_back(
          field_invalid(path, type,
                        "validation failed due to running out of cost budget, no further validation "
                        "rules will be run"));
    } else if (problem.starts_with("no such overload")) {
      errors.push_back(field_invalid(path, type,
                                     "'" + problem +
                                         "': call arguments did not match a supported operator, function "
                                         "or macro signature for rule: " +
                                         rule_name(rule)));
    } else if (problem.starts_with("ERROR:") || problem.starts_with("undeclared reference")) {
      errors.push_back(field_invalid(path, type, "rule compile error: compilation failed: " + problem));
    } else {
      errors.push_back(field_invalid(path, type, problem + " evaluating rule: " + rule_name(rule)));
    }
  }

  std::int64_t budget_ = total_budget;
  bool exhausted_ = false;
};

}  // namespace

bool has_rules(const Schema& root) {
  std::set<const Schema*> seen;
  return any_rules(root, seen);
}

std::vector<FieldError> check_rules(const Json& object, const Schema& root, const Json& old) {
  RuleCheck check;
  check.visit(object, root, "", old.is_null() ? nullptr : &old);
  return std::move(check.errors);
}

}  // namespace evenkeel::inline v0::testing
