// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <utility>

#include <evenkeel/base/clock.hpp>
#include <evenkeel/base/stop.hpp>
#include <evenkeel/client/errors.hpp>
#include <evenkeel/client/pod_logs.hpp>

#include "client/request/bound_limits.hpp"
#include "client/request/inflow.hpp"
#include "client/request/line_splitter.hpp"
#include "client/request/requests.hpp"

namespace evenkeel {
inline namespace v0 {
namespace {

using LogInflow = detail::Inflow<detail::LineSplitter>;

constexpr std::size_t read_ahead = 1UL << 20;

RestRequest request_of(const ObjectKey& pod, const PodLogOptions& options) {
  if (options.since && !options.since_time.empty())
    throw std::invalid_argument("PodLogOptions: since and since_time exclude each other");
  if (options.since && *options.since < std::chrono::seconds{1})
    throw std::invalid_argument("PodLogOptions.since: must be 1 s or more");
  RestRequest request = detail::object_request(http::Method::get, {"", "v1", "Pod", "pods"}, pod, "log");
  request.accept = "text/plain, */*";
  request.idle_timeout = Duration::zero();  // a container may be silent for long
  const auto add = [&](const char* name, std::string value) {
    request.query.emplace_back(name, std::move(value));
  };
  if (!options.container.empty()) add("container", options.container);
  if (options.follow) add("follow", "true");
  if (options.previous) add("previous", "true");
  if (options.timestamps) add("timestamps", "true");
  if (options.tail_lines) add("tailLines", std::to_string(*options.tail_lines));
  if (options.since)
    add("sinceSeconds",
        std::to_string(std::chrono::duration_cast<std::chrono::seconds>(*options.since).count()));
  if (!options.since_time.empty()) add("sinceTime", options.since_time);
  if (options.limit_bytes) add("limitBytes", std::to_string(*options.limit_bytes));
  return request;
}

}  // namespace

ApiCall<std::string> calls::read_pod_logs(const ObjectKey& pod, const PodLogOptions& options) {
  if (options.follow)
    throw std::invalid_argument("read_pod_logs: PodLogOptions.follow is for PodLogReader and start_pod_logs");
  return {request_of(pod, options), [](http::Response response) { return std::move(response.body); }};
}

class PodLogReader::State {
 public:
  State(const Client& client, const ObjectKey& pod, const PodLogOptions& options)
      : client_(client), limits_(client), request_(request_of(pod, options)) {}
  ~State() {
    if (inflow_) inflow_->cancel();
  }

  std::optional<std::string> next(const std::stop_token& stop) {
    if (ended_) return std::nullopt;
    const detail::EitherStop either(limits_.stop(), stop);
    const std::stop_token any_stop = either.token();
    if (stop.stop_requested()) return std::nullopt;
    if (limits_.reached(client_.clock()->now())) limits_.fail(describe(request_));
    if (!inflow_) open(any_stop);
    std::optional<std::string> line;
    bool ended = false;
    {
      const StopWaker waker(any_stop, inflow_->mutex, inflow_->changed);
      MutexLock lock(inflow_->mutex);
      while (!(line = inflow_->take_frame()) && !inflow_->ended() && !any_stop.stop_requested() &&
             !limits_.reached(client_.clock()->now()))
        limits_.wait(*client_.clock(), inflow_->changed, lock);
      ended = !line && inflow_->ended();
    }
    inflow_->resume_if_due();
    if (ended) return end();
    if (!line && !stop.stop_requested()) limits_.fail(describe(request_));
    return line;
  }

 private:
  void open(const std::stop_token& stop) {
    const auto inflow = std::make_shared<LogInflow>(read_ahead);
    inflow->set_call(client_.with({.stop = stop}).stream(request_, inflow));
    inflow_ = inflow;
  }

  /// Returns what is left of the last line, then the end.
  std::optional<std::string> end() {
    MutexLock lock(inflow_->mutex);
    if (auto rest = inflow_->take_rest()) return rest;
    ended_ = true;
    if (const std::exception_ptr error = inflow_->take_error()) std::rethrow_exception(error);
    if (inflow_->answer().status != 200)
      throw ApiError(describe(request_), Status::decode(inflow_->answer()));
    return std::nullopt;
  }

  const Client client_;
  const detail::BoundLimits limits_;
  const RestRequest request_;
  std::shared_ptr<LogInflow> inflow_;
  bool ended_ = false;
};

PodLogReader::PodLogReader(const Client& client, const ObjectKey& pod, const PodLogOptions& options)
    : state_(std::make_unique<State>(client, pod, options)) {}
PodLogReader::~PodLogReader() = default;
PodLogReader::PodLogReader(PodLogReader&&) noexcept = default;
PodLogReader& PodLogReader::operator=(PodLogReader&&) noexcept = default;

std::optional<std::string> PodLogReader::next(const std::stop_token& stop) {
  return state_->next(stop);
}

namespace {

class LogHandler final : public http::StreamHandler {
 public:
  LogHandler(std::string call, PodLogListener listener)
      : call_(std::move(call)), listener_(std::move(listener)) {}

  /// Makes the token end the call, also one whose end was reported already.
  void bind(const std::stop_token& stop, const std::shared_ptr<http::Call>& call) {
    on_stop_.emplace(stop, Cancel{call});
  }
  void on_response(int status, const http::Headers& headers) override {
    answer_.status = status;
    answer_.headers = headers;
  }
  void on_data(std::string_view piece) override {
    if (answer_.status != 200) {
      detail::append_refusal(answer_, piece);
      return;
    }
    lines_.feed(piece);
    while (auto line = lines_.next()) listener_.on_line(std::move(*line));
  }
  void on_end(std::exception_ptr error) override {
    if (!error && answer_.status != 200)
      error = std::make_exception_ptr(ApiError(call_, Status::decode(answer_)));
    if (auto line = lines_.take_rest()) listener_.on_line(std::move(*line));
    const PodLogListener listener = std::move(listener_);
    listener.on_end(error);
  }

 private:
  struct Cancel {
    std::weak_ptr<http::Call> call;
    void operator()() const noexcept {
      if (const auto running = call.lock()) running->cancel();
    }
  };

  const std::string call_;
  PodLogListener listener_;
  http::Response answer_;
  detail::LineSplitter lines_;
  std::optional<std::stop_callback<Cancel>> on_stop_;
};

}  // namespace

std::shared_ptr<http::Call> start_pod_logs(const Client& client, const ObjectKey& pod,
                                           const PodLogOptions& options, PodLogListener listener) {
  const RestRequest request = request_of(pod, options);
  const auto handler = std::make_shared<LogHandler>(describe(request), std::move(listener));
  auto call = client.stream(request, handler);
  if (const auto& stop = client.call_options().stop) handler->bind(*stop, call);
  return call;
}

}  // namespace v0
}  // namespace evenkeel
