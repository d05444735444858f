// SPDX-License-Identifier: Apache-2.0
#include "testing/harness/harness_transport.hpp"

#include <algorithm>
#include <deque>
#include <utility>

#include "apiserver/shell/request_target.hpp"
#include "base/caught.hpp"
#include "testing/begun_write.hpp"
#include "testing/scripted_command.hpp"

namespace evenkeel {
inline namespace v0 {
namespace testing {
namespace {

class OverAlready final : public http::Call {
 public:
  void cancel() noexcept override {}
};

// Returns the path of the object of a request, without subresource; empty while its name is unknown.
std::string object_path(const http::Request& request, const apiserver::RequestTarget& target,
                        const std::string& name) {
  std::string path = request.target.substr(0, request.target.find('?'));
  if (!target.subresource.empty()) path.resize(path.size() - target.subresource.size() - 1);
  if (target.name.empty()) return name.empty() ? "" : path + "/" + http::percent_encode(name);
  return path;
}

}  // namespace

/// Deliveries that are delayed.
struct HarnessTransport::LateQueue {
  struct Piece {
    TimePoint due;
    std::function<void()> deliver;
  };
  bool lagging = false;
  std::deque<Piece> pieces;
};

/// Passes on the data of a watch after a delay.
class HarnessTransport::LateHandler final : public http::StreamHandler {
 public:
  LateHandler(std::shared_ptr<LateQueue> queue, std::shared_ptr<HarnessClock> clock, Duration lag,
              std::shared_ptr<http::StreamHandler> inner)
      : queue_(std::move(queue)), clock_(std::move(clock)), lag_(lag), inner_(std::move(inner)) {}

  void on_response(int status, const http::Headers& headers) override {
    inner_->on_response(status, headers);
  }
  void on_data(std::string_view piece) override {
    if (!queue_->lagging) return inner_->on_data(piece);
    postpone([inner = inner_, text = std::string(piece)] { inner->on_data(text); });
  }
  void on_end(std::exception_ptr error) override {
    if (!queue_->lagging) return inner_->on_end(std::move(error));
    postpone([inner = inner_, error = std::move(error)] { inner->on_end(error); });
  }

 private:
  void postpone(std::function<void()> deliver) {
    queue_->pieces.push_back({deadline_after(clock_->now(), lag_), std::move(deliver)});
  }

  const std::shared_ptr<LateQueue> queue_;
  const std::shared_ptr<HarnessClock> clock_;
  const Duration lag_;
  const std::shared_ptr<http::StreamHandler> inner_;
};

HarnessTransport::HarnessTransport(std::shared_ptr<apiserver::SharedCore> core,
                                   std::shared_ptr<HarnessClock> clock, Duration lag,
                                   std::function<void(Write)> on_write,
                                   std::function<ExecResult(const Command&)> on_exec)
    : core_(std::move(core)),
      clock_(std::move(clock)),
      lag_(lag),
      on_write_(std::move(on_write)),
      on_exec_(std::move(on_exec)),
      start_(clock_->now()),
      late_(std::make_shared<LateQueue>()),
      inner_(std::make_shared<apiserver::InProcessTransport>(
          core_, apiserver::InProcessTransportOptions{.pumped = true})) {}

HarnessTransport::~HarnessTransport() {
  drop_late();  // pending deliveries end at once with the transport
}

std::shared_ptr<http::Call> HarnessTransport::send(http::Request request, http::Completion completion) {
  ++unanswered_;
  auto write = begin_write(request);
  auto kept = std::make_shared<const http::Request>(request);
  return inner_->send(std::move(request), [this, kept, write = std::move(write),
                                           done = std::move(completion)](Outcome<http::Response> outcome) {
    --unanswered_;
    end_write(write, *kept, outcome);
    done(std::move(outcome));
  });
}

std::shared_ptr<http::Call> HarnessTransport::stream(http::Request request,
                                                     std::shared_ptr<http::StreamHandler> handler) {
  if (lag_ > Duration::zero())
    handler = std::make_shared<LateHandler>(late_, clock_, lag_, std::move(handler));
  return inner_->stream(std::move(request), std::move(handler));
}

http::Response HarnessTransport::fetch(http::Request request, std::stop_token stop) {
  const std::string name = std::string(http::method_name(request.method)) + " " + request.target;
  if (stop.stop_requested()) throw Cancelled(name + ": cancelled");
  const auto answer = std::make_shared<std::optional<Outcome<http::Response>>>();
  const auto call = send(std::move(request),
                         [answer](Outcome<http::Response> outcome) { answer->emplace(std::move(outcome)); });
  inner_->pump();
  Mutex mutex;
  CondVar never;
  while (!*answer) {
    if (stop.stop_requested()) call->cancel();
    MutexLock lock(mutex);
    clock_->wait(never, lock);
  }
  return std::move(**answer).value();
}

http::WebSocketAnswer HarnessTransport::open_web_socket(http::Request request,
                                                        std::vector<std::string> protocols,
                                                        std::stop_token stop) {
  std::optional<Command> command = command_of(request);
  if (!command) return Transport::open_web_socket(std::move(request), std::move(protocols), std::move(stop));
  if (!on_exec_) {
    throw TransportError(TransportErrorCode::protocol,
                         "GET " + request.target + ": HarnessOptions::on_exec is not set");
  }
  const std::string pod = request.target.substr(0, request.target.find("/exec?"));
  http::WebSocketAnswer answer{.response = core_->handle({.target = pod}), .socket = nullptr};
  if (answer.response.status != 200) return answer;
  answer.response = {.status = 101};
  answer.socket = std::make_unique<ScriptedCommand>(std::move(*command), on_exec_);
  return answer;
}

std::size_t HarnessTransport::pump() {
  std::size_t done = inner_->pump();
  auto& late = late_->pieces;
  while (!late.empty() && late.front().due <= clock_->now()) {
    const LateQueue::Piece piece = std::move(late.front());
    late.pop_front();
    piece.deliver();
    ++done;
  }
  return done;
}

std::optional<TimePoint> HarnessTransport::next_due() const {
  std::optional<TimePoint> due = inner_->next_due();
  if (late_->pieces.empty()) return due;
  return due ? std::min(*due, late_->pieces.front().due) : late_->pieces.front().due;
}

std::optional<TimePoint> HarnessTransport::next_wanted() const {
  if (unanswered_ > 0) return next_due();
  if (late_->pieces.empty()) return std::nullopt;
  return late_->pieces.front().due;
}

void HarnessTransport::start_lag() {
  late_->lagging = lag_ > Duration::zero();
}

void HarnessTransport::drop_late() {
  late_->lagging = false;
  late_->pieces.clear();
}

Json HarnessTransport::object_at(const std::string& path) const {
  if (path.empty()) return {};
  const http::Response found = core_->handle({.target = path, .headers = {{"Accept", "application/json"}}});
  return found.status == 200 ? detail::body_value(found.body) : Json();
}

std::optional<Write> HarnessTransport::begin_write(const http::Request& request) const {
  if (request.method == http::Method::get) return std::nullopt;
  Write write = detail::begun_write(request);
  write.at = clock_->now() - start_;
  write.before = object_at(object_path(request, apiserver::request_target(request), {}));
  return write;
}

void HarnessTransport::end_write(std::optional<Write> write, const http::Request& request,
                                 const Outcome<http::Response>& outcome) {
  if (!write) return;
  if (!outcome.ok()) {
    write->message = evenkeel::detail::error_text(outcome.error());
  } else {
    Outcome<http::Response> copy = outcome;
    const Json body = detail::body_value(copy.value().body);
    write->status = copy.value().status;
    if (!write->ok()) write->message = body["message"].string_or("");
    if (write->key.name.empty() && write->ok()) write->key.name = body.at({"metadata", "name"}).string_or("");
  }
  const apiserver::RequestTarget target = apiserver::request_target(request);
  write->after = object_at(object_path(request, target, write->key.name));
  on_write_(std::move(*write));
}

std::shared_ptr<http::Call> DirectTransport::send(http::Request request, http::Completion completion) {
  completion(core_->handle(request));
  return std::make_shared<OverAlready>();
}

http::Response DirectTransport::fetch(http::Request request, std::stop_token) {
  return core_->handle(request);
}

}  // namespace testing
}  // namespace v0
}  // namespace evenkeel
