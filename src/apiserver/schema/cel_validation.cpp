// SPDX-License-Identifier: Apache-2.0
// Source: apiextensions pkg/apiserver/schema/cel/validation.go.
#include "apiserver/schema/cel_validation.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "apiserver/schema/cel.hpp"
#include "apiserver/schema/cel_library.hpp"
#include "apiserver/schema/cel_node.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

namespace {

using Errors = std::vector<FieldError>;

// Cost limits of one evaluation and of all evaluations for an object. Source: apiserver
// pkg/apis/cel/config.go PerCallLimit, RuntimeCELCostBudget.
constexpr std::int64_t call_limit = 1'000'000;
constexpr std::int64_t total_budget = 10'000'000;

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

/// Returns the name of a rule in errors: its message, else its text.
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
                 : FieldError{"FieldValueDuplicate", "Duplicate value", std::move(field)};
  if (shown) return field_invalid(std::move(field), value, detail);
  return {"FieldValueInvalid", "Invalid value: " + detail, std::move(field)};
}

/// A value and the corresponding value in the stored object.
struct Pair {
  const Json* now = nullptr;
  const Json* before = nullptr;
  bool unchanged() const { return before != nullptr && *before == *now; }
};

/// Returns the path in errors; a real server shows the root as <nil>.
std::string shown(const std::string& path) {
  return path.empty() ? "<nil>" : path;
}

/// Returns the path of a rule's fieldPath in errors: .in['x.y'] is in.x.y.
std::string place_of(const CelRule& rule, const Schema& schema, const std::string& path) {
  std::string result = path;
  const Schema* at = &schema;
  for (std::string_view rest = rule.field_path; !rest.empty();) {
    const bool bracket = rest.starts_with("['");
    rest.remove_prefix(bracket ? 2 : rest.starts_with('.') ? 1 : 0);
    const std::size_t end = bracket ? rest.find("']") : rest.find_first_of(".[");
    const std::string name(rest.substr(0, end));
    rest.remove_prefix(std::min(end == std::string_view::npos ? end : end + (bracket ? 2 : 0), rest.size()));
    const bool listed = at != nullptr && at->property(name) != nullptr;
    result += !listed && bracket ? "[" + name + "]" : result.empty() ? name : "." + name;
    at = at == nullptr ? nullptr : at->member(name);
  }
  return result;
}

class RuleCheck {
 public:
  /// `forgives`: unchanged values do not violate rules, and errors of them become warnings.
  RuleCheck(bool forgives, std::vector<std::string>* warnings) : forgives_(forgives), warnings_(warnings) {}

  /// `known` is the nearest ancestor that has a corresponding value.
  void visit(const Json& value, const Schema& schema, const std::string& path, const Json* old,
             const Pair& known) {
    if (exhausted_ || !schema.type_name.empty()) return;
    const Pair here = old == nullptr ? known : Pair{&value, old};
    if (schema.constraints && !value.is_null()) {
      for (const CelRule& rule : schema.constraints->rules) check(value, schema, rule, path, old, here);
    }
    if (value.is_object()) visit_fields(value, schema, path, old, here);
    if (value.is_array() && schema.items != nullptr) visit_items(value, schema, path, old, here);
  }

  Errors errors;

 private:
  void visit_fields(const Json& value, const Schema& schema, const std::string& path, const Json* old,
                    const Pair& here) {
    for (const auto& [name, member] : value.as_object()) {
      const Schema* known = schema.member(name);
      if (known == nullptr) continue;
      const bool listed = schema.property(name) != nullptr;
      const std::string below = !listed ? path + "[" + name + "]" : path.empty() ? name : path + "." + name;
      visit(member, *known, below, old == nullptr ? nullptr : old->find(name), here);
    }
  }

