// SPDX-License-Identifier: Apache-2.0
// The types of expressions. Source: cel-go checker/checker.go, cel/validator.go.
#include <algorithm>
#include <exception>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/schema/cel.hpp"
#include "apiserver/schema/cel_library.hpp"
#include "apiserver/schema/cel_node.hpp"
#include "apiserver/text/regular_expression.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

namespace {

using Kind = CelType::Kind;

[[noreturn]] void fail(const CelNode& node, const std::string& problem) {
  throw CelError("ERROR: <input>:1:" + std::to_string(std::max<std::size_t>(node.column, 1)) + ": " +
                 problem);
}

bool may_be(const CelType& type, Kind kind) {
  return type.kind == kind || type.is_open();
}

CelType optional_of(CelType value) {
  return CelType::of(Kind::optional, {std::move(value)});
}

/// Returns "string.(int)" or "(string, int)".
std::string applied(bool receiver, const std::vector<CelType>& given) {
  std::string text;
  for (std::size_t i = receiver ? 1 : 0; i < given.size(); ++i)
    text += (text.empty() ? "" : ", ") + given[i].str();
  return (receiver ? given[0].str() + ".(" : "(") + text + ")";
}

class Check {
 public:
  explicit Check(CelTypes variables) : variables_(std::move(variables)) {}

  CelType visit(const CelNode& node) {
    CelType type = type_of(node);
    types_[&node] = type;
    return type;
  }

 private:
  CelType type_of(const CelNode& node) {
    switch (node.kind) {
      case CelNode::Kind::literal:
        return CelType::of(literal_kind(node.value));
      case CelNode::Kind::name:
        return variable(node);
      case CelNode::Kind::field:
        return field(node, node.optional);
      case CelNode::Kind::has:
        field(node, false);
        return CelType::of(Kind::boolean);
      case CelNode::Kind::index:
        return index(node);
      case CelNode::Kind::call:
        return call(node);
      case CelNode::Kind::list:
        return list(node);
      case CelNode::Kind::map:
        return map(node);
      case CelNode::Kind::maybe:
        return maybe(node);
      case CelNode::Kind::loop:
        return loop(node);
      case CelNode::Kind::choice:
        return choice(node);
      case CelNode::Kind::conjunction:
      case CelNode::Kind::disjunction:
        for (const auto& child : node.children) expect(*child, Kind::boolean, "bool");
        return CelType::of(Kind::boolean);
    }
    return {};
  }

  static Kind literal_kind(const CelValue& value) { return parse_cel_type(cel_type_name(value)).kind; }

  CelType variable(const CelNode& node) const {
    const auto known = variables_.find(node.text);
    if (known != variables_.end()) return known->second;
    if (is_cel_type(node.text)) return CelType::of(Kind::type);
    fail(node, "undeclared reference to '" + node.text + "' (in container '')");
  }

  void expect(const CelNode& node, Kind kind, const std::string& name) {
    const CelType type = visit(node);
    if (!may_be(type, kind)) fail(node, "expected type '" + name + "' but found '" + type.str() + "'");
  }

  CelType field(const CelNode& node, bool optional) {
    const CelType given = visit(*node.children[0]);
    const bool of_optional = given.kind == Kind::optional;
    const CelType& target = of_optional ? given.parts[0] : given;
    CelType result;
    if (target.kind == Kind::map) {
      result = target.parts[1];
    } else if (target.kind == Kind::object) {
      const auto type = cel_field_type(target, node.text);
      if (!type) fail(node, "undefined field '" + node.text + "'");
      result = *type;
    } else if (!target.is_open()) {
      fail(node, "type '" + target.str() + "' does not support field selection");
    }
    return optional || of_optional ? optional_of(std::move(result)) : result;
  }

  CelType index(const CelNode& node) {
    const CelType given = visit(*node.children[0]);
    const CelType place = visit(*node.children[1]);
    const bool of_optional = given.kind == Kind::optional;
    const CelType& target = of_optional ? given.parts[0] : given;
    CelBindings none;
    const bool fits = target.is_open() || (target.kind == Kind::list && may_be(place, Kind::integer)) ||
                      (target.kind == Kind::map && accepts(target.parts[0], place, none));
    if (!fits)
      fail(node,
           "found no matching overload for '_[_]' applied to '(" + given.str() + ", " + place.str() + ")'");
    CelType result = target.is_open() ? CelType{} : target.parts.back();
    return node.optional || of_optional ? optional_of(std::move(result)) : result;
  }

