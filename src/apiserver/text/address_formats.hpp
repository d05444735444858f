// SPDX-License-Identifier: Apache-2.0
// Addresses of networks and mail, with the leniency of Go's packages.
#pragma once

#include <string_view>

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// Returns true for an IPv6 address without a zone. Source: net ParseIP.
bool is_ipv6_address(std::string_view text);
/// Returns true for an IPv4 address without leading zeros, or an IPv6 address. Source: net ParseIP.
bool is_ip_address(std::string_view text);
/// Like is_ip_address(), but numbers may have leading zeros. Source: k8s.io/utils/net ParseIPSloppy.
bool is_sloppy_ip_address(std::string_view text);
/// Returns true for an address and a number of bits, both possibly with leading zeros.
/// Source: k8s.io/utils/net ParseCIDRSloppy.
bool is_sloppy_cidr(std::string_view text);
/// Returns true for one address, with or without a name. Source: net/mail ParseAddress.
bool is_mail_address(std::string_view text);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
