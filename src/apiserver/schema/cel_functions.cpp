// SPDX-License-Identifier: Apache-2.0
// Operators and functions of CEL, with the string and list extensions of Kubernetes.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <stdexcept>
#include <utility>

#include "apiserver/schema/cel_kubernetes.hpp"
#include "apiserver/schema/cel_node.hpp"
#include "apiserver/schema/cel_time.hpp"
#include "apiserver/text/regular_expression.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

namespace {

using Arguments = std::span<const CelValue>;
using Type = CelValue::Type;

[[noreturn]] void no_overload() {
  throw CelError("no such overload");
}

bool is_time(const CelValue& value) {
  return value.type == Type::duration || value.type == Type::timestamp;
}
CelValue moment(Type type, std::int64_t nanoseconds) {
  return {.type = type, .nanoseconds = nanoseconds};
}

const std::string& text(const CelValue& value) {
  if (value.type != Type::json || !value.data().is_string()) no_overload();
  return value.data().as_string();
}
std::int64_t whole(const CelValue& value) {
  if (value.type != Type::json || !value.data().is_integer()) no_overload();
  return value.data().as_integer();
}
const Json::Array& items(const CelValue& value) {
  if (value.type != Type::json || !value.data().is_array()) no_overload();
  return value.data().as_array();
}

void check_overflow(bool overflows) {
  if (overflows) throw CelError("integer overflow");
}

CelValue integer_operation(char symbol, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (symbol == '+') check_overflow(__builtin_add_overflow(a, b, &result));
  if (symbol == '-') check_overflow(__builtin_sub_overflow(a, b, &result));
  if (symbol == '*') check_overflow(__builtin_mul_overflow(a, b, &result));
  if (symbol != '/' && symbol != '%') return CelValue::of(Json(result));
  if (b == 0) throw CelError(symbol == '/' ? "division by zero" : "modulus by zero");
  if (a == std::numeric_limits<std::int64_t>::min() && b == -1) throw CelError("integer overflow");
  return CelValue::of(Json(symbol == '/' ? a / b : a % b));
}

CelValue time_operation(char symbol, const CelValue& a, const CelValue& b) {
  std::int64_t result = 0;
  const bool overflows = symbol == '+' ? __builtin_add_overflow(a.nanoseconds, b.nanoseconds, &result)
                                       : __builtin_sub_overflow(a.nanoseconds, b.nanoseconds, &result);
  check_overflow(overflows);
  if (a.type == Type::duration && b.type == Type::duration) return moment(Type::duration, result);
  if (symbol == '-' && a.type == Type::timestamp && b.type == Type::timestamp)
    return moment(Type::duration, result);
  if (a.type == Type::timestamp || symbol == '+') return moment(Type::timestamp, result);
  no_overload();
}

/// Returns the cost of traversing a value once; values that are not data (times, types) are short.
std::int64_t traversal_cost(const CelValue& value) {
  return is_time(value) ? 1 : copy_cost(value.data());
}
/// Returns the bytes of a string, the items of a list or map.
std::size_t size_in(const CelValue& value) {
  if (is_time(value)) return 1;
  return value.data().is_string() ? value.data().as_string().size() : value.data().size();
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

CelValue arithmetic(char symbol, const CelValue& a, const CelValue& b) {
  if (is_time(a) && is_time(b) && (symbol == '+' || symbol == '-')) return time_operation(symbol, a, b);
  const Json& left = a.data();
  const Json& right = b.data();
  if (left.is_integer() && right.is_integer())
    return integer_operation(symbol, left.as_integer(), right.as_integer());
  if (left.is_number() && right.is_number() && symbol != '%') {
    const double x = left.as_number();
    const double y = right.as_number();
    return CelValue::of(Json(symbol == '+' ? x + y : symbol == '-' ? x - y : symbol == '*' ? x * y : x / y));
  }
  if (symbol == '+' && left.is_string() && right.is_string())
    return CelValue::of(Json(left.as_string() + right.as_string()));
  if (symbol == '+' && left.is_array() && right.is_array()) {
    Json both = left;
    for (const Json& item : right.as_array()) both.push_back(item);
    return CelValue::of(std::move(both));
  }
  no_overload();
}

/// Returns -1, 0 or 1.
int order(const CelValue& a, const CelValue& b) {
  if (is_time(a) && a.type == b.type)
    return a.nanoseconds < b.nanoseconds ? -1 : a.nanoseconds > b.nanoseconds;
  const Json& left = a.data();
  const Json& right = b.data();
  if (left.is_integer() && right.is_integer())
    return left.as_integer() < right.as_integer() ? -1 : left.as_integer() > right.as_integer();
  if (left.is_number() && right.is_number())
    return left.as_number() < right.as_number() ? -1 : left.as_number() > right.as_number();
  if (left.is_string() && right.is_string()) {
    const int result = left.as_string().compare(right.as_string());
    return result < 0 ? -1 : result > 0;
  }
  if (left.is_bool() && right.is_bool())
    return static_cast<int>(left.as_bool()) - static_cast<int>(right.as_bool());
  no_overload();
}

std::int64_t letters(const std::string& bytes) {
  return std::count_if(bytes.begin(), bytes.end(),
                       [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U; });
}

/// Returns the position after the code point at `at`.
std::size_t next_letter(const std::string& bytes, std::size_t at) {
  ++at;
  while (at < bytes.size() && (static_cast<unsigned char>(bytes[at]) & 0xC0U) == 0x80U) ++at;
  return at;
}

/// Returns the byte position of the n-th code point.
std::size_t place_of(const std::string& bytes, std::int64_t letter) {
  if (letter < 0 || letter > letters(bytes)) throw CelError("index out of range: " + std::to_string(letter));
  std::size_t at = 0;
  for (; letter > 0; --letter) at = next_letter(bytes, at);
  return at;
}

Json size_of(const CelValue& value) {
  const Json& data = value.data();
  if (data.is_string()) return Json(letters(data.as_string()));
  if (data.is_array() || data.is_object()) return Json(data.size());
  no_overload();
}

std::string_view type_name(const CelValue& value) {
  if (value.type == Type::duration) return "google.protobuf.Duration";
  if (value.type == Type::timestamp) return "google.protobuf.Timestamp";
  if (value.type == Type::type_name) return "type";
  switch (value.data().kind()) {
    case Json::Kind::null:
      return "null_type";
    case Json::Kind::boolean:
      return "bool";
    case Json::Kind::integer:
      return "int";
    case Json::Kind::number:
      return "double";
    case Json::Kind::string:
      return "string";
    case Json::Kind::array:
      return "list";
    case Json::Kind::object:
      break;
  }
  return "map";
}

CelValue to_int(const CelValue& value) {
  if (value.type == Type::timestamp) return CelValue::of(Json(value.nanoseconds / 1'000'000'000));
  const Json& data = value.data();
  if (data.is_integer()) return value;
  if (data.is_number()) {
    const double number = std::trunc(data.as_number());
    if (!(std::abs(number) < 9.2e18)) throw CelError("integer overflow");
    return CelValue::of(Json(static_cast<std::int64_t>(number)));
  }
  const std::string& digits = text(value);
  std::int64_t number = 0;
  const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (result.ec != std::errc() || result.ptr != digits.data() + digits.size())
    throw CelError("type conversion error from 'string' to 'int'");
  return CelValue::of(Json(number));
}

CelValue to_double(const CelValue& value) {
  if (value.data().is_number()) return CelValue::of(Json(value.data().as_number()));
  const std::string& digits = text(value);
  double number = 0;
  const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (result.ec != std::errc() || result.ptr != digits.data() + digits.size())
    throw CelError("type conversion error from 'string' to 'double'");
  return CelValue::of(Json(number));
}

CelValue to_string(const CelValue& value) {
  if (value.type == Type::duration) return CelValue::of(Json(duration_text(value.nanoseconds)));
  if (value.type == Type::timestamp) return CelValue::of(Json(timestamp_text(value.nanoseconds)));
  const Json& data = value.data();
  if (data.is_string()) return value;
  if (!data.is_number() && !data.is_bool()) no_overload();
  return CelValue::of(Json(data.dump()));
}

CelValue to_time(const CelValue& value, Type type) {
  if (value.type == type) return value;
  const auto parsed = type == Type::duration ? parse_duration(text(value)) : parse_timestamp(text(value));
  if (!parsed)
    throw CelError(std::string("invalid ") + (type == Type::duration ? "duration" : "timestamp") + ": " +
                   text(value));
  return moment(type, *parsed);
}

bool matches(const std::string& subject, const std::string& pattern, std::int64_t& budget) {
  try {
    const RegularExpression expression(pattern);
    spend(budget, match_cost(subject.size(), pattern.size(), expression.size()));
    return expression.found_in(subject);
  } catch (const std::invalid_argument& problem) {
    throw CelError(problem.what());
  }
}

Json split(const std::string& subject, const std::string& separator) {
  Json parts = Json::array();
  if (separator.empty()) {
    for (std::size_t from = 0; from < subject.size();) {
      const std::size_t end = next_letter(subject, from);
      parts.push_back(Json(subject.substr(from, end - from)));
      from = end;
    }
    return parts;
  }
  for (std::size_t from = 0;;) {
    const std::size_t found = subject.find(separator, from);
    parts.push_back(Json(subject.substr(from, found - from)));
    if (found == std::string::npos) return parts;
    from = found + separator.size();
  }
}

Json join(const Json::Array& parts, const std::string& separator) {
  std::string result;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (!parts[i].is_string()) no_overload();
    result += (i > 0 ? separator : "") + parts[i].as_string();
  }
  return Json(std::move(result));
}

Json replace(const std::string& subject, const std::string& from, const std::string& to) {
  if (from.empty()) return Json(subject);
  std::string result;
  std::size_t at = 0;
  for (std::size_t found = subject.find(from); found != std::string::npos; found = subject.find(from, at)) {
    result.append(subject, at, found - at).append(to);
    at = found + from.size();
  }
  return Json(std::move(result.append(subject, at)));
}

Json in_case(std::string subject, char first, char last) {
  for (char& letter : subject) {
    if (letter >= first && letter <= last) letter = static_cast<char>(letter ^ 32);
  }
  return Json(std::move(subject));
}

Json trim(const std::string& subject) {
  const std::size_t first = subject.find_first_not_of(" \t\r\n\v\f");
  if (first == std::string::npos) return Json("");
  return Json(subject.substr(first, subject.find_last_not_of(" \t\r\n\v\f") - first + 1));
}

/// Returns the position of a string or item from the front or the back; -1 if it is not found.
Json index_of(const CelValue& subject, const CelValue& wanted, bool last) {
  if (subject.data().is_string()) {
    const std::string& bytes = subject.data().as_string();
    const std::size_t found = last ? bytes.rfind(text(wanted)) : bytes.find(text(wanted));
    return found == std::string::npos ? Json(-1) : Json(letters(bytes.substr(0, found)));
  }
  const Json::Array& list = items(subject);
  std::int64_t result = -1;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i] == wanted.data() && (last || result < 0)) result = static_cast<std::int64_t>(i);
  }
  return Json(result);
}