  CelType call(const CelNode& node) {
    const bool is_format = node.receiver && node.text == "format" && node.children.size() == 2;
    std::vector<CelType> given;
    formats_ += is_format ? 1 : 0;
    for (const auto& child : node.children) given.push_back(visit(*child));
    formats_ -= is_format ? 1 : 0;
    std::optional<CelType> result;
    try {
      result = cel_result_type(node.text, node.receiver, given);
    } catch (const CelError& problem) {
      fail(node, problem.what());
    }
    if (!result)
      fail(node, "found no matching overload for '" + node.text + "' applied to '" +
                     applied(node.receiver, given) + "'");
    check_literals(node);
    if (is_format) check_format(node);
    return *result;
  }

  /// Literals that are converted and regular expressions have to be valid.
  static void check_literals(const CelNode& node) {
    static constexpr std::string_view conversions[] = {"bool", "bytes",     "double", "duration",
                                                       "int",  "timestamp", "string", "uint"};
    if (node.children.empty()) return;
    const CelNode& last = *node.children.back();
    const bool converts =
        node.children.size() == 1 && last.kind == CelNode::Kind::literal &&
        std::find(std::begin(conversions), std::end(conversions), node.text) != std::end(conversions);
    const bool is_matched = node.text == "matches" || node.text == "find" || node.text == "findAll";
    try {
      std::int64_t budget = 1'000'000;
      if (converts) call_cel(node.text, false, {&last.value, 1}, budget);
      if (is_matched && node.children[1]->kind == CelNode::Kind::literal)
        static_cast<void>(RegularExpression(node.children[1]->value.data().as_string()));
    } catch (const std::exception&) {
      fail(node, "invalid " + node.text + " argument");
    }
  }

  /// Checks the items of a list literal against the clauses of a literal. Source: cel-go ext/formatting.go
  /// stringFormatValidator.
  void check_format(const CelNode& node) {
    const CelNode& pattern = *node.children[0];
    const CelNode& items = *node.children[1];
    if (pattern.kind != CelNode::Kind::literal || items.kind != CelNode::Kind::list) return;
    std::string clauses;
    try {
      clauses = cel_format_clauses(pattern.value.data().as_string());
    } catch (const CelError& problem) {
      fail(node, problem.what());
    }
    if (clauses.size() > items.children.size())
      fail(node, "index " + std::to_string(items.children.size()) + " out of range");
    for (std::size_t i = 0; i < clauses.size(); ++i) check_clause(clauses[i], *items.children[i]);
    if (items.children.size() > clauses.size())
      fail(node, "too many arguments supplied to string.format (expected " + std::to_string(clauses.size()) +
                     ", got " + std::to_string(items.children.size()) + ")");
  }

  void check_clause(char clause, const CelNode& item) {
    if (clause == 's') return check_shown(item);
    static const std::map<char, std::vector<Kind>> of_clause{
        {'d', {Kind::integer, Kind::uint}},
        {'o', {Kind::integer, Kind::uint}},
        {'b', {Kind::integer, Kind::uint, Kind::boolean}},
        {'x', {Kind::integer, Kind::uint, Kind::string, Kind::bytes}},
        {'X', {Kind::integer, Kind::uint, Kind::string, Kind::bytes}},
        {'f', {Kind::number, Kind::string}},
        {'e', {Kind::number, Kind::string}}};
    const auto allowed = of_clause.find(clause);
    if (allowed == of_clause.end())
      fail(item, std::string("could not parse formatting clause: unrecognized formatting clause \"") +
                     clause + "\"");
    const CelType& type = types_[&item];
    const bool fits = type.is_open() || std::find(allowed->second.begin(), allowed->second.end(),
                                                  type.kind) != allowed->second.end();
    if (!fits)
      fail(item,
           std::string("error during formatting: clause '") + clause + "' cannot be used on " + type.str());
  }

  /// %s takes all types but those of Kubernetes, objects and optionals; items of literals are checked as
  /// well.
  void check_shown(const CelNode& item) {
    const CelNode& shown = item.kind == CelNode::Kind::maybe ? *item.children[0] : item;
    const CelType& type = types_[&shown];
    if (type.kind == Kind::object || type.kind == Kind::special || type.kind == Kind::optional)
      fail(item, "error during formatting: string clause cannot be used on " + type.str());
    if (shown.kind == CelNode::Kind::list || shown.kind == CelNode::Kind::map)
      for (const auto& child : shown.children) check_shown(*child);
  }

