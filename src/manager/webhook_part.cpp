// SPDX-License-Identifier: Apache-2.0
// The webhooks of a manager: their server, and the upkeep of its certificates.
#include <atomic>
#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include <evenkeel/base/mutex.hpp>
#include <evenkeel/base/stop.hpp>
#include <evenkeel/manager/manager.hpp>
#include <evenkeel/metrics/registry.hpp>
#include <evenkeel/serve/server.hpp>
#include <evenkeel/webhook/webhook_server.hpp>

#include "manager/operations.hpp"
#include "manager/part.hpp"
#include "manager/webhook_table.hpp"
#include "webhook/bundle_injector.hpp"
#include "webhook/certificate_keeper.hpp"
#include "webhook/certificate_plan.hpp"

namespace evenkeel {
inline namespace v0 {
namespace {

/// The server, once it has a certificate. Outlives the part in metrics and probes.
class ServerSlot {
 public:
  void set(std::shared_ptr<WebhookServer> server) EVENKEEL_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    server_ = std::move(server);
  }
  std::shared_ptr<WebhookServer> get() const EVENKEEL_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return server_;
  }

 private:
  mutable Mutex mutex_;
  std::shared_ptr<WebhookServer> server_ EVENKEEL_GUARDED_BY(mutex_);
};

// Fetches or makes the certificate, serves, and keeps both certificate and injected authorities up to date,
// on a thread of its own: the API server may be away when it starts.
class WebhookPart final : public detail::Part {
 public:
  WebhookPart(WebhookServerOptions options, detail::BundleInjector::Targets targets, const Client& client,
              detail::WebhookTable& table, WebhookServerEnvironment environment,
              std::shared_ptr<ServerSlot> slot)
      : options_(std::move(options)),
        targets_(std::move(targets)),
        client_(client),
        table_(table),
        environment_(std::move(environment)),
        slot_(std::move(slot)) {}

  void start(Started started, Ended ended) override {
    table_.close();
    targets_.crds = table_.converted_crds();
    thread_ = std::jthread(
        [this, started = std::move(started), ended = std::move(ended)](const std::stop_token& stop) {
          std::exception_ptr error;
          try {
            if (environment_.on_thread_start) environment_.on_thread_start("webhook-certificates");
            serve(stop, started);
          } catch (...) {
            error = std::current_exception();
          }
          if (const auto server = slot_->get()) server->stop();
          ended(error);
        });
  }
  void stop() override { thread_.request_stop(); }
  void cancel() override {}

 private:
  bool used() const { return !table_.webhooks().empty() || !table_.conversions().empty(); }

  void serve(const std::stop_token& stop, const Started& started) {
    if (!used()) {
      started();
      return wait(stop, std::nullopt);
    }
    if (!options_.tls.certificate.empty()) {
      open({});
      started();
      return wait(stop, std::nullopt);
    }
    keep_certificates(stop, started);
  }

  void wait(const std::stop_token& stop, std::optional<Duration> time) const {
    const Clock& clock = *environment_.clock;
    sleep_until(clock, time ? deadline_after(clock.now(), *time) : TimePoint::max(), stop);
  }

  // `certificates` is empty if there are files.
  void open(const detail::WebhookCertificates& certificates) {
    const http::TlsPair& pair = certificates.serving;
    auto server = std::make_shared<WebhookServer>(options_, pair, environment_);
    if (!pair.certificate.empty()) server->set_certificate(pair, certificates.bundle);
    for (Webhook& webhook : table_.webhooks()) server->add(std::move(webhook));
    for (Conversion& conversion : table_.conversions()) server->add(std::move(conversion));
    server->start();
    slot_->set(std::move(server));
  }

