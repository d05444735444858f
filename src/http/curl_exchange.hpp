// SPDX-License-Identifier: Apache-2.0
// One exchange over libcurl: what was asked, what came so far, and the easy handle while it has one.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <string>

#include <curl/curl.h>

#include <evenkeel/http/curl_transport.hpp>

namespace evenkeel {
inline namespace v0 {
namespace http::detail {

/// The time that deadlines of requests are given in.
inline TimePoint now() {
  return std::chrono::steady_clock::now();
}

class CurlLoop;

/// What the certificate files and data held when an exchange started; kept until it ends.
struct TlsMaterial {
  std::string ca;
  std::string cert;
  std::string key;
};

/// The server's URL, taken apart once.
struct Endpoint {
  std::string base;         ///< What targets are appended to, for people: without credentials.
  std::string url;          ///< The same for curl: its host is the name that the certificate must carry.
  std::string connect_to;   ///< CURLOPT_CONNECT_TO if the two differ, else empty.
  std::string host_header;  ///< Likewise.
  bool tls = false;
  bool loopback = false;
  bool exposed = false;  ///< What is sent there can be read on the network.
};

/// Throws std::invalid_argument unless `options.server` is an http or https URL.
Endpoint parse_endpoint(const CurlTransportOptions& options);

/// Thread safety: cancel, pause and resume from any thread; all else on the loop's thread only.
class CurlExchange final : public Call, public std::enable_shared_from_this<CurlExchange> {
 public:
  CurlExchange(std::shared_ptr<CurlLoop> loop, Request request, Completion completion,
               std::shared_ptr<StreamHandler> handler);
  ~CurlExchange() override;

  void cancel() noexcept override;
  void pause() noexcept override;
  void resume() noexcept override;

  bool is_stream() const { return is_stream_; }
  bool finished() const { return finished_; }
  bool running() const { return easy_ != nullptr; }
  bool cancelled() const { return cancelled_.load(std::memory_order_relaxed); }

  /// Takes `easy` and dresses it for this exchange.
  void attach(CURL* easy, const Endpoint& endpoint, const CurlTransportOptions& options,
              std::shared_ptr<const TlsMaterial> tls);
  /// Gives the handle back, reset.
  CURL* detach();
  CURL* easy() const { return easy_; }
  /// Lets a paused stream read on; may call the handler. The code is an error that ends the exchange.
  CURLcode unpause();

  /// Sets the moments at which it is given up.
  void start_clock(TimePoint now, const CurlTransportOptions& options);
  /// The next moment to look at it; TimePoint::max() if there is none.
  TimePoint next_look(TimePoint now) const;
  /// What the request's guard says against its leaving, or null.
  std::exception_ptr refusal() const;
  /// The error that `now` makes of it, or null.
  std::exception_ptr overdue(TimePoint now, const std::string& base) const;

  /// What curl's verdict means for the caller; null for success. Asked once: an error of the handler is
  /// handed over, so that no thread but the caller's releases it.
  std::exception_ptr error_of(CURLcode code, const std::string& base);
  /// Whether any of the request can have reached a server.
  bool was_sent() const;
  /// "GET https://host/path: reason".
  std::string describe(const std::string& base, std::string_view reason) const;

  /// Tells the caller, once. Called without locks, after detach().
  void finish(std::exception_ptr error) noexcept;

  TimePoint armed = TimePoint::max();  ///< Where the loop's timers have it.

 private:
  static std::size_t on_header(char* data, std::size_t size, std::size_t count, void* self);
  static std::size_t on_body(char* data, std::size_t size, std::size_t count, void* self);
  static int on_request(void* self, char* peer, char* local, int peer_port, int local_port);
  static std::size_t on_upload(char* data, std::size_t size, std::size_t count, void* self);
  static int on_rewind(void* self, curl_off_t offset, int origin);

  void dress_request(const Endpoint& endpoint, const CurlTransportOptions& options);
  void dress_body();
  void dress_connection(const Endpoint& endpoint, const CurlTransportOptions& options);
  void dress_tls(const CurlTransportOptions& options);
  void add_header(const std::string& line);
  TimePoint guarded_until() const;
  bool may_leave();
  std::exception_ptr refused(const std::string& base);
  bool take_header(std::string_view line);
  bool end_of_headers();
  bool take_body(std::string_view piece);

  const std::shared_ptr<CurlLoop> loop_;
  Request request_;
  Completion completion_;
  std::shared_ptr<StreamHandler> handler_;
  const bool is_stream_;
  std::atomic<bool> cancelled_{false};
  std::atomic<bool> paused_{false};  // pairs with the load in on_body

  // The loop's thread only.
  bool finished_ = false;
  CURL* easy_ = nullptr;
  curl_slist* header_lines_ = nullptr;
  curl_slist* connect_to_ = nullptr;
  std::shared_ptr<const TlsMaterial> tls_;
  std::size_t uploaded_ = 0;
  char error_text_[CURL_ERROR_SIZE] = {};

  Response response_;
  std::size_t header_bytes_ = 0;
  std::size_t max_header_bytes_ = 0;
  std::size_t max_body_bytes_ = 0;
  bool responded_ = false;
  std::string limit_;  // which one the answer broke
  std::exception_ptr handler_error_;
  std::exception_ptr refusal_;  // why the rest of the request must not leave
  bool left_before_ = false;    // in a try before the one that was refused

  TimePoint deadline_ = TimePoint::max();
  Duration idle_{};
  TimePoint last_activity_{};
};

}  // namespace http::detail
}  // namespace v0
}  // namespace evenkeel
