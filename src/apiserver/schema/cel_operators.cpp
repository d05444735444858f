// SPDX-License-Identifier: Apache-2.0
// Operators of CEL and conversions between its types. Source: cel-go common/stdlib/standard.go, common/types.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>
#include <utility>

#include <evenkeel/base/duration_text.hpp>

#include "apiserver/schema/cel_library.hpp"
#include "apiserver/schema/cel_node.hpp"
#include "apiserver/schema/cel_time.hpp"
#include "base/utf8.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

namespace {

using Type = CelValue::Type;

template <class Number>
Number arithmetic(char symbol, Number a, Number b, const char* name) {
  Number result{};
  const bool overflows = symbol == '+'   ? __builtin_add_overflow(a, b, &result)
                         : symbol == '-' ? __builtin_sub_overflow(a, b, &result)
                         : symbol == '*' ? __builtin_mul_overflow(a, b, &result)
                                         : false;
  if (overflows) throw CelError(std::string(name) + " overflow");
  if (symbol != '/' && symbol != '%') return result;
  if (b == 0) throw CelError(symbol == '/' ? "division by zero" : "modulus by zero");
  if (std::is_signed_v<Number> && a == std::numeric_limits<Number>::min() && b + 1 == 0)
    throw CelError(std::string(name) + " overflow");
  return symbol == '/' ? a / b : a % b;
}

CelValue uint_of(std::uint64_t value) {
  return {.type = Type::uint, .number = static_cast<std::int64_t>(value)};
}

template <char symbol>
CelValue numbers(const CelCall& call) {
  if (call[0].type == Type::uint)
    return uint_of(arithmetic(symbol, static_cast<std::uint64_t>(call[0].number),
                              static_cast<std::uint64_t>(call[1].number), "unsigned integer"));
  const Json& left = call[0].data();
  const Json& right = call[1].data();
  if (left.is_integer())
    return CelValue::of(Json(arithmetic(symbol, left.as_integer(), right.as_integer(), "integer")));
  const double x = left.as_number();
  const double y = right.as_number();
  return CelValue::of(Json(symbol == '+' ? x + y : symbol == '-' ? x - y : symbol == '*' ? x * y : x / y));
}

CelValue duration_of(std::int64_t nanoseconds) {
  return {.type = Type::duration, .number = nanoseconds};
}

template <char symbol>
CelValue durations(const CelCall& call) {
  return duration_of(arithmetic(symbol, call[0].number, call[1].number, "integer"));
}

// The years 1 to 9999.
constexpr std::int64_t first_second = -62'135'596'800;
constexpr std::int64_t last_second = 253'402'300'799;

CelValue checked(Instant time) {
  if (time.seconds < first_second || time.seconds > last_second) throw CelError("timestamp overflow");
  return cel_time(time);
}

/// Returns a time that is `nanoseconds` later.
CelValue moved(const CelValue& time, std::int64_t nanoseconds) {
  constexpr std::int64_t second = nanoseconds_per_second;
  const std::int64_t part = (nanoseconds % second + second) % second;
  const std::int64_t rest = time.nanoseconds + part;
  return checked({.seconds = time.number + (nanoseconds - part) / second + rest / second,
                  .nanoseconds = static_cast<std::int32_t>(rest % second),
                  .offset = time.offset});
}

CelValue since(const CelCall& call) {
  const std::int64_t seconds =
      arithmetic('*', call[0].number - call[1].number, nanoseconds_per_second, "integer");
  return duration_of(
      arithmetic<std::int64_t>('+', seconds, call[0].nanoseconds - call[1].nanoseconds, "integer"));
}

/// Appends a list. A list of type set or map keeps its type: equal items, or items of equal keys, replace
/// those that it has. Source: apiserver pkg/cel/common/valuesunstructured.go unstructuredMapList.Add.
CelValue appended(const CelCall& call) {
  const Schema* schema = call[0].schema;
  CelValue::Parts items = call.items(0);
  const ListType type = schema == nullptr ? ListType::atomic : schema->list_type;
  const auto same = [&](const CelValue& one, const CelValue& other) {
    if (type == ListType::set) return one == other;
    return std::all_of(schema->list_keys.begin(), schema->list_keys.end(), [&](const std::string& key) {
      return cel_find(one, cel_text(key)) == cel_find(other, cel_text(key));
    });
  };
  for (CelValue& item : call.items(1)) {
    const auto known = type == ListType::atomic
                           ? items.end()
                           : std::find_if(items.begin(), items.end(),
                                          [&](const CelValue& each) { return same(each, item); });
    if (known == items.end())
      items.push_back(std::move(item));
    else if (type == ListType::map)
      *known = std::move(item);
  }
  CelValue result = cel_list(std::move(items));
  result.schema = schema;
  return result;
}

CelValue joined_texts(const CelCall& call) {
  CelValue result = cel_text(call[0].data().as_string() + call[1].data().as_string());
  result.type = call[0].type;
  return result;
}

CelValue negated(const CelCall& call) {
  const Json& data = call[0].data();
  if (!data.is_integer()) return CelValue::of(Json(-data.as_number()));
  return CelValue::of(Json(arithmetic<std::int64_t>('-', 0, data.as_integer(), "integer")));
}

CelValue in_list(const CelCall& call) {
  const CelValue::Parts items = call.items(1);
  return cel_bool(std::find(items.begin(), items.end(), call[0]) != items.end());
}

[[noreturn]] void cannot_convert(const char* from, const char* to) {
  throw CelError(std::string("type conversion error from '") + from + "' to '" + to + "'");
}

/// Parses a number that is the whole text; Go allows a sign before each.
template <class Number>
Number parsed(std::string text, const char* to) {
  Number number{};
  if (text.starts_with('+') && std::is_signed_v<Number> && text.substr(1, 1) != "-") text.erase(0, 1);
  const auto result = std::from_chars(text.data(), text.data() + text.size(), number);
  if (result.ec != std::errc() || result.ptr != text.data() + text.size()) cannot_convert("string", to);
  return number;
}

std::int64_t whole_part(double number) {
  const double whole = std::trunc(number);
  if (!(whole > -9223372036854775808.0 && whole < 9223372036854775808.0)) throw CelError("integer overflow");
  return static_cast<std::int64_t>(whole);
}

CelValue int_to_uint(const CelCall& call) {
  if (call.whole(0) < 0) throw CelError("unsigned integer overflow");
  return uint_of(static_cast<std::uint64_t>(call.whole(0)));
}

CelValue double_to_uint(const CelCall& call) {
  const double whole = std::trunc(call[0].data().as_number());
  if (!(whole >= 0 && whole < 18446744073709551616.0)) throw CelError("unsigned integer overflow");
  return uint_of(static_cast<std::uint64_t>(whole));
}

CelValue uint_to_int(const CelCall& call) {
  if (call[0].number < 0) throw CelError("integer overflow");
  return CelValue::of(Json(call[0].number));
}

/// Source: Go strconv.ParseBool.
CelValue to_bool(const CelCall& call) {
  static constexpr std::array<std::string_view, 6> yes{"1", "t", "T", "true", "TRUE", "True"};
  static constexpr std::array<std::string_view, 6> no{"0", "f", "F", "false", "FALSE", "False"};
  if (std::find(yes.begin(), yes.end(), call.text(0)) != yes.end()) return cel_bool(true);
  if (std::find(no.begin(), no.end(), call.text(0)) == no.end()) cannot_convert("string", "bool");
  return cel_bool(false);
}

CelValue to_duration(const CelCall& call) {
  const auto span = parse_duration(call.text(0));
  if (!span) cannot_convert("string", "google.protobuf.Duration");
  return duration_of(span->count());
}

CelValue to_timestamp(const CelCall& call) {
  const auto time = parse_rfc3339(call.text(0));
  if (!time) cannot_convert("string", "google.protobuf.Timestamp");
  return checked(*time);
}

/// Formats as Go's %g: the shortest digits, with an exponent below 1e-4 and from 1e6 on.
std::string text_of(double number) {
  if (std::isnan(number)) return "NaN";
  if (std::isinf(number)) return number > 0 ? "+Inf" : "-Inf";
  std::array<char, 512> text{};
  const double size = std::abs(number);
  const bool exponent = size != 0 && (size < 1e-4 || size >= 1e6);
  const auto format = exponent ? std::chars_format::scientific : std::chars_format::fixed;
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), number, format).ptr};
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t size = detail::utf8_length(text);
    if (size == 0) return false;
    text.remove_prefix(size);
  }
  return true;
}

