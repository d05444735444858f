// SPDX-License-Identifier: Apache-2.0
#include "apiserver/schema/cel_library.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

namespace {

using Arguments = std::span<const CelValue>;
using Kind = CelType::Kind;
using Type = CelValue::Type;

/// A signature, read.
struct Overload {
  bool member = false;
  std::vector<CelType> parameters;
  CelType result;
  CelValue (*body)(const CelCall&) = nullptr;
};

using Overloads = std::map<std::string, std::vector<Overload>, std::less<>>;

void add(Overloads& all, const CelFunction& function) {
  std::string_view text = function.signature;
  Overload overload;
  overload.body = function.body;
  overload.member = text.starts_with('.');
  if (overload.member) text.remove_prefix(1);
  const std::string_view result = text.substr(text.rfind(") ") + 2);
  overload.parameters = parse_cel_type(text.substr(0, text.size() - result.size() - 1)).parts;
  overload.result = parse_cel_type(result);
  all[std::string(text.substr(0, text.find('(')))].push_back(std::move(overload));
}

const Overloads& overloads() {
  static const Overloads all = [] {
    Overloads result;
    for (const auto& library : {cel_operators(), cel_conversions(), cel_string_functions(),
                                cel_list_functions(), cel_optional_functions(), cel_time_functions(),
                                cel_network_functions(), cel_kubernetes_functions()})
      for (const CelFunction& function : library) add(result, function);
    return result;
  }();
  return all;
}

const std::vector<Overload>& named(std::string_view name) {
  const auto found = overloads().find(name);
  if (found == overloads().end())
    throw CelError("undeclared reference to '" + std::string(name) + "' (in container '')");
  return found->second;
}

Kind kind_of(const CelValue& value) {
  switch (value.type) {
    case Type::uint:
      return Kind::uint;
    case Type::bytes:
      return Kind::bytes;
    case Type::list:
      return Kind::list;
    case Type::map:
      return Kind::map;
    case Type::duration:
      return Kind::duration;
    case Type::timestamp:
      return Kind::timestamp;
    case Type::type_name:
      return Kind::type;
    case Type::optional:
      return Kind::optional;
    case Type::special:
      return Kind::special;
    case Type::json:
      break;
  }
  static constexpr std::array of_json{Kind::null,   Kind::boolean, Kind::integer, Kind::number,
                                      Kind::string, Kind::list,    Kind::map};
  return of_json.at(static_cast<std::size_t>(value.data().kind()));
}

/// Returns the type of a value as far as the choice of a function depends on it.
CelType shallow_type(const CelValue& value) {
  CelType type = CelType::of(kind_of(value));
  if (type.kind == Kind::special) type.name = value.data()["type"].as_string();
  if (type.kind == Kind::list || type.kind == Kind::optional) type.parts = {CelType{}};
  if (type.kind == Kind::map) type.parts = {CelType{}, CelType{}};
  return type;
}

/// Returns true if the values may be passed. Parameters that stand for any type accept all of them.
bool accepts_values(const Overload& overload, std::span<const CelType> given) {
  CelBindings bindings;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const CelType& wanted = overload.parameters[i];
    const bool any =
        wanted.kind == Kind::parameter && std::string_view("CSNM").find(wanted.name) == std::string::npos;
    if (given[i].kind == Kind::null && !any && wanted.kind != Kind::dyn) return false;
    if (!any && !accepts(wanted, given[i], bindings)) return false;
  }
  return true;
}

/// Returns the bytes of a string, the items of a list or map.
std::size_t size_in(const CelValue& value) {
  if (is_list(value) || is_map(value)) return cel_count(value);
  return value.data().is_string() ? value.data().as_string().size() : 1;
}

/// Returns the cost of a comparison: the size of the parts that both values have.
std::int64_t comparison_cost(const Json& a, const Json& b) {
  if (a.is_string() && b.is_string())
    return std::max<std::int64_t>(1, text_cost(std::min(a.as_string().size(), b.as_string().size())));
  if (a.kind() != b.kind() || a.size() != b.size()) return 1;
  std::int64_t cost = 1;
  if (a.is_array())
    for (std::size_t i = 0; i < a.size(); ++i) cost += comparison_cost(a[i], b[i]);
  if (a.is_object())
    for (auto one = a.as_object().begin(), other = b.as_object().begin(); one != a.as_object().end();
         ++one, ++other)
      cost += text_cost(one->name.size()) + comparison_cost(one->value, other->value);
  return cost;
}

