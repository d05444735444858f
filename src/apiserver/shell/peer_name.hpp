// SPDX-License-Identifier: Apache-2.0
// The user of a client certificate.
#pragma once

#include <openssl/x509.h>

#include <evenkeel/apiserver/api_server_core.hpp>

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// Returns the user: CN is the name, each O a group. Source: the real server's client certificate
/// authenticator.
Caller named_by(X509* certificate);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