CelValue itself(const CelCall& call) {
  return call[0];
}
CelValue as_text(const CelCall& call) {
  return cel_text(cel_string_of(call[0]));
}
CelValue as_whole(const CelCall& call) {
  return CelValue::of(Json(call[0].number));
}

}  // namespace

std::string cel_string_of(const CelValue& value) {
  if (value.type == Type::uint) return std::to_string(static_cast<std::uint64_t>(value.number));
  if (value.type == Type::duration) return duration_text(value.number);
  if (value.type == Type::timestamp) return instant_text(instant_of(value));
  const Json& data = value.data();
  if (value.type == Type::bytes && !is_utf8(data.as_string()))
    throw CelError("invalid UTF-8 in bytes, cannot convert to string");
  if (data.is_string()) return data.as_string();
  if (data.is_integer() || data.is_bool()) return data.dump();
  if (!data.is_number()) no_overload();
  return text_of(data.as_number());
}

std::span<const CelFunction> cel_operators() {
  static constexpr CelFunction functions[] = {
      {"!_(bool) bool", [](const CelCall& call) { return cel_bool(!call[0].data().as_bool()); }},
      {"-_(int) int", negated},
      {"-_(double) double", negated},
      {"_==_(A, A) bool", [](const CelCall& call) { return cel_bool(call[0] == call[1]); }},
      {"_!=_(A, A) bool", [](const CelCall& call) { return cel_bool(!(call[0] == call[1])); }},
      {"_<_(C, C) bool", [](const CelCall& call) { return cel_bool(cel_order(call[0], call[1]) < 0); }},
      {"_<=_(C, C) bool", [](const CelCall& call) { return cel_bool(cel_order(call[0], call[1]) <= 0); }},
      {"_>_(C, C) bool", [](const CelCall& call) { return cel_bool(cel_order(call[0], call[1]) > 0); }},
      {"_>=_(C, C) bool", [](const CelCall& call) { return cel_bool(cel_order(call[0], call[1]) >= 0); }},
      {"_<_(N, M) bool", [](const CelCall& call) { return cel_bool(cel_order(call[0], call[1]) < 0); }},
      {"_<=_(N, M) bool", [](const CelCall& call) { return cel_bool(cel_order(call[0], call[1]) <= 0); }},
      {"_>_(N, M) bool", [](const CelCall& call) { return cel_bool(cel_order(call[0], call[1]) > 0); }},
      {"_>=_(N, M) bool", [](const CelCall& call) { return cel_bool(cel_order(call[0], call[1]) >= 0); }},
      {"_+_(N, N) N", numbers<'+'>},
      {"_-_(N, N) N", numbers<'-'>},
      {"_*_(N, N) N", numbers<'*'>},
      {"_/_(N, N) N", numbers<'/'>},
      {"_%_(int, int) int", numbers<'%'>},
      {"_%_(uint, uint) uint", numbers<'%'>},
      {"_+_(string, string) string", joined_texts},
      {"_+_(bytes, bytes) bytes", joined_texts},
      {"_+_(list(A), list(A)) list(A)", appended},
      {"_+_(google.protobuf.Duration, google.protobuf.Duration) google.protobuf.Duration", durations<'+'>},
      {"_-_(google.protobuf.Duration, google.protobuf.Duration) google.protobuf.Duration", durations<'-'>},
      {"_+_(google.protobuf.Timestamp, google.protobuf.Duration) google.protobuf.Timestamp",
       [](const CelCall& call) { return moved(call[0], call[1].number); }},
      {"_+_(google.protobuf.Duration, google.protobuf.Timestamp) google.protobuf.Timestamp",
       [](const CelCall& call) { return moved(call[1], call[0].number); }},
      {"_-_(google.protobuf.Timestamp, google.protobuf.Duration) google.protobuf.Timestamp",
       [](const CelCall& call) {
         return moved(call[0], arithmetic<std::int64_t>('-', 0, call[1].number, "integer"));
       }},
      {"_-_(google.protobuf.Timestamp, google.protobuf.Timestamp) google.protobuf.Duration", since},
      {"@in(A, list(A)) bool", in_list},
      {"@in(A, map(A, B)) bool",
       [](const CelCall& call) { return cel_bool(cel_find(call[1], call[0]).has_value()); }},
  };
  return functions;
}

