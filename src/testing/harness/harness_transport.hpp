// SPDX-License-Identifier: Apache-2.0
// The transports of a Harness: that of the controllers, which records writes and optionally delays watch
// events, and that of the test, which accesses the core directly.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <evenkeel/apiserver/in_process_transport.hpp>
#include <evenkeel/apiserver/shared_core.hpp>
#include <evenkeel/http/transport.hpp>
#include <evenkeel/http/web_socket.hpp>
#include <evenkeel/testing/harness.hpp>

#include "testing/harness/harness_clock.hpp"

namespace evenkeel {
inline namespace v0 {
namespace testing {

/// The controllers' transport. Blocking calls do the transport's work themselves and wait by the clock.
/// Thread safety: one thread at a time.
class HarnessTransport final : public http::Transport {
 public:
  HarnessTransport(std::shared_ptr<apiserver::SharedCore> core, std::shared_ptr<HarnessClock> clock,
                   Duration lag, std::function<void(Write)> on_write,
                   std::function<ExecResult(const Command&)> on_exec);
  ~HarnessTransport() override;

  std::shared_ptr<http::Call> send(http::Request request, http::Completion completion) override;
  std::shared_ptr<http::Call> stream(http::Request request,
                                     std::shared_ptr<http::StreamHandler> handler) override;
  http::Response fetch(http::Request request, std::stop_token stop = {}) override;
  http::WebSocketAnswer open_web_socket(http::Request request, std::vector<std::string> protocols,
                                        std::stop_token stop = {}) override;

  /// Does the work that is due now; returns the number of deliveries.
  std::size_t pump();
  /// Returns the time of the next work, as far as it depends on time alone.
  std::optional<TimePoint> next_due() const;
  /// Returns the time of the next delivery that a caller waits for: a response, or delayed data.
  std::optional<TimePoint> next_wanted() const;
  /// Start and end the delay of watch events; drop_late() discards the delayed ones.
  void start_lag();
  void drop_late();
  const std::shared_ptr<apiserver::InProcessTransport>& inner() const { return inner_; }

 private:
  class LateHandler;
  struct LateQueue;
  std::optional<Write> begin_write(const http::Request& request) const;
  void end_write(std::optional<Write> write, const http::Request& request,
                 const Outcome<http::Response>& outcome);
  Json object_at(const std::string& path) const;

  const std::shared_ptr<apiserver::SharedCore> core_;
  const std::shared_ptr<HarnessClock> clock_;
  const Duration lag_;
  const std::function<void(Write)> on_write_;
  const std::function<ExecResult(const Command&)> on_exec_;
  const TimePoint start_;
  const std::shared_ptr<LateQueue> late_;
  const std::shared_ptr<apiserver::InProcessTransport> inner_;
  std::size_t unanswered_ = 0;
};

/// The transport of the recorder of Events: like that of the controllers, with faults, but its writes are in
/// no run. Thread safety: one thread at a time.
class BackgroundTransport final : public http::Transport {
 public:
  explicit BackgroundTransport(std::shared_ptr<http::Transport> inner) : inner_(std::move(inner)) {}

  std::shared_ptr<http::Call> send(http::Request request, http::Completion completion) override {
    return inner_->send(std::move(request), std::move(completion));
  }
  std::shared_ptr<http::Call> stream(http::Request request,
                                     std::shared_ptr<http::StreamHandler> handler) override {
    return inner_->stream(std::move(request), std::move(handler));
  }

 private:
  const std::shared_ptr<http::Transport> inner_;
};

/// The test's transport: accesses the core directly, without faults.
/// Thread safety: one thread at a time.
class DirectTransport final : public http::Transport {
 public:
  DirectTransport(std::shared_ptr<apiserver::SharedCore> core, std::shared_ptr<http::Transport> streams)
      : core_(std::move(core)), streams_(std::move(streams)) {}

  std::shared_ptr<http::Call> send(http::Request request, http::Completion completion) override;
  std::shared_ptr<http::Call> stream(http::Request request,
                                     std::shared_ptr<http::StreamHandler> handler) override {
    return streams_->stream(std::move(request), std::move(handler));
  }
  http::Response fetch(http::Request request, std::stop_token stop = {}) override;

 private:
  const std::shared_ptr<apiserver::SharedCore> core_;
  const std::shared_ptr<http::Transport> streams_;
};

}  // namespace testing
}  // namespace v0
}  // namespace evenkeel