CelValue extreme(Arguments arguments, int wanted) {
  if (arguments.empty()) throw CelError("list is empty");
  CelValue best = arguments[0];
  for (const CelValue& value : arguments) {
    if (order(value, best) == wanted) best = value;
  }
  return best;
}

CelValue extreme_of(const CelValue& list, int wanted) {
  std::vector<CelValue> values;
  for (const Json& item : items(list)) values.push_back(CelValue::of(item));
  if (values.empty()) throw CelError(wanted < 0 ? "min called on empty list" : "max called on empty list");
  return extreme(values, wanted);
}

Json is_sorted(const CelValue& list) {
  const Json::Array& values = items(list);
  for (std::size_t i = 1; i < values.size(); ++i) {
    if (order(CelValue::of(values[i]), CelValue::of(values[i - 1])) < 0) return Json(false);
  }
  return Json(true);
}

CelValue sum_of(const CelValue& list) {
  CelValue total = CelValue::of(Json(0));
  for (const Json& item : items(list)) total = arithmetic('+', total, CelValue::of(item));
  return total;
}

bool contains(const CelValue& wanted, const CelValue& range) {
  const Json& data = range.data();
  if (data.is_object()) return wanted.data().is_string() && data.contains(wanted.data().as_string());
  const Json::Array& list = items(range);
  return std::find(list.begin(), list.end(), wanted.data()) != list.end();
}

