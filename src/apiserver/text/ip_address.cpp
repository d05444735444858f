// SPDX-License-Identifier: Apache-2.0
// Source: Go net/netip; apiserver pkg/cel/library/ip.go parseIPAddr.
#include "apiserver/text/ip_address.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <charconv>
#include <initializer_list>

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

namespace {

bool starts_with(const IpAddress& one, std::initializer_list<unsigned char> bytes) {
  return std::equal(bytes.begin(), bytes.end(), one.bytes.begin());
}

unsigned group(const IpAddress& one, std::size_t at) {
  return static_cast<unsigned>(one.bytes.at(2 * at)) << 8U | one.bytes.at(2 * at + 1);
}

/// Returns the end of the zeros that begin at a group.
std::size_t end_of_zeros(const IpAddress& one, std::size_t at) {
  while (at < 8 && group(one, at) == 0) ++at;
  return at;
}

/// The longest of two or more zeros is "::".
std::string text_of_ipv6(const IpAddress& one) {
  std::size_t from = 8;
  std::size_t to = 8;
  for (std::size_t at = 0; at < 8; ++at) {
    const std::size_t end = end_of_zeros(one, at);
    if (end - at >= 2 && end - at > to - from) {
      from = at;
      to = end;
    }
  }
  std::string text;
  for (std::size_t at = 0; at < 8; ++at) {
    if (at == from) {
      text += "::";
      at = to;
      if (at >= 8) break;
    } else if (at > 0) {
      text += ':';
    }
    std::array<char, 4> digits{};
    text.append(digits.data(), std::to_chars(digits.data(), digits.data() + 4, group(one, at), 16).ptr);
  }
  return text;
}

}  // namespace

std::string IpAddress::str() const {
  if (family == 6) return text_of_ipv6(*this);
  std::string text;
  for (std::size_t i = 0; i < 4; ++i) text += (i == 0 ? "" : ".") + std::to_string(bytes.at(i));
  return text;
}

bool IpAddress::is_unspecified() const {
  return std::all_of(bytes.begin(), bytes.end(), [](unsigned char byte) { return byte == 0; });
}
bool IpAddress::is_loopback() const {
  if (family == 4) return bytes[0] == 127;
  return starts_with(*this, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1});
}
bool IpAddress::is_multicast() const {
  return family == 4 ? (bytes[0] & 0xf0U) == 0xe0 : bytes[0] == 0xff;
}
bool IpAddress::is_link_local_unicast() const {
  return family == 4 ? starts_with(*this, {169, 254}) : bytes[0] == 0xfe && (bytes[1] & 0xc0U) == 0x80;
}
bool IpAddress::is_link_local_multicast() const {
  return family == 4 ? starts_with(*this, {224, 0, 0}) : bytes[0] == 0xff && (bytes[1] & 0x0fU) == 0x02;
}
bool IpAddress::is_global_unicast() const {
  const bool broadcast = family == 4 && starts_with(*this, {255, 255, 255, 255});
  return !broadcast && !is_unspecified() && !is_loopback() && !is_multicast() && !is_link_local_unicast();
}

std::optional<IpAddress> parse_ip(const std::string& text) {
  IpAddress out;
  if (text.find('\0') != std::string::npos) return std::nullopt;
  if (inet_pton(AF_INET, text.c_str(), out.bytes.data()) == 1) return out;
  out.family = 6;
  const bool good = inet_pton(AF_INET6, text.c_str(), out.bytes.data()) == 1;
  if (!good || starts_with(out, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff})) return std::nullopt;
  return out;
}

bool IpRange::contains(const IpAddress& one) const {
  return one.family == address.family && IpRange{one, bits}.masked().address.bytes == masked().address.bytes;
}

IpRange IpRange::masked() const {
  IpRange result = *this;
  for (std::size_t i = 0; i < result.address.bytes.size(); ++i) {
    const int kept = std::clamp(bits - 8 * static_cast<int>(i), 0, 8);
    result.address.bytes.at(i) &= static_cast<unsigned char>(0xff00U >> static_cast<unsigned>(kept));
  }
  return result;
}

std::optional<IpRange> parse_ip_range(const std::string& text) {
  const std::size_t slash = text.rfind('/');
  if (slash == std::string::npos) return std::nullopt;
  const auto base = parse_ip(text.substr(0, slash));
  const std::string digits = text.substr(slash + 1);
  const bool number = !digits.empty() && digits.size() <= 3 &&
                      digits.find_first_not_of("0123456789") == std::string::npos &&
                      (digits.size() == 1 || digits[0] != '0');
  if (!base || !number) return std::nullopt;
  const int bits = std::stoi(digits);
  if (bits > static_cast<int>(base->size()) * 8) return std::nullopt;
  return IpRange{*base, bits};
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
