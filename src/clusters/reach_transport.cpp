// SPDX-License-Identifier: Apache-2.0
#include "clusters/reach_transport.hpp"

#include <utility>

#include <evenkeel/http/web_socket.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

void ReachMonitor::answered() {
  if (calm_.load(std::memory_order_relaxed)) return;
  bool back = false;
  {
    MutexLock lock(mutex_);
    back = core_.on_answer();
    calm_.store(true, std::memory_order_relaxed);
    away_.store(false, std::memory_order_relaxed);
    error_.clear();
  }
  if (back && calls_.on_back) calls_.on_back();
}

// A transport that is closed, or a call that somebody cancelled, says nothing about the cluster.
void ReachMonitor::failed(const std::exception_ptr& error) {
  std::string text;
  try {
    std::rethrow_exception(error);
  } catch (const TransportError& known) {
    if (known.code() == TransportErrorCode::closed) return;
    text = known.what();
  } catch (...) {
    return;
  }
  bool away = false;
  {
    MutexLock lock(mutex_);
    away = core_.on_failure(clock_->now());
    calm_.store(false, std::memory_order_relaxed);
    if (away) away_.store(true, std::memory_order_relaxed);
    error_ = text;
  }
  if (away && calls_.on_away) calls_.on_away(text);
}

void ReachMonitor::received(std::size_t bytes) {
  const std::size_t before = received_.fetch_add(bytes, std::memory_order_relaxed);
  if (before / step_ != (before + bytes) / step_ && calls_.on_received) calls_.on_received();
}

bool ReachMonitor::on_timeout() {
  MutexLock lock(mutex_);
  return core_.on_timeout(clock_->now());
}

std::optional<TimePoint> ReachMonitor::next_due() const {
  MutexLock lock(mutex_);
  return core_.next_due();
}

std::optional<ReachMonitor::Absence> ReachMonitor::absence() const {
  MutexLock lock(mutex_);
  const auto since = core_.away_since();
  return since ? std::optional(Absence{*since, error_}) : std::nullopt;
}

namespace {

// A stream that broke after its response says nothing: the next one will.
class MonitoredHandler final : public http::StreamHandler {
 public:
  MonitoredHandler(std::shared_ptr<http::StreamHandler> inner, std::shared_ptr<ReachMonitor> monitor)
      : inner_(std::move(inner)), monitor_(std::move(monitor)) {}
  void on_response(int status, const http::Headers& headers) override {
    answered_ = true;
    monitor_->answered();
    inner_->on_response(status, headers);
  }
  void on_data(std::string_view piece) override {
    inner_->on_data(piece);
    monitor_->received(piece.size());
  }
  void on_end(std::exception_ptr error) override {
    if (error && !answered_) monitor_->failed(error);
    inner_->on_end(std::move(error));
  }

 private:
  const std::shared_ptr<http::StreamHandler> inner_;
  const std::shared_ptr<ReachMonitor> monitor_;
  bool answered_ = false;
};

class MonitoredTransport final : public http::Transport {
 public:
  MonitoredTransport(std::shared_ptr<http::Transport> inner, std::shared_ptr<ReachMonitor> monitor)
      : inner_(std::move(inner)), monitor_(std::move(monitor)) {}

  std::shared_ptr<http::Call> send(http::Request request, http::Completion completion) override {
    return inner_->send(std::move(request), [monitor = monitor_, completion = std::move(completion)](
                                                Outcome<http::Response> outcome) {
      outcome.ok() ? monitor->answered() : monitor->failed(outcome.error());
      completion(std::move(outcome));
    });
  }
  std::shared_ptr<http::Call> stream(http::Request request,
                                     std::shared_ptr<http::StreamHandler> handler) override {
    return inner_->stream(std::move(request),
                          std::make_shared<MonitoredHandler>(std::move(handler), monitor_));
  }
  http::Response fetch(http::Request request, std::stop_token stop) override {
    try {
      http::Response response = inner_->fetch(std::move(request), std::move(stop));
      monitor_->answered();
      return response;
    } catch (const TransportError&) {
      monitor_->failed(std::current_exception());
      throw;
    }
  }
  http::WebSocketAnswer open_web_socket(http::Request request, std::vector<std::string> protocols,
                                        std::stop_token stop) override {
    return inner_->open_web_socket(std::move(request), std::move(protocols), std::move(stop));
  }
  std::shared_ptr<http::WebSocketCall> start_web_socket(
      http::Request request, std::vector<std::string> protocols,
      std::shared_ptr<http::WebSocketHandler> handler) override {
    return inner_->start_web_socket(std::move(request), std::move(protocols), std::move(handler));
  }

 private:
  const std::shared_ptr<http::Transport> inner_;
  const std::shared_ptr<ReachMonitor> monitor_;
};

}  // namespace

std::shared_ptr<http::Transport> monitored(std::shared_ptr<http::Transport> inner,
                                           std::shared_ptr<ReachMonitor> monitor) {
  return std::make_shared<MonitoredTransport>(std::move(inner), std::move(monitor));
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
