// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <utility>

#include <evenkeel/base/mutex.hpp>
#include <evenkeel/serve/server.hpp>
#include <evenkeel/webhook/answer.hpp>
#include <evenkeel/webhook/webhook_server.hpp>

#include "base/files.hpp"
#include "base/free_memory.hpp"
#include "base/limits.hpp"
#include "base/repeated_line.hpp"
#include "webhook/large_reviews.hpp"
#include "webhook/taken_path.hpp"
#include "webhook/webhook_meter.hpp"
#include "webhook/x509.hpp"

namespace evenkeel {
inline namespace v0 {
namespace {

constexpr std::size_t site = 0;  // the only one
// An API server without HTTP/2 opens a connection for each concurrent call.
constexpr std::size_t connections = 1024;

http::ServerOptions server_options(const WebhookServerOptions& options,
                                   const WebhookServerEnvironment& environment) {
  if (options.workers == 0) throw std::invalid_argument("WebhookServerOptions: workers is 0");
  if (options.conversion_workers == 0)
    throw std::invalid_argument("WebhookServerOptions: conversion_workers is 0");
  if (options.max_waiting == 0) throw std::invalid_argument("WebhookServerOptions: max_waiting is 0");
  return {.log = environment.log,
          .thread_name = "webhooks",
          .workers = options.workers,
          .reserved_workers = options.conversion_workers,
          .max_waiting = options.max_waiting,
          .on_thread_start = environment.on_thread_start,
          .max_connections = connections,
          .max_connections_of_peer = connections,
          .max_body = max_review_size};
}

/// Logs the failures of one webhook. Any peer can cause those of requests that are no reviews; they must not
/// hide those of functions that threw.
class Failures {
 public:
  Failures(Log log, std::string path) : log_(std::move(log)), path_(std::move(path)) {}

  void on_failure(const std::string& failure, bool threw, TimePoint now) {
    std::int64_t times = 0;
    {
      MutexLock lock(mutex_);
      times = (threw ? threw_ : refused_).on_line(now);
    }
    if (times > 0) log_.error("a webhook failed", {{"webhook", path_}, {"error", failure}, {"times", times}});
  }

 private:
  const Log log_;
  const std::string path_;
  Mutex mutex_;
  detail::RepeatedLine threw_ EVENKEEL_GUARDED_BY(mutex_);
  detail::RepeatedLine refused_ EVENKEEL_GUARDED_BY(mutex_);
};

// Returns why a certificate with this lifetime is not accepted now; empty if it is.
std::string lifetime_problem(const char* what, const detail::Lifetime& lifetime, WallTime now) {
  if (now < lifetime.begin) return std::string(what) + " of the webhooks is not valid yet";
  return now < lifetime.end ? "" : std::string(what) + " of the webhooks has expired";
}

// `certificate` with its chain. The signer is looked for in the chain and in `authorities`; without one, as
// with files, only the certificate itself is judged.
std::string certificate_problem(const std::string& certificate, const std::string& authorities,
                                WallTime now) {
  const std::vector<std::string> all = detail::split_bundle(certificate + authorities);
  const auto lifetime = all.empty() ? std::nullopt : detail::lifetime_of(all.front());
  if (!lifetime) return "the certificate of the webhooks cannot be read";
  std::string problem = lifetime_problem("the certificate", *lifetime, now);
  for (std::size_t at = 1; at < all.size() && problem.empty(); ++at) {
    if (!detail::is_signed_by(all.front(), all[at])) continue;
    problem = lifetime_problem("the authority", *detail::lifetime_of(all[at]), now);
    if (problem.empty()) break;
  }
  return problem;
}

}  // namespace

class WebhookServer::Impl {
 public:
  Impl(const WebhookServerOptions& options, const http::TlsPair& pair, WebhookServerEnvironment environment)
      : files_(options.tls),
        log_(environment.log),
        clock_(environment.clock),
        is_leaving_(environment.is_leaving),
        pair_(pair),
        server_(server_options(options, environment)) {
    if (files_.certificate.empty() && pair.certificate.empty())
      throw std::invalid_argument(
          "WebhookServer: there is no certificate; the API server calls webhooks over "
          "TLS only");
    server_.add_site({.address = options.address, .tls = files_, .tls_pair = pair});
  }

  void add(Webhook added) {
    const auto webhook = std::make_shared<const Webhook>(std::move(added));
    {
      MutexLock lock(mutex_);
      for (const auto& known : webhooks_) {
        if (mutate_path(known->resource()) == mutate_path(webhook->resource()))
          throw std::invalid_argument("WebhookServer: " + detail::taken_path(*known, *webhook));
      }
      webhooks_.push_back(webhook);
    }
    if (webhook->defaulter()) route(webhook, WebhookVerb::mutate, mutate_path(webhook->resource()));
    if (webhook->validator()) route(webhook, WebhookVerb::validate, validate_path(webhook->resource()));
  }

  void add(Conversion conversion) {
    {
      MutexLock lock(mutex_);
      auto all = std::make_shared<std::vector<Conversion>>();
      if (conversions_) *all = *conversions_;
      for (const Conversion& known : *all) {
        if (known.hub().group == conversion.hub().group && known.hub().kind == conversion.hub().kind)
          throw std::invalid_argument("WebhookServer: " + conversion.hub().kind + " (" +
                                      conversion.hub().group + ") has a conversion already");
      }
      all->push_back(std::move(conversion));
      if (std::exchange(conversions_, std::move(all))) return;  // the handler takes the new ones
    }
    serve(std::string(convert_path), detail::WebhookKind::conversion,
          [this](const http::Request& request, std::string& failure) {
            return answer_conversion(*conversions(), request, failure);
          });
  }

  void set_certificate(const http::TlsPair& pair, const std::string& authorities) {
    server_.set_certificate(site, pair);
    MutexLock lock(mutex_);
    pair_ = pair;
    authorities_ = authorities;
  }

  void start() {
    server_.start();
    listening_ = true;
    log_.info("serving", {{"what", "webhooks"}, {"url", server_.url(site)}});
  }
  void stop() noexcept {
    listening_ = false;
    server_.stop();
  }

  std::string problem() const {
    if (!listening_) return "the server of the webhooks does not listen";
    std::string certificate;
    std::string authorities;
    {
      MutexLock lock(mutex_);
      certificate = pair_.certificate;
      authorities = authorities_;
    }
    try {
      if (!files_.certificate.empty()) certificate = detail::read_file(files_.certificate);
    } catch (const Error& error) {
      return error.what();
    }
    return certificate_problem(certificate, authorities, clock_->wall_now());
  }

  http::Server& server() { return server_; }
  const detail::WebhookMeter& meter() const { return *meter_; }

 private:
  using Answer = std::function<http::Response(const http::Request& request, std::string& failure)>;

  std::shared_ptr<const std::vector<Conversion>> conversions() const {
    MutexLock lock(mutex_);
    return conversions_;
  }

  void route(const std::shared_ptr<const Webhook>& webhook, WebhookVerb verb, const std::string& path) {
    serve(path, detail::WebhookKind::admission,
          [webhook, verb](const http::Request& request, std::string& failure) {
            return answer_admission(*webhook, verb, request, failure);
          });
  }

  /// Answers a review once its size permits it. A function of a webhook may read what needs a conversion, so
  /// these do not wait for each other.
  http::Response in_turn(detail::WebhookKind kind, const http::Request& request, const Answer& answer,
                         std::string& failure) {
    const bool converts = kind == detail::WebhookKind::conversion;
    const detail::LargeReview turn(converts ? large_conversions_ : large_admissions_, request.body.size());
    http::Response response = answer(request, failure);
    if (request.body.size() > limits::uncounted_body) detail::return_free_memory();
    return response;
  }

  void serve(const std::string& path, detail::WebhookKind kind, Answer answer) {
    meter_->add(path);
    const auto failures = std::make_shared<Failures>(log_, path);
    server_.route(site, path,
                  [this, meter = meter_, clock = clock_, failures, path, kind, leaving = is_leaving_,
                   answer = std::move(answer)](const http::ServerCall& call) {
                    meter->began(path);
                    const TimePoint began = clock->now();
                    std::string failure;
                    http::Response response = in_turn(kind, call.request, answer, failure);
                    if (!failure.empty()) {
                      if (response.status == 200) meter->threw(kind);
                      failures->on_failure(failure, response.status == 200, began);
                    }
                    if (leaving && leaving()) response.headers.set("Connection", "close");
                    meter->ended(path, response.status, clock->now() - began);
                    return response;
                  },
                  {.access = http::RouteAccess::anyone,
                   .methods = {http::Method::post},
                   .reserved = kind == detail::WebhookKind::conversion,
                   .on_overload = [meter = meter_, path] { meter->refused(path); }});
  }

  const http::TlsFiles files_;
  const Log log_;
  const std::shared_ptr<const Clock> clock_;
  const std::function<bool()> is_leaving_;
  const std::shared_ptr<detail::WebhookMeter> meter_ = std::make_shared<detail::WebhookMeter>();
  std::atomic<bool> listening_ = false;
  detail::LargeReviews large_admissions_;
  detail::LargeReviews large_conversions_;
  mutable Mutex mutex_;
  http::TlsPair pair_ EVENKEEL_GUARDED_BY(mutex_);
  std::string authorities_ EVENKEEL_GUARDED_BY(mutex_);
  std::vector<std::shared_ptr<const Webhook>> webhooks_ EVENKEEL_GUARDED_BY(mutex_);
  std::shared_ptr<const std::vector<Conversion>> conversions_ EVENKEEL_GUARDED_BY(mutex_);
  http::Server server_;  // last: its threads use the rest
};

WebhookServer::WebhookServer(const WebhookServerOptions& options, const http::TlsPair& pair,
                             WebhookServerEnvironment environment)
    : impl_(std::make_unique<Impl>(options, pair, std::move(environment))) {}
WebhookServer::~WebhookServer() = default;

void WebhookServer::add(Webhook webhook) {
  impl_->add(std::move(webhook));
}
void WebhookServer::add(Conversion conversion) {
  impl_->add(std::move(conversion));
}
void WebhookServer::set_certificate(const http::TlsPair& pair, const std::string& authorities) {
  impl_->set_certificate(pair, authorities);
}
void WebhookServer::start() {
  impl_->start();
}
void WebhookServer::stop() noexcept {
  impl_->stop();
}
std::uint16_t WebhookServer::port() const {
  return impl_->server().port(site);
}
std::string WebhookServer::url() const {
  return impl_->server().url(site);
}
std::string WebhookServer::problem() const {
  return impl_->problem();
}
void WebhookServer::collect(MetricSink& sink) const {
  impl_->meter().collect(sink);
}

}  // namespace v0
}  // namespace evenkeel
