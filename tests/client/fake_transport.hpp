// SPDX-License-Identifier: Apache-2.0
// A transport that answers from a script, on the caller's thread, and records the requests.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <evenkeel/http/transport.hpp>

namespace evenkeel::tests {

class FakeTransport final : public http::Transport {
 public:
  /// Queues a response for the next request.
  void reply(int status, std::string body, http::Headers headers = {}) {
    script_.push_back(
        http::Response{.status = status, .headers = std::move(headers), .body = std::move(body)});
  }
  void fail(TransportErrorCode code) { script_.push_back(code); }
  /// The next request is answered only when it is cancelled, or by release().
  void hang() { script_.push_back(Hang{}); }
  /// The next request is answered only by release(): its cancellation comes too late.
  void linger() { script_.push_back(Hang{.ignores_cancel = true}); }
  /// Called before each response, with the request.
  std::function<void(const http::Request&)> on_request;

  void release(http::Response response) {
    std::function<void(Outcome<http::Response>)> complete;
    {
      const std::lock_guard lock(mutex_);
      complete = std::move(hanging_.front());
      hanging_.pop_front();
    }
    complete(std::move(response));
  }
  std::vector<http::Request> requests() {
    const std::lock_guard lock(mutex_);
    return requests_;
  }
  http::Request last() { return requests().back(); }
  bool exhausted() {
    const std::lock_guard lock(mutex_);
    return script_.empty();
  }

  /// A stream fed by a test; cancelling ends it.
  class StreamCall final : public http::Call {
   public:
    explicit StreamCall(std::shared_ptr<http::StreamHandler> handler) : handler_(std::move(handler)) {}
    bool is_open() { return current() != nullptr; }
    void respond(int status) {
      if (const auto handler = current()) handler->on_response(status, {});
    }
    // Ends the stream with what the handler throws, as transports do.
    void data(std::string_view piece) {
      try {
        if (const auto handler = current()) handler->on_data(piece);
      } catch (...) {
        end(std::current_exception());
      }
    }
    void end(std::exception_ptr error = nullptr) {
      std::shared_ptr<http::StreamHandler> handler;
      {
        const std::lock_guard lock(mutex_);
        handler.swap(handler_);
      }
      if (handler) handler->on_end(std::move(error));
    }
    void cancel() noexcept override { end(std::make_exception_ptr(Cancelled("cancelled"))); }
    void pause() noexcept override { ++pauses; }
    void resume() noexcept override {
      ++resumes;
      if (on_resume) on_resume();
    }
    std::atomic<int> pauses{0}, resumes{0};
    std::function<void()> on_resume;

   private:
    std::shared_ptr<http::StreamHandler> current() {
      const std::lock_guard lock(mutex_);
      return handler_;
    }
    std::mutex mutex_;
    std::shared_ptr<http::StreamHandler> handler_;
  };
  std::vector<std::shared_ptr<StreamCall>> streams;
  /// Called within stream(), before it returns.
  std::function<void(const http::Request&, StreamCall&)> on_stream;

  std::shared_ptr<http::Call> send(http::Request request, http::Completion completion) override {
    const auto call = std::make_shared<FakeCall>(completion);
    std::optional<Answer> answer;
    {
      const std::lock_guard lock(mutex_);
      requests_.push_back(request);
      if (!script_.empty()) {
        answer = std::move(script_.front());
        script_.pop_front();
      }
      if (const auto* hang = answer ? std::get_if<Hang>(&*answer) : nullptr) {
        if (hang->ignores_cancel) call->ignore_cancel();
        hanging_.push_back([call](Outcome<http::Response> outcome) { call->complete(std::move(outcome)); });
      }
    }
    if (on_request) on_request(request);
    if (!answer) {
      call->complete(http::Response{.status = 599, .headers = {}, .body = "the script has no more answers"});
    } else if (const auto* response = std::get_if<http::Response>(&*answer)) {
      call->complete(*response);
    } else if (const auto* code = std::get_if<TransportErrorCode>(&*answer)) {
      call->complete(std::make_exception_ptr(TransportError(*code, "scripted")));
    }
    return call;
  }

  std::shared_ptr<http::Call> stream(http::Request request,
                                     std::shared_ptr<http::StreamHandler> handler) override {
    const auto call = std::make_shared<StreamCall>(handler);
    {
      const std::lock_guard lock(mutex_);
      requests_.push_back(request);
      streams.push_back(call);
    }
    if (on_stream) on_stream(request, *call);
    return call;
  }

 private:
  struct Hang {
    bool ignores_cancel = false;
  };
  using Answer = std::variant<http::Response, TransportErrorCode, Hang>;

  class FakeCall final : public http::Call {
   public:
    explicit FakeCall(http::Completion completion) : completion_(std::move(completion)) {}
    void cancel() noexcept override {
      if (!ignores_cancel_) complete(std::make_exception_ptr(Cancelled("cancelled")));
    }
    void ignore_cancel() { ignores_cancel_ = true; }
    void complete(Outcome<http::Response> outcome) {
      http::Completion completion;
      {
        const std::lock_guard lock(mutex_);
        completion.swap(completion_);
      }
      if (completion) completion(std::move(outcome));
    }

   private:
    std::mutex mutex_;
    http::Completion completion_;
    bool ignores_cancel_ = false;  // set before the call is returned
  };
  std::mutex mutex_;
  std::deque<Answer> script_;
  std::vector<http::Request> requests_;
  std::deque<std::function<void(Outcome<http::Response>)>> hanging_;
};

}  // namespace evenkeel::tests
