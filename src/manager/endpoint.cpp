// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <evenkeel/manager/endpoint.hpp>
#include <evenkeel/manager/log.hpp>
#include <evenkeel/manager/manager.hpp>
#include <evenkeel/metrics/process.hpp>
#include <evenkeel/metrics/text.hpp>
#include <evenkeel/serve/server.hpp>

#include "manager/operations.hpp"
#include "manager/part.hpp"

namespace evenkeel::inline v0 {
namespace {

http::Response metrics_of(const Manager& manager) {
  PrometheusText text;
  manager.collect(text);
  collect_process(text);
  return {.status = 200,
          .headers = {{"Content-Type", std::string(PrometheusText::content_type)}},
          .body = text.str()};
}

http::Response log_level(const Log& log, const http::ServerCall& call) {
  http::Response answer{.status = 200, .headers = {{"Content-Type", "text/plain; charset=utf-8"}}};
  if (call.request.method == http::Method::put) {
    std::string_view word = call.request.body;
    while (word.ends_with('\n') || word.ends_with('\r')) word.remove_suffix(1);
    const std::optional<LogLevel> level = parse_log_level(word);
    if (!level || !log.set_level(*level)) {
      answer.status = level ? 409 : 400;
      answer.body = level ? "the log's level cannot be changed\n"
                          : "\"" + std::string(word) + "\" is none of debug, info, warn, error, off\n";
      return answer;
    }
    log.warn("the level of the log was changed", {{"level", word}});
  }
  answer.body = std::string(log_level_name(log.level())) + "\n";
  return answer;
}

// The server, from the moment in which the manager starts to that in which everything else has ended.
class EndpointPart final : public detail::Part {
 public:
  EndpointPart(Manager& manager, detail::Operations& operations, const EndpointOptions& options,
               http::ServerOptions server)
      : log_(server.log), server_(std::make_shared<http::Server>(std::move(server))) {
    if (options.serves_metrics()) add_metrics(manager, operations, options);
    if (options.serves_probes()) add_probes(operations, options);
  }

  void start(Started started, Ended ended) override {
    server_->start();
    ended_ = std::move(ended);
    for (const auto& [site, what] : sites_)
      log_.info("serving", {{"what", what}, {"url", server_->url(site)}});
    started();
  }
  void stop() override {
    server_->stop();
    ended_(nullptr);
  }
  void cancel() override {}

 private:
  void add_metrics(Manager& manager, detail::Operations& operations, const EndpointOptions& options) {
    const std::size_t site = server_->add_site({.address = options.metrics_address,
                                                .tls = options.metrics_tls,
                                                .token_file = options.metrics_token_file});
    sites_.emplace_back(site, "metrics");
    server_->route(site, "/metrics", [&manager](const http::ServerCall&) { return metrics_of(manager); });
    server_->route(site, "/debug/log-level",
                   [log = log_](const http::ServerCall& call) { return log_level(log, call); },
                   {.access = http::Access::trusted, .methods = {http::Method::get, http::Method::put}});
    if (options.explanations == Explanations::on) add_explanations(site, manager);
    // A route may be given to the manager after this part has gone with the run.
    operations.hand_routes_to([server = std::weak_ptr(server_), site](const detail::EndpointRoute& route) {
      if (const auto there = server.lock()) there->route(site, route.path, route.handler, route.options);
    });
  }

  void add_explanations(std::size_t site, Manager& manager) {
    for (const char* path : {"/debug/explain", "/debug/explain/"}) {
      server_->route(site, path,
                     [&manager](const http::ServerCall& call) { return manager.answer_explain(call); },
                     {.access = http::Access::trusted});
    }
  }

  void add_probes(detail::Operations& operations, const EndpointOptions& options) {
    const bool shared = options.serves_metrics() && options.probe_address == options.metrics_address;
    const std::size_t site =
        shared ? sites_.front().first : server_->add_site({.address = options.probe_address});
    if (!shared) sites_.emplace_back(site, "probes");
    for (const char* path : {"/healthz", "/healthz/", "/readyz", "/readyz/"}) {
      server_->route(
          site, path,
          [&operations](const http::ServerCall& call) { return operations.answer_probe(call.target); },
          {.access = http::Access::anyone});
    }
  }

  const Log log_;
  const std::shared_ptr<http::Server> server_;
  std::vector<std::pair<std::size_t, const char*>> sites_;
  Ended ended_;
};

}  // namespace

void Manager::serve(EndpointOptions options) {
  if (!options.serves_metrics() && !options.serves_probes()) return;
  add_part("endpoint", Stage::servers,
           std::make_unique<EndpointPart>(
               *this, operations(), options,
               http::ServerOptions{
                   .log = log(), .thread_name = "endpoint", .on_thread_start = on_thread_start()}));
}

}  // namespace evenkeel::inline v0
