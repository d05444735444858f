// SPDX-License-Identifier: Apache-2.0
// Kubernetes' extensions of CEL: quantities, URLs, IP addresses, CIDRs, semantic versions and named formats.
// Source: apiserver pkg/cel/library.
#include "apiserver/schema/cel_kubernetes.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/schema/name_rules.hpp"
#include "apiserver/text/regular_expression.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {
namespace {

using Arguments = std::span<const CelValue>;
using Type = CelValue::Type;

/// Values of Kubernetes' own types are represented as {"type": ..., "text": ...}.
CelValue special(const char* type, const std::string& text) {
  CelValue value = CelValue::of(Json::object({{"type", type}, {"text", text}}));
  value.type = Type::special;
  return value;
}

bool is(const CelValue& value, std::string_view type) {
  return value.type == Type::special && value.data()["type"] == Json(type);
}

std::string text_of(const CelValue& value) {
  if (value.type == Type::special) return value.data()["text"].string_or("");
  if (value.type != Type::json || !value.data().is_string()) throw CelError("no such overload");
  return value.data().as_string();
}

CelValue yes(bool value) {
  return CelValue::of(Json(value));
}

// Quantities: a decimal number and a suffix.

std::optional<double> quantity(const std::string& text) {
  static constexpr std::array<std::pair<std::string_view, double>, 14> suffixes{{{"", 1},
                                                                                 {"n", 1e-9},
                                                                                 {"u", 1e-6},
                                                                                 {"m", 1e-3},
                                                                                 {"k", 1e3},
                                                                                 {"M", 1e6},
                                                                                 {"G", 1e9},
                                                                                 {"T", 1e12},
                                                                                 {"Ki", 1024.0},
                                                                                 {"Mi", 1048576.0},
                                                                                 {"Gi", 1073741824.0},
                                                                                 {"Ti", 1099511627776.0},
                                                                                 {"P", 1e15},
                                                                                 {"Pi", 1125899906842624.0}}};
  std::size_t end = text.find_first_not_of("+-0123456789.");
  if (end == std::string::npos) end = text.size();
  const std::string digits = text.substr(0, end);
  const std::size_t sign = digits.find_last_of("+-");
  if (digits.find_first_of("0123456789") == std::string::npos || (sign != std::string::npos && sign != 0) ||
      std::count(digits.begin(), digits.end(), '.') > 1)
    return std::nullopt;
  const std::string_view suffix = std::string_view(text).substr(end);
  if (suffix.size() > 1 && (suffix[0] == 'e' || suffix[0] == 'E') &&
      suffix.substr(1).find_first_not_of("+-0123456789") == std::string_view::npos)
    return std::strtod(text.c_str(), nullptr);
  for (const auto& [name, factor] : suffixes)
    if (name == suffix) return std::strtod(digits.c_str(), nullptr) * factor;
  return std::nullopt;
}

double quantity_of(const CelValue& value) {
  if (!is(value, "kubernetes.Quantity")) throw CelError("no such overload");
  return quantity(text_of(value)).value_or(0);
}

// IP addresses and CIDRs.

struct Address {
  int family = 4;
  std::array<unsigned char, 16> bytes = {};
  std::size_t size() const { return family == 4 ? 4 : 16; }
};

std::optional<Address> address(const std::string& text) {
  Address out;
  if (inet_pton(AF_INET, text.c_str(), out.bytes.data()) == 1) return out;
  out.family = 6;
  if (text.find('.') == std::string::npos && inet_pton(AF_INET6, text.c_str(), out.bytes.data()) == 1)
    return out;
  return std::nullopt;
}

struct Range {
  Address address = {};
  int bits = 0;
};

std::optional<Range> range(const std::string& text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos || slash + 1 == text.size() || text.size() > slash + 4) return std::nullopt;
  const auto base = address(text.substr(0, slash));
  const std::string bits = text.substr(slash + 1);
  if (!base || bits.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
  const int count = std::atoi(bits.c_str());
  if (count > static_cast<int>(base->size()) * 8) return std::nullopt;
  return Range{*base, count};
}

bool contains(const Range& range, const Address& one) {
  if (one.family != range.address.family) return false;
  for (int bit = 0; bit < range.bits; ++bit) {
    const auto at = static_cast<std::size_t>(bit / 8);
    const int mask = 0x80 >> (bit % 8);
    if ((one.bytes[at] & mask) != (range.address.bytes[at] & mask)) return false;
  }
  return true;
}

bool starts_with_bytes(const Address& one, std::initializer_list<unsigned char> bytes) {
  return std::equal(bytes.begin(), bytes.end(), one.bytes.begin());
}

bool is_loopback(const Address& one) {
  if (one.family == 4) return one.bytes[0] == 127;
  return starts_with_bytes(one, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1});
}

