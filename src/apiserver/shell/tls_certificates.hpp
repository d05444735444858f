// SPDX-License-Identifier: Apache-2.0
// Certificates for the embedded server, generated in memory at start: an authority, and certificates that it
// signs. Shared with floors above.
#pragma once

#include <string>
#include <vector>

#include <evenkeel/apiserver/api_server_core.hpp>

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// A certificate and its private key, as PEM.
struct CertifiedKey {
  std::string certificate = {};
  std::string key = {};
};

/// Returns 32 random characters, for secrets.
std::string random_text();
/// Returns a new authority with an EC P-256 key, valid for ten years around now.
CertifiedKey make_authority();
/// Returns a server certificate for `hosts` (names and addresses), signed by `authority`.
CertifiedKey make_server_certificate(const CertifiedKey& authority, const std::vector<std::string>& hosts);
/// Returns a server certificate without a common name that is also valid for clients, as etcd's members need
/// among themselves and for their JSON API.
CertifiedKey make_member_certificate(const CertifiedKey& authority, const std::vector<std::string>& hosts);
/// Returns a client certificate: common name = user, organisations = groups, as the real API server reads
/// them.
CertifiedKey make_client_certificate(const CertifiedKey& authority, const Caller& caller);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