std::int64_t comparison_cost(const CelValue& a, const CelValue& b) {
  if (a.type == Type::json && b.type == Type::json) return comparison_cost(a.data(), b.data());
  return std::min(copy_cost(a), copy_cost(b));
}

/// Returns the cost of comparing each item of one list with each of the other.
std::int64_t product_cost(const CelValue& a, const CelValue& b) {
  const auto count = [](const CelValue& list) { return static_cast<std::int64_t>(cel_count(list)); };
  return 1 + std::max(copy_cost(a) * count(b), copy_cost(b) * count(a));
}

std::int64_t operator_cost(std::string_view name, Arguments given) {
  if (given.size() != 2) return 1;
  if (name == "_+_")
    return is_list(given[0]) || given[0].data().is_string() ? copy_cost(given[0]) + copy_cost(given[1]) : 1;
  if (name == "@in") {
    const CelValue& wanted = given[0];
    const std::size_t each =
        wanted.data().is_string() ? size_in(wanted) : 10 * static_cast<std::size_t>(copy_cost(wanted));
    return is_list(given[1]) || given[1].type == Type::map
               ? text_cost(size_in(given[1]) * std::max<std::size_t>(each, 10))
               : 1;
  }
  return comparison_cost(given[0], given[1]);
}

/// Returns the number of occurrences of `wanted`; the number of bytes if `wanted` is empty.
std::size_t occurrences(const std::string& subject, const std::string& wanted) {
  if (wanted.empty()) return subject.size();
  std::size_t count = 0;
  for (std::size_t at = subject.find(wanted); at != std::string::npos;
       at = subject.find(wanted, at + wanted.size()))
    ++count;
  return count;
}

/// Returns the size of subject.replace(from, to) in bytes.
std::size_t replaced_size(const std::string& subject, const std::string& from, const std::string& to) {
  const std::size_t count = occurrences(subject, from) + (from.empty() ? 1 : 0);
  return subject.size() - (from.empty() ? 0 : count * from.size()) + count * to.size();
}

std::size_t joined_size(const CelValue& list, std::size_t separator) {
  std::size_t size = 0;
  for (const CelValue& part : cel_items(list)) size += separator + size_in(part);
  return size;
}

std::int64_t method_cost(std::string_view name, const CelCall& call) {
  const CelValue& self = call[0];
  const std::size_t size = size_in(self);
  const std::size_t count = call.given.size();
  if (count == 2 && name == "contains") return 1 + text_cost(size) * text_cost(size_in(call[1]));
  if (name == "matches" || name == "find" || name == "findAll")
    return text_cost(size_in(call[1]));  // the rest when the expression is known
  if (name == "split")
    return text_cost(2 * size) + static_cast<std::int64_t>(occurrences(call.text(0), call.text(1)));
  if (name == "replace") return text_cost(size + replaced_size(call.text(0), call.text(1), call.text(2)));
  if (name == "join")
    return copy_cost(self) + text_cost(joined_size(self, count == 2 ? call.text(1).size() : 0));
  if (name == "distinct" || name == "sort" || name == "@sortByAssociatedKeys")
    return 10 + 2 * product_cost(self, self);
  if (name == "indexOf" || name == "lastIndexOf")
    return is_list(self) ? copy_cost(self) : 1 + text_cost(size) * text_cost(size_in(call[1]));
  if (name == "format") return copy_cost(self) + copy_cost(call[1]);
  if (name == "size") return 1 + static_cast<std::int64_t>(size / 1000);
  return copy_cost(self);
}

/// Returns the cost of a call. As in the source, plus the copies that this evaluator makes where the source
/// shares: lists that are joined, compared or built from others. Sizes are bytes, where the source counts
/// code points. Source: cel-go interpreter/runtimecost.go costCall; apiserver pkg/cel/library/cost.go
/// CallCost.
std::int64_t call_cost(std::string_view name, bool receiver, const CelCall& call) {
  if (call.given.empty()) return 1;
  if (name.starts_with('_') || name == "@in") return operator_cost(name, call.given);
  if (name == "!_" || name == "-_" || name == "dyn" || name == "type" || name.starts_with("optional."))
    return 1;
  if (name.starts_with("sets.")) return 2 * product_cost(call[0], call[1]);
  if (name == "lists.range") return 10 + std::max<std::int64_t>(call.whole(0), 0);
  return receiver || name == "matches" || name == "size" ? method_cost(name, call) : copy_cost(call[0]);
}

}  // namespace

