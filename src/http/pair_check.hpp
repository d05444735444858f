// SPDX-License-Identifier: Apache-2.0
// The check that a certificate and a private key belong together. Shared with floors above.
#pragma once

#include <cstdint>
#include <string>

namespace evenkeel {
inline namespace v0 {
namespace http::detail {

enum class PairProblem : std::uint8_t {
  none,
  certificate,  ///< Not a certificate as PEM.
  key,          ///< Not an unencrypted private key as PEM.
  mismatch,     ///< The key of another certificate.
};

/// Returns the problem of a client certificate and its key. Never asks for a passphrase.
PairProblem check_pair(const std::string& certificate, const std::string& key);

}  // namespace http::detail
}  // namespace v0
}  // namespace evenkeel
