// SPDX-License-Identifier: Apache-2.0
// Functions for quantities, semantic versions and named formats. Source: apiserver
// pkg/cel/library/quantity.go, semverlib.go, format.go.
#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <evenkeel/api/quantity.hpp>

#include "apiserver/schema/cel_library.hpp"
#include "apiserver/schema/name_rules.hpp"
#include "apiserver/text/formats.hpp"
#include "apiserver/text/url.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {
namespace {

// Quantities.

Quantity quantity(const CelCall& call, std::size_t at = 0) {
  if (call[at].data().is_integer()) return call.whole(at);
  return Quantity::parse(cel_special_text(call[at])).value_or(Quantity());
}

CelValue parse_quantity(const CelCall& call) {
  if (!Quantity::parse(call.text(0)))
    throw CelError(
        "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
  return cel_special("kubernetes.Quantity", call.text(0));
}

CelValue quantity_value(const Quantity& quantity) {
  return cel_special("kubernetes.Quantity", quantity.str());
}

/// The text of a quantity: a number times a power of ten and of two.
struct QuantityText {
  std::string number;
  int decimals = 0;
  int ten = 0;
  int two = 0;
};

QuantityText quantity_text(const std::string& text) {
  constexpr std::string_view decimal = "num kMGTPE";  // thousandths and thousands around the blank
  QuantityText out;
  const std::size_t end = std::min(text.find_first_not_of("+-0123456789."), text.size());
  out.number = text.substr(0, end);
  const std::size_t point = std::min(out.number.find('.'), out.number.size());
  out.decimals = static_cast<int>(out.number.size() - std::min(point + 1, out.number.size()));
  const std::string suffix = text.substr(end);
  const std::size_t place = suffix.empty() ? 3 : decimal.find(suffix[0] == 'K' ? 'k' : suffix[0]);
  const int thousands = static_cast<int>(place) - 3;
  if (suffix.size() == 2 && suffix[1] == 'i')
    out.two = 10 * thousands;
  else if (suffix.size() > 1)
    out.ten = static_cast<int>(std::strtol(suffix.c_str() + 1, nullptr, 10));
  else
    out.ten = 3 * thousands;
  return out;
}

/// Returns the value if it is an integer of 64 bits in the source's representation: "1.5k" is, "1.0" is not.
/// Source: apimachinery resource.ParseQuantity (the fast path), Quantity.AsInt64.
std::optional<std::int64_t> integer_in(const CelValue& value) {
  const std::string& text = cel_special_text(value);
  const QuantityText parts = quantity_text(text);
  const auto digits = std::count_if(parts.number.begin(), parts.number.end(),
                                    [](unsigned char letter) { return std::isdigit(letter) != 0; });
  const bool is_short = parts.two == 0 ? digits <= 18 : digits + parts.two * 3 / 10 + 1 <= 15;
  if (!is_short || parts.ten < parts.decimals || (parts.two > 0 && parts.decimals > 0)) return std::nullopt;
  const Quantity quantity = Quantity::parse(text).value_or(Quantity());
  return Quantity(quantity.value()) == quantity ? std::optional(quantity.value()) : std::nullopt;
}

CelValue as_integer(const CelCall& call) {
  const auto value = integer_in(call[0]);
  if (!value) throw CelError("cannot convert value to integer");
  return cel_int(*value);
}

CelValue as_float(const CelCall& call) {
  const QuantityText parts = quantity_text(cel_special_text(call[0]));
  const double number = std::strtod(parts.number.c_str(), nullptr);
  return CelValue::of(Json(std::ldexp(number * std::pow(10.0, parts.ten), parts.two)));
}

int compared(const Quantity& a, const Quantity& b) {
  return a < b ? -1 : a > b ? 1 : 0;
}

CelValue plus(const CelCall& call) {
  return quantity_value(quantity(call) + quantity(call, 1));
}
CelValue minus(const CelCall& call) {
  return quantity_value(quantity(call) - quantity(call, 1));
}

// Semantic versions.

struct Semver {
  std::array<std::uint64_t, 3> numbers = {};
  std::vector<std::string> before = {};  // pre-release identifiers
};

std::vector<std::string> split(const std::string& text, char separator, std::size_t most = SIZE_MAX) {
  std::vector<std::string> out;
  for (std::size_t from = 0;;) {
    const std::size_t found = out.size() + 1 == most ? std::string::npos : text.find(separator, from);
    out.push_back(text.substr(from, found - from));
    if (found == std::string::npos) return out;
    from = found + 1;
  }
}

bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

std::optional<std::uint64_t> number_in(const std::string& text) {
  std::uint64_t value = 0;
  const bool fits = is_number(text) && (text.size() == 1 || text[0] != '0') &&
                    std::from_chars(text.data(), text.data() + text.size(), value).ec == std::errc();
  return fits ? std::optional(value) : std::nullopt;
}

/// Returns true for identifiers of letters, digits and hyphens.
bool is_identifier(const std::string& text) {
  constexpr std::string_view allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-0123456789";
  return !text.empty() && text.find_first_not_of(allowed) == std::string::npos;
}

/// Source: github.com/blang/semver/v4 Parse.
std::optional<Semver> parse_semver(const std::string& text) {
  Semver out;
  const std::size_t plus = text.find('+');
  if (plus != std::string::npos)
    for (const std::string& part : split(text.substr(plus + 1), '.'))
      if (!is_identifier(part)) return std::nullopt;
  const std::string plain = text.substr(0, plus);
  const std::size_t dash = plain.find('-');
  const std::vector<std::string> parts = split(plain.substr(0, dash), '.');
  if (parts.size() != 3) return std::nullopt;
  for (std::size_t i = 0; i < 3; ++i) {
    const auto number = number_in(parts[i]);
    if (!number) return std::nullopt;
    out.numbers.at(i) = *number;
  }
  if (dash == std::string::npos) return out;
  out.before = split(plain.substr(dash + 1), '.');
  for (const std::string& part : out.before)
    if (!is_identifier(part) || (is_number(part) && !number_in(part))) return std::nullopt;
  return out;
}

/// Returns "v01.2" as "1.2.0"; std::nullopt if it is too short for its suffix.
/// Source: apiserver pkg/cel/library/semverlib.go normalizeAndParse.
std::optional<std::string> normalized(std::string text) {
  if (text.starts_with('v')) text.erase(0, 1);
  std::vector<std::string> parts = split(text, '.', 3);
  for (std::string& part : parts) {
    if (part.size() < 2) continue;
    part.erase(0, std::min(part.find_first_not_of('0'), part.size()));
    if (part.empty() || !is_number(part.substr(0, 1))) part.insert(0, "0");
  }
  if (parts.size() < 3 && parts.back().find_first_of("+-") != std::string::npos) return std::nullopt;
  parts.resize(3, "0");
  return parts[0] + "." + parts[1] + "." + parts[2];
}

/// Reads the first argument; the second one, if any, is true for texts to normalise.
std::optional<Semver> semver_in(const CelCall& call) {
  if (call.given.size() < 2 || !call[1].data().as_bool()) return parse_semver(call.text(0));
  const auto text = normalized(call.text(0));
  return text ? parse_semver(*text) : std::nullopt;
}

/// Versions are equal if their text without the build is.
std::string str(const Semver& version) {
  std::string text;
  for (const std::uint64_t number : version.numbers)
    text += (text.empty() ? "" : ".") + std::to_string(number);
  for (std::size_t i = 0; i < version.before.size(); ++i) text += (i == 0 ? "-" : ".") + version.before[i];
  return text;
}

CelValue make_semver(const CelCall& call) {
  const auto version = semver_in(call);
  if (!version) throw CelError("no semantic version: " + Json(call.text(0)).dump());
  return cel_special("kubernetes.Semver", str(*version));
}

CelValue is_semver(const CelCall& call) {
  return cel_bool(semver_in(call).has_value());
}

int compare_parts(const std::string& a, const std::string& b) {
  if (is_number(a) != is_number(b)) return is_number(a) ? -1 : 1;
  if (is_number(a) && a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
  return a < b ? -1 : a > b;
}

int compared(const Semver& a, const Semver& b) {
  if (a.numbers != b.numbers) return a.numbers < b.numbers ? -1 : 1;
  if (a.before.empty() != b.before.empty()) return a.before.empty() ? 1 : -1;
  for (std::size_t i = 0; i < std::min(a.before.size(), b.before.size()); ++i)
    if (const int order = compare_parts(a.before[i], b.before[i])) return order;
  return a.before.size() < b.before.size() ? -1 : a.before.size() > b.before.size();
}

Semver semver(const CelCall& call, std::size_t at = 0) {
  return parse_semver(cel_special_text(call[at])).value_or(Semver{});
}

template <std::size_t part>
CelValue semver_part(const CelCall& call) {
  return cel_int(static_cast<std::int64_t>(semver(call).numbers.at(part)));
}

template <class Value, Value (*read)(const CelCall&, std::size_t)>
int order(const CelCall& call) {
  return compared(read(call, 0), read(call, 1));
}
template <class Value, Value (*read)(const CelCall&, std::size_t)>
CelValue is_less(const CelCall& call) {
  return cel_bool(order<Value, read>(call) < 0);
}
template <class Value, Value (*read)(const CelCall&, std::size_t)>
CelValue is_greater(const CelCall& call) {
  return cel_bool(order<Value, read>(call) > 0);
}
template <class Value, Value (*read)(const CelCall&, std::size_t)>
CelValue compare_to(const CelCall& call) {
  return cel_int(order<Value, read>(call));
}

// Named formats.

using Problems = std::vector<std::string>;

Problems unless(bool good, const char* problem) {
  return good ? Problems{} : Problems{problem};
}

Problems uri_problems(const std::string& text) {
  if (is_request_url(text)) return {};
  return {"parse " + Json(text).dump() + (text.empty() ? ": empty url" : ": invalid URI for request")};
}

struct NamedFormat {
  std::string_view name;
  Problems (*problems)(const std::string& text);
};

constexpr NamedFormat named_formats[] = {
    {"dns1123Label", [](const std::string& text) { return name_problems(text, NameRule::dns_label); }},
    {"dns1123LabelPrefix",
     [](const std::string& text) { return name_problems(text, NameRule::dns_label, NamePart::prefix); }},
    {"dns1123Subdomain",
     [](const std::string& text) { return name_problems(text, NameRule::dns_subdomain); }},
    {"dns1123SubdomainPrefix",
     [](const std::string& text) { return name_problems(text, NameRule::dns_subdomain, NamePart::prefix); }},
    {"dns1035Label", [](const std::string& text) { return name_problems(text, NameRule::dns_1035_label); }},
    {"dns1035LabelPrefix",
     [](const std::string& text) { return name_problems(text, NameRule::dns_1035_label, NamePart::prefix); }},
    {"qualifiedName", [](const std::string& text) { return qualified_name_problems(text); }},
    {"labelValue", [](const std::string& text) { return label_value_problems(text); }},
    {"uri", [](const std::string& text) { return uri_problems(text); }},
    {"uuid",
     [](const std::string& text) {
       return unless(has_format(text, "uuid"), "does not match the UUID format");
     }},
    {"byte", [](const std::string& text) { return unless(has_format(text, "byte"), "invalid base64"); }},
    {"date", [](const std::string& text) { return unless(has_format(text, "date"), "invalid date"); }},
    {"datetime",
     [](const std::string& text) { return unless(has_format(text, "datetime"), "invalid datetime"); }},
};

const NamedFormat* format_named(std::string_view name) {
  const auto found = std::find_if(std::begin(named_formats), std::end(named_formats),
                                  [&](const NamedFormat& each) { return each.name == name; });
  return found == std::end(named_formats) ? nullptr : &*found;
}

CelValue format_value(std::string_view name) {
  return cel_special("kubernetes.NamedFormat", std::string(name));
}

template <std::size_t at>
CelValue format_at(const CelCall&) {
  return format_value(named_formats[at].name);
}

CelValue named_format(const CelCall& call) {
  if (format_named(call.text(0)) == nullptr) return cel_optional(std::nullopt);
  return cel_optional(format_value(call.text(0)));
}

CelValue validate(const CelCall& call) {
  CelValue::Parts problems;
  for (std::string& problem : format_named(cel_special_text(call[0]))->problems(call.text(1)))
    problems.push_back(cel_text(std::move(problem)));
  return cel_optional(problems.empty() ? std::nullopt : std::optional(cel_list(std::move(problems))));
}

}  // namespace

std::span<const CelFunction> cel_kubernetes_functions() {
  static constexpr CelFunction functions[] = {
      {"isQuantity(string) bool",
       [](const CelCall& call) { return cel_bool(Quantity::parse(call.text(0)).has_value()); }},
      {"quantity(string) kubernetes.Quantity", parse_quantity},
      {"sign(kubernetes.Quantity) int",
       [](const CelCall& call) { return cel_int(compared(quantity(call), Quantity())); }},
      {".isInteger(kubernetes.Quantity) bool",
       [](const CelCall& call) { return cel_bool(integer_in(call[0]).has_value()); }},
      {".asInteger(kubernetes.Quantity) int", as_integer},
      {".asApproximateFloat(kubernetes.Quantity) double", as_float},
      {".isGreaterThan(kubernetes.Quantity, kubernetes.Quantity) bool", is_greater<Quantity, quantity>},
      {".isLessThan(kubernetes.Quantity, kubernetes.Quantity) bool", is_less<Quantity, quantity>},
      {".compareTo(kubernetes.Quantity, kubernetes.Quantity) int", compare_to<Quantity, quantity>},
      {".add(kubernetes.Quantity, kubernetes.Quantity) kubernetes.Quantity", plus},
      {".add(kubernetes.Quantity, int) kubernetes.Quantity", plus},
      {".sub(kubernetes.Quantity, kubernetes.Quantity) kubernetes.Quantity", minus},
      {".sub(kubernetes.Quantity, int) kubernetes.Quantity", minus},
      {"isSemver(string) bool", is_semver},
      {"isSemver(string, bool) bool", is_semver},
      {"semver(string) kubernetes.Semver", make_semver},
      {"semver(string, bool) kubernetes.Semver", make_semver},
      {".isGreaterThan(kubernetes.Semver, kubernetes.Semver) bool", is_greater<Semver, semver>},
      {".isLessThan(kubernetes.Semver, kubernetes.Semver) bool", is_less<Semver, semver>},
      {".compareTo(kubernetes.Semver, kubernetes.Semver) int", compare_to<Semver, semver>},
      {".major(kubernetes.Semver) int", semver_part<0>},
      {".minor(kubernetes.Semver) int", semver_part<1>},
      {".patch(kubernetes.Semver) int", semver_part<2>},
      {"format.dns1123Label() kubernetes.NamedFormat", format_at<0>},
      {"format.dns1123LabelPrefix() kubernetes.NamedFormat", format_at<1>},
      {"format.dns1123Subdomain() kubernetes.NamedFormat", format_at<2>},
      {"format.dns1123SubdomainPrefix() kubernetes.NamedFormat", format_at<3>},
      {"format.dns1035Label() kubernetes.NamedFormat", format_at<4>},
      {"format.dns1035LabelPrefix() kubernetes.NamedFormat", format_at<5>},
      {"format.qualifiedName() kubernetes.NamedFormat", format_at<6>},
      {"format.labelValue() kubernetes.NamedFormat", format_at<7>},
      {"format.uri() kubernetes.NamedFormat", format_at<8>},
      {"format.uuid() kubernetes.NamedFormat", format_at<9>},
      {"format.byte() kubernetes.NamedFormat", format_at<10>},
      {"format.date() kubernetes.NamedFormat", format_at<11>},
      {"format.datetime() kubernetes.NamedFormat", format_at<12>},
      {"format.named(string) optional_type(kubernetes.NamedFormat)", named_format},
      {".validate(kubernetes.NamedFormat, string) optional_type(list(string))", validate},
  };
  return functions;
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