const std::string& CelCall::text(std::size_t at) const {
  if (!given[at].data().is_string()) no_overload();
  return given[at].data().as_string();
}
std::int64_t CelCall::whole(std::size_t at) const {
  if (!given[at].data().is_integer()) no_overload();
  return given[at].data().as_integer();
}
CelValue::Parts CelCall::items(std::size_t at) const {
  return cel_items(given[at]);
}

bool is_cel_function(std::string_view name) {
  return overloads().contains(name);
}

bool is_cel_type(std::string_view name) {
  static constexpr std::string_view types[] = {"bool",
                                               "int",
                                               "uint",
                                               "double",
                                               "string",
                                               "bytes",
                                               "list",
                                               "map",
                                               "null_type",
                                               "type",
                                               "optional_type",
                                               "google.protobuf.Duration",
                                               "net.IP",
                                               "net.CIDR",
                                               "dyn",
                                               "google.protobuf.Timestamp",
                                               "kubernetes.URL",
                                               "kubernetes.Quantity",
                                               "kubernetes.Semver",
                                               "kubernetes.NamedFormat"};
  return std::find(std::begin(types), std::end(types), name) != std::end(types);
}

CelValue call_cel(std::string_view name, bool receiver, Arguments given, std::int64_t& budget) {
  std::vector<CelType> types;
  for (const CelValue& value : given) types.push_back(shallow_type(value));
  for (const Overload& overload : named(name)) {
    if (overload.member != receiver || overload.parameters.size() != given.size()) continue;
    if (!accepts_values(overload, types)) continue;
    const CelCall call{given, budget};
    spend(budget, call_cost(name, receiver, call));
    return overload.body(call);
  }
  no_overload();
}

std::optional<CelType> cel_result_type(std::string_view name, bool receiver, std::span<const CelType> given) {
  std::optional<CelType> result;
  for (const Overload& overload : named(name)) {
    if (overload.member != receiver || overload.parameters.size() != given.size()) continue;
    CelBindings bindings;
    bool fits = true;
    for (std::size_t i = 0; i < given.size() && fits; ++i)
      fits = accepts(overload.parameters[i], given[i], bindings);
    if (!fits) continue;
    const CelType type = substituted(overload.result, bindings);
    if (!result)
      result = type;
    else if (!equivalent(*result, type))
      result = CelType{};
  }
  return result;
}

void no_overload() {
  throw CelError("no such overload");
}

CelValue cel_bool(bool value) {
  return CelValue::of(Json(value));
}
CelValue cel_int(std::int64_t value) {
  return CelValue::of(Json(value));
}
CelValue cel_text(std::string text) {
  return CelValue::of(Json(std::move(text)));
}
CelValue cel_bytes(std::string bytes) {
  CelValue value = cel_text(std::move(bytes));
  value.type = Type::bytes;
  return value;
}
CelValue cel_list(CelValue::Parts items) {
  return CelValue::of(Type::list, std::move(items));
}
CelValue cel_special(std::string_view type, const std::string& text) {
  CelValue value = CelValue::of(Json::object({{"type", type}, {"text", text}}));
  value.type = Type::special;
  return value;
}
const std::string& cel_special_text(const CelValue& value) {
  return value.type == Type::special ? value.data()["text"].as_string() : value.data().as_string();
}
CelValue cel_optional(std::optional<CelValue> value) {
  return CelValue::of(Type::optional, value ? CelValue::Parts{*std::move(value)} : CelValue::Parts{});
}

std::string cel_type_name(const CelValue& value) {
  CelType type = shallow_type(value);
  type.parts.clear();
  return type.str();
}

void spend(std::int64_t& budget, std::int64_t cost) {
  budget = cost > budget ? -1 : budget - cost;
  if (budget < 0) throw CelError("operation cancelled: actual cost limit exceeded");
}

std::int64_t match_cost(std::size_t subject, std::size_t pattern, std::size_t states) {
  return text_cost(subject + 1) * static_cast<std::int64_t>((std::max(pattern, states) + 3) / 4);
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