std::optional<CelValue> operation(std::string_view name, Arguments given) {
  if (given.size() == 1 && name == "!_") {
    if (!given[0].data().is_bool()) no_overload();
    return CelValue::of(Json(!given[0].data().as_bool()));
  }
  if (given.size() == 1 && name == "-_") {
    if (given[0].type == Type::duration) return time_operation('-', moment(Type::duration, 0), given[0]);
    return arithmetic('-', CelValue::of(Json(0)), given[0]);
  }
  if (given.size() != 2) return std::nullopt;
  if (name == "_==_") return CelValue::of(Json(given[0] == given[1]));
  if (name == "_!=_") return CelValue::of(Json(!(given[0] == given[1])));
  if (name == "_<_") return CelValue::of(Json(order(given[0], given[1]) < 0));
  if (name == "_<=_") return CelValue::of(Json(order(given[0], given[1]) <= 0));
  if (name == "_>_") return CelValue::of(Json(order(given[0], given[1]) > 0));
  if (name == "_>=_") return CelValue::of(Json(order(given[0], given[1]) >= 0));
  if (name == "@in") return CelValue::of(Json(contains(given[0], given[1])));
  if (name.size() == 3 && name.starts_with('_')) return arithmetic(name[1], given[0], given[1]);
  return std::nullopt;
}

