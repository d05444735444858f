// SPDX-License-Identifier: Apache-2.0
#include "testing/explore/interventions.hpp"

#include <algorithm>
#include <utility>

#include "apiserver/shell/request_target.hpp"
#include "testing/begun_write.hpp"
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

std::string resource_of(const http::Request& request) {
  const apiserver::RequestTarget target = apiserver::request_target(request);
  return target.group.empty() ? target.resource : target.resource + "." + target.group;
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
    if (owner_->is_dead()) throw crashed(request);
    return inner_->open_web_socket(std::move(request), std::move(protocols), std::move(stop));
  }

 private:
  std::shared_ptr<http::Call> complete(http::Completion completion, Outcome<http::Response> outcome);

  const std::shared_ptr<Interventions> owner_;
  const std::shared_ptr<http::Transport> inner_;
};

http::Response Interventions::OperatorTransport::fetch(http::Request request, std::stop_token stop) {
  if (owner_->is_dead()) throw crashed(request);
  if (!is_write(request)) return inner_->fetch(std::move(request), std::move(stop));
  const Treatment treatment = owner_->begin_write(request, false);
  if (treatment.kind == Treatment::Kind::refuse) return refusal(treatment.status);
  http::Response response = inner_->fetch(request, std::move(stop));
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
  if (owner_->is_dead()) return complete(std::move(completion), std::make_exception_ptr(crashed(request)));
  if (!is_write(request)) return inner_->send(std::move(request), std::move(completion));
  const Treatment treatment = owner_->begin_write(request, false);
  if (treatment.kind == Treatment::Kind::refuse)
    return complete(std::move(completion), refusal(treatment.status));
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

// ---- The hooks

Interventions::Interventions(InterventionOptions options)
    : options_(std::move(options)), plan_(options_.plan) {}
Interventions::~Interventions() = default;

void Interventions::begin(std::shared_ptr<apiserver::SharedCore> core,
                          std::shared_ptr<const evenkeel::Clock> clock) {
  core_ = std::move(core);
  clock_ = std::move(clock);
  start_ = clock_->now();
}

std::shared_ptr<http::Transport> Interventions::around_controllers(std::shared_ptr<http::Transport> inner) {
  return std::make_shared<OperatorTransport>(shared_from_this(), std::move(inner));
}

std::shared_ptr<http::Transport> Interventions::around_test(std::shared_ptr<http::Transport> inner) {
  return std::make_shared<WorkloadTransport>(shared_from_this(), std::move(inner));
}

void Interventions::on_run(const ReconcileRun& run) {
  ++runs_;
  plan_.on_run();
  if (old_core_) ++runs_on_old_;
  if (options_.keeps_timeline) timeline_.add_run(run);
}

void Interventions::on_write(const Write& write) {
  TracedWrite entry = traced(write);
  entry.moment.write = text_of(write);
  record(std::move(entry), false);
}

bool Interventions::on_idle(bool more) {
  if (old_core_) {
    catch_up();
    return true;
  }
  plan_.on_idle(more);
  return pump() > 0;
}

// The watches of the old state end, and resume on the current one.
void Interventions::catch_up() {
  old_core_->cut_watches();
  old_watches_->pump();
  old_watches_.reset();
  old_core_.reset();
  if (options_.keeps_timeline) timeline_.add_note(now(), "the caches catch up");
}

void Interventions::on_restart() {
  const Restart restart = plan_.take_restart();
  std::string how;
  runs_on_old_ = 0;
  old_watches_.reset();
  old_core_.reset();
  std::optional<apiserver::World> world;
  if (restart.as_before) world = options_.world_before(*restart.as_before);
  if (world) {
    old_core_ = std::make_shared<apiserver::SharedCore>(
        apiserver::SharedCoreOptions{.world = std::move(world), .clock = clock_});
    old_watches_ = std::make_unique<apiserver::InProcessTransport>(
        old_core_, apiserver::InProcessTransportOptions{.pumped = true});
    how = "; its caches show the state before " + restart.as_before->str();
  }
  if (options_.keeps_timeline) timeline_.add_restart(now(), how);
}

std::size_t Interventions::pump() {
  std::size_t done = old_watches_ ? old_watches_->pump() : 0;
  if (old_core_ && runs_on_old_ >= runs_in_the_dark) {
    catch_up();
    ++done;
  }
  for (auto release = plan_.next_release(); release; release = plan_.next_release()) {
    if (options_.keeps_timeline) timeline_.add_note(now(), "the events of " + release->resource + " arrive");
    for (const auto& weak : std::vector(filters_)) {
      const auto filter = weak.lock();
      if (filter && filter->resource() == release->resource) filter->release(release->delivery);
    }
    ++done;
  }
  while (!deliveries_.empty()) {
    const auto deliver = std::move(deliveries_.front());
    deliveries_.pop_front();
    deliver();
    ++done;
  }
  return done;
}

// ---- Writes

Treatment Interventions::begin_write(const http::Request& request, bool of_workload) {
  const Write write = begun_write(request);
  const std::string prefix(of_workload ? workload_prefix : "");
  Treatment treatment = plan_.on_write(prefix + text_of(write));
  if (options_.keeps_worlds) world_ = core_->snapshot();
  if (treatment.kind != Treatment::Kind::pass) runs_hit_.insert(runs_);
  show_steps(true);
  if (treatment.kind == Treatment::Kind::refuse) {
    TracedWrite entry = traced(write);
    entry.moment.write = treatment.moment.write;
    entry.at = now();
    record(std::move(entry), of_workload);
  }
  return treatment;
}

void Interventions::end_write(const Treatment& treatment) {
  plan_.on_written(treatment);
  show_steps(false);
}

// Adds the steps that have begun to the timeline: those that follow a write, after it.
void Interventions::show_steps(bool before_write) {
  for (Step& step : plan_.take_effective()) steps_to_show_.push_back(std::move(step));
  std::erase_if(steps_to_show_, [&](const Step& step) {
    const bool follows = step.kind == StepKind::crash || step.kind == StepKind::lost_answer ||
                         step.kind == StepKind::stale_restart;
    if (before_write && follows) return false;
    if (options_.keeps_timeline) timeline_.add_step(now(), step);
    return true;
  });
}

void Interventions::record(TracedWrite write, bool of_workload) {
  write.of_workload = of_workload;
  write.moment.nth = ++counts_[write.moment.write];
  write.runs = runs_;
  if (options_.keeps_worlds) write.world = std::exchange(world_, std::nullopt);
  if (options_.keeps_timeline && !is_incidental(write.resource)) timeline_.add_write(write);
  trace_.writes.push_back(std::move(write));
}

// Returns the object of a request as the server has it.
std::optional<Json> Interventions::stored(const http::Request& request, const Write& write) const {
  const apiserver::RequestTarget target = apiserver::request_target(request);
  std::string path = request.target.substr(0, request.target.find('?'));
  if (!target.subresource.empty()) path.resize(path.size() - target.subresource.size() - 1);
  if (target.name.empty()) {
    const std::string name =
        write.key.name.empty() ? write.sent.at({"metadata", "name"}).string_or("") : write.key.name;
    if (name.empty()) return std::nullopt;
    path += "/" + http::percent_encode(name);
  }
  const http::Response found = core_->handle({.target = path, .headers = {{"Accept", "application/json"}}});
  if (found.status != 200) return std::nullopt;
  return Json::parse(found.body);
}

Duration Interventions::now() const {
  return clock_->now() - start_;
}

// ---- Watches

std::shared_ptr<http::Call> Interventions::stream(http::Transport& inner, http::Request request,
                                                  std::shared_ptr<http::StreamHandler> handler) {
  if (is_dead()) {
    deliveries_.push_back(
        [handler, error = std::make_exception_ptr(crashed(request))] { handler->on_end(error); });
    return std::make_shared<NoCall>();
  }
  const std::string resource = resource_of(request);
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
