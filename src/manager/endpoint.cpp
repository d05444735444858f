// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
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

#include "manager/access_reviewer.hpp"
#include "manager/console_page.hpp"
#include "manager/console_shell.hpp"
#include "manager/operations.hpp"
#include "manager/part.hpp"

namespace evenkeel {
inline namespace v0 {
namespace {

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

// Runs the HTTP servers, from the start of the manager until all other parts have ended. Probes have their
// own server and thread: metrics and routes of the program may block theirs.
class EndpointPart final : public detail::Part {
 public:
  using ThreadStart = std::function<void(std::string_view)>;

  // `reviewer` asks for access; `console`: null without one.
  EndpointPart(Manager& manager, Client reviewer, detail::Operations& operations, ThreadStart on_thread_start,
               std::shared_ptr<detail::ConsoleShell> console, const EndpointOptions& options)
      : manager_(manager),
        reviewer_(std::move(reviewer)),
        operations_(operations),
        on_thread_start_(std::move(on_thread_start)),
        log_(manager.log()),
        console_(std::move(console)) {
    const bool shared = options.serves_metrics() && options.probe_address == options.metrics_address;
    if (options.serves_metrics()) add_metrics(options);
    if (options.serves_probes()) add_probes(shared ? *served_.front().server : probe_server(options));
  }

  void start(Started started, Ended ended) override {
    for (const Served& one : served_) one.server->start();
    if (console_) console_->start();
    ended_ = std::move(ended);
    for (const Served& one : served_)
      log_.info("serving", {{"what", one.what}, {"url", one.server->url(site)}});
    started();
  }
  void stop() override {
    for (const Served& one : served_) one.server->stop();
    if (console_) console_->stop();
    ended_(nullptr);
  }
  void cancel() override {}

 private:
  struct Served {
    const char* what = nullptr;
    std::shared_ptr<http::Server> server = {};
  };
  static constexpr std::size_t site = 0;  // each server has one

  http::Server& add_server(const char* what, std::string thread, http::SiteOptions options) {
    auto server = std::make_shared<http::Server>(http::ServerOptions{
        .log = log_, .thread_name = std::move(thread), .on_thread_start = on_thread_start_});
    server->add_site(std::move(options));
    return *served_.emplace_back(Served{what, std::move(server)}).server;
  }

  void add_metrics(const EndpointOptions& options) {
    http::Server& server = add_server("metrics", "endpoint",
                                      {.address = options.metrics_address,
                                       .tls = options.metrics_tls,
                                       .token_file = options.metrics_token_file,
                                       .access_review = access_review(options)});
    server.route(site, "/metrics", [this](const http::ServerCall&) { return metrics(); });
    server.route(site, "/debug/log-level",
                 [log = log_](const http::ServerCall& call) { return log_level(log, call); },
                 {.access = http::RouteAccess::trusted, .methods = {http::Method::get, http::Method::put}});
    if (options.explanations == Explanations::on) add_explanations(server);
    if (console_) add_console(server, options);
    // A route may be added to the manager after the run, when this part no longer exists.
    operations_.hand_routes_to(
        [server = std::weak_ptr(served_.back().server)](const detail::EndpointRoute& route) {
          if (const auto there = server.lock()) there->route(site, route.path, route.handler, route.options);
        });
  }

  http::Response metrics() const {
    PrometheusText text;
    manager_.collect(text);
    collect_connections(text);
    collect_process(text);
    return {.status = 200,
            .headers = {{"Content-Type", std::string(PrometheusText::content_type)}},
            .body = text.str()};
  }

  // The series of a family must be adjacent.
  void collect_connections(MetricSink& sink) const {
    for (const Served& one : served_) {
      sink.gauge("evenkeel_endpoint_connections", "Connections to an address of the endpoint",
                 {{"endpoint", one.what}}, static_cast<double>(one.server->connection_counts(site).open));
    }
    for (const Served& one : served_) {
      const http::ConnectionCounts counts = one.server->connection_counts(site);
      for (const auto& [reason, count] :
           {std::pair<std::string_view, std::uint64_t>{"address_full", counts.evicted_site_full},
            {"peer_full", counts.evicted_peer_full},
            {"timeout", counts.timed_out}}) {
        sink.counter(
            "evenkeel_endpoint_connections_closed_total",
            "Connections that the endpoint closed since it had too many, or their peer took too long",
            {{"endpoint", one.what}, {"reason", reason}}, static_cast<double>(count));
      }
    }
  }

  void add_explanations(http::Server& server) {
    for (const char* path : {"/debug/explain", "/debug/explain/"}) {
      server.route(
          site, path,
          [&manager = manager_](const http::ServerCall& call) { return manager.answer_explain(call); },
          {.access = http::RouteAccess::trusted});
    }
  }

  http::AccessReview access_review(const EndpointOptions& options) const {
    if (options.access_reviews == AccessReviews::off) return nullptr;
    return detail::make_access_review(reviewer_, manager_.shared_clock(), log_);
  }

  // The page holds nothing of the program. Browsers cannot send a token with it; its script does with the
  // data.
  void add_console(http::Server& server, const EndpointOptions& options) {
    const bool guarded = !options.metrics_token_file.empty() || options.access_reviews == AccessReviews::on;
    for (const char* path : {"/console", "/console/"}) {
      server.route(site, path,
                   [](const http::ServerCall& call) {
                     if (call.rest.empty()) return detail::console_page();
                     return http::Response{.status = 404, .body = "404 page not found\n"};
                   },
                   {.access = guarded ? http::RouteAccess::anyone : http::RouteAccess::trusted});
    }
    server.route(site, "/console/api/",
                 [console = console_](const http::ServerCall& call) { return console->answer(call); },
                 {.access = http::RouteAccess::trusted});
  }

  http::Server& probe_server(const EndpointOptions& options) {
    return add_server("probes", "probes", {.address = options.probe_address});
  }

  void add_probes(http::Server& server) {
    for (const char* path : {"/healthz", "/healthz/", "/readyz", "/readyz/"}) {
      server.route(site, path,
                   [this](const http::ServerCall& call) { return operations_.answer_probe(call.target); },
                   {.access = http::RouteAccess::anyone});
    }
  }

  Manager& manager_;
  const Client reviewer_;
  detail::Operations& operations_;
  const ThreadStart on_thread_start_;
  const Log log_;
  const std::shared_ptr<detail::ConsoleShell> console_;
  std::vector<Served> served_;  // complete before start()
  Ended ended_;
};

// Throws std::invalid_argument for options that would leave data open.
void check_access(const EndpointOptions& options) {
  const bool reviewed = options.access_reviews == AccessReviews::on;
  if (reviewed && !options.metrics_token_file.empty()) {
    throw std::invalid_argument(
        "access reviews (--metrics-access-reviews) and a token file (--metrics-token-file) exclude each "
        "other");
  }
  if (options.console == Console::off) return;
  if (!options.serves_metrics()) {
    throw std::invalid_argument(
        "the console (--console) is served beside the metrics: it needs --metrics-bind-address");
  }
  if (reviewed || !options.metrics_token_file.empty()) return;
  if (!http::is_loopback_address(options.metrics_address)) {
    throw std::invalid_argument("the console (--console) at \"" + options.metrics_address +
                                "\" would be open to other machines: give --metrics-token-file or "
                                "--metrics-access-reviews, or bind it to 127.0.0.1");
  }
}

}  // namespace

std::shared_ptr<detail::ConsoleShell> Manager::make_console() const {
  const auto subjects = [this] {
    return detail::ConsoleSubjects{.program = name(),
                                   .controllers = controllers(),
                                   .blocked_reason = blocked_reason(),
                                   .watches = cache().health(),
                                   .sections = operations().console_sections(),
                                   .now = clock().now(),
                                   .wall_now = clock().wall_now()};
  };
  return std::make_shared<detail::ConsoleShell>(
      detail::ConsoleSources{.subjects = subjects,
                             .controllers = [this] { return controllers(); },
                             .clock = shared_clock(),
                             .on_thread_start = on_thread_start()});
}

void Manager::serve(EndpointOptions options) {
  check_access(options);
  if (!options.serves_metrics() && !options.serves_probes()) return;
  add_part(
      "endpoint", Stage::servers,
      std::make_unique<EndpointPart>(*this, own_client(), operations(), on_thread_start(),
                                     options.console == Console::on ? make_console() : nullptr, options));
}

}  // namespace v0
}  // namespace evenkeel