std::optional<CelValue> conversion(std::string_view name, const CelValue& value) {
  if (name == "int") return to_int(value);
  if (name == "uint") return to_int(value);
  if (name == "double") return to_double(value);
  if (name == "string") return to_string(value);
  if (name == "dyn") return value;
  if (name == "duration") return to_time(value, Type::duration);
  if (name == "timestamp") return to_time(value, Type::timestamp);
  if (name == "bool" && value.data().is_bool()) return value;
  if (name == "bool")
    return CelValue::of(Json(text(value) == "true" || text(value) == "True" || text(value) == "1"));
  if (name == "type") {
    CelValue type = CelValue::of(Json(type_name(value)));
    type.type = Type::type_name;
    return type;
  }
  return std::nullopt;
}

/// Methods without arguments.
std::optional<CelValue> plain_method(std::string_view name, const CelValue& self) {
  if (is_time(self)) {
    const std::int64_t seconds = self.nanoseconds / 1'000'000'000;
    if (self.type == Type::duration && name == "getSeconds") return CelValue::of(Json(seconds));
    if (self.type == Type::duration && name == "getMinutes") return CelValue::of(Json(seconds / 60));
    if (self.type == Type::duration && name == "getHours") return CelValue::of(Json(seconds / 3600));
    if (self.type == Type::duration && name == "getMilliseconds")
      return CelValue::of(Json(self.nanoseconds / 1'000'000));
    if (self.type == Type::timestamp) {
      if (const auto part = timestamp_part(self.nanoseconds, name)) return CelValue::of(Json(*part));
    }
    no_overload();
  }
  if (name == "lowerAscii") return CelValue::of(in_case(text(self), 'A', 'Z'));
  if (name == "upperAscii") return CelValue::of(in_case(text(self), 'a', 'z'));
  if (name == "trim") return CelValue::of(trim(text(self)));
  if (name == "join") return CelValue::of(join(items(self), ""));
  if (name == "isSorted") return CelValue::of(is_sorted(self));
  if (name == "sum") return sum_of(self);
  if (name == "min") return extreme_of(self, -1);
  if (name == "max") return extreme_of(self, 1);
  return std::nullopt;
}

/// Methods with arguments.
std::optional<CelValue> method(std::string_view name, Arguments given, std::int64_t& budget) {
  const CelValue& self = given[0];
  if (given.size() == 3 && name == "replace")
    return CelValue::of(replace(text(self), text(given[1]), text(given[2])));
  if (given.size() == 3 && name == "substring") {
    const std::size_t from = place_of(text(self), whole(given[1]));
    const std::size_t to = place_of(text(self), whole(given[2]));
    if (to < from) throw CelError("invalid substring range");
    return CelValue::of(Json(text(self).substr(from, to - from)));
  }
  if (given.size() != 2) return std::nullopt;
  if (name == "startsWith") return CelValue::of(Json(text(self).starts_with(text(given[1]))));
  if (name == "endsWith") return CelValue::of(Json(text(self).ends_with(text(given[1]))));
  if (name == "contains") return CelValue::of(Json(text(self).find(text(given[1])) != std::string::npos));
  if (name == "matches") return CelValue::of(Json(matches(text(self), text(given[1]), budget)));
  if (name == "split") return CelValue::of(split(text(self), text(given[1])));
  if (name == "join") return CelValue::of(join(items(self), text(given[1])));
  if (name == "indexOf") return CelValue::of(index_of(self, given[1], false));
  if (name == "lastIndexOf") return CelValue::of(index_of(self, given[1], true));
  if (name == "substring")
    return CelValue::of(Json(text(self).substr(place_of(text(self), whole(given[1])))));
  if (name == "charAt") {
    const std::int64_t at = whole(given[1]);
    const std::size_t from = place_of(text(self), at);
    if (from == text(self).size()) return CelValue::of(Json(""));
    return CelValue::of(Json(text(self).substr(from, place_of(text(self), at + 1) - from)));
  }
  return std::nullopt;
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
  if (from.empty()) return subject.size();
  const std::size_t count = occurrences(subject, from);
  return subject.size() - count * from.size() + count * to.size();
}

