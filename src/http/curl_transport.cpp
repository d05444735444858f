// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <pthread.h>
#include <stdexcept>
#include <thread>

#include <evenkeel/base/suspender.hpp>
#include <evenkeel/http/curl_transport.hpp>
#include <evenkeel/http/event_loop.hpp>

#include "base/leftover_thread.hpp"
#include "http/blocking_calls.hpp"
#include "http/curl_loop.hpp"
#include "http/curl_web_socket.hpp"
#include "http/event_loop_state.hpp"
#include "http/proxy.hpp"
#include "http/started_web_socket.hpp"
#include "http/wire_check.hpp"

namespace evenkeel {
inline namespace v0 {
namespace http {
namespace {

void check(const CurlTransportOptions& options) {
  const auto positive = [](Duration value, const char* name) {
    if (value <= Duration::zero()) {
      throw std::invalid_argument("CurlTransportOptions." + std::string(name) + ": must be positive");
    }
  };
  positive(options.request_timeout, "request_timeout");
  positive(options.connect_timeout, "connect_timeout");
  positive(options.dead_peer_timeout, "dead_peer_timeout");
  if (options.idle_timeout < Duration::zero()) {
    throw std::invalid_argument("CurlTransportOptions.idle_timeout: must not be negative");
  }
  if (options.max_in_flight == 0 || options.max_in_flight_http1 == 0) {
    throw std::invalid_argument("CurlTransportOptions.max_in_flight: must be at least 1");
  }
  if (const std::string problem = detail::header_value_problem(options.user_agent); !problem.empty())
    throw std::invalid_argument("CurlTransportOptions.user_agent: " + problem);
}

/// Leaves the host's signals to its own threads, and keeps our SIGPIPE from the host.
void block_signals() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

class CurlTransport final : public Transport {
 public:
  explicit CurlTransport(CurlTransportOptions options)
      : options_(std::move(options)),
        endpoint_(detail::parse_endpoint(options_)),
        tls_(std::make_shared<detail::TlsFiles>(options_.tls, options_.tls_reload)),
        blocking_(std::make_shared<detail::BlockingCalls>(options_, tls_)),
        loop_(std::make_shared<detail::CurlLoop>(options_, tls_)) {
    // Weak, because both own tls_.
    tls_->on_rotation([calls = std::weak_ptr(blocking_), loop = std::weak_ptr(loop_)] {
      if (const auto pool = calls.lock()) pool->drop_idle();
      if (const auto streams = loop.lock()) streams->drop_outdated();
    });
    if (options_.event_loop) {
      loop_->open(options_.event_loop->state());
      return;
    }
    thread_ = std::thread([loop = loop_] {
      block_signals();
      pthread_setname_np(pthread_self(), "evenkeel-http");
      loop->run_thread();
    });
  }

  ~CurlTransport() override {
    closing_.request_stop();
    blocking_->close();
    loop_->stop();
    if (options_.event_loop) loop_->close();
    evenkeel::detail::join_or_leave(std::move(thread_));  // the thread owns the loop
  }

  // Over TLS the server may speak HTTP/2, which has room for more requests at once than the pool.
  Response fetch(Request request, std::stop_token stop) override {
    detail::check_request(request);
    detail::check_exposure(request, endpoint_, options_);
    const bool can_share = endpoint_.tls && !options_.event_loop;
    const bool on_fiber = evenkeel::detail::Suspender::current() != nullptr;
    if (on_fiber || (can_share && blocking_->is_full()))
      return Transport::fetch(std::move(request), std::move(stop));
    const auto calls = blocking_;  // outlives a transport that is destroyed meanwhile
    return calls->fetch(std::move(request), stop);
  }

  std::shared_ptr<Call> send(Request request, Completion completion) override {
    if (!completion) throw std::invalid_argument("Transport::send: no completion");
    return submit(std::move(request), std::move(completion), nullptr);
  }

  std::shared_ptr<Call> stream(Request request, std::shared_ptr<StreamHandler> handler) override {
    if (!handler) throw std::invalid_argument("Transport::stream: no handler");
    return submit(std::move(request), {}, std::move(handler));
  }

  WebSocketAnswer open_web_socket(Request request, std::vector<std::string> protocols,
                                  std::stop_token stop) override {
    detail::check_request(request);
    detail::check_exposure(request, endpoint_, options_);
    const auto tls = tls_;  // outlives a transport that is destroyed meanwhile
    return detail::open_curl_web_socket(options_, *tls, request, protocols, stop, closing_.get_token());
  }

  std::shared_ptr<WebSocketCall> start_web_socket(Request request, std::vector<std::string> protocols,
                                                  std::shared_ptr<WebSocketHandler> handler) override {
    if (!handler) throw std::invalid_argument("Transport::start_web_socket: no handler");
    detail::check_request(request);
    detail::check_exposure(request, endpoint_, options_);
    return detail::start_curl_web_socket(loop_, std::move(request), std::move(protocols), std::move(handler));
  }

 private:
  std::shared_ptr<Call> submit(Request request, Completion completion,
                               std::shared_ptr<StreamHandler> handler) {
    detail::check_request(request);
    detail::check_exposure(request, endpoint_, options_);
    auto exchange = std::make_shared<detail::CurlExchange>(loop_, std::move(request), std::move(completion),
                                                           std::move(handler));
    loop_->post(detail::CurlLoop::Command::start, exchange);
    return exchange;
  }

  const CurlTransportOptions options_;
  const detail::Endpoint endpoint_;
  const std::shared_ptr<detail::TlsFiles> tls_;
  const std::shared_ptr<detail::BlockingCalls> blocking_;
  const std::shared_ptr<detail::CurlLoop> loop_;
  std::stop_source closing_;
  std::thread thread_;
};

}  // namespace

std::shared_ptr<Transport> make_curl_transport(CurlTransportOptions options) {
  check(options);
  static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (ready != CURLE_OK) throw std::runtime_error("libcurl cannot be initialised");
  if (options.event_loop)
    options.max_body_bytes =
        std::min(options.max_body_bytes, options.event_loop->state()->max_answer_bytes());
  options.proxy = detail::choose_proxy(options, [](const char* name) { return std::getenv(name); });
  return std::make_shared<CurlTransport>(std::move(options));
}

}  // namespace http
}  // namespace v0
}  // namespace evenkeel
