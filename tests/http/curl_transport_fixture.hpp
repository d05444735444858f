// SPDX-License-Identifier: Apache-2.0
// Helpers of the tests of CurlTransport.
#pragma once

#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include <evenkeel/http/curl_transport.hpp>

#include "certificates.hpp"
#include "scripted_server.hpp"

namespace evenkeel::http::curl_tests {

using namespace std::chrono_literals;
using tests::Authority;
using tests::Connection;
using tests::Pem;
using tests::ScriptedServer;

inline std::shared_ptr<Transport> transport_to(const ScriptedServer& server,
                                               CurlTransportOptions options = {}) {
  options.server = server.url();
  options.proxy = "";
  return make_curl_transport(std::move(options));
}

inline TimePoint in(Duration delay) {
  return std::chrono::steady_clock::now() + delay;
}

/// Returns a script that answers every request of every connection with the same status and body.
inline ScriptedServer::Script always(int status, std::string body, std::string headers = "") {
  return [=](Connection& connection) {
    while (connection.read_request()) connection.respond(status, body, headers);
  };
}

/// Returns the TransportError or Cancelled that `run` throws, as "code: text" or "cancelled: text".
template <class Run>
std::string error_of(Run run) {
  static constexpr const char* names[] = {"resolve",     "connect",  "tls",   "timeout",
                                          "interrupted", "protocol", "closed"};
  try {
    run();
  } catch (const TransportError& error) {
    return std::string(names[static_cast<int>(error.code())]) + ": " + error.what();
  } catch (const Cancelled& error) {
    return std::string("cancelled: ") + error.what();
  }
  return "no error";
}

inline std::string error_of(const std::exception_ptr& error) {
  return error_of([&] {
    if (error) std::rethrow_exception(error);
  });
}

/// Records what a stream delivers, and lets a test wait for it.
class Recorder : public StreamHandler {
 public:
  void on_response(int status, const Headers& headers) override {
    const std::lock_guard lock(mutex_);
    status_ = status;
    headers_ = headers;
    changed_.notify_all();
  }
  void on_data(std::string_view piece) override {
    {
      const std::lock_guard lock(mutex_);
      data_ += piece;
      changed_.notify_all();
    }
    if (during_data) during_data();
  }
  void on_end(std::exception_ptr error) override {
    const std::lock_guard lock(mutex_);
    ++ends_;
    error_ = std::move(error);
    changed_.notify_all();
  }

  std::string wait_for_end() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return ends_ > 0; });
    const std::exception_ptr error = std::move(error_);  // so that this thread, and no other, releases it
    return error_of(error);
  }
  void wait_for_bytes(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return data_.size() >= count; });
  }
  bool ended() {
    const std::lock_guard lock(mutex_);
    return ends_ > 0;
  }
  std::size_t bytes() {
    const std::lock_guard lock(mutex_);
    return data_.size();
  }
  int status_ = 0;
  Headers headers_;
  std::string data_;
  std::function<void()> during_data;  ///< Called on the transport's thread, after each piece.

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int ends_ = 0;
  std::exception_ptr error_;
};

/// Passes the outcome of a send() to a waiting thread.
struct Landing {
  std::mutex mutex;
  std::condition_variable changed;
  int completions = 0;
  std::string error;
  Response response;

  static Completion into(const std::shared_ptr<Landing>& landing) {
    return [landing](Outcome<Response> outcome) {
      const std::lock_guard lock(landing->mutex);
      ++landing->completions;
      if (outcome.ok()) {
        landing->response = std::move(outcome).value();
      } else {
        landing->error = error_of(outcome.error());
      }
      landing->changed.notify_all();
    };
  }
  void wait() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [this] { return completions > 0; });
  }
};

/// Sends a request over the connections that requests share, and waits for the response.
inline Response shared_fetch(Transport& transport, Request request) {
  return transport.Transport::fetch(std::move(request));
}

}  // namespace evenkeel::http::curl_tests
