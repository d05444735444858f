// SPDX-License-Identifier: Apache-2.0
// Certificates and requests for them, as PEM.
#pragma once

#include <string>
#include <vector>

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

struct CertificateRequestText {
  std::string problem = {};  ///< Empty: it is a request with a valid signature.
  std::vector<std::string> organizations = {};
};

/// Reads the first block of a PEM text, which has to be a PKCS#10 request.
CertificateRequestText read_certificate_request(const std::string& pem);

/// Returns the reason why a PEM text is no chain of certificates; empty if it is one.
std::string certificate_problem(const std::string& pem);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
