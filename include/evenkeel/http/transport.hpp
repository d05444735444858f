// SPDX-License-Identifier: Apache-2.0
// The only path to an API server: libcurl in production (http/curl_transport.hpp), an API server core in the
// same process in tests (apiserver/in_process_transport.hpp). All code above is identical.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <evenkeel/base/error.hpp>
#include <evenkeel/base/export.hpp>
#include <evenkeel/http/message.hpp>

namespace evenkeel {
inline namespace v0 {

enum class TransportErrorCode : std::uint8_t {
  resolve,      ///< The host name has no address.
  connect,      ///< Connection refused or not established in time.
  tls,          ///< The certificates do not match, or the peer does not speak TLS.
  timeout,      ///< The deadline passed, or a stream was silent for too long.
  interrupted,  ///< The connection broke before the response was complete.
  protocol,     ///< The response is not HTTP, or exceeds a limit.
  closed,       ///< The transport is shutting down.
};

/// No complete response was received. what() has method, URL and reason.
class EVENKEEL_API TransportError : public Error {
 public:
  TransportError(TransportErrorCode code, const std::string& what) : Error(what), code_(code) {}
  TransportErrorCode code() const noexcept { return code_; }

 private:
  TransportErrorCode code_;
};

/// The result of an asynchronous call: a value, or the exception that a blocking call would have thrown.
template <class T>
class Outcome {
 public:
  Outcome(T value) : result_(std::move(value)) {}
  Outcome(std::exception_ptr error) : result_(std::move(error)) {}

  bool ok() const noexcept { return result_.index() == 0; }
  /// Returns the value; throws the error if there is none.
  T& value() & {
    rethrow();
    return std::get<0>(result_);
  }
  T&& value() && {
    rethrow();
    return std::get<0>(std::move(result_));
  }
  /// Returns the error, or null.
  std::exception_ptr error() const noexcept { return ok() ? nullptr : std::get<1>(result_); }

 private:
  void rethrow() const {
    if (!ok()) std::rethrow_exception(std::get<1>(result_));
  }
  std::variant<T, std::exception_ptr> result_;
};

namespace http {

/// A running exchange. Dropping the handle does not cancel it.
class EVENKEEL_API Call {
 public:
  virtual ~Call() = default;
  /// Cancels the exchange; its completion or on_end is still called once, with Cancelled unless it ended
  /// before. Idempotent; any thread.
  virtual void cancel() noexcept = 0;
  /// For streams: stops and resumes reading from the socket (back-pressure). Any thread; otherwise no-ops.
  virtual void pause() noexcept {}
  virtual void resume() noexcept {}
};

/// Receives a stream (a watch, a streamed list). Members are called one at a time, in order, on the
/// transport's thread; they must neither block for long nor throw. on_end is called exactly once, last.
class EVENKEEL_API StreamHandler {
 public:
  virtual ~StreamHandler() = default;
  virtual void on_response(int status, const Headers& headers) = 0;
  /// Receives a piece of the body, of any size and with any boundaries. Valid during the call.
  virtual void on_data(std::string_view piece) = 0;
  /// Receives the end. Null: the server completed the body. Otherwise a TransportError or Cancelled.
  virtual void on_end(std::exception_ptr error) = 0;
};

struct WebSocketAnswer;  // http/web_socket.hpp
class WebSocketCall;
class WebSocketHandler;

/// Called exactly once, on the transport's thread; must neither block nor throw.
using Completion = std::function<void(Outcome<Response>)>;

/// Sends requests. Thread safety: all members may be called concurrently. Lifetime: destruction ends running
/// exchanges (with TransportErrorCode::closed) and joins the transport's thread; it must not happen on that
/// thread.
class EVENKEEL_API Transport {
 public:
  virtual ~Transport() = default;
  /// Sends a request and collects the whole response. Every status is a response, not an error.
  virtual std::shared_ptr<Call> send(Request request, Completion completion) = 0;
  /// Sends a request and streams its response, on a dedicated connection.
  virtual std::shared_ptr<Call> stream(Request request, std::shared_ptr<StreamHandler> handler) = 0;

  /// Blocking form of send(). Throws TransportError; Cancelled when `stop` is requested. A transport without
  /// a thread does the necessary work in this call.
  virtual Response fetch(Request request, std::stop_token stop = {});
  /// Sends a GET that requests a WebSocket, and offers `protocols`, the preferred one first. Blocks until it
  /// is open or refused. Throws like fetch(). Destruction of the transport breaks the WebSocket. By default
  /// throws a TransportError: there are none.
  virtual WebSocketAnswer open_web_socket(Request request, std::vector<std::string> protocols,
                                          std::stop_token stop = {});
  /// Asynchronous form of open_web_socket(): the transport's thread sends and receives, and no other is held.
  /// By default throws a TransportError: there are none.
  virtual std::shared_ptr<WebSocketCall> start_web_socket(Request request, std::vector<std::string> protocols,
                                                          std::shared_ptr<WebSocketHandler> handler);
};

}  // namespace http
}  // namespace v0
}  // namespace evenkeel
