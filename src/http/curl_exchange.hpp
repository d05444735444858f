// SPDX-License-Identifier: Apache-2.0
// One exchange over libcurl: the request, the response received so far, and the easy handle while it has one.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <string>

#include <curl/curl.h>

#include <evenkeel/http/curl_transport.hpp>

#include "http/deadline_clock.hpp"
#include "http/tls_files.hpp"

namespace evenkeel {
inline namespace v0 {
namespace http::detail {

class ConnectionUser;
class CurlLoop;
class GzipDecoder;

/// The server's URL, parsed once.
struct Endpoint {
  std::string base;  ///< Prefix of targets in messages; without credentials.
  std::string url;   ///< Prefix of targets for curl; its host is the name that the certificate must have.
  std::string host;  ///< Host of the server, without brackets.
  std::string port;  ///< Port of the server.
  std::string connect_to;   ///< CURLOPT_CONNECT_TO if the two differ, else empty.
  std::string host_header;  ///< Host header if the two differ, else empty.
  bool tls = false;
  bool loopback = false;
  bool exposed = false;  ///< Data sent there can be read on the network.
};

/// Throws std::invalid_argument unless `options.server` is an http or https URL.
Endpoint parse_endpoint(const CurlTransportOptions& options);

/// Throws std::invalid_argument if `request` would send credentials in clear text although the options
/// forbid it.
void check_exposure(const Request& request, const Endpoint& endpoint, const CurlTransportOptions& options);

/// One request or stream. It belongs to a loop, or to the thread of a blocking call, which has a connection
/// of its own. Thread safety: cancel, pause and resume from any thread; all else on that thread only.
class CurlExchange final : public Call, public std::enable_shared_from_this<CurlExchange> {
 public:
  /// `loop`: null for a blocking call.
  CurlExchange(std::shared_ptr<CurlLoop> loop, Request request, Completion completion,
               std::shared_ptr<StreamHandler> handler);
  /// Opens a connection, and leaves it to `user`.
  CurlExchange(std::shared_ptr<CurlLoop> loop, Request request, const std::shared_ptr<ConnectionUser>& user);
  ~CurlExchange() override;

  void cancel() noexcept override;
  void pause() noexcept override;
  void resume() noexcept override;

  /// Lets the user of the connection proceed.
  void poke() noexcept;

  bool is_stream() const { return is_stream_; }
  /// Returns null if it is a request or stream; dangling once it has finished.
  ConnectionUser* user() const { return user_; }
  bool finished() const { return finished_; }
  bool running() const { return easy_ != nullptr; }
  bool cancelled() const { return cancelled_.load(std::memory_order_relaxed); }

  /// Takes `easy` and configures it for this exchange. `addresses`: of the server, for CURLOPT_RESOLVE;
  /// empty: libcurl looks its name up.
  void attach(CURL* easy, const Endpoint& endpoint, const CurlTransportOptions& options,
              std::shared_ptr<const TlsMaterial> tls, const std::string& addresses = {});
  /// Returns the handle, reset.
  CURL* detach();
  CURL* easy() const { return easy_; }
  const std::shared_ptr<const TlsMaterial>& tls() const { return tls_; }
  /// Returns true if it runs with another client certificate than that of `current`.
  bool is_outdated(const TlsMaterial& current) const {
    return tls_ && (tls_->cert != current.cert || tls_->key != current.key);
  }
  /// Resumes a paused stream; may call the handler. The result is an error that ends the exchange.
  CURLcode unpause();

  /// Sets the deadlines.
  void start_clock(TimePoint now, const CurlTransportOptions& options);
  /// Returns the next time at which overdue() must be checked; TimePoint::max() if there is none.
  TimePoint next_look(TimePoint now) const;
  /// Returns the error of the request's guard, or null.
  std::exception_ptr refusal() const;
  /// Returns the error of a deadline that has passed at `now`, or null.
  std::exception_ptr overdue(TimePoint now, const std::string& base) const;

  /// Converts curl's result to the caller's error; null for success. Called once: an error of the handler is
  /// moved out, so that only the caller's thread releases it.
  std::exception_ptr error_of(CURLcode code, const std::string& base);
  /// Returns true if any part of the request may have reached a server.
  bool was_sent() const;
  /// Returns "GET https://host/path: reason".
  std::string describe(const std::string& base, std::string_view reason) const;

  /// Returns the response of a blocking call that ended without an error.
  Response take_response() { return std::move(response_); }
  /// Notifies the caller, once. Called without locks, after detach().
  void finish(std::exception_ptr error) noexcept;

  TimePoint armed = TimePoint::max();  ///< Deadline currently registered with the loop's timers.
  int user_socket = -1;                ///< The connection that its user has.

 private:
  static std::size_t on_header(char* data, std::size_t size, std::size_t count, void* self);
  static std::size_t on_body(char* data, std::size_t size, std::size_t count, void* self);
  static int on_request(void* self, char* peer, char* local, int peer_port, int local_port);
  static std::size_t on_upload(char* data, std::size_t size, std::size_t count, void* self);
  static int on_rewind(void* self, curl_off_t offset, int origin);

  void configure_request(const Endpoint& endpoint, const CurlTransportOptions& options);
  void configure_body();
  void configure_connection(const Endpoint& endpoint, const CurlTransportOptions& options);
  void configure_tls(const CurlTransportOptions& options);
  void add_header(const std::string& line);
  TimePoint guarded_until() const;
  void note_progress();
  bool may_send();
  bool may_repeat();
  std::exception_ptr refused(const std::string& base);
  struct Failure {
    TransportErrorCode code;
    std::string reason;
  };
  Failure failure_of(CURLcode code) const;
  bool take_header(std::string_view line);
  bool take_length(std::string_view name, std::string_view value);
  bool end_of_headers();
  bool take_body(std::string_view piece);
  bool expand(std::string_view piece);
  bool is_expanded() const;
  void begin_expansion();

  const std::shared_ptr<CurlLoop> loop_;  // null: a blocking call
  Request request_;
  Completion completion_;
  std::shared_ptr<StreamHandler> handler_;
  ConnectionUser* const user_ = nullptr;  // is handler_
  const bool is_stream_;
  std::atomic<bool> cancelled_{false};
  std::atomic<bool> paused_{false};  // pairs with the load in on_body

  // Used only on the loop's thread.
  bool finished_ = false;
  CURL* easy_ = nullptr;
  curl_slist* header_lines_ = nullptr;
  curl_slist* connect_to_ = nullptr;
  curl_slist* addresses_ = nullptr;
  std::shared_ptr<const TlsMaterial> tls_;
  std::size_t uploaded_ = 0;
  char error_text_[CURL_ERROR_SIZE] = {};

  Response response_;
  std::size_t header_bytes_ = 0;
  std::size_t max_header_bytes_ = 0;
  std::size_t max_body_bytes_ = 0;
  bool asks_for_gzip_ = false;
  std::unique_ptr<GzipDecoder> gzip_;  // of a compressed body that was asked for
  bool responded_ = false;
  std::string limit_;  // the limit that the response exceeded, or the rule that it broke
  std::exception_ptr handler_error_;
  std::exception_ptr refusal_;   // the reason why the rest of the request must not be sent
  bool sent_before_ = false;     // bytes were sent in an attempt before the refused one
  bool repeat_refused_ = false;  // the connection broke, and the request must not be sent again

  TimePoint deadline_ = TimePoint::max();
  Duration idle_{};
  TimePoint last_activity_{};
};

}  // namespace http::detail
}  // namespace v0
}  // namespace evenkeel
