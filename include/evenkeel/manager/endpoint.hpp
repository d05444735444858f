// SPDX-License-Identifier: Apache-2.0
// The HTTP endpoints of a manager: metrics, probes and debugging. docs/operations.md describes them.
#pragma once

#include <cstdint>
#include <string>

#include <evenkeel/serve/tls_files.hpp>

namespace evenkeel {
inline namespace v0 {

/// Access to /debug/explain, which reports why an object is not reconciled: docs/explain.md.
enum class Explanations : std::uint8_t {
  off,
  on,  ///< For clients that have the token or are on this machine: responses contain errors of reconciles.
};

/// Authority that decides which clients may use the metrics address.
enum class AccessReviews : std::uint8_t {
  off,  ///< The token in metrics_token_file decides; without that file, /metrics is open.
  /// The API server: TokenReview names the user of a bearer token, SubjectAccessReview answers whether that
  /// user may "get" the path as a non-resource URL. docs/operations.md has the roles that this needs.
  on,
};

/// The console, a page of live graphs and explanations for browsers: docs/console.md.
enum class Console : std::uint8_t {
  off,
  on,  ///< At /console. Needs a token file, access reviews, or a metrics address of this machine only.
};

/// Two addresses, as in controller-runtime: metrics may need TLS and a token, which probes cannot use. If
/// both are equal, one site serves both.
struct EndpointOptions {
  /// "host:port" or ":port", see http::SiteOptions. Empty or "0": not served. Serves /metrics and the routes
  /// added by Manager::route(), including /debug/log-level.
  std::string metrics_address = {};
  http::TlsFiles metrics_tls = {};
  /// File with the bearer token that /metrics requires. Clients without it are accepted only from this
  /// machine, and only for debugging routes. Empty: /metrics requires no token.
  std::string metrics_token_file = {};
  /// Serves /healthz and /readyz, without TLS and authentication, for the kubelet. Empty or "0": not served.
  std::string probe_address = {};
  Explanations explanations = Explanations::off;      ///< Served at metrics_address.
  AccessReviews access_reviews = AccessReviews::off;  ///< At metrics_address, in place of the token.
  Console console = Console::off;                     ///< Served at metrics_address.

  bool serves_metrics() const { return !metrics_address.empty() && metrics_address != "0"; }
  bool serves_probes() const { return !probe_address.empty() && probe_address != "0"; }
};

}  // namespace v0
}  // namespace evenkeel
