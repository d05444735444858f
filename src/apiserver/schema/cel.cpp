// SPDX-License-Identifier: Apache-2.0
#include "apiserver/schema/cel.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "apiserver/schema/cel_kubernetes.hpp"
#include "apiserver/schema/cel_node.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

namespace {

/// Decodes "__dash__" and similar escapes in names of fields that are not identifiers; reserved words are
/// enclosed in "__".
std::string unescaped(const std::string& name) {
  static constexpr std::pair<std::string_view, std::string_view> escapes[] = {
      {"__underscores__", "__"}, {"__dot__", "."}, {"__dash__", "-"}, {"__slash__", "/"}};
  std::string result;
  for (std::size_t i = 0; i < name.size();) {
    const auto known = std::find_if(std::begin(escapes), std::end(escapes), [&](const auto& escape) {
      return name.compare(i, escape.first.size(), escape.first) == 0;
    });
    if (known == std::end(escapes)) {
      result += name[i++];
    } else {
      result += known->second;
      i += known->first.size();
    }
  }
  if (result.size() > 4 && result.starts_with("__") && result.ends_with("__"))
    return result.substr(2, result.size() - 4);
  return result;
}

bool truth(const CelValue& value) {
  if (value.type != CelValue::Type::json || !value.data().is_bool()) throw CelError("no such overload");
  return value.data().as_bool();
}

// Source: cel-go common/cost.go ListCreateBaseCost, MapCreateBaseCost.
constexpr std::int64_t list_cost = 10;
constexpr std::int64_t map_cost = 30;

class Evaluation {
 public:
  Evaluation(const CelExpression::Variables& variables, std::int64_t& budget)
      : variables_(variables), budget_(budget) {}

  CelValue visit(const CelNode& node) {
    spend(budget_, 1);
    switch (node.kind) {
      case CelNode::Kind::literal:
        return node.value;
      case CelNode::Kind::name:
        return variable(node.text);
      case CelNode::Kind::field:
        return field(visit(*node.children[0]), node.text);
      case CelNode::Kind::has:
        return CelValue::of(Json(find(visit(*node.children[0]), node.text).has_value()));
      case CelNode::Kind::index:
        return index(visit(*node.children[0]), visit(*node.children[1]));
      case CelNode::Kind::call:
        return call(node);
      case CelNode::Kind::list:
        return list(node);
      case CelNode::Kind::map:
        return map(node);
      case CelNode::Kind::loop:
        return loop(node);
      case CelNode::Kind::choice:
        return visit(*node.children[truth(visit(*node.children[0])) ? 1 : 2]);
      case CelNode::Kind::conjunction:
        return logical(node, false);
      case CelNode::Kind::disjunction:
        return logical(node, true);
    }
    throw CelError("no such overload");
  }

 private:
  CelValue variable(const std::string& name) const {
    const auto local = locals_.find(name);
    if (local != locals_.end()) return local->second;
    const auto known = variables_.find(name);
    if (known != variables_.end()) return known->second;
    static constexpr std::string_view types[] = {"int",  "uint", "double",    "bool", "string",
                                                 "list", "map",  "null_type", "bytes"};
    if (std::find(std::begin(types), std::end(types), name) != std::end(types)) {
      CelValue type = CelValue::of(Json(name));
      type.type = CelValue::Type::type_name;
      return type;
    }
    throw CelError("undeclared reference to '" + name + "' (in container '')");
  }

  static std::optional<CelValue> find(const CelValue& target, const std::string& name) {
    if (target.type != CelValue::Type::json || !target.data().is_object()) throw CelError("no such overload");
    for (const std::string& candidate : {unescaped(name), name}) {
      if (const Json* member = target.data().find(candidate)) {
        const Schema* schema = target.schema == nullptr ? nullptr : target.schema->member(candidate);
        return cel_value_of(target.json, *member, schema);
      }
    }
    return std::nullopt;
  }

  static CelValue field(const CelValue& target, const std::string& name) {
    if (auto member = find(target, name)) return *std::move(member);
    throw CelError("no such key: " + name);
  }

