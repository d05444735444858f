// SPDX-License-Identifier: Apache-2.0
// Operators and functions of CEL, with the string and list extensions that Kubernetes adds.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <stdexcept>
#include <utility>

#include "testing/cel_kubernetes.hpp"
#include "testing/cel_node.hpp"
#include "testing/cel_time.hpp"
#include "testing/regular_expression.hpp"

namespace evenkeel::inline v0::testing {

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

/// -1, 0 or 1.
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

/// The byte at which the n-th code point starts.
std::size_t place_of(const std::string& bytes, std::int64_t letter) {
  if (letter < 0 || letter > letters(bytes)) throw CelError("index out of range: " + std::to_string(letter));
  std::size_t at = 0;
  while (letter > 0) {
    ++at;
    while (at < bytes.size() && (static_cast<unsigned char>(bytes[at]) & 0xC0U) == 0x80U) ++at;
    --letter;
  }
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

bool matches(const std::string& subject, const std::string& pattern) {
  try {
    return RegularExpression(pattern).found_in(subject);
  } catch (const std::invalid_argument& problem) {
    throw CelError(problem.what());
  }
}

Json split(const std::string& subject, const std::string& separator) {
  Json parts = Json::array();
  if (separator.empty()) {
    for (std::int64_t i = 0; i < letters(subject); ++i) {
      const std::size_t from = place_of(subject, i);
      parts.push_back(Json(subject.substr(from, place_of(subject, i + 1) - from)));
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

Json replace(std::string subject, const std::string& from, const std::string& to) {
  if (from.empty()) return Json(std::move(subject));
  for (std::size_t at = subject.find(from); at != std::string::npos; at = subject.find(from, at + to.size()))
    subject.replace(at, from.size(), to);
  return Json(std::move(subject));
}

Json in_case(std::string subject, char first, char last) {
  for (char& letter : subject) {
    if (letter >= first && letter <= last) letter = static_cast<char>(letter ^ 32);
  }
  return Json(std::move(subject));
}

Json trimmed(const std::string& subject) {
  const std::size_t first = subject.find_first_not_of(" \t\r\n\v\f");
  if (first == std::string::npos) return Json("");
  return Json(subject.substr(first, subject.find_last_not_of(" \t\r\n\v\f") - first + 1));
}

/// The place of a text or item from the front or the back; -1 if it is not there.
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
    if (given[0].type == Type::duration) return moment(Type::duration, -given[0].nanoseconds);
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
  if (name == "trim") return CelValue::of(trimmed(text(self)));
  if (name == "join") return CelValue::of(join(items(self), ""));
  if (name == "isSorted") return CelValue::of(is_sorted(self));
  if (name == "sum") return sum_of(self);
  if (name == "min") return extreme_of(self, -1);
  if (name == "max") return extreme_of(self, 1);
  return std::nullopt;
}

/// Methods with arguments.
std::optional<CelValue> method(std::string_view name, Arguments given) {
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
  if (name == "matches") return CelValue::of(Json(matches(text(self), text(given[1]))));
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

}  // namespace

CelValue call_cel(std::string_view name, bool receiver, Arguments given) {
  if (auto result = call_kubernetes(name, receiver, given)) return *std::move(result);
  if (!receiver) {
    if (auto result = operation(name, given)) return *std::move(result);
    if (given.size() == 1) {
      if (auto result = conversion(name, given[0])) return *std::move(result);
    }
    if (given.size() == 2 && name == "matches")
      return CelValue::of(Json(matches(text(given[0]), text(given[1]))));
  }
  if (given.size() == 1 && name == "size") return CelValue::of(size_of(given[0]));
  if (receiver && given.size() == 1) {
    if (auto result = plain_method(name, given[0])) return *std::move(result);
  }
  if (receiver) {
    if (auto result = method(name, given)) return *std::move(result);
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

}  // namespace evenkeel::inline v0::testing
