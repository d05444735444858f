// SPDX-License-Identifier: Apache-2.0
// Functions for IP addresses, their ranges and URLs. Source: apiserver pkg/cel/library/ip.go, cidr.go,
// urls.go.
#include <string>
#include <utility>

#include "apiserver/schema/cel_library.hpp"
#include "apiserver/text/ip_address.hpp"
#include "apiserver/text/url.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

namespace {

IpAddress address_in(const std::string& text) {
  const auto parsed = parse_ip(text);
  if (!parsed)
    throw CelError("IP Address " + Json(text).dump() + " parse error during conversion from string");
  return *parsed;
}
IpRange range_in(const std::string& text) {
  const auto parsed = parse_ip_range(text);
  if (!parsed)
    throw CelError("network address parse error during conversion from string: " + Json(text).dump());
  return *parsed;
}
Url url_in(const std::string& text) {
  auto parsed = parse_request_url(text);
  if (!parsed) throw CelError("URL parse error during conversion from string: " + Json(text).dump());
  return *std::move(parsed);
}

IpAddress ip(const CelCall& call, std::size_t at = 0) {
  return address_in(cel_special_text(call[at]));
}
IpRange cidr(const CelCall& call, std::size_t at = 0) {
  return range_in(cel_special_text(call[at]));
}
Url url(const CelCall& call) {
  return url_in(cel_special_text(call[0]));
}

CelValue range_value(const IpRange& range) {
  return cel_special("net.CIDR", range.str());
}

CelValue contains_ip(const CelCall& call) {
  return cel_bool(cidr(call).contains(ip(call, 1)));
}
CelValue contains_cidr(const CelCall& call) {
  const IpRange range = cidr(call);
  const IpRange other = cidr(call, 1);
  return cel_bool(other.bits >= range.bits && range.contains(other.address));
}

CelValue parameters_of(const CelCall& call) {
  CelValue::Parts entries;
  for (auto& [name, values] : url(call).parameters()) {
    CelValue::Parts texts;
    for (const std::string& value : values) texts.push_back(cel_text(value));
    entries.push_back(cel_text(name));
    entries.push_back(cel_list(std::move(texts)));
  }
  return CelValue::of(CelValue::Type::map, std::move(entries));
}

/// Returns what a member function of an address says.
template <bool (IpAddress::*is)() const>
CelValue check(const CelCall& call) {
  return cel_bool((ip(call).*is)());
}

}  // namespace

std::span<const CelFunction> cel_network_functions() {
  static constexpr CelFunction functions[] = {
      {"isIP(string) bool", [](const CelCall& call) { return cel_bool(parse_ip(call.text(0)).has_value()); }},
      {"ip(string) net.IP",
       [](const CelCall& call) { return cel_special("net.IP", address_in(call.text(0)).str()); }},
      {"ip.isCanonical(string) bool",
       [](const CelCall& call) { return cel_bool(address_in(call.text(0)).str() == call.text(0)); }},
      {"string(net.IP) string", [](const CelCall& call) { return cel_text(ip(call).str()); }},
      {".family(net.IP) int", [](const CelCall& call) { return cel_int(ip(call).family); }},
      {".isUnspecified(net.IP) bool", check<&IpAddress::is_unspecified>},
      {".isLoopback(net.IP) bool", check<&IpAddress::is_loopback>},
      {".isLinkLocalMulticast(net.IP) bool", check<&IpAddress::is_link_local_multicast>},
      {".isLinkLocalUnicast(net.IP) bool", check<&IpAddress::is_link_local_unicast>},
      {".isGlobalUnicast(net.IP) bool", check<&IpAddress::is_global_unicast>},
      {"isCIDR(string) bool",
       [](const CelCall& call) { return cel_bool(parse_ip_range(call.text(0)).has_value()); }},
      {"cidr(string) net.CIDR", [](const CelCall& call) { return range_value(range_in(call.text(0))); }},
      {"string(net.CIDR) string", [](const CelCall& call) { return cel_text(cidr(call).str()); }},
      {".containsIP(net.CIDR, string) bool", contains_ip},
      {".containsIP(net.CIDR, net.IP) bool", contains_ip},
      {".containsCIDR(net.CIDR, string) bool", contains_cidr},
      {".containsCIDR(net.CIDR, net.CIDR) bool", contains_cidr},
      {".ip(net.CIDR) net.IP",
       [](const CelCall& call) { return cel_special("net.IP", cidr(call).address.str()); }},
      {".prefixLength(net.CIDR) int", [](const CelCall& call) { return cel_int(cidr(call).bits); }},
      {".masked(net.CIDR) net.CIDR", [](const CelCall& call) { return range_value(cidr(call).masked()); }},
      {"isURL(string) bool", [](const CelCall& call) { return cel_bool(is_request_url(call.text(0))); }},
      {"url(string) kubernetes.URL",
       [](const CelCall& call) {
         url_in(call.text(0));
         return cel_special("kubernetes.URL", call.text(0));
       }},
      {".getScheme(kubernetes.URL) string", [](const CelCall& call) { return cel_text(url(call).scheme); }},
      {".getHost(kubernetes.URL) string", [](const CelCall& call) { return cel_text(url(call).host); }},
      {".getHostname(kubernetes.URL) string",
       [](const CelCall& call) { return cel_text(url(call).hostname()); }},
      {".getPort(kubernetes.URL) string", [](const CelCall& call) { return cel_text(url(call).port()); }},
      {".getEscapedPath(kubernetes.URL) string",
       [](const CelCall& call) { return cel_text(url(call).path); }},
      {".getQuery(kubernetes.URL) map(string, list(string))", parameters_of},
  };
  return functions;
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
