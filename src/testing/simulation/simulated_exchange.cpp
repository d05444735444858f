// SPDX-License-Identifier: Apache-2.0
#include "testing/simulation/simulated_exchange.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include <evenkeel/base/error.hpp>

#include "apiserver/shell/request_target.hpp"
#include "apiserver/shell/status_answer.hpp"
#include "testing/begun_write.hpp"
#include "testing/explore/trace.hpp"

namespace evenkeel {
inline namespace v0 {
namespace testing::detail {
namespace {

constexpr Duration request_time = std::chrono::seconds{60};  // as the other transports have it
constexpr Duration silence_time = std::chrono::seconds{150};

http::Response refusal(int status) {
  const auto retry_after = status == 429 ? std::optional(std::chrono::seconds{1}) : std::nullopt;
  return apiserver::status_answer(status, "", "refused by the simulation", retry_after);
}

}  // namespace

/// Takes the output of the server for a stream.
class SimulatedExchange::Feed final : public http::StreamHandler {
 public:
  explicit Feed(const std::shared_ptr<SimulatedExchange>& to) : to_(to) {}

  void on_response(int status, const http::Headers& headers) override {
    if (const auto to = to_.lock())
      to->piece(0, [&](std::size_t) -> Deliver {
        return [status, headers](http::StreamHandler& handler) { handler.on_response(status, headers); };
      });
  }
  void on_data(std::string_view piece) override {
    if (const auto to = to_.lock())
      to->piece(piece.size(), [&](std::size_t bytes) -> Deliver {
        return [text = std::string(piece.substr(0, bytes))](http::StreamHandler& handler) {
          if (!text.empty()) handler.on_data(text);
        };
      });
  }
  void on_end(std::exception_ptr) override {
    const auto to = to_.lock();
    if (!to || to->closed_) return;
    to->piece(0, [&](std::size_t) -> Deliver {
      return [weak = to_](http::StreamHandler&) {
        if (const auto over = weak.lock()) over->fail(nullptr);
      };
    });
    to->closed_ = true;
  }

 private:
  const std::weak_ptr<SimulatedExchange> to_;
};

SimulatedExchange::SimulatedExchange(const std::shared_ptr<SimulatedPort>& port,
                                     std::shared_ptr<SimulatedHost> host, std::uint64_t number,
                                     http::Request request)
    : port_(port), host_(std::move(host)), number_(number), request_(std::move(request)) {
  if (port->options_.runs) runs_ = port->options_.runs();
}

std::exception_ptr SimulatedExchange::error(TransportErrorCode code, const std::string& reason) const {
  return std::make_exception_ptr(TransportError(
      code, std::string(http::method_name(request_.method)) + " " + request_.target + ": " + reason));
}

void SimulatedExchange::note(const std::string& what) const {
  if (!port_->options_.audited) return;
  const std::string text =
      is_write() ? text_of(begun_write(request_)) : std::string("GET ") + request_.target;
  parts().trace.add(now(), host_->name(), text + what);
}

// ---- Sending

void SimulatedExchange::begin(http::Completion completion, std::shared_ptr<http::StreamHandler> handler) {
  completion_ = std::move(completion);
  handler_ = std::move(handler);
  last_piece_ = host_->clock()->now();
  if (host_->is_dead()) return end_soon(error(TransportErrorCode::closed, "the transport is closed"));
  if (request_.guard) {
    try {
      request_.guard->check();
    } catch (...) {
      return end_soon(std::current_exception());
    }
  }
  send();
}

void SimulatedExchange::send() {
  const bool counts = is_write() && port_->options_.audited &&
                      !is_incidental(apiserver::request_target(request_).qualified_resource());
  fate_ = parts().core.on_request(port_->options_.machine, counts, now());
  if (fate_.crash == RequestFate::Crash::before) {
    note(": the process ends before it is sent");
    return parts().crash(port_->options_.machine);
  }
  watch_deadline();
  if (handler_) watch_silence();
  if (fate_.loss == RequestFate::Loss::request) {
    note(": is lost");
    silent_ = true;
    if (fate_.broken)
      host_->enter_at(now() + fate_.back, [self = shared_from_this()] {
        self->fail(self->error(TransportErrorCode::interrupted, "the connection broke"));
      });
    return;
  }
  parts().schedule.at(now() + fate_.there, [self = shared_from_this()] { self->arrive(); });
}

// ---- At the server

void SimulatedExchange::arrive() {
  if (fate_.refused != 0) {
    note(": " + std::to_string(fate_.refused) + " by the simulation");
    return answer(refusal(fate_.refused));
  }
  if (handler_ && !over_) return open_stream();
  if (over_ && !is_write()) return;
  http::Response response = handled();
  if (fate_.crash == RequestFate::Crash::after) {
    note(": the process ends before the answer arrives");
    parts().crash(port_->options_.machine);
  }
  if (fate_.pause) parts().pause(port_->options_.machine);
  answer(std::move(response));
}

http::Response SimulatedExchange::handled() {
  http::Request request{.method = request_.method,
                        .target = request_.target,
                        .headers = request_.headers,
                        .body = request_.body};
  if (!is_write()) return parts().server.handle(request);
  const std::string resource = apiserver::request_target(request_).qualified_resource();
  if (!resource.empty()) parts().server.observe(resource, collection_path(request_.target));
  const std::uint64_t before = parts().audit.changes();
  http::Response response = parts().server.handle(request);
  report(response, before);
  return response;
}

void SimulatedExchange::report(const http::Response& response, std::uint64_t changes_before) {
  const std::string text = text_of(begun_write(request_));
  const bool changed = parts().audit.changes() != changes_before;
  const bool lost = fate_.loss == RequestFate::Loss::answer || over_;
  parts().trace.add(now(), host_->name(),
                    text + ": " + std::to_string(response.status) + (changed ? "" : ", nothing changed") +
                        (lost ? ", and the answer is lost" : ""));
  if (!port_->options_.audited || is_incidental(apiserver::request_target(request_).qualified_resource()))
    return;
  parts().audit.on_write(
      {.process = host_->name(),
       .text = text,
       .request = std::string(http::method_name(request_.method)) + request_.target + request_.body,
       .creates = request_.method == http::Method::post,
       .applied = changed && response.status < 300,
       .answer_lost = lost,
       .runs = runs_,
       .needs_lease = port_->options_.needs_lease,
       .lease = port_->options_.lease},
      now());
}

void SimulatedExchange::answer(http::Response response) {
  if (over_) return;
  if (fate_.loss == RequestFate::Loss::answer || !parts().core.on_answer(port_->options_.machine, now())) {
    silent_ = true;
    if (!fate_.broken) return;
    host_->enter_at(now() + fate_.back, [self = shared_from_this()] {
      self->fail(self->error(TransportErrorCode::interrupted, "the connection broke"));
    });
    return;
  }
  host_->enter_at(now() + fate_.back, [self = shared_from_this(), response = std::move(response)]() mutable {
    self->finish(std::move(response));
  });
}

// ---- A stream

void SimulatedExchange::open_stream() {
  if (fate_.loss == RequestFate::Loss::answer) {
    note(": the answer is lost");
    silent_ = true;
    return;
  }
  http::Request request{.method = request_.method, .target = request_.target, .headers = request_.headers};
  server_side_ = parts().server.stream(std::move(request), std::make_shared<Feed>(shared_from_this()));
  if (closed_) close_server_side();
}

void SimulatedExchange::piece(std::size_t bytes, const std::function<Deliver(std::size_t)>& deliver) {
  if (closed_ || over_) return;
  const PieceFate fate = parts().core.on_piece(port_->options_.machine, bytes, now());
  last_arrival_ = std::max(last_arrival_ + Duration(1), now() + fate.delay);
  if (fate.silent) {
    note(": the connection is silent from now on");
    silent_ = true;
    return close_server_side();
  }
  const auto arrive = [this](Deliver made) {
    host_->enter_at(last_arrival_, [self = shared_from_this(), made = std::move(made)]() mutable {
      self->deliver(std::move(made));
    });
  };
  if (!fate.cut_at) return arrive(deliver(bytes));
  note(": the connection breaks");
  if (*fate.cut_at > 0) arrive(deliver(*fate.cut_at));
  last_arrival_ += Duration(1);
  arrive([weak = weak_from_this()](http::StreamHandler&) {
    if (const auto self = weak.lock())
      self->fail(self->error(TransportErrorCode::interrupted, "the connection broke inside the stream"));
  });
  close_server_side();
}

void SimulatedExchange::close_server_side() {
  closed_ = true;
  if (!server_side_) return;
  server_side_->cancel();
  server_side_.reset();
  parts().schedule.at(now(), [self = shared_from_this()] { self->parts().server.pump(); });
}

void SimulatedExchange::deliver(Deliver piece) {
  if (over_) return;
  if (paused_) {
    waiting_.push_back(std::move(piece));
    return;
  }
  last_piece_ = host_->clock()->now();
  const auto handler = handler_;
  piece(*handler);
}

void SimulatedExchange::resume() noexcept {
  if (!std::exchange(paused_, false)) return;
  host_->enter_at(now(), [self = shared_from_this()] {
    while (!self->over_ && !self->paused_ && !self->waiting_.empty()) {
      Deliver piece = std::move(self->waiting_.front());
      self->waiting_.pop_front();
      self->deliver(std::move(piece));
    }
  });
}

// ---- The end

void SimulatedExchange::cancel() noexcept {
  end_soon(std::make_exception_ptr(Cancelled("the call was cancelled")));
}

void SimulatedExchange::end_soon(std::exception_ptr error) {
  if (over_) return;
  host_->enter_at(now(), [self = shared_from_this(), error = std::move(error)] { self->fail(error); });
}

void SimulatedExchange::leave() {
  over_ = true;
  waiting_.clear();
  if (!closed_) close_server_side();
  port_->open_.erase(shared_from_this());
}

void SimulatedExchange::finish(http::Response response) {
  if (over_) return;
  if (handler_) {  // refused
    const auto handler = handler_;
    handler->on_response(response.status, response.headers);
    if (!over_ && !response.body.empty()) handler->on_data(response.body);
    return fail(nullptr);
  }
  leave();
  const http::Completion completion = std::exchange(completion_, nullptr);
  completion(std::move(response));
}

void SimulatedExchange::fail(const std::exception_ptr& error) {
  if (over_) return;
  leave();
  if (const auto handler = std::exchange(handler_, nullptr)) return handler->on_end(error);
  const http::Completion completion = std::exchange(completion_, nullptr);
  completion(error);
}

// The time of a guard becomes later with each renewal.
void SimulatedExchange::watch_deadline() {
  if (!request_.deadline && !handler_)
    request_.deadline = deadline_after(host_->clock()->now(), request_time);
  TimePoint deadline = request_.deadline.value_or(TimePoint::max());
  if (request_.guard) deadline = std::min(deadline, request_.guard->valid_until());
  if (deadline == TimePoint::max()) return;
  if (host_->clock()->now() >= deadline)
    return end_soon(error(TransportErrorCode::timeout, "the deadline passed"));
  wake_at(deadline, [](SimulatedExchange& self) { self.watch_deadline(); });
}

void SimulatedExchange::watch_silence() {
  const Duration limit = request_.idle_timeout.value_or(silence_time);
  if (paused_) last_piece_ = host_->clock()->now();
  if (host_->clock()->now() >= last_piece_ + limit)
    return end_soon(error(TransportErrorCode::timeout, "the stream was silent for too long"));
  wake_at(last_piece_ + limit, [](SimulatedExchange& self) { self.watch_silence(); });
}

// An exchange that is over is not kept.
void SimulatedExchange::wake_at(TimePoint when, void (*look)(SimulatedExchange&)) {
  parts().schedule.at(host_->clock()->simulated(when), [weak = weak_from_this(), look] {
    const auto self = weak.lock();
    if (!self || self->over_) return;
    self->host_->enter([self, look] {
      if (!self->over_) look(*self);
    });
  });
}

}  // namespace testing::detail
}  // namespace v0
}  // namespace evenkeel