  CelType choice(const CelNode& node) {
    expect(*node.children[0], Kind::boolean, "bool");
    const CelType yes = visit(*node.children[1]);
    const CelType no = visit(*node.children[2]);
    CelBindings none;
    if (!accepts(yes, no, none))
      fail(node,
           "found no matching overload for '_?_:_' applied to '(bool, " + yes.str() + ", " + no.str() + ")'");
    return joined(yes, no);
  }

  /// Returns the type of an item that is left out if it is optional.none().
  CelType maybe(const CelNode& node) {
    const CelType type = visit(*node.children[0]);
    if (!may_be(type, Kind::optional))
      fail(node, "expected type 'optional_type' but found '" + type.str() + "'");
    return type.kind == Kind::optional ? type.parts[0] : CelType{};
  }

  /// Adds the type of one more item of a literal, which has to be that of the others.
  void add(std::optional<CelType>& all, const CelNode& node) {
    CelType type = visit(node);
    if (all && formats_ == 0 && !equivalent(*all, type))
      fail(node, "expected type '" + all->str() + "' but found '" + type.str() + "'");
    all = all ? joined(*all, type) : std::move(type);
  }

  CelType list(const CelNode& node) {
    std::optional<CelType> item;
    for (const auto& child : node.children) add(item, *child);
    return CelType::of(Kind::list, {item.value_or(CelType::of(Kind::open))});
  }

  CelType map(const CelNode& node) {
    std::optional<CelType> key;
    std::optional<CelType> value;
    for (std::size_t i = 0; i + 1 < node.children.size(); i += 2) {
      add(key, *node.children[i]);
      add(value, *node.children[i + 1]);
    }
    const CelType open = CelType::of(Kind::open);
    return CelType::of(Kind::map, {key.value_or(open), value.value_or(open)});
  }

  CelType loop(const CelNode& node) {
    const CelType range = visit(*node.children[0]);
    const CelTypes outside = variables_;
    declare(node, range);
    CelType result = looped(node, range);
    variables_ = outside;
    return result;
  }

  /// Declares the variables of a loop.
  void declare(const CelNode& node, const CelType& range) {
    const Kind wanted = node.text.starts_with("opt") ? Kind::optional
                        : range.kind == Kind::map    ? Kind::map
                                                     : Kind::list;
    if (!may_be(range, wanted))
      fail(node, wanted == Kind::optional
                     ? "found no matching overload for 'hasValue' applied to '" + range.str() + ".()'"
                     : "expression of type '" + range.str() +
                           "' cannot be range of a comprehension (must be list, map, or dynamic)");
    const bool two = !node.second.empty();
    const bool list = range.kind == Kind::list;
    variables_[node.variable] = range.is_open() ? CelType{}
                                : list && two   ? CelType::of(Kind::integer)
                                                : range.parts[0];
    if (two) variables_[node.second] = range.is_open() ? CelType{} : range.parts.back();
  }

  CelType looped(const CelNode& node, const CelType& range) {
    const std::string& macro = node.text;
    const CelNode& body = *node.children[1];
    if (node.children.size() > 2) expect(*node.children[2], Kind::boolean, "bool");
    if (macro == "all" || macro == "exists" || macro == "existsOne" || macro == "filter") {
      expect(body, Kind::boolean, "bool");
      if (macro != "filter") return CelType::of(Kind::boolean);
      return CelType::of(Kind::list, {variables_[node.variable]});
    }
    CelType result = visit(body);
    if (macro == "map" || macro == "transformList") return CelType::of(Kind::list, {std::move(result)});
    if (macro == "transformMap")
      return CelType::of(Kind::map, {variables_[node.variable], std::move(result)});
    if (macro == "optMap") return optional_of(std::move(result));
    if (macro == "sortBy") {
      const std::vector<CelType> given{range, CelType::of(Kind::list, {result})};
      const auto sorted = cel_result_type("@sortByAssociatedKeys", true, given);
      if (!sorted)
        fail(node, "found no matching overload for '@sortByAssociatedKeys' applied to '" +
                       applied(true, given) + "'");
      return *sorted;
    }
    const Kind wanted = macro == "optFlatMap" ? Kind::optional : Kind::map;
    if (!may_be(result, wanted))
      fail(node, "found no matching overload for '" + macro + "' applied to '(" + result.str() + ")'");
    return result;
  }

  CelTypes variables_;
  std::map<const CelNode*, CelType> types_;
  int formats_ = 0;  // calls of format() around the current node, whose lists may be of mixed types
};

}  // namespace

CelType CelExpression::check(const CelTypes& variables) const {
  return Check(variables).visit(*root_);
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
