// SPDX-License-Identifier: Apache-2.0
#include "apiserver/schema/cel.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/schema/cel_library.hpp"
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

using Type = CelValue::Type;

bool truth(const CelValue& value) {
  if (value.type != Type::json || !value.data().is_bool()) no_overload();
  return value.data().as_bool();
}

// Source: cel-go common/cost.go ListCreateBaseCost, MapCreateBaseCost.
constexpr std::int64_t list_cost = 10;
constexpr std::int64_t map_cost = 30;

/// Returns the value of a member of a map or object.
std::optional<CelValue> find_field(const CelValue& target, const std::string& name) {
  if (!is_map(target)) no_overload();
  const bool is_object = target.schema != nullptr && !target.schema->properties.empty();
  if (target.type != Type::map) {
    auto member = cel_find(target, cel_text(unescaped(name)));
    // A field that is null counts as absent.
    if (member && is_object && member->type == Type::json && member->data().is_null()) return std::nullopt;
    if (member) return member;
  }
  return is_object ? std::nullopt : cel_find(target, cel_text(name));
}

/// Returns an item of a list or the value of a key; std::nullopt if there is none.
std::optional<CelValue> find_index(const CelValue& target, const CelValue& place) {
  if (is_map(target)) return cel_find(target, place);
  if (!is_list(target)) no_overload();
  const bool is_int = place.type == Type::json && place.data().is_integer();
  if (!is_int && place.type != Type::uint) no_overload();
  const std::int64_t at = is_int ? place.data().as_integer() : place.number;
  if (at < 0 || static_cast<std::size_t>(at) >= cel_count(target)) return std::nullopt;
  if (target.type == Type::list) return (*target.parts)[static_cast<std::size_t>(at)];
  return cel_value_of(target.json, target.data()[static_cast<std::size_t>(at)],
                      target.schema == nullptr ? nullptr : target.schema->items);
}

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
        return field(node);
      case CelNode::Kind::has:
        return has(node);
      case CelNode::Kind::index:
        return index(node);
      case CelNode::Kind::call:
        return call(node);
      case CelNode::Kind::list:
        return list(node);
      case CelNode::Kind::map:
        return map(node);
      case CelNode::Kind::maybe:
        return visit(*node.children[0]);
      case CelNode::Kind::loop:
        return loop(node);
      case CelNode::Kind::choice:
        return visit(*node.children[truth(visit(*node.children[0])) ? 1 : 2]);
      case CelNode::Kind::conjunction:
        return logical(node, false);
      case CelNode::Kind::disjunction:
        return logical(node, true);
    }
    no_overload();
  }

 private:
  /// A turn of a loop: the values of its variables.
  struct Turn {
    CelValue first;
    CelValue second;
  };

  CelValue variable(const std::string& name) const {
    const auto local = locals_.find(name);
    if (local != locals_.end()) return local->second;
    const auto known = variables_.find(name);
    if (known != variables_.end()) return known->second;
    if (is_cel_type(name)) {
      CelValue type = cel_text(name);
      type.type = Type::type_name;
      return type;
    }
    throw CelError("undeclared reference to '" + name + "' (in container '')");
  }

  /// Returns the member that `find` gives for a value; that of an optional is an optional.
  template <class Find>
  static CelValue selected(const CelValue& target, bool optional, const std::string& place,
                           const Find& find) {
    if (target.type == Type::optional) {
      if (target.parts->empty()) return target;
      return cel_optional(find(target.parts->front()));
    }
    std::optional<CelValue> member = find(target);
    if (optional) return cel_optional(std::move(member));
    if (!member) throw CelError((is_list(target) ? "index out of bounds: " : "no such key: ") + place);
    return *std::move(member);
  }

  CelValue field(const CelNode& node) {
    return selected(visit(*node.children[0]), node.optional, node.text,
                    [&](const CelValue& target) { return find_field(target, node.text); });
  }

  CelValue has(const CelNode& node) {
    const CelValue target = visit(*node.children[0]);
    if (target.type != Type::optional) return cel_bool(find_field(target, node.text).has_value());
    return cel_bool(!target.parts->empty() && find_field(target.parts->front(), node.text));
  }

  CelValue index(const CelNode& node) {
    const CelValue target = visit(*node.children[0]);
    const CelValue place = visit(*node.children[1]);
    const Json shown = place.to_json();
    if (target.type == Type::map) spend(budget_, static_cast<std::int64_t>(cel_count(target) / 10));
    return selected(target, node.optional, shown.is_string() ? shown.as_string() : shown.dump(),
                    [&](const CelValue& container) { return find_index(container, place); });
  }

  CelValue call(const CelNode& node) {
    std::vector<CelValue> arguments;
    for (const auto& child : node.children) {
      arguments.push_back(visit(*child));
      // The alternative to an optional that has a value is not evaluated.
      if (node.receiver && arguments[0].type == Type::optional && !arguments[0].parts->empty()) {
        if (node.text == "or") return arguments[0];
        if (node.text == "orValue") return arguments[0].parts->front();
      }
    }
    return call_cel(node.text, node.receiver, arguments, budget_);
  }

  /// Returns the value of an item of a list or map literal; std::nullopt if it is optional and has none.
  std::optional<CelValue> item(const CelNode& node) {
    CelValue value = visit(node);
    if (node.kind == CelNode::Kind::maybe) {
      if (value.type != Type::optional) no_overload();
      if (value.parts->empty()) return std::nullopt;
      value = CelValue(value.parts->front());
    }
    spend(budget_, copy_cost(value));
    return value;
  }

  CelValue list(const CelNode& node) {
    spend(budget_, list_cost);
    CelValue::Parts items;
    for (const auto& child : node.children) {
      if (auto value = item(*child)) items.push_back(*std::move(value));
    }
    return cel_list(std::move(items));
  }

  CelValue map(const CelNode& node) {
    spend(budget_, map_cost);
    CelValue::Parts entries;
    for (std::size_t i = 0; i + 1 < node.children.size(); i += 2) {
      CelValue key = *item(*node.children[i]);
      auto value = item(*node.children[i + 1]);
      if (!value) continue;
      // The last of equal keys counts.
      const std::size_t place = find_key(entries, key);
      if (place < entries.size())
        entries[place + 1] = *std::move(value);
      else
        entries.insert(entries.end(), {std::move(key), *std::move(value)});
    }
    return CelValue::of(Type::map, std::move(entries));
  }

  /// Returns the place of a key among keys and values, their number if there is none.
  std::size_t find_key(const CelValue::Parts& entries, const CelValue& key) {
    spend(budget_, static_cast<std::int64_t>(entries.size() / 20));
    std::size_t at = 0;
    while (at < entries.size() && !(entries[at] == key)) at += 2;
    return at;
  }

  /// && and ||: an error on one side is ignored if the other side determines the result.
  CelValue logical(const CelNode& node, bool deciding) {
    std::optional<CelError> error;
    for (const auto& child : node.children) {
      try {
        if (truth(visit(*child)) == deciding) return cel_bool(deciding);
      } catch (const CelError& problem) {
        if (budget_ < 0) throw;
        if (!error) error = problem;
      }
    }
    if (error) throw *error;
    return cel_bool(!deciding);
  }

  /// Returns the turns of a loop: with one variable, the items of a list or the keys of a map; with two,
  /// index and item or key and value.
  std::vector<Turn> turns(const CelValue& range, bool two) {
    if (!is_list(range) && !is_map(range)) no_overload();
    spend(budget_, static_cast<std::int64_t>(cel_count(range)));
    std::vector<Turn> result;
    if (is_map(range)) {
      CelValue::Parts entries = cel_entries(range);
      for (std::size_t i = 0; i < entries.size(); i += 2)
        result.push_back({std::move(entries[i]), std::move(entries[i + 1])});
      return result;
    }
    CelValue::Parts items = cel_items(range);
    for (std::size_t i = 0; i < items.size(); ++i)
      result.push_back(two ? Turn{CelValue::of(Json(i)), std::move(items[i])}
                           : Turn{std::move(items[i]), {}});
    return result;
  }

  CelValue loop(const CelNode& node) {
    const CelValue range = visit(*node.children[0]);
    const bool of_optional = node.text == "optMap" || node.text == "optFlatMap";
    if (of_optional) {
      if (range.type != Type::optional) no_overload();
      if (range.parts->empty()) return range;
    }
    const std::vector<Turn> all =
        of_optional ? std::vector<Turn>{{range.parts->front(), {}}} : turns(range, !node.second.empty());
    const auto hidden = locals_;
    try {
      CelValue result = looped(node, range, all);
      locals_ = hidden;
      return result;
    } catch (...) {
      locals_ = hidden;
      throw;
    }
  }

  void enter(const CelNode& node, const Turn& turn) {
    locals_[node.variable] = turn.first;
    if (!node.second.empty()) locals_[node.second] = turn.second;
  }

  CelValue looped(const CelNode& node, const CelValue& range, const std::vector<Turn>& all) {
    const std::string& macro = node.text;
    if (macro == "all" || macro == "exists" || macro == "existsOne") return decide(node, all);
    if (macro == "sortBy") {
      const std::vector<CelValue> keyed{range, collect(node, all)};
      return call_cel("@sortByAssociatedKeys", true, keyed, budget_);
    }
    if (macro.starts_with("opt")) {
      enter(node, all[0]);
      CelValue value = visit(*node.children[1]);
      if (macro == "optMap") return cel_optional(std::move(value));
      if (value.type != Type::optional) no_overload();
      return value;
    }
    return macro.starts_with("transformMap") ? collect_map(node, all) : collect(node, all);
  }

  /// Returns the result of the body in each turn that the filter lets pass; for "filter", the items.
  CelValue collect(const CelNode& node, const std::vector<Turn>& all) {
    CelValue::Parts result;
    for (const Turn& turn : all) {
      enter(node, turn);
      if (node.text == "filter") {
        if (!truth(visit(*node.children[1]))) continue;
        spend(budget_, copy_cost(turn.first));
        result.push_back(turn.first);
      } else if (passes(node)) {
        CelValue value = visit(*node.children[1]);
        spend(budget_, copy_cost(value));
        result.push_back(std::move(value));
      }
    }
    return cel_list(std::move(result));
  }

  bool passes(const CelNode& node) { return node.children.size() < 3 || truth(visit(*node.children[2])); }

  CelValue collect_map(const CelNode& node, const std::vector<Turn>& all) {
    CelValue::Parts result;
    for (const Turn& turn : all) {
      enter(node, turn);
      if (!passes(node)) continue;
      CelValue value = visit(*node.children[1]);
      spend(budget_, copy_cost(value));
      CelValue::Parts added =
          node.text == "transformMap" ? CelValue::Parts{turn.first, std::move(value)} : cel_entries(value);
      for (std::size_t i = 0; i < added.size(); i += 2)
        if (find_key(result, added[i]) < result.size())
          throw CelError("insert failed: key " + cel_string_of(added[i]) + " already exists");
      result.insert(result.end(), std::make_move_iterator(added.begin()),
                    std::make_move_iterator(added.end()));
    }
    return CelValue::of(Type::map, std::move(result));
  }

  CelValue decide(const CelNode& node, const std::vector<Turn>& all) {
    std::size_t holds = 0;
    std::optional<CelError> error;
    for (const Turn& turn : all) {
      enter(node, turn);
      try {
        const bool yes = truth(visit(*node.children[1]));
        if (yes) ++holds;
        if (node.text == "all" && !yes) return cel_bool(false);
        if (node.text == "exists" && yes) return cel_bool(true);
      } catch (const CelError& problem) {
        if (budget_ < 0 || node.text == "existsOne") throw;
        error = problem;
      }
    }
    if (error) throw *error;
    return cel_bool(node.text == "all" || (node.text == "existsOne" && holds == 1));
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
