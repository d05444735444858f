// SPDX-License-Identifier: Apache-2.0
// HTTPS server of a program's webhooks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/base/clock.hpp>
#include <evenkeel/base/export.hpp>
#include <evenkeel/base/log.hpp>
#include <evenkeel/serve/tls_files.hpp>
#include <evenkeel/webhook/certificate_options.hpp>
#include <evenkeel/webhook/configuration.hpp>
#include <evenkeel/webhook/conversion.hpp>
#include <evenkeel/webhook/webhook.hpp>

namespace evenkeel {
inline namespace v0 {

class MetricSink;

struct WebhookServerOptions {
  /// "host:port" or ":port", see http::SiteOptions. Empty or "0": not served.
  std::string address = ":9443";
  /// Certificate files, reread when they change. Empty: certificates of its own, see `certificates`.
  http::TlsFiles tls = {};
  /// The Service that leads here. Its namespace is by default that of the client's configuration, its name
  /// that of the program and "-webhook".
  WebhookService service = {};
  /// Certificates that the program makes, shares with its replicas and injects, if there are no files.
  CertificateOptions certificates = {};
  /// Threads that call the functions of webhooks; with all of them busy, their calls wait. At least 1.
  std::size_t workers = 16;
  /// Threads that call the functions of conversions, apart from those above: the API server has to convert
  /// what a function of a webhook reads in another version than the stored one. At least 1.
  std::size_t conversion_workers = 4;
  /// Maximum calls of either kind that wait for a thread; further ones get 503. At least 1.
  std::size_t max_waiting = 256;

  bool serves() const { return !address.empty() && address != "0"; }
};

/// The parts of a WebhookServer that belong to its program.
struct WebhookServerEnvironment {
  Log log = {};
  std::shared_ptr<const Clock> clock = real_clock();
  /// Called first on each thread, with the thread's name.
  std::function<void(std::string_view thread)> on_thread_start = {};
  /// Returns true when the program is about to stop: each response then ends its connection, so that the API
  /// server opens the next one to another replica. May be called concurrently.
  std::function<bool()> is_leaving = {};
};

/// Serves webhooks and conversions over HTTPS, each on the path that kubebuilder gives it. A manager has one;
/// a program without a manager can run one by itself. Functions run on dedicated threads: a slow one does not
/// delay the probes of the manager, and others only while all WebhookServerOptions::workers are busy; it
/// never delays conversions, which have threads of their own. At most WebhookServerOptions::max_waiting calls
/// of either kind wait. Thread safety: all members may be called concurrently, except start(), which is
/// called once. Lifetime: destruction calls stop().
class EVENKEEL_API WebhookServer {
 public:
  /// `pair` is the first certificate if `options` names no files. Throws std::invalid_argument for invalid
  /// options or if there is no certificate.
  explicit WebhookServer(const WebhookServerOptions& options, const http::TlsPair& pair = {},
                         WebhookServerEnvironment environment = {});
  ~WebhookServer();
  WebhookServer(const WebhookServer&) = delete;
  WebhookServer& operator=(const WebhookServer&) = delete;

  /// Adds webhooks. Throws std::invalid_argument if the kind has some already, or if the names of another
  /// group and kind lead to the same path.
  void add(Webhook webhook);
  /// Adds a conversion. Throws std::invalid_argument if the kind has one already.
  void add(Conversion conversion);

  /// Replaces the certificate; see http::Server::set_certificate(). `authorities`: those that the API server
  /// accepts, as PEM, for problem(); may be left out.
  void set_certificate(const http::TlsPair& pair, const std::string& authorities = {});
  /// Starts listening. Throws Error with the address or file that failed, and std::invalid_argument after
  /// start() or stop().
  void start();
  /// Refuses new connections, answers the calls that have arrived, for up to 10 seconds, and joins the
  /// threads after running functions have returned. Idempotent.
  void stop() noexcept;

  std::uint16_t port() const;
  /// Returns "https://127.0.0.1:9443": the URL for programs on this machine.
  std::string url() const;
  /// Returns the reason why the API server cannot call the webhooks: it does not listen, or its certificate
  /// or the authority that signed it is not valid at this time. Empty: none.
  std::string problem() const;
  /// Writes the metrics that controller-runtime has of webhooks, see docs/metrics.md.
  void collect(MetricSink& sink) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace v0
}  // namespace evenkeel
