// SPDX-License-Identifier: Apache-2.0
// A transport that counts requests, and lets a test run code immediately before a request.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <stop_token>
#include <utility>

#include <evenkeel/http/transport.hpp>

namespace evenkeel::tests {

/// Thread safety: the counters may be read at any time; `before` may be set only while there is no request.
class ObservedTransport final : public http::Transport {
 public:
  explicit ObservedTransport(std::shared_ptr<http::Transport> inner) : inner_(std::move(inner)) {}

  std::shared_ptr<http::Call> send(http::Request request, http::Completion completion) override {
    note(request);
    return inner_->send(std::move(request),
                        [this, completion = std::move(completion)](Outcome<http::Response> outcome) {
                          if (outcome.ok()) answered_bytes += outcome.value().body.size();
                          completion(std::move(outcome));
                        });
  }
  std::shared_ptr<http::Call> stream(http::Request request,
                                     std::shared_ptr<http::StreamHandler> handler) override {
    return inner_->stream(std::move(request), std::move(handler));
  }
  http::Response fetch(http::Request request, std::stop_token stop = {}) override {
    note(request);
    http::Response response = inner_->fetch(std::move(request), std::move(stop));
    answered_bytes += response.body.size();
    return response;
  }

  void reset() {
    requests = 0;
    answered_bytes = 0;
  }

  std::function<void(const http::Request&)> before = {};
  std::atomic<std::size_t> requests = 0;
  std::atomic<std::size_t> answered_bytes = 0;

 private:
  void note(const http::Request& request) {
    ++requests;
    if (before) before(request);
  }

  const std::shared_ptr<http::Transport> inner_;
};

}  // namespace evenkeel::tests