// URLs.

struct Url {
  std::string scheme, host, path, query;
};

std::optional<Url> url(const std::string& text) {
  Url out;
  std::string rest = text.substr(0, text.find('#'));
  if (rest.empty() || rest.find_first_of(" \t\n") != std::string::npos) return std::nullopt;
  if (const std::size_t mark = rest.find('?'); mark != std::string::npos) {
    out.query = rest.substr(mark + 1);
    rest.resize(mark);
  }
  if (const std::size_t colon = rest.find("://"); colon != std::string::npos && colon > 0) {
    out.scheme = rest.substr(0, colon);
    rest.erase(0, colon + 3);
    const std::size_t slash = std::min(rest.find('/'), rest.size());
    out.host = rest.substr(0, slash);
    out.host.erase(0, out.host.rfind('@') + 1);
    out.path = rest.substr(slash);
    return out;
  }
  if (!rest.starts_with('/')) return std::nullopt;
  out.path = rest;
  return out;
}

std::string port_of(const std::string& host) {
  const std::size_t colon = host.rfind(':');
  return colon == std::string::npos || host.find(']', colon) != std::string::npos ? ""
                                                                                  : host.substr(colon + 1);
}

// Semantic versions.

struct Semver {
  std::array<std::uint64_t, 3> numbers = {};
  std::vector<std::string> before = {};  // pre-release identifiers
};

bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> out;
  for (std::size_t from = 0;;) {
    const std::size_t found = text.find(separator, from);
    out.push_back(text.substr(from, found - from));
    if (found == std::string::npos) return out;
    from = found + 1;
  }
}

std::optional<Semver> semver(const std::string& text) {
  Semver out;
  const std::string plain = text.substr(0, text.find('+'));
  const std::size_t dash = plain.find('-');
  const std::vector<std::string> parts = split(plain.substr(0, dash), '.');
  if (parts.size() != 3) return std::nullopt;
  for (std::size_t i = 0; i < 3; ++i) {
    if (!is_number(parts[i]) || (parts[i].size() > 1 && parts[i][0] == '0') || parts[i].size() > 19)
      return std::nullopt;
    out.numbers[i] = std::stoull(parts[i]);
  }
  if (dash == std::string::npos) return out;
  out.before = split(plain.substr(dash + 1), '.');
  for (const std::string& part : out.before)
    if (part.empty()) return std::nullopt;
  return out;
}

