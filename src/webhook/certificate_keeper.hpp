// SPDX-License-Identifier: Apache-2.0
// The shared certificates of a program's webhooks, in a Secret. Shared with floors above.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <evenkeel/base/clock.hpp>
#include <evenkeel/base/export.hpp>
#include <evenkeel/base/log.hpp>
#include <evenkeel/client/client.hpp>
#include <evenkeel/serve/tls_files.hpp>
#include <evenkeel/webhook/certificate_options.hpp>
#include <evenkeel/webhook/configuration.hpp>

#include "webhook/certificate_plan.hpp"

namespace evenkeel {
inline namespace v0 {

namespace core_v1 {
struct Secret;
}
namespace detail {

/// The certificates in use.
struct WebhookCertificates {
  http::TlsPair serving = {};
  std::string bundle = {};  ///< All authorities that the API server has to accept, as PEM.
  bool operator==(const WebhookCertificates&) const = default;
};

/// Returns the names under which the API server calls a Service, and `more`.
EVENKEEL_API std::vector<std::string> serving_names(const WebhookService& service,
                                                    const std::vector<std::string>& more);

/// Shell: drives plan_certificates() with the Secret, the clock and OpenSSL.
/// Thread safety: one thread at a time.
class EVENKEEL_API CertificateKeeper {
 public:
  /// `service` must have name and namespace. Throws std::invalid_argument for invalid options.
  CertificateKeeper(Client client, WebhookService service, CertificateOptions options, Log log,
                    std::shared_ptr<const Clock> clock = real_clock());

  /// Reads the Secret and brings it up to date; returns its certificates. If another replica writes at the
  /// same time, adopts what that one wrote. Throws the errors of the client.
  WebhookCertificates refresh();

 private:
  bool update(core_v1::Secret& secret, WallTime now);
  void warn_of_the_future(const CertificateState& state, WallTime now) const;

  const Client client_;
  const WebhookService service_;
  const CertificateOptions options_;
  const std::vector<std::string> names_;
  const Log log_;
  const std::shared_ptr<const Clock> clock_;
  std::string judged_ = {};  // contents of the Secret, and what OpenSSL has found in them
  CertificateState state_ = {};
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
