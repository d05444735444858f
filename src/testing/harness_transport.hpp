// SPDX-License-Identifier: Apache-2.0
// The ways to the server of a Harness: that of the controllers, which records what they write and delivers
// late if asked to, and that of the test, which goes straight to the core.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <evenkeel/apiserver/in_process_transport.hpp>
#include <evenkeel/apiserver/shared_core.hpp>
#include <evenkeel/http/transport.hpp>
#include <evenkeel/testing/harness.hpp>

#include "testing/harness_clock.hpp"

namespace evenkeel {
inline namespace v0 {
namespace testing {

/// The controllers' way. Blocking calls do the transport's work themselves and wait by the clock.
/// Thread safety: one thread at a time.
class HarnessTransport final : public http::Transport {
 public:
  HarnessTransport(std::shared_ptr<apiserver::SharedCore> core, std::shared_ptr<HarnessClock> clock,
                   Duration lag, std::function<void(Write)> on_write);
  ~HarnessTransport() override;

  std::shared_ptr<http::Call> send(http::Request request, http::Completion completion) override;
  std::shared_ptr<http::Call> stream(http::Request request,
                                     std::shared_ptr<http::StreamHandler> handler) override;
  http::Response fetch(http::Request request, std::stop_token stop = {}) override;

  /// Does what is due now; returns how much that was.
  std::size_t pump();
  /// When time alone brings something.
  std::optional<TimePoint> next_due() const;
  /// When something is due that somebody waits for: an answer, or a piece that is late.
  std::optional<TimePoint> next_wanted() const;
  /// From now on what watches deliver is late; or is not, and what was late is forgotten.
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
  const TimePoint start_;
  const std::shared_ptr<LateQueue> late_;
  const std::shared_ptr<apiserver::InProcessTransport> inner_;
  std::size_t unanswered_ = 0;
};

/// The test's way: straight to the core, past faults.
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