  void keep_certificates(const std::stop_token& stop, const Started& started) {
    const Client client = client_.with({.stop = stop});
    detail::CertificateKeeper keeper(client, options_.service, options_.certificates, environment_.log,
                                     environment_.clock);
    detail::BundleInjector injector(
        client, {options_.service, detail::serving_names(options_.service, options_.certificates.names)},
        targets_, environment_.log);
    detail::WebhookCertificates current;
    for (std::string problem; !stop.stop_requested(); wait(stop, options_.certificates.check_period)) {
      std::optional<detail::WebhookCertificates> found;
      try {
        found = keeper.refresh();
        problem.clear();
      } catch (const Error& error) {
        if (!stop.stop_requested()) note(problem, error.what());
      }
      if (found) use(*std::move(found), current, started);
      if (!current.bundle.empty()) injector.inject(current.bundle);
    }
  }

  void use(detail::WebhookCertificates found, detail::WebhookCertificates& current, const Started& started) {
    if (const auto server = slot_->get(); !server) {
      open(found);
      started();
    } else if (!(found == current)) {
      server->set_certificate(found.serving, found.bundle);
    }
    current = std::move(found);
  }

  void note(std::string& last, const char* problem) const {
    if (std::exchange(last, problem) != problem)
      environment_.log.error("the certificates of the webhooks cannot be stored; retrying",
                             {{"error", problem}});
  }

  const WebhookServerOptions options_;
  detail::BundleInjector::Targets targets_;
  const Client client_;
  detail::WebhookTable& table_;
  const WebhookServerEnvironment environment_;
  const std::shared_ptr<ServerSlot> slot_;
  std::jthread thread_;
};

void check_options(const WebhookServerOptions& options) {
  http::check_address(options.address);
  detail::check_certificate_options(options.certificates);
  if (options.tls.certificate.empty() != options.tls.key.empty())
    throw std::invalid_argument(
        "webhooks: a certificate file needs a key file, and a key file a certificate file");
  if (options.workers == 0) throw std::invalid_argument("webhooks: workers is 0");
  if (options.conversion_workers == 0) throw std::invalid_argument("webhooks: conversion_workers is 0");
  if (options.max_waiting == 0) throw std::invalid_argument("webhooks: max_waiting is 0");
}

}  // namespace

void Manager::serve_webhooks(WebhookServerOptions options) {
  if (!options.serves()) return;
  if (options.service.name.empty()) options.service.name = name() + "-webhook";
  if (options.service.namespace_.empty()) options.service.namespace_ = client().config().namespace_;
  check_options(options);
  const auto slot = std::make_shared<ServerSlot>();
  detail::BundleInjector::Targets targets{.mutating = mutating_configuration_name(name()),
                                          .validating = validating_configuration_name(name())};
  const std::shared_ptr<const Clock> clock(std::shared_ptr<void>(),
                                           &this->clock());  // outlived by the manager
  add_part(
      "webhooks", Stage::servers,
      std::make_unique<WebhookPart>(std::move(options), std::move(targets), own_client(), webhooks(),
                                    WebhookServerEnvironment{.log = log(),
                                                             .clock = clock,
                                                             .on_thread_start = on_thread_start(),
                                                             .is_leaving = [this] { return is_stopping(); }},
                                    slot));
  operations().readyz().add("webhook", [slot, &table = webhooks()] {
    if (table.webhooks().empty() && table.conversions().empty()) return std::string();
    const auto server = slot->get();
    return server ? server->problem() : std::string("the webhooks have no certificate yet");
  });
  metrics().add("webhooks", [slot](MetricSink& sink) {
    if (const auto server = slot->get()) server->collect(sink);
  });
}

void Manager::add(Webhook webhook) {
  webhooks().add(std::move(webhook));
}
void Manager::add(Conversion conversion) {
  webhooks().add(std::move(conversion));
}
std::vector<Json> Manager::webhook_configurations(const WebhookTarget& target) const {
  return v0::webhook_configurations(webhooks().webhooks(), name(), target);
}
std::vector<Json> Manager::crds(const WebhookTarget& target) const {
  std::vector<Json> all = crds();
  for (Json& crd : all) {
    for (const std::string& converted : webhooks().converted_crds()) {
      if (crd.at({"metadata", "name"}) == Json(converted)) set_conversion_webhook(crd, target);
    }
  }
  return all;
}

}  // namespace v0
}  // namespace evenkeel
