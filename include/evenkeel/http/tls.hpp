// SPDX-License-Identifier: Apache-2.0
// TLS trust anchors and client certificate.
#pragma once

#include <memory>
#include <string>

namespace evenkeel {
inline namespace v0 {
namespace http {

class ClientCertificate;

/// Certificates and keys are PEM, given as data or as files; data takes precedence. Files are reread while
/// the transport runs, so that rotated certificates are picked up; while a file cannot be read, the last
/// contents stay in use.
struct TlsOptions {
  std::string ca_data = {};  ///< Trusted authorities; if ca_file is empty, too: those of the system.
  std::string ca_file = {};
  std::string cert_data = {};  ///< Client certificate with its chain.
  std::string cert_file = {};
  std::string key_data = {};  ///< Private key of the client certificate.
  std::string key_file = {};
  /// Takes precedence over cert and key while it is not empty: see client_certificate.hpp.
  std::shared_ptr<ClientCertificate> client_certificate = {};
  std::string server_name = {};  ///< Expected name in the server's certificate; empty: the URL's host.
  bool insecure = false;         ///< Skips verification of the server's certificate.
};

}  // namespace http
}  // namespace v0
}  // namespace evenkeel
