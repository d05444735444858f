// SPDX-License-Identifier: Apache-2.0
// Making and reading of certificates, with OpenSSL. Everything is PEM.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/base/export.hpp>
#include <evenkeel/serve/tls_files.hpp>

#include "webhook/certificate_plan.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Returns a new authority. Throws Error if OpenSSL fails.
EVENKEEL_API http::TlsPair make_authority(const std::string& common_name, const Lifetime& lifetime);
/// Returns a new serving certificate for these DNS names and IP addresses. It does not outlive its authority.
/// Throws Error if `authority` cannot sign.
EVENKEEL_API http::TlsPair make_serving(const http::TlsPair& authority, const std::vector<std::string>& names,
                                        Lifetime lifetime);

/// Returns the certificates of a bundle, each as PEM of its own.
EVENKEEL_API std::vector<std::string> split_bundle(std::string_view bundle);
/// Returns nullopt if `certificate` is not a certificate.
EVENKEEL_API std::optional<Lifetime> lifetime_of(const std::string& certificate);
/// Returns true if both can be read, the key is that of the certificate, and the API server accepts keys of
/// its kind and size: RSA of 2048 bits or more, ECDSA on P-256, P-384 or P-521, Ed25519.
EVENKEEL_API bool match(const http::TlsPair& pair);
/// Returns true if the API server accepts what `authority` signs for these names. Throws Error for a name
/// that is none.
EVENKEEL_API bool can_sign(const http::TlsPair& authority, const std::vector<std::string>& names);
/// Returns true if a client that trusts `authority` accepts `certificate`, apart from names and lifetimes.
EVENKEEL_API bool is_signed_by(const std::string& certificate, const std::string& authority);
/// Returns true if the certificate is valid for the DNS name or IP address.
EVENKEEL_API bool is_for(const std::string& certificate, const std::string& name);

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