std::size_t joined_size(const CelValue& parts, std::size_t separator) {
  std::size_t size = 0;
  for (const Json& part : items(parts)) size += separator + (part.is_string() ? part.as_string().size() : 0);
  return size;
}

std::int64_t operator_cost(std::string_view name, Arguments given) {
  if (given.size() != 2 || is_time(given[0]) || is_time(given[1])) return 1;
  const Json& left = given[0].data();
  const Json& right = given[1].data();
  if (name == "_+_") return left.is_number() ? 1 : copy_cost(left) + copy_cost(right);
  if (name == "@in") {
    const std::size_t each =
        left.is_string() ? left.as_string().size() : 10 * static_cast<std::size_t>(copy_cost(left));
    return right.is_array() ? text_cost(right.size() * std::max<std::size_t>(each, 10)) : 1;
  }
  return comparison_cost(left, right);
}

std::int64_t method_cost(std::string_view name, Arguments given) {
  const std::size_t size = size_in(given[0]);
  if (given.size() == 2 && name == "contains") return 1 + text_cost(size) * text_cost(size_in(given[1]));
  if (given.size() == 2 && (name == "matches" || name == "find" || name == "findAll"))
    return text_cost(size_in(given[1]));  // the rest when the expression is known
  if (given.size() == 2 && name == "split")
    return text_cost(2 * size) + static_cast<std::int64_t>(occurrences(text(given[0]), text(given[1])));
  if (given.size() == 3 && name == "replace")
    return text_cost(size + replaced_size(text(given[0]), text(given[1]), text(given[2])));
  if (given.size() <= 2 && name == "join")
    return traversal_cost(given[0]) +
           text_cost(joined_size(given[0], given.size() == 2 ? text(given[1]).size() : 0));
  if (name == "size") return 1 + static_cast<std::int64_t>(size / 1000);
  return traversal_cost(given[0]);
}

/// Returns the cost of a call. As in the source, plus the copies that this evaluator makes where the source
/// shares: lists that are joined, compared or built from others. Sizes are bytes, where the source counts
/// code points. Source: cel-go interpreter/runtimecost.go costCall; apiserver pkg/cel/library/cost.go
/// CallCost.
std::int64_t call_cost(std::string_view name, bool receiver, Arguments given) {
  if (given.empty()) return 1;
  if (name.starts_with('_') || name == "@in") return operator_cost(name, given);
  if (name == "!_" || name == "-_" || name == "dyn" || name == "type") return 1;
  return receiver || name == "matches" || name == "size" ? method_cost(name, given)
                                                         : traversal_cost(given[0]);
}

}  // namespace

CelValue call_cel(std::string_view name, bool receiver, Arguments given, std::int64_t& budget) {
  spend(budget, call_cost(name, receiver, given));
  if (auto result = call_kubernetes(name, receiver, given, budget)) return *std::move(result);
  if (!receiver) {
    if (auto result = operation(name, given)) return *std::move(result);
    if (given.size() == 1) {
      if (auto result = conversion(name, given[0])) return *std::move(result);
    }
    if (given.size() == 2 && name == "matches")
      return CelValue::of(Json(matches(text(given[0]), text(given[1]), budget)));
  }
  if (given.size() == 1 && name == "size") return CelValue::of(size_of(given[0]));
  if (receiver && given.size() == 1) {
    if (auto result = plain_method(name, given[0])) return *std::move(result);
  }
  if (receiver) {
    if (auto result = method(name, given, budget)) return *std::move(result);
  }
  throw CelError("undeclared reference to '" + std::string(name) + "' (in container '')");
}

CelValue cel_value_of(std::shared_ptr<const Json> owner, const Json& value, const Schema* schema) {
  if (schema != nullptr && value.is_string() && schema->type == SchemaType::string) {
    const bool is_moment = schema->format == "date-time" || schema->format == "date";
    if (is_moment || schema->format == "duration") {
      const auto parsed = is_moment ? parse_timestamp(value.as_string()) : parse_duration(value.as_string());
      if (parsed) return moment(is_moment ? Type::timestamp : Type::duration, *parsed);
    }
  }
  return {.json = std::shared_ptr<const Json>(std::move(owner), &value), .schema = schema};
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