  static CelValue index(const CelValue& target, const CelValue& place) {
    if (target.type != CelValue::Type::json) throw CelError("no such overload");
    const Json& data = target.data();
    if (data.is_object() && place.data().is_string()) {
      const std::string& name = place.data().as_string();
      const Json* member = data.find(name);
      if (member == nullptr) throw CelError("no such key: " + name);
      return cel_value_of(target.json, *member,
                          target.schema == nullptr ? nullptr : target.schema->member(name));
    }
    if (!data.is_array() || !place.data().is_integer()) throw CelError("no such overload");
    const std::int64_t at = place.data().as_integer();
    if (at < 0 || static_cast<std::size_t>(at) >= data.size())
      throw CelError("index out of bounds: " + std::to_string(at));
    return cel_value_of(target.json, data[static_cast<std::size_t>(at)],
                        target.schema == nullptr ? nullptr : target.schema->items);
  }

  CelValue call(const CelNode& node) {
    if (node.receiver && node.children.size() == 1 && node.children[0]->kind == CelNode::Kind::name &&
        node.children[0]->text == "format")
      return named_format(node.text);
    std::vector<CelValue> arguments;
    for (const auto& child : node.children) arguments.push_back(visit(*child));
    if (node.receiver && arguments[0].type == CelValue::Type::optional)
      return optional_call(node.text, arguments);
    return call_cel(node.text, node.receiver, arguments, budget_);
  }

  /// oldSelf of rules with optionalOldSelf.
  static CelValue optional_call(const std::string& name, const std::vector<CelValue>& arguments) {
    CelValue inner = arguments[0];
    inner.type = CelValue::Type::json;
    const bool present = inner.json != nullptr;
    if (name == "hasValue") return CelValue::of(Json(present));
    if (name == "orValue" && arguments.size() == 2) return present ? inner : arguments[1];
    if (name != "value") throw CelError("no such overload");
    if (!present) throw CelError("optional.none() dereference");
    return inner;
  }

  CelValue list(const CelNode& node) {
    spend(budget_, list_cost);
    Json items = Json::array();
    for (const auto& child : node.children) items.push_back(copied(visit(*child)));
    return CelValue::of(std::move(items));
  }

  CelValue map(const CelNode& node) {
    spend(budget_, map_cost);
    std::map<std::string, Json> members;
    for (std::size_t i = 0; i + 1 < node.children.size(); i += 2) {
      const Json key = copied(visit(*node.children[i]));
      members[key.is_string() ? key.as_string() : key.dump()] = copied(visit(*node.children[i + 1]));
    }
    Json result = Json::object();
    for (auto& [name, value] : members) result[name] = std::move(value);
    return CelValue::of(std::move(result));
  }

  /// Returns a copy of the data of a value, counting its cost.
  Json copied(const CelValue& value) {
    spend(budget_, copy_cost(value.data()));
    return value.data();
  }

  /// && and ||: an error on one side is ignored if the other side determines the result.
  CelValue logical(const CelNode& node, bool deciding) {
    std::optional<CelError> error;
    for (const auto& child : node.children) {
      try {
        if (truth(visit(*child)) == deciding) return CelValue::of(Json(deciding));
      } catch (const CelError& problem) {
        if (budget_ < 0) throw;
        if (!error) error = problem;
      }
    }
    if (error) throw *error;
    return CelValue::of(Json(!deciding));
  }

  /// Returns the elements of a list, or the keys of a map.
  std::vector<CelValue> elements(const CelValue& range) {
    std::vector<CelValue> result;
    if (range.type != CelValue::Type::json) throw CelError("no such overload");
    spend(budget_, static_cast<std::int64_t>(range.data().size()));
    if (range.data().is_array()) {
      for (const Json& item : range.data().as_array())
        result.push_back(
            cel_value_of(range.json, item, range.schema == nullptr ? nullptr : range.schema->items));
    } else if (range.data().is_object()) {
      for (const auto& [name, value] : range.data().as_object()) result.push_back(CelValue::of(Json(name)));
    } else {
      throw CelError("no such overload");
    }
    return result;
  }

