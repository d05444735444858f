// SPDX-License-Identifier: Apache-2.0
// Whom a client certificate names.
#pragma once

#include <openssl/x509.h>

#include <evenkeel/apiserver/api_server_core.hpp>

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// Source: the real server's client certificate authenticator: CN is the user, each O a group.
Caller named_by(X509* certificate);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
