// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <stdexcept>
#include <utility>

#include <evenkeel/base/cond_var.hpp>
#include <evenkeel/base/metrics.hpp>
#include <evenkeel/base/mutex.hpp>
#include <evenkeel/http/curl_transport.hpp>
#include <evenkeel/http/job_runner.hpp>
#include <evenkeel/http/transport.hpp>
#include <evenkeel/tracing/otlp_exporter.hpp>

#include "base/caught.hpp"
#include "base/limits.hpp"
#include "base/shown_url.hpp"
#include "tracing/export_core.hpp"
#include "tracing/otlp_json.hpp"

namespace evenkeel {
inline namespace v0 {
namespace {

struct Endpoint {
  std::string server;
  std::string target;
};

Endpoint endpoint_of(const std::string& url) {
  const std::size_t scheme = url.starts_with("http://") ? 7 : url.starts_with("https://") ? 8 : 0;
  const std::size_t path = std::min(url.find('/', scheme), url.size());
  if (scheme == 0 || path == scheme)
    throw std::invalid_argument("OtlpOptions: endpoint \"" + detail::shown_url(url) +
                                "\" is not an http or https URL with a host");
  // Anywhere: behind an unescaped delimiter, it would end a password of which the first part seems a host.
  if (url.find('@') != std::string::npos)
    throw std::invalid_argument("OtlpOptions: endpoint \"" + detail::shown_url(url) +
                                "\" must not carry a user or password; use headers");
  return {url.substr(0, path), path == url.size() ? "/v1/traces" : url.substr(path)};
}

std::vector<SpanAttribute> resource_of(const OtlpOptions& options) {
  std::vector<SpanAttribute> resource = {{"service.name", options.service_name}};
  if (!options.service_version.empty()) resource.push_back({"service.version", options.service_version});
  resource.insert(resource.end(), options.resource.begin(), options.resource.end());
  return resource;
}

}  // namespace

/// The core, the job that sends its batches, and the transport.
class OtlpExporter::State final : public detail::Job {
 public:
  explicit State(OtlpOptions options)
      : options_(std::move(options)),
        endpoint_(endpoint_of(options_.endpoint)),
        resource_(resource_of(options_)),
        core_(options_),
        transport_(options_.transport
                       ? options_.transport
                       : http::make_curl_transport({.server = endpoint_.server,
                                                    .tls = options_.tls,
                                                    .max_body_bytes = limits::collector_answer})),
        runner_(options_.clock, 1) {}

  void add(SpanRecord span) noexcept EVENKEEL_EXCLUDES(mutex_) {
    TimePoint due;
    bool wakes = false;
    bool first_lost = false;
    {
      MutexLock lock(mutex_);
      const std::uint64_t dropped = core_.counts().dropped;
      const TimePoint now = options_.clock->now();
      core_.on_span(std::move(span), now);
      if (core_.counts().dropped != dropped) first_lost = !std::exchange(loses_, true);
      due = std::max(core_.next_due(), now);
      wakes = due <= now || due < due_;  // else the job runs before that
      if (wakes) due_ = due;
    }
    if (first_lost)
      options_.log.warn("spans are dropped, because too many wait for the collector",
                        {{"endpoint", detail::shown_url(options_.endpoint)}});
    if (wakes) runner_.wake_at(*this, due);
  }

  void run() noexcept override {
    std::string body;
    {
      MutexLock lock(mutex_);
      due_ = TimePoint::max();
      const auto* const batch = core_.next_batch(options_.clock->now());
      if (batch != nullptr) {
        body = detail::otlp_json(resource_, *batch);
      } else if (const TimePoint due = core_.next_due(); due != TimePoint::max()) {
        due_ = due;
        lock.unlock();
        return runner_.wake_at(*this, due);
      }
    }
    if (!body.empty()) send(std::move(body));
  }

  bool flush(Duration limit) EVENKEEL_EXCLUDES(mutex_) {
    const TimePoint end = deadline_after(options_.clock->now(), limit);
    {
      MutexLock lock(mutex_);
      core_.on_flush(options_.clock->now());
    }
    runner_.wake(*this);
    MutexLock lock(mutex_);
    while (!core_.is_empty() && options_.clock->now() < end) options_.clock->wait_until(changed_, lock, end);
    return core_.is_empty();
  }

  /// Ends the job and the exchange in progress.
  void stop() noexcept EVENKEEL_EXCLUDES(mutex_) {
    runner_.forget(*this);
    std::shared_ptr<http::Call> call;
    {
      MutexLock lock(mutex_);
      call = call_;
    }
    if (call) call->cancel();
    MutexLock lock(mutex_);
    while (in_flight_) changed_.wait(lock);
  }

  OtlpCounts counts() const EVENKEEL_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return core_.counts();
  }
  const OtlpOptions& options() const { return options_; }

 private:
  void send(std::string body) noexcept {
    http::Request request{.method = http::Method::post,
                          .target = endpoint_.target,
                          .headers = options_.headers,
                          .body = std::move(body),
                          .deadline = deadline_after(options_.clock->now(), options_.timeout)};
    request.headers.set("Content-Type", "application/json");
    {
      MutexLock lock(mutex_);
      in_flight_ = true;
    }
    try {
      auto call = transport_->send(
          std::move(request), [this](Outcome<http::Response> outcome) { on_outcome(std::move(outcome)); });
      MutexLock lock(mutex_);
      call_ = std::move(call);
    } catch (...) {
      on_outcome(std::current_exception());
    }
  }

  void on_outcome(Outcome<http::Response> outcome) {
    const detail::OtlpAnswer answer =
        outcome.ok() ? detail::read_otlp_answer(outcome.value())
                     : detail::OtlpAnswer{.outcome = {.kind = detail::ExportOutcome::Kind::retry},
                                          .problem = detail::error_text(outcome.error())};
    {
      MutexLock lock(mutex_);
      core_.on_outcome(answer.outcome, options_.clock->now());
      if (core_.is_empty()) loses_ = false;
    }
    note(without_query(answer.problem));
    runner_.wake(*this);
    MutexLock lock(mutex_);
    in_flight_ = false;  // the last access: stop() waits for it
    changed_.notify_all();
  }

  // A key of the collector may be in the query, and the target is in each error of the transport.
  std::string without_query(std::string problem) const {
    const std::size_t query = std::min(endpoint_.target.find('?'), endpoint_.target.size());
    const std::size_t at = problem.find(endpoint_.target);
    if (at != std::string::npos) problem.erase(at + query, endpoint_.target.size() - query);
    return problem;
  }

  // A problem that recurs with each batch is logged once.
  void note(const std::string& problem) EVENKEEL_EXCLUDES(mutex_) {
    {
      MutexLock lock(mutex_);
      if (problem == problem_) return;
      problem_ = problem;
    }
    if (!problem.empty())
      options_.log.warn("spans could not be exported",
                        {{"endpoint", detail::shown_url(options_.endpoint)}, {"error", problem}});
  }

  const OtlpOptions options_;
  const Endpoint endpoint_;
  const std::vector<SpanAttribute> resource_;
  mutable Mutex mutex_;
  CondVar changed_;
  detail::ExportCore core_ EVENKEEL_GUARDED_BY(mutex_);
  std::shared_ptr<http::Call> call_ EVENKEEL_GUARDED_BY(mutex_);
  std::string problem_ EVENKEEL_GUARDED_BY(mutex_);
  bool loses_ EVENKEEL_GUARDED_BY(mutex_) = false;  // spans were dropped since none waited; logged once
  TimePoint due_ EVENKEEL_GUARDED_BY(mutex_) = TimePoint::max();  // of the job, if it waits
  bool in_flight_ EVENKEEL_GUARDED_BY(mutex_) = false;
  const std::shared_ptr<http::Transport> transport_;
  detail::JobRunner runner_;
};

OtlpExporter::OtlpExporter(OtlpOptions options) : state_(std::make_unique<State>(std::move(options))) {}

OtlpExporter::~OtlpExporter() {
  state_->flush(state_->options().drain_timeout);
  state_->stop();
}

void OtlpExporter::on_end(SpanRecord span) noexcept {
  state_->add(std::move(span));
}

bool OtlpExporter::flush(Duration limit) {
  return state_->flush(limit);
}

OtlpCounts OtlpExporter::counts() const {
  return state_->counts();
}

void OtlpExporter::collect(MetricSink& sink) const {
  const OtlpCounts counts = state_->counts();
  const auto add = [&sink](std::string_view result, std::uint64_t value) {
    sink.counter("evenkeel_trace_spans_total", "Recorded spans by what became of them", {{"result", result}},
                 static_cast<double>(value));
  };
  add("exported", counts.exported);
  add("dropped", counts.dropped);
}

}  // namespace v0
}  // namespace evenkeel
