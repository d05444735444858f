// SPDX-License-Identifier: Apache-2.0
// IP addresses and their ranges, as Go's package netip has them.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

struct IpAddress {
  int family = 4;
  std::array<unsigned char, 16> bytes = {};

  std::size_t size() const { return family == 4 ? 4 : 16; }
  /// Returns the canonical form: "10.0.0.1", "2001:db8::1".
  std::string str() const;
  bool is_unspecified() const;
  bool is_loopback() const;
  bool is_multicast() const;
  bool is_link_local_unicast() const;
  bool is_link_local_multicast() const;
  bool is_global_unicast() const;
};

/// Returns std::nullopt for other text, zones and IPv4 addresses in IPv6 form.
std::optional<IpAddress> parse_ip(const std::string& text);

/// The first `bits` bits of an address, whose other bits may be set.
struct IpRange {
  IpAddress address = {};
  int bits = 0;

  std::string str() const { return address.str() + "/" + std::to_string(bits); }
  bool contains(const IpAddress& one) const;
  /// Returns the range without the other bits.
  IpRange masked() const;
};

std::optional<IpRange> parse_ip_range(const std::string& text);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