  /// Only items of lists of type map have corresponding old values.
  void visit_items(const Json& value, const Schema& schema, const std::string& path, const Json* old,
                   const Pair& here) {
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
      visit(value[i], *schema.items, path + "[" + std::to_string(i) + "]", before, here);
    }
  }

  void check(const Json& value, const Schema& schema, const CelRule& rule, const std::string& path,
             const Json* old, const Pair& here) {
    if (exhausted_ || trimmed(rule.rule).empty()) return;
    try {
      const CelExpression& expression = compiled(rule.rule);
      const bool transition = expression.uses("oldSelf");
      if (transition && old == nullptr && !rule.optional_old_self) return;
      const CelExpression::Variables variables = variables_of(value, schema, rule, old);
      const CelValue result = evaluate(expression, variables);
      if (exhausted_) return report_exhaustion(value, shown(path));
      if (result.data() == Json(true)) return;
      FieldError error = broken(rule, shown(place_of(rule, schema, path)), value, detail(rule, variables));
      if (transition || !forgives_ || !here.unchanged())
        errors.push_back(std::move(error));
      else if (warnings_ != nullptr)
        warnings_->push_back(error.text());
    } catch (const CelError& problem) {
      report(value, rule, shown(path), problem.what());
    }
  }

  static CelExpression::Variables variables_of(const Json& value, const Schema& schema, const CelRule& rule,
                                               const Json* old) {
    CelExpression::Variables variables;
    variables["self"] = cel_value_of(std::make_shared<const Json>(), value, &schema);
    if (old != nullptr) variables["oldSelf"] = cel_value_of(std::make_shared<const Json>(), *old, &schema);
    if (rule.optional_old_self)
      variables["oldSelf"] =
          cel_optional(old == nullptr ? std::nullopt : std::optional(variables["oldSelf"]));
    return variables;
  }

  std::string detail(const CelRule& rule, const CelExpression::Variables& variables) {
    if (!rule.message_expression.empty()) {
      try {
        const CelValue text = evaluate(compiled(rule.message_expression), variables);
        const std::string message = trimmed(text.data().string_or(""));
        if (!message.empty() && message.find('\n') == std::string::npos) return message;
      } catch (const CelError&) {
        // The message is used instead, as in the real server.
      }
    }
    return rule.message.empty() ? "failed rule: " + rule_name(rule) : trimmed(rule.message);
  }

  /// Each expression is parsed once for all values; so is an invalid one.
  const CelExpression& compiled(const std::string& text) {
    if (const auto known = expressions_.find(text); known != expressions_.end()) return known->second;
    if (const auto known = problems_.find(text); known != problems_.end()) throw CelError(known->second);
    try {
      return expressions_.emplace(text, CelExpression(text)).first->second;
    } catch (const CelError& problem) {
      problems_.emplace(text, problem.what());
      throw;
    }
  }

  CelValue evaluate(const CelExpression& expression, const CelExpression::Variables& variables) {
    std::int64_t left = call_limit;
    const auto pay = [&] {
      // An evaluation that exceeded its limit counts with the whole limit.
      budget_ -= call_limit - std::max<std::int64_t>(left, -1);
      exhausted_ = budget_ < 0;
    };
    try {
      CelValue result = expression.evaluate(variables, left);
      pay();
      return result;
    } catch (const CelError&) {
      pay();
      throw;
    }
  }

  void report_exhaustion(const Json& value, const std::string& path) {
    errors.push_back(
        field_invalid(path, Json(type_word(value)),
                      "validation failed due to running out of cost budget, no further validation "
                      "rules will be run"));
  }

  void report(const Json& value, const CelRule& rule, const std::string& path, const std::string& problem) {
    const Json type(type_word(value));
    if (exhausted_) {
      report_exhaustion(value, path);
    } else if (problem.starts_with("operation cancelled: actual cost limit exceeded")) {
      exhausted_ = true;
      errors.push_back(field_invalid(
          path, type,
          "'" + problem +
              "': no further validation rules will be run due to call cost exceeds limit for rule: " +
              rule_name(rule)));
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

  const bool forgives_;
  std::vector<std::string>* const warnings_;
  std::int64_t budget_ = total_budget;
  std::map<std::string, CelExpression, std::less<>> expressions_;
  std::map<std::string, std::string, std::less<>> problems_;
  bool exhausted_ = false;
};

/// Returns a rule as it is shown in errors.
std::string shown(const CelRule& rule) {
  const bool standard = rule.reason == "FieldValueInvalid";
  return R"({"Rule":)" + Json(rule.rule).dump() + R"(,"Message":)" + Json(rule.message).dump() +
         R"(,"MessageExpression":)" + Json(rule.message_expression).dump() + R"(,"Reason":)" +
         (standard ? Json() : Json(rule.reason)).dump() + R"(,"FieldPath":)" + Json(rule.field_path).dump() +
         R"(,"OptionalOldSelf":)" + (rule.optional_old_self ? "true" : "null") + "}";
}

/// Checks the rules of a schema and of its parts, inner ones first.
class TypeCheck {
 public:
  void visit(const Schema& schema, const std::string& path, bool root) {
    if (schema.additional != nullptr) visit(*schema.additional, path + ".additionalProperties", false);
    for (const Property& property : schema.properties)
      visit(*property.schema, path + ".properties[" + property.name + "]", false);
    if (schema.items != nullptr) visit(*schema.items, path + ".items", false);
    if (!schema.constraints) return;
    const std::vector<CelRule>& rules = schema.constraints->rules;
    const std::string place = path + ".x-kubernetes-validations";
    const auto self = cel_type_of(schema, root || schema.embedded_resource);
    if (!self && !rules.empty())
      errors.push_back(
          {"InternalError",
           "Internal error: internal error: failed to construct type information for "
           "x-kubernetes-validations rules: unable to convert structural schema to CEL declarations",
           place});
    for (std::size_t i = 0; i < rules.size() && self; ++i)
      check(rules[i], *self, place + "[" + std::to_string(i) + "]");
  }

  Errors errors;

 private:
  void check(const CelRule& rule, const CelType& self, const std::string& path) {
    if (trimmed(rule.rule).empty()) return;
    CelTypes variables{{"self", self}, {"oldSelf", self}};
    if (rule.optional_old_self) variables["oldSelf"] = CelType::of(CelType::Kind::optional, {self});
    const auto compile = [&](const std::string& text, CelType::Kind wanted, const char* member,
                             const std::string& prefix, const std::string& otherwise) {
      std::string problem = otherwise;
      try {
        if (CelExpression(text).check(variables).kind == wanted) return true;
      } catch (const CelError& error) {
        problem = prefix + "compilation failed: " + error.what();
      }
      errors.push_back(
          {"FieldValueInvalid", "Invalid value: " + shown(rule) + ": " + problem, path + member});
      return false;
    };
    const bool good =
        compile(rule.rule, CelType::Kind::boolean, ".rule", "", "cel expression must evaluate to a bool");
    if (good && !rule.message_expression.empty())
      compile(rule.message_expression, CelType::Kind::string, ".messageExpression", "messageExpression ",
              "messageExpression must evaluate to a string");
  }
};

}  // namespace

std::vector<FieldError> check_rule_types(const Schema& root, const std::string& path) {
  TypeCheck check;
  check.visit(root, path, true);
  return std::move(check.errors);
}

bool has_rules(const Schema& root) {
  std::set<const Schema*> seen;
  return any_rules(root, seen);
}

std::vector<FieldError> check_rules(const Json& object, const Schema& root, const Json& old,
                                    std::vector<std::string>* warnings) {
  RuleCheck check(true, warnings);
  check.visit(object, root, "", old.is_null() ? nullptr : &old, {});
  return std::move(check.errors);
}

std::vector<FieldError> check_rules_of_default(const Json& value, const Schema& root,
                                               const std::string& path) {
  RuleCheck check(false, nullptr);
  check.visit(value, root, path, &value, {});
  return std::move(check.errors);
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
