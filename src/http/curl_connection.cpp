// SPDX-License-Identifier: Apache-2.0
#include "http/curl_connection.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "http/without_sigpipe.hpp"

namespace evenkeel {
inline namespace v0 {
namespace http::detail {
namespace {

constexpr Duration longest_poll = std::chrono::seconds{60};

}  // namespace

CurlConnection::CurlConnection(const CurlTransportOptions& options, TlsFiles& tls, Request request,
                               const std::stop_token& stop, const std::stop_token& closing)
    : options_(options),
      endpoint_(parse_endpoint(options)),
      exchange_(std::make_shared<CurlExchange>(nullptr, std::move(request), Completion(), nullptr)) {
  exchange_->start_clock(now(), options_);
  try {
    connect(tls, stop, closing);
  } catch (...) {
    release();
    throw;
  }
}

CurlConnection::CurlConnection(const CurlTransportOptions& options, std::shared_ptr<CurlExchange> exchange,
                               int socket)
    : options_(options),
      endpoint_(parse_endpoint(options)),
      exchange_(std::move(exchange)),
      socket_(socket) {}

CurlConnection::~CurlConnection() {
  release();
}

void CurlConnection::release() noexcept {
  if (multi_ == nullptr) return;  // the handle is the loop's, or was never made
  const WithoutSigpipe without_sigpipe;
  if (exchange_->running()) {
    if (multi_ != nullptr) curl_multi_remove_handle(multi_, exchange_->easy());
    curl_easy_cleanup(exchange_->detach());
  }
  if (multi_ != nullptr) curl_multi_cleanup(multi_);
  multi_ = nullptr;
}

void CurlConnection::connect(TlsFiles& tls, const std::stop_token& stop, const std::stop_token& closing) {
  if (auto error = why_ended(stop, closing)) std::rethrow_exception(error);
  if (auto refused = refusal()) std::rethrow_exception(refused);
  const WithoutSigpipe without_sigpipe;
  multi_ = curl_multi_init();
  CURL* const easy = multi_ == nullptr ? nullptr : curl_easy_init();
  if (easy == nullptr) throw std::bad_alloc();
  try {
    exchange_->attach(easy, endpoint_, options_, endpoint_.tls ? tls.get() : nullptr);
  } catch (const std::exception& error) {
    if (!exchange_->running()) curl_easy_cleanup(easy);
    throw TransportError(TransportErrorCode::tls, describe(error.what()));
  }
  curl_easy_setopt(easy, CURLOPT_CONNECT_ONLY, 1L);
  // Without TLS, too, a proxy has to pass on bytes, and not a request.
  curl_easy_setopt(easy, CURLOPT_HTTPPROXYTUNNEL, 1L);
  // curl_easy_recv() works only while the handle is in the multi handle that connected it.
  curl_multi_add_handle(multi_, easy);
  failure_ = perform(stop, closing);
  if (failure_ != CURLE_OK) std::rethrow_exception(error());
  curl_socket_t socket = CURL_SOCKET_BAD;
  curl_easy_getinfo(easy, CURLINFO_ACTIVESOCKET, &socket);
  if (socket == CURL_SOCKET_BAD)
    throw TransportError(TransportErrorCode::interrupted, describe("the connection broke"));
  socket_ = socket;
}

std::exception_ptr CurlConnection::why_ended(const std::stop_token& stop,
                                             const std::stop_token& closing) const {
  if (stop.stop_requested()) return std::make_exception_ptr(Cancelled(exchange_->describe("", "cancelled")));
  if (closing.stop_requested()) {
    return std::make_exception_ptr(
        TransportError(TransportErrorCode::closed, describe("the transport was closed")));
  }
  return overdue();
}

CURLcode CurlConnection::perform(const std::stop_token& stop, const std::stop_token& closing) {
  const auto wake = [this]() noexcept { curl_multi_wakeup(multi_); };
  const std::stop_callback on_stop(stop, wake);
  const std::stop_callback on_closing(closing, wake);
  for (;;) {
    int running = 0;
    curl_multi_perform(multi_, &running);
    if (running == 0) {
      int left = 0;
      const CURLMsg* const message = curl_multi_info_read(multi_, &left);
      return message == nullptr ? CURLE_FAILED_INIT : message->data.result;
    }
    if (auto error = why_ended(stop, closing)) std::rethrow_exception(error);
    const Duration wait = std::clamp<Duration>(next_look() - now(), Duration::zero(), longest_poll);
    curl_multi_poll(multi_, nullptr, 0,
                    static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(wait).count()), nullptr);
  }
}

CurlConnection::Transfer CurlConnection::receive(char* into, std::size_t size) {
  std::size_t bytes = 0;
  const CURLcode code = curl_easy_recv(exchange_->easy(), into, size, &bytes);
  if (code == CURLE_OK && bytes == 0) return {State::ended};
  return result(code, bytes);
}

CurlConnection::Transfer CurlConnection::send(const char* bytes, std::size_t size) {
  std::size_t sent = 0;
  const CURLcode code = curl_easy_send(exchange_->easy(), bytes, size, &sent);
  return result(code, sent);
}

CurlConnection::Transfer CurlConnection::result(CURLcode code, std::size_t bytes) {
  if (code == CURLE_OK && bytes > 0) return {State::done, bytes};
  if (code == CURLE_OK || code == CURLE_AGAIN) return {State::blocked};
  failure_ = code;
  return {State::failed};
}

}  // namespace http::detail
}  // namespace v0
}  // namespace evenkeel
