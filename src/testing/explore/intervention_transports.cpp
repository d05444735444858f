// SPDX-License-Identifier: Apache-2.0
// The transports of the controllers and of the test under a plan.
#include <utility>

#include <evenkeel/election/elector.hpp>

#include "apiserver/shell/request_target.hpp"
#include "testing/begun_write.hpp"
#include "testing/explore/interventions.hpp"
#include "testing/explore/watch_filter.hpp"

namespace evenkeel {
inline namespace v0 {
namespace testing::detail {
namespace {

class NoCall final : public http::Call {
 public:
  void cancel() noexcept override {}
};

std::string name_of(const http::Request& request) {
  return std::string(http::method_name(request.method)) + " " + request.target;
}

TransportError crashed(const http::Request& request) {
  return {TransportErrorCode::closed,
          name_of(request) + ": the process has crashed (by a plan of explore())"};
}

NotLeader not_leader(const http::Request& request) {
  return NotLeader(name_of(request) + ": this instance is not the leader any more (by a plan of explore())");
}

TransportError unanswered(const http::Request& request) {
  return {TransportErrorCode::timeout,
          name_of(request) + ": the deadline passed (the answer was lost by a plan of explore())"};
}

const char* reason_of(int status) {
  switch (status) {
    case 409:
      return "Conflict";
    case 429:
      return "TooManyRequests";
    case 500:
      return "InternalError";
    case 503:
      return "ServiceUnavailable";
    default:
      return "";
  }
}

http::Response refusal(int status) {
  const Json body = Json::object({{"apiVersion", "v1"},
                                  {"kind", "Status"},
                                  {"status", "Failure"},
                                  {"message", "refused by a plan of explore()"},
                                  {"reason", reason_of(status)},
                                  {"code", status}});
  return {.status = status, .headers = {{"Content-Type", "application/json"}}, .body = body.dump()};
}

bool is_write(const http::Request& request) {
  return request.method != http::Method::get;
}

WatchFilter::Content content_of(const http::Request& request) {
  using Content = WatchFilter::Content;
  if (apiserver::request_target(request).verb != "watch") return Content::list;
  const bool streaming = request.target.find("sendInitialEvents=true") != std::string::npos;
  return streaming ? Content::list_and_events : Content::events;
}

}  // namespace

// The transport of the controllers.
class Interventions::OperatorTransport final : public http::Transport {
 public:
  OperatorTransport(std::shared_ptr<Interventions> owner, std::shared_ptr<http::Transport> inner)
      : owner_(std::move(owner)), inner_(std::move(inner)) {}

  std::shared_ptr<http::Call> send(http::Request request, http::Completion completion) override;
  std::shared_ptr<http::Call> stream(http::Request request,
                                     std::shared_ptr<http::StreamHandler> handler) override {
    return owner_->stream(*inner_, std::move(request), std::move(handler));
  }
  http::Response fetch(http::Request request, std::stop_token stop) override;
  http::WebSocketAnswer open_web_socket(http::Request request, std::vector<std::string> protocols,
                                        std::stop_token stop) override {
    if (owner_->has_crashed()) throw crashed(request);
    return inner_->open_web_socket(std::move(request), std::move(protocols), std::move(stop));
  }

 private:
  std::shared_ptr<http::Call> complete(http::Completion completion, Outcome<http::Response> outcome);

  const std::shared_ptr<Interventions> owner_;
  const std::shared_ptr<http::Transport> inner_;
};

http::Response Interventions::OperatorTransport::fetch(http::Request request, std::stop_token stop) {
  if (owner_->has_crashed()) throw crashed(request);
  if (!is_write(request)) return inner_->fetch(std::move(request), std::move(stop));
  if (owner_->is_too_late(request, stop.stop_requested())) throw not_leader(request);
  const Treatment treatment = owner_->begin_write(request, false);
  if (treatment.kind == Treatment::Kind::refuse) return refusal(treatment.status);
  if (treatment.kind == Treatment::Kind::withdraw) throw not_leader(request);
  http::Response response;
  try {
    response = inner_->fetch(request, std::move(stop));
  } catch (...) {
    owner_->end_write(treatment);
    if (treatment.kind == Treatment::Kind::crash) throw crashed(request);
    throw;
  }
  owner_->end_write(treatment);
  if (treatment.kind == Treatment::Kind::crash) throw crashed(request);
  if (treatment.kind == Treatment::Kind::lose) throw unanswered(request);
  return response;
}

std::shared_ptr<http::Call> Interventions::OperatorTransport::complete(http::Completion completion,
                                                                       Outcome<http::Response> outcome) {
  owner_->deliveries_.push_back([completion = std::move(completion), outcome = std::move(outcome)]() mutable {
    completion(std::move(outcome));
  });
  return std::make_shared<NoCall>();
}

std::shared_ptr<http::Call> Interventions::OperatorTransport::send(http::Request request,
                                                                   http::Completion completion) {
  if (owner_->has_crashed())
    return complete(std::move(completion), std::make_exception_ptr(crashed(request)));
  if (!is_write(request)) return inner_->send(std::move(request), std::move(completion));
  // A stop token does not come along.
  if (owner_->is_too_late(request, true))
    return complete(std::move(completion), std::make_exception_ptr(not_leader(request)));
  const Treatment treatment = owner_->begin_write(request, false);
  if (treatment.kind == Treatment::Kind::refuse)
    return complete(std::move(completion), refusal(treatment.status));
  if (treatment.kind == Treatment::Kind::withdraw)
    return complete(std::move(completion), std::make_exception_ptr(not_leader(request)));
  const auto kept = std::make_shared<const http::Request>(request);
  return inner_->send(std::move(request), [owner = owner_, kept, treatment,
                                           done = std::move(completion)](Outcome<http::Response> outcome) {
    owner->end_write(treatment);
    if (treatment.kind == Treatment::Kind::crash) return done(std::make_exception_ptr(crashed(*kept)));
    if (treatment.kind == Treatment::Kind::lose) return done(std::make_exception_ptr(unanswered(*kept)));
    done(std::move(outcome));
  });
}

// The transport of the test, whose requests are answered at once.
class Interventions::WorkloadTransport final : public http::Transport {
 public:
  WorkloadTransport(std::shared_ptr<Interventions> owner, std::shared_ptr<http::Transport> inner)
      : owner_(std::move(owner)), inner_(std::move(inner)) {}

  std::shared_ptr<http::Call> send(http::Request request, http::Completion completion) override {
    try {
      completion(fetch(std::move(request), {}));
    } catch (...) {
      completion(std::current_exception());
    }
    return std::make_shared<NoCall>();
  }
  std::shared_ptr<http::Call> stream(http::Request request,
                                     std::shared_ptr<http::StreamHandler> handler) override {
    return inner_->stream(std::move(request), std::move(handler));
  }
  http::Response fetch(http::Request request, std::stop_token stop) override;

 private:
  const std::shared_ptr<Interventions> owner_;
  const std::shared_ptr<http::Transport> inner_;
};

http::Response Interventions::WorkloadTransport::fetch(http::Request request, std::stop_token stop) {
  if (!is_write(request) || !owner_->recording_) return inner_->fetch(std::move(request), std::move(stop));
  Write write = begun_write(request);
  const Treatment treatment = owner_->begin_write(request, true);
  write.before = owner_->stored(request, write).value_or(Json());
  http::Response response = inner_->fetch(request, std::move(stop));
  write.status = response.status;
  write.at = owner_->now();
  if (write.key.name.empty() && write.ok())
    write.key.name = Json::parse(response.body).at({"metadata", "name"}).string_or("");
  write.after = owner_->stored(request, write).value_or(Json());
  TracedWrite entry = traced(write);
  entry.moment.write = std::string(workload_prefix) + text_of(write);
  owner_->record(std::move(entry), true);
  owner_->end_write(treatment);
  return response;
}

std::shared_ptr<http::Transport> Interventions::around_controllers(std::shared_ptr<http::Transport> inner) {
  return std::make_shared<OperatorTransport>(shared_from_this(), std::move(inner));
}

std::shared_ptr<http::Transport> Interventions::around_test(std::shared_ptr<http::Transport> inner) {
  return std::make_shared<WorkloadTransport>(shared_from_this(), std::move(inner));
}

// ---- Watches

std::shared_ptr<http::Call> Interventions::stream(http::Transport& inner, http::Request request,
                                                  std::shared_ptr<http::StreamHandler> handler) {
  if (is_dead()) {
    deliveries_.push_back(
        [handler, error = std::make_exception_ptr(crashed(request))] { handler->on_end(error); });
    return std::make_shared<NoCall>();
  }
  const std::string resource = apiserver::request_target(request).qualified_resource();
  if (options_.keeps_timeline || plan_.concerns(resource)) {
    WatchFilter::Seen seen;
    if (options_.keeps_timeline) {
      seen = [this](const std::string& of, std::string_view piece) { timeline_.add_seen(now(), of, piece); };
    }
    auto filter = std::make_shared<WatchFilter>(
        resource, content_of(request), std::move(handler),
        [this, resource] { return plan_.withholds(resource); }, std::move(seen));
    std::erase_if(filters_, [](const auto& weak) { return weak.expired(); });
    filters_.push_back(filter);
    handler = std::move(filter);
  }
  if (old_watches_) return old_watches_->stream(std::move(request), std::move(handler));
  return inner.stream(std::move(request), std::move(handler));
}

}  // namespace testing::detail
}  // namespace v0
}  // namespace evenkeel