std::span<const CelFunction> cel_conversions() {
  static constexpr CelFunction functions[] = {
      {"bool(bool) bool", itself},
      {"bool(string) bool", to_bool},
      {"bytes(bytes) bytes", itself},
      {"bytes(string) bytes", [](const CelCall& call) { return cel_bytes(call.text(0)); }},
      {"double(double) double", itself},
      {"double(int) double",
       [](const CelCall& call) { return CelValue::of(Json(call[0].data().as_number())); }},
      {"double(uint) double",
       [](const CelCall& call) {
         return CelValue::of(Json(static_cast<double>(static_cast<std::uint64_t>(call[0].number))));
       }},
      {"double(string) double",
       [](const CelCall& call) { return CelValue::of(Json(parsed<double>(call.text(0), "double"))); }},
      {"duration(google.protobuf.Duration) google.protobuf.Duration", itself},
      {"duration(int) google.protobuf.Duration",
       [](const CelCall&) -> CelValue { cannot_convert("int", "google.protobuf.Duration"); }},
      {"duration(string) google.protobuf.Duration", to_duration},
      {"dyn(A) dyn", itself},
      {"int(int) int", itself},
      {"int(double) int",
       [](const CelCall& call) { return CelValue::of(Json(whole_part(call[0].data().as_number()))); }},
      {"int(google.protobuf.Duration) int", as_whole},
      {"int(google.protobuf.Timestamp) int", as_whole},
      {"int(string) int",
       [](const CelCall& call) { return CelValue::of(Json(parsed<std::int64_t>(call.text(0), "int"))); }},
      {"int(uint) int", uint_to_int},
      {"string(string) string", as_text},
      {"string(bool) string", as_text},
      {"string(bytes) string", as_text},
      {"string(double) string", as_text},
      {"string(google.protobuf.Duration) string", as_text},
      {"string(int) string", as_text},
      {"string(google.protobuf.Timestamp) string", as_text},
      {"string(uint) string", as_text},
      {"timestamp(google.protobuf.Timestamp) google.protobuf.Timestamp", itself},
      {"timestamp(int) google.protobuf.Timestamp",
       [](const CelCall& call) { return checked({.seconds = call.whole(0)}); }},
      {"timestamp(string) google.protobuf.Timestamp", to_timestamp},
      {"type(A) type",
       [](const CelCall& call) {
         CelValue type = cel_text(cel_type_name(call[0]));
         type.type = Type::type_name;
         return type;
       }},
      {"uint(uint) uint", itself},
      {"uint(int) uint", int_to_uint},
      {"uint(double) uint", double_to_uint},
      {"uint(string) uint",
       [](const CelCall& call) { return uint_of(parsed<std::uint64_t>(call.text(0), "uint")); }},
  };
  return functions;
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