int compare_parts(const std::string& a, const std::string& b) {
  if (is_number(a) != is_number(b)) return is_number(a) ? -1 : 1;
  if (is_number(a) && a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
  return a < b ? -1 : a > b;
}

int compare(const Semver& a, const Semver& b) {
  if (a.numbers != b.numbers) return a.numbers < b.numbers ? -1 : 1;
  if (a.before.empty() != b.before.empty()) return a.before.empty() ? 1 : -1;
  for (std::size_t i = 0; i < std::min(a.before.size(), b.before.size()); ++i)
    if (const int order = compare_parts(a.before[i], b.before[i])) return order;
  return a.before.size() < b.before.size() ? -1 : a.before.size() > b.before.size();
}

Semver semver_of(const CelValue& value) {
  if (!is(value, "kubernetes.Semver")) throw CelError("no such overload");
  return semver(text_of(value)).value_or(Semver{});
}

// Named formats.

std::vector<std::string> format_problems(const std::string& format, const std::string& text) {
  if (format == "dns1123Label") return name_problems(text, NameRule::dns_label);
  if (format == "dns1035Label") return name_problems(text, NameRule::dns_1035_label);
  if (format == "dns1123Subdomain") return name_problems(text, NameRule::dns_subdomain);
  if (format == "qualifiedName") return qualified_name_problems(text);
  if (format == "labelValue") return label_value_problems(text);
  throw CelError("no such overload");
}

std::optional<CelValue> make(std::string_view name, const std::string& text) {
  const auto made = [&](const char* type, bool good, const char* what) {
    if (!good) throw CelError(std::string("parsing ") + what + " " + Json(text).dump() + " failed");
    return special(type, text);
  };
  if (name == "isQuantity") return yes(quantity(text).has_value());
  if (name == "isURL") return yes(url(text).has_value());
  if (name == "isIP") return yes(address(text).has_value());
  if (name == "isCIDR") return yes(range(text).has_value());
  if (name == "isSemver") return yes(semver(text).has_value());
  if (name == "quantity") return made("kubernetes.Quantity", quantity(text).has_value(), "quantity");
  if (name == "url") return made("kubernetes.URL", url(text).has_value(), "url");
  if (name == "ip") return made("net.IP", address(text).has_value(), "ip");
  if (name == "cidr") return made("net.CIDR", range(text).has_value(), "cidr");
  if (name == "semver") return made("kubernetes.Semver", semver(text).has_value(), "semver");
  return std::nullopt;
}

std::optional<CelValue> quantity_method(std::string_view name, Arguments given) {
  const double self = quantity_of(given[0]);
  if (given.size() == 1) {
    if (name == "sign") return CelValue::of(Json(self < 0 ? -1 : self > 0 ? 1 : 0));
    if (name == "isInteger") return yes(self == std::trunc(self));
    if (name == "asInteger" && std::abs(self) < 9.2e18)
      return CelValue::of(Json(static_cast<std::int64_t>(self)));
    if (name == "asInteger") throw CelError("cannot convert value to integer");
    if (name == "asApproximateFloat") return CelValue::of(Json(self));
    return std::nullopt;
  }
  const double other = given[1].type == Type::json && given[1].data().is_integer()
                           ? given[1].data().as_number()
                           : quantity_of(given[1]);
  if (name == "isLessThan") return yes(self < other);
  if (name == "isGreaterThan") return yes(self > other);
  if (name == "compareTo") return CelValue::of(Json(self < other ? -1 : self > other ? 1 : 0));
  if (name == "add") return special("kubernetes.Quantity", Json(self + other).dump());
  if (name == "sub") return special("kubernetes.Quantity", Json(self - other).dump());
  return std::nullopt;
}

std::optional<CelValue> url_method(std::string_view name, const Url& self) {
  const std::string port = port_of(self.host);
  const std::string name_only =
      port.empty() ? self.host : self.host.substr(0, self.host.size() - port.size() - 1);
  if (name == "getScheme") return CelValue::of(Json(self.scheme));
  if (name == "getHost") return CelValue::of(Json(self.host));
  if (name == "getHostname") return CelValue::of(Json(name_only));
  if (name == "getPort") return CelValue::of(Json(port));
  if (name == "getEscapedPath") return CelValue::of(Json(self.path));
  if (name != "getQuery") return std::nullopt;
  std::map<std::string, Json> members;
  for (const std::string& pair : self.query.empty() ? std::vector<std::string>{} : split(self.query, '&')) {
    const std::size_t equals = std::min(pair.find('='), pair.size());
    members[pair.substr(0, equals)].push_back(pair.substr(std::min(equals + 1, pair.size())));
  }
  Json query = Json::object();
  for (auto& [name_of_values, values] : members) query[name_of_values] = std::move(values);
  return CelValue::of(std::move(query));
}

std::optional<CelValue> ip_method(std::string_view name, const Address& self) {
  const bool four = self.family == 4;
  if (name == "family") return CelValue::of(Json(self.family));
  if (name == "isLoopback") return yes(is_loopback(self));
  if (name == "isUnspecified")
    return yes(std::all_of(self.bytes.begin(), self.bytes.begin() + static_cast<std::ptrdiff_t>(self.size()),
                           [](unsigned char byte) { return byte == 0; }));
  if (name == "isLinkLocalUnicast")
    return yes(four ? starts_with_bytes(self, {169, 254})
                    : self.bytes[0] == 0xfe && (self.bytes[1] & 0xc0) == 0x80);
  if (name == "isLinkLocalMulticast")
    return yes(four ? starts_with_bytes(self, {224, 0, 0}) : starts_with_bytes(self, {0xff, 0x02}));
  if (name == "isGlobalUnicast")
    return yes(!is_loopback(self) &&
               (four ? self.bytes[0] < 224 && self.bytes[0] != 0 : self.bytes[0] != 0xff));
  return std::nullopt;
}

std::optional<CelValue> cidr_method(std::string_view name, Arguments given, const Range& self) {
  if (given.size() == 1) {
    if (name == "prefixLength") return CelValue::of(Json(self.bits));
    if (name == "ip") return special("net.IP", text_of(given[0]).substr(0, text_of(given[0]).find('/')));
    return std::nullopt;
  }
  if (name == "containsIP") {
    const auto one = address(text_of(given[1]));
    if (!one)
      throw CelError("IP Address " + Json(text_of(given[1])).dump() + " parse error during conversion");
    return yes(contains(self, *one));
  }
  if (name != "containsCIDR") return std::nullopt;
  const auto other = range(text_of(given[1]));
  if (!other) throw CelError("CIDR " + Json(text_of(given[1])).dump() + " parse error during conversion");
  return yes(other->bits >= self.bits && contains(self, other->address));
}

std::optional<CelValue> semver_method(std::string_view name, Arguments given) {
  const Semver self = semver_of(given[0]);
  if (given.size() == 1) {
    for (const auto& [part, at] : {std::pair("major", 0U), std::pair("minor", 1U), std::pair("patch", 2U)})
      if (name == part) return CelValue::of(Json(static_cast<std::int64_t>(self.numbers.at(at))));
    return std::nullopt;
  }
  const int order = compare(self, semver_of(given[1]));
  if (name == "isLessThan") return yes(order < 0);
  if (name == "isGreaterThan") return yes(order > 0);
  if (name == "compareTo") return CelValue::of(Json(order));
  return std::nullopt;
}

/// Returns the first match, or all.
CelValue found(const std::string& subject, const std::string& pattern, bool all, std::int64_t& budget) {
  Json matches = Json::array();
  try {
    const RegularExpression expression(pattern);
    spend(budget, match_cost(subject.size(), pattern.size(), expression.size()));
    expression.each_match(subject, [&](const RegularExpression::Match& match) {
      matches.push_back(subject.substr(match.place, match.size));
      spend(budget, match_cost(match.searched / 10, pattern.size(), expression.size()));
      return all;
    });
  } catch (const std::invalid_argument& problem) {
    throw CelError(problem.what());
  }
  if (all) return CelValue::of(std::move(matches));
  return CelValue::of(matches.empty() ? Json("") : matches[std::size_t{0}]);
}

std::optional<CelValue> format_method(std::string_view name, Arguments given) {
  if (name != "validate" || given.size() != 2) return std::nullopt;
  Json problems = Json::array();
  for (const std::string& problem : format_problems(text_of(given[0]), text_of(given[1])))
    problems.push_back(problem);
  CelValue result{.type = Type::optional};
  if (!problems.empty()) result.json = std::make_shared<const Json>(std::move(problems));
  return result;
}

}  // namespace

std::optional<CelValue> call_kubernetes(std::string_view name, bool receiver, Arguments given,
                                        std::int64_t& budget) {
  if (given.empty()) return std::nullopt;
  const CelValue& self = given[0];
  if (!receiver)
    return given.size() == 1 && self.type == Type::json && self.data().is_string()
               ? make(name, self.data().as_string())
               : std::nullopt;
  if (given.size() == 2 && (name == "find" || name == "findAll"))
    return found(text_of(self), text_of(given[1]), name == "findAll", budget);
  if (is(self, "kubernetes.Quantity")) return quantity_method(name, given);
  if (is(self, "kubernetes.URL")) return url_method(name, *url(text_of(self)));
  if (is(self, "net.IP") && given.size() == 1) return ip_method(name, *address(text_of(self)));
  if (is(self, "net.CIDR")) return cidr_method(name, given, *range(text_of(self)));
  if (is(self, "kubernetes.Semver")) return semver_method(name, given);
  if (is(self, "kubernetes.NamedFormat")) return format_method(name, given);
  return std::nullopt;
}

CelValue named_format(std::string_view name) {
  return special("kubernetes.NamedFormat", std::string(name));
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