  CelValue loop(const CelNode& node) {
    const std::vector<CelValue> range = elements(visit(*node.children[0]));
    const auto before = locals_.find(node.variable);
    const std::optional<CelValue> hidden =
        before == locals_.end() ? std::nullopt : std::optional(before->second);
    const auto restore = [&] {
      locals_.erase(node.variable);
      if (hidden) locals_[node.variable] = *hidden;
    };
    try {
      CelValue result =
          node.text == "filter" || node.text == "map" ? collect(node, range) : decide(node, range);
      restore();
      return result;
    } catch (...) {
      restore();
      throw;
    }
  }

  CelValue collect(const CelNode& node, const std::vector<CelValue>& range) {
    Json result = Json::array();
    for (const CelValue& element : range) {
      locals_[node.variable] = element;
      if (node.text == "filter") {
        if (truth(visit(*node.children[1]))) result.push_back(copied(element));
      } else if (node.children.size() < 3 || truth(visit(*node.children[2]))) {
        result.push_back(copied(visit(*node.children[1])));
      }
    }
    return CelValue::of(std::move(result));
  }

  CelValue decide(const CelNode& node, const std::vector<CelValue>& range) {
    std::size_t holds = 0;
    std::optional<CelError> error;
    for (const CelValue& element : range) {
      locals_[node.variable] = element;
      try {
        const bool yes = truth(visit(*node.children[1]));
        if (yes) ++holds;
        if (node.text == "all" && !yes) return CelValue::of(Json(false));
        if (node.text == "exists" && yes) return CelValue::of(Json(true));
      } catch (const CelError& problem) {
        if (budget_ < 0 || node.text == "exists_one") throw;
        error = problem;
      }
    }
    if (error) throw *error;
    return CelValue::of(Json(node.text == "all" || (node.text == "exists_one" && holds == 1)));
  }

  const CelExpression::Variables& variables_;
  std::int64_t& budget_;
  std::map<std::string, CelValue, std::less<>> locals_;
};

bool speaks_of(const CelNode& node, std::string_view variable) {
  if (node.kind == CelNode::Kind::name && node.text == variable) return true;
  return std::any_of(node.children.begin(), node.children.end(),
                     [&](const auto& child) { return speaks_of(*child, variable); });
}

}  // namespace

const Json& CelValue::data() const {
  static const Json none;
  if (type == Type::duration || type == Type::timestamp) throw CelError("no such overload");
  return json == nullptr ? none : *json;
}

bool CelValue::operator==(const CelValue& other) const {
  if (type != other.type) return false;
  if (type == Type::duration || type == Type::timestamp) return nanoseconds == other.nanoseconds;
  return data() == other.data();
}

void spend(std::int64_t& budget, std::int64_t cost) {
  budget = cost > budget ? -1 : budget - cost;
  if (budget < 0) throw CelError("operation cancelled: actual cost limit exceeded");
}

std::int64_t copy_cost(const Json& value) {
  std::int64_t cost = 1;
  if (value.is_string()) cost += text_cost(value.as_string().size());
  if (value.is_array())
    for (const Json& item : value.as_array()) cost += copy_cost(item);
  if (value.is_object())
    for (const auto& [name, member] : value.as_object()) cost += text_cost(name.size()) + copy_cost(member);
  return cost;
}

std::int64_t match_cost(std::size_t subject, std::size_t pattern, std::size_t states) {
  return text_cost(subject + 1) * static_cast<std::int64_t>((std::max(pattern, states) + 3) / 4);
}

CelExpression::CelExpression(std::string_view text) : root_(parse_cel(text)) {}

CelValue CelExpression::evaluate(const Variables& variables, std::int64_t& budget) const {
  return Evaluation(variables, budget).visit(*root_);
}

bool CelExpression::uses(std::string_view variable) const {
  return speaks_of(*root_, variable);
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
