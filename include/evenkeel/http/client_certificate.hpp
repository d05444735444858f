// SPDX-License-Identifier: Apache-2.0
// A client certificate that is replaced while transports use it.
#pragma once

#include <memory>
#include <string>

#include <evenkeel/base/export.hpp>
#include <evenkeel/base/mutex.hpp>

namespace evenkeel {
inline namespace v0 {
namespace http {

/// A certificate with its private key, both PEM.
struct CertificatePair {
  std::string cert = {};  ///< With its chain, the certificate itself first.
  std::string key = {};

  bool operator==(const CertificatePair&) const = default;
};

/// The client certificate of a transport (TlsOptions::client_certificate), empty at first. After set(),
/// requests and streams that start use the new certificate on connections of their own; the transport ends
/// the streams of the old certificate with TransportErrorCode::interrupted when it starts the next exchange.
/// Requests in flight are not ended. Thread safety: all members may be called concurrently.
class EVENKEEL_API ClientCertificate {
 public:
  /// Replaces the certificate; null: none.
  void set(std::shared_ptr<const CertificatePair> pair) EVENKEEL_EXCLUDES(mutex_);
  /// Returns the current certificate, or null.
  std::shared_ptr<const CertificatePair> get() const EVENKEEL_EXCLUDES(mutex_);

 private:
  mutable Mutex mutex_;
  std::shared_ptr<const CertificatePair> pair_ EVENKEEL_GUARDED_BY(mutex_);
};

}  // namespace http
}  // namespace v0
}  // namespace evenkeel
