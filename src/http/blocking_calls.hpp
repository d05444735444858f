// SPDX-License-Identifier: Apache-2.0
// Blocking calls of the curl transport, on the threads of their callers.
#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <unordered_set>
#include <vector>

#include <curl/curl.h>

#include <evenkeel/base/cond_var.hpp>
#include <evenkeel/base/mutex.hpp>

#include "http/curl_exchange.hpp"

namespace evenkeel {
inline namespace v0 {
namespace http::detail {

/// Bounded pool of connections for blocking calls. A call takes one, sends and reads on its own thread, and
/// gives it back: no other thread takes part, and no other call can delay it.
/// Thread safety: all members may be called concurrently.
class BlockingCalls {
 public:
  /// At most `options.max_in_flight_http1` connections.
  BlockingCalls(CurlTransportOptions options, std::shared_ptr<TlsFiles> tls);
  ~BlockingCalls();
  BlockingCalls(const BlockingCalls&) = delete;
  BlockingCalls& operator=(const BlockingCalls&) = delete;

  /// Returns true if the next fetch() would wait for a connection.
  bool is_full() const EVENKEEL_EXCLUDES(mutex_);
  /// See Transport::fetch(). Waiting for a connection counts towards the deadline.
  Response fetch(Request request, const std::stop_token& stop);
  /// Closes the connections that no call uses.
  void drop_idle() noexcept EVENKEEL_EXCLUDES(mutex_);
  /// Ends running and later calls with TransportErrorCode::closed.
  void close() noexcept EVENKEEL_EXCLUDES(mutex_);

 private:
  class Lane;
  class Lease;

  std::unique_ptr<Lane> take(const CurlExchange& exchange, const std::stop_token& stop,
                             std::exception_ptr& error) EVENKEEL_EXCLUDES(mutex_);
  void give_back(std::unique_ptr<Lane> lane) noexcept EVENKEEL_EXCLUDES(mutex_);
  std::exception_ptr transfer(Lane& lane, CurlExchange& exchange, const std::stop_token& stop);
  std::exception_ptr why_ended(const CurlExchange& exchange, const std::stop_token& stop) const;
  bool closed() const EVENKEEL_EXCLUDES(mutex_);
  std::exception_ptr closed_error(const CurlExchange& exchange) const;

  const CurlTransportOptions options_;
  const Endpoint endpoint_;
  const std::shared_ptr<TlsFiles> tls_;
  mutable Mutex mutex_;
  CondVar freed_;  // a connection was given back, or the pool was closed
  std::vector<std::unique_ptr<Lane>> idle_ EVENKEEL_GUARDED_BY(mutex_);  // the last one was used last
  std::unordered_set<Lane*> busy_ EVENKEEL_GUARDED_BY(mutex_);
  bool closed_ EVENKEEL_GUARDED_BY(mutex_) = false;
};

}  // namespace http::detail
}  // namespace v0
}  // namespace evenkeel
