// SPDX-License-Identifier: Apache-2.0
// Whom to trust and as whom to appear, when a server is spoken to over TLS.
#pragma once

#include <string>

namespace evenkeel {
inline namespace v0 {
namespace http {

/// Certificates and keys are PEM, given as data or as files; data wins. Files are read again while the
/// transport runs, so that rotated certificates are picked up; while a file cannot be read, what was read
/// last stays in use.
struct TlsOptions {
  std::string ca_data = {};  ///< Authorities to trust; with no ca_file either: those of the system.
  std::string ca_file = {};
  std::string cert_data = {};  ///< Client certificate, with its chain.
  std::string cert_file = {};
  std::string key_data = {};  ///< Key of the client certificate.
  std::string key_file = {};
  std::string server_name = {};  ///< Name that the server's certificate must carry; empty: the URL's host.
  bool insecure = false;         ///< Do not check the server's certificate at all.
};

}  // namespace http
}  // namespace v0
}  // namespace evenkeel
