// SPDX-License-Identifier: Apache-2.0
// Facts that must be known before libcurl may open a connection on the thread of an event loop, which must
// not wait for them: the addresses of the server's name, and certificate files.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <evenkeel/base/time.hpp>
#include <evenkeel/http/transport.hpp>

#include "http/curl_exchange.hpp"
#include "http/event_loop_state.hpp"
#include "http/tls_files.hpp"

namespace evenkeel {
inline namespace v0 {
namespace http::detail {

/// Looks up a name and reads certificate files without blocking, and keeps both up to date. Thread safety:
/// the thread of the event loop only.
class ConnectionPrerequisites : public std::enable_shared_from_this<ConnectionPrerequisites> {
 public:
  struct Failure {
    TransportErrorCode code;
    std::string reason;
  };

  /// `changed` is called, on the thread of the loop, when is_done() may have changed or there is a failure.
  ConnectionPrerequisites(std::shared_ptr<evenkeel::detail::EventLoopState> loop, const Endpoint& endpoint,
                          const CurlTransportOptions& options, std::shared_ptr<TlsFiles> tls,
                          std::function<void()> changed);

  /// Returns true if a connection may be opened at `at`; otherwise gets what is missing.
  bool is_done(TimePoint at);
  /// Returns the reason why something cannot be got, once.
  std::optional<Failure> take_failure() { return std::exchange(failure_, std::nullopt); }
  /// Value for CURLOPT_RESOLVE; empty: libcurl needs no addresses.
  const std::string& addresses() const { return addresses_; }

 private:
  bool has_addresses(TimePoint at);
  bool has_files();
  void read_files();
  void on_resolved(Outcome<std::vector<std::string>> found);

  const std::shared_ptr<evenkeel::detail::EventLoopState> loop_;
  const std::shared_ptr<TlsFiles> tls_;  // null without TLS
  const std::function<void()> changed_;
  std::string host_;  // the name to look up; empty: none
  std::string port_;
  std::string addresses_;
  TimePoint fresh_until_ = TimePoint::min();
  bool resolving_ = false;
  bool reading_ = false;
  std::optional<Failure> failure_;
};

}  // namespace http::detail
}  // namespace v0
}  // namespace evenkeel
