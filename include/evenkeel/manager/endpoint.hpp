// SPDX-License-Identifier: Apache-2.0
// What a manager serves over HTTP: metrics, probes, and what is for debugging. docs/operations.md shows it.
#pragma once

#include <cstdint>
#include <string>

#include <evenkeel/serve/tls_files.hpp>

namespace evenkeel {
inline namespace v0 {

/// Whether /debug/explain answers why an object is not reconciled: docs/explain.md.
enum class Explanations : std::uint8_t {
  off,
  on,  ///< To who has the token, or asks from this machine: errors of reconciles are in them.
};

/// Two addresses, as in controller-runtime: metrics may want TLS and a token, which probes cannot bring. If
/// both are the same, one site serves both.
struct EndpointOptions {
  /// "host:port" or ":port", see http::SiteOptions. Empty or "0": not served. Serves /metrics and the routes
  /// that were given to Manager::route(), /debug/log-level among them.
  std::string metrics_address = {};
  http::TlsFiles metrics_tls = {};
  /// Holds the token that metrics are given for; others may have it only from this machine, and only what is
  /// for debugging. Empty: metrics are for anyone.
  std::string metrics_token_file = {};
  /// Serves /healthz and /readyz, without TLS and for anyone: the kubelet asks. Empty or "0": not served.
  std::string probe_address = {};
  Explanations explanations = Explanations::off;  ///< At the address of the metrics.

  bool serves_metrics() const { return !metrics_address.empty() && metrics_address != "0"; }
  bool serves_probes() const { return !probe_address.empty() && probe_address != "0"; }
};

}  // namespace v0
}  // namespace evenkeel
