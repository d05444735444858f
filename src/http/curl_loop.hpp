// SPDX-License-Identifier: Apache-2.0
// The loop of the curl transport: a multi handle that is driven by the readiness of its sockets, a queue of
// requests above the limit, and timers. A thread of its own runs it, or an event loop of the program.
#pragma once

#include <atomic>
#include <cstddef>
#include <deque>
#include <memory>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <curl/curl.h>

#include <evenkeel/base/cond_var.hpp>
#include <evenkeel/base/mutex.hpp>

#include "http/connection_prerequisites.hpp"
#include "http/curl_exchange.hpp"
#include "http/socket_poller.hpp"

namespace evenkeel {
inline namespace v0 {
namespace http::detail {

/// Event loop of the curl transport. The cost of a turn depends on the sockets that are ready and the timers
/// that are due, not on the number of exchanges.
/// Thread safety: post() and stop() from any thread; run_thread(), or open(), run() and close(), on one
/// thread, and all private members on that thread.
class CurlLoop final : public evenkeel::detail::Job, public std::enable_shared_from_this<CurlLoop> {
 public:
  enum class Command : unsigned char { start, cancel, resume };

  CurlLoop(CurlTransportOptions options, std::shared_ptr<TlsFiles> tls);
  ~CurlLoop() override;
  CurlLoop(const CurlLoop&) = delete;
  CurlLoop& operator=(const CurlLoop&) = delete;

  void post(Command command, std::shared_ptr<CurlExchange> exchange) noexcept;
  /// Records that data was transferred. Called on the loop's thread.
  void note_progress() noexcept { idle_turns_ = 0; }
  const CurlTransportOptions& options() const noexcept { return options_; }
  /// Runs until stop(), then ends remaining exchanges with `closed`.
  void run_thread();
  void stop() noexcept;

  /// Lets `host` run this loop, as one of its jobs, until close().
  void open(std::shared_ptr<evenkeel::detail::EventLoopState> host);
  void run() noexcept override;
  /// Ends remaining exchanges with `closed`; within run(), at its end.
  void close() noexcept;

  /// Ends the streams of client certificates that are not the current one. Any thread.
  void drop_outdated() noexcept EVENKEEL_EXCLUDES(mutex_);

 private:
  using Inbox = std::vector<std::pair<Command, std::shared_ptr<CurlExchange>>>;

  bool take_commands();
  void end_outdated();
  void wake() noexcept;
  bool may_sleep();
  Duration brake_time() const;
  void brake();
  bool is_braked();
  void turn();
  void arrange();
  void drive();
  void act(curl_socket_t socket, unsigned ready);
  static int on_socket(CURL* easy, curl_socket_t socket, int interest, void* self, void* known);
  static int on_timer(CURLM* multi, long timeout_ms, void* self);
  void carry_out(Command command, const std::shared_ptr<CurlExchange>& exchange);
  void start(const std::shared_ptr<CurlExchange>& exchange);
  void start_queued();
  bool may_connect();
  void end_waiting(const ConnectionPrerequisites::Failure& failure);
  void launch(CurlExchange& exchange);
  void reap();
  void hand_over(CurlExchange& exchange);
  void serve(CurlExchange& exchange);
  void expire();
  void arm(CurlExchange& exchange);
  void disarm(CurlExchange& exchange);
  void end(CurlExchange& exchange, std::exception_ptr error);
  void end_all();
  bool is_stopping() EVENKEEL_EXCLUDES(mutex_);
  TimePoint next_due() const;
  Duration until_timer() const;
  Duration until_due() const;
  std::size_t limit() const { return http2_ ? options_.max_in_flight : options_.max_in_flight_http1; }
  CURL* take_easy(const std::shared_ptr<const TlsMaterial>& tls);
  void give_easy(CURL* easy, const std::shared_ptr<const TlsMaterial>& tls);

  const CurlTransportOptions options_;
  const Endpoint endpoint_;
  const std::shared_ptr<TlsFiles> tls_;
  SocketPoller sockets_;
  CURLM* const multi_;

  Mutex mutex_;
  CondVar brake_;  // notified by a command or stop() while the loop does not wait for sockets
  Inbox inbox_ EVENKEEL_GUARDED_BY(mutex_);
  bool stopping_ EVENKEEL_GUARDED_BY(mutex_) = false;
  bool rotated_ EVENKEEL_GUARDED_BY(mutex_) = false;   // end_outdated() is due
  bool sleeping_ EVENKEEL_GUARDED_BY(mutex_) = false;  // sleeping or about to: post() has to wake it
  bool stopped_ EVENKEEL_GUARDED_BY(mutex_) = false;   // the inbox is not read any more

  // With an event loop of the program.
  std::shared_ptr<evenkeel::detail::EventLoopState> host_;
  std::shared_ptr<ConnectionPrerequisites> prerequisites_;
  bool in_turn_ = false;
  TimePoint last_turn_{};  // end of the turn before
  TimePoint braked_until_ = TimePoint::min();

  // Used only on the loop's thread.
  unsigned idle_turns_ = 0;                // consecutive turns that did not wait and made no progress
  TimePoint curl_due_ = TimePoint::max();  // when libcurl wants to be called without a ready socket
  std::unordered_set<std::shared_ptr<CurlExchange>> live_;
  std::vector<std::shared_ptr<CurlExchange>> streams_;  // to be launched
  std::deque<std::shared_ptr<CurlExchange>> queue_;     // requests to be launched
  std::set<std::pair<TimePoint, CurlExchange*>> timers_;
  std::unordered_map<int, CurlExchange*> handed_over_;  // connections that have users, by their sockets
  std::vector<CURL*> idle_handles_;
  std::shared_ptr<const TlsMaterial> idle_tls_;  // of the TLS sessions that idle_handles_ keep
  std::size_t in_flight_ = 0;                    // requests, without streams
  bool http2_ = false;
};

}  // namespace http::detail
}  // namespace v0
}  // namespace evenkeel
