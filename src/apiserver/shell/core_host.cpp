// SPDX-License-Identifier: Apache-2.0
#include "apiserver/shell/core_host.hpp"

#include <algorithm>
#include <utility>

#include <evenkeel/apiserver/webhook_caller.hpp>

#include "apiserver/access/authenticator.hpp"
#include "apiserver/shell/request_target.hpp"
#include "apiserver/shell/status_answer.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver::detail {
namespace {

// Returns the last event of a watch that a rule sends in place of the next one.
std::string last_line(const FaultPlan& plan) {
  if (plan.answer) return R"({"type":"ERROR","object":)" + plan.answer->body + "}\n";
  if (plan.body == FaultBody::no_object) return "{\"type\":\"ADDED\"}\n";
  return plan.garbage + "\n";
}

http::Response html_page() {
  return {
      .status = 200,
      .headers = {{"Content-Type", "text/html; charset=utf-8"}},
      .body = "<!DOCTYPE html>\n<html><head><title>Log in</title></head><body>Log in first.</body></html>\n"};
}

bool is_withheld(std::string_view event, FaultBookmarks sent) {
  if (!event.starts_with(R"({"type":"BOOKMARK")")) return false;
  return sent == FaultBookmarks::none || event.find("k8s.io/initial-events-end") == std::string_view::npos;
}

void withhold_bookmarks(std::string& events, FaultBookmarks sent) {
  std::string kept;
  for (std::size_t at = 0; at < events.size();) {
    const std::size_t end = std::min(events.find('\n', at), events.size() - 1) + 1;
    const std::string_view event = std::string_view(events).substr(at, end - at);
    if (!is_withheld(event, sent)) kept += event;
    at = end;
  }
  events = std::move(kept);
}

// Returns the end of the first event that ends at byte `from` or later; std::nullopt if there is none.
std::optional<std::size_t> event_end(std::string_view bytes, std::size_t from) {
  const std::size_t at = bytes.find('\n', from == 0 ? 0 : from - 1);
  if (at == std::string_view::npos) return std::nullopt;
  return at + 1;
}

// Returns the end of the n-th event.
std::optional<std::size_t> event_end_after(std::string_view bytes, std::size_t events) {
  std::size_t end = 0;
  for (; events > 0; --events) {
    const std::size_t at = bytes.find('\n', end);
    if (at == std::string_view::npos) return std::nullopt;
    end = at + 1;
  }
  return end;
}

}  // namespace

CoreHost::CoreHost(std::unique_ptr<Backend> backend, SharedCoreOptions options)
    : clock_(std::move(options.clock)),
      tokens_(std::move(options.tokens)),
      rbac_((options.world ? options.world->authorization() : options.core.authorization) ==
            Authorization::rbac),
      anonymous_(options.anonymous),
      webhooks_(options.webhooks ? std::move(options.webhooks) : make_http_webhook_caller()),
      on_request_(std::move(options.on_request)),
      backend_(std::move(backend)) {
  for (FaultRule& rule : options.faults) faults_.add(std::move(rule));
  MutexLock lock(answers_->mutex);
  answers_->host = this;
}

CoreHost::~CoreHost() {
  MutexLock lock(answers_->mutex);
  answers_->host = nullptr;
}

void CoreHost::Listeners::add(Front* front) {
  MutexLock lock(mutex_);
  fronts_.push_back(front);
}

void CoreHost::Listeners::remove(Front* front) {
  MutexLock lock(mutex_);
  std::erase(fronts_, front);
}

void CoreHost::Listeners::schedule(Front* front, std::function<void()> work) {
  MutexLock lock(mutex_);
  if (std::find(fronts_.begin(), fronts_.end(), front) != fronts_.end()) front->schedule(std::move(work));
}

void CoreHost::attach(Front* front) {
  listeners_->add(front);
  MutexLock lock(mutex_);
  fronts_.push_back(front);
}

void CoreHost::detach(Front* front) {
  listeners_->remove(front);
  MutexLock lock(mutex_);
  std::erase(fronts_, front);
  for (auto at = watches_.begin(); at != watches_.end();) {
    const auto watch = at++;
    if (watch->second.front != front) continue;
    backend_->close_watch(watch->first);
    finish(watch);
  }
}

std::optional<Caller> CoreHost::identify(const http::Request& request) {
  if (tokens_.empty() && !rbac_) return Caller{};
  const std::string* line = request.headers.find("Authorization");
  if (line == nullptr && rbac_ && anonymous_)
    return Caller{.user = "system:anonymous", .groups = {"system:unauthenticated"}};
  constexpr std::string_view scheme = "Bearer ";
  if (line == nullptr || !line->starts_with(scheme)) return std::nullopt;
  const std::string_view token = std::string_view(*line).substr(scheme.size());
  for (const TokenUser& user : tokens_) {
    if (user.token != token) continue;
    if (user.expires && *user.expires <= clock_->wall_now()) return std::nullopt;
    return rbac_ ? authenticated(user.caller) : user.caller;
  }
  MutexLock lock(mutex_);
  return backend_->token_user(token, clock_->wall_now());
}

AuthenticatedRequest CoreHost::authenticate(const http::Request& request,
                                            const std::optional<Caller>& known) {
  const std::optional<Caller> caller = known ? known : identify(request);
  if (!caller) return {.refusal = status_answer(401, "", "Unauthorized")};
  AuthenticatedRequest authenticated{.caller = *caller};
  MutexLock lock(mutex_);
  if (!faults_.empty()) authenticated.plan = faults_.plan(request_target(request), caller->user);
  return authenticated;
}

// Returns the reply of a rule that replaces the core's response.
Reply CoreHost::refused(const FaultPlan& plan) {
  faults_.on_fired(plan);
  if (plan.answer) return {.response = *plan.answer};
  return {.dropped = true, .ending = plan.ending};
}

Reply CoreHost::execute(const http::Request& request, const AuthenticatedRequest& authenticated, Front* front,
                        const WebhookProgress& progress) {
  Reply reply;
  if (authenticated.refusal) {
    reply.response = *authenticated.refusal;
  } else {
    MutexLock lock(mutex_);
    reply = perform(request, authenticated, front, progress);
    announce();
  }
  call_for_watches();
  if (reply.call) return reply;
  report(request, authenticated.caller, reply);
  return reply;
}

void CoreHost::abandon(const AuthenticatedRequest& authenticated) {
  MutexLock lock(mutex_);
  faults_.on_not_fired(authenticated.plan);
}

void CoreHost::call_webhook(Reply reply, Front* front, std::function<void(const WebhookProgress&)> again) {
  const auto waiting = std::make_shared<Reply>(std::move(reply));
  webhooks_->call(*waiting->call,
                  [listeners = listeners_, waiting, front, again = std::move(again)](WebhookAnswer answer) {
                    waiting->progress.add(*waiting->call, std::move(answer));
                    listeners->schedule(front, [waiting, again] { again(waiting->progress); });
                  });
}

Reply CoreHost::perform(const http::Request& request, const AuthenticatedRequest& authenticated, Front* front,
                        const WebhookProgress& progress) {
  const FaultPlan& plan = authenticated.plan;
  const bool speaks_later = plan.watch && plan.cuts();
  if ((plan.answer && !speaks_later) || plan.drop == FaultDrop::before) return refused(plan);
  Answer answer =
      backend_->handle_again(request, clock_->wall_now(), authenticated.caller, plan.lag, progress);
  if (answer.call) return {.call = std::move(answer.call), .progress = std::move(answer.progress)};
  Reply reply{.response = std::move(answer.response), .watch = answer.watch};
  const bool ends = plan.drop == FaultDrop::after || plan.body == FaultBody::html;
  if (reply.watch && ends) backend_->close_watch(*std::exchange(reply.watch, std::nullopt));
  if (plan.drop == FaultDrop::after) return refused(plan);
  if (answer.node && front != nullptr && plan.body == FaultBody::usual) {
    if (auto head = front->node_answer(request, *answer.node)) {
      if (head->status < 400) reply.node = std::move(answer.node);
      reply.response = std::move(*head);
    }
  }
  if (reply.watch) {
    start_watch(*reply.watch, plan, front);
  } else {
    spoil_answer(plan, reply);
  }
  return reply;
}

void CoreHost::spoil_answer(const FaultPlan& plan, Reply& reply) {
  if (plan.body == FaultBody::html) reply.response = html_page();
  if (plan.body == FaultBody::garbage) reply.response.body = plan.garbage;
  if (plan.answer || !plan.cut_after || *plan.cut_after >= reply.response.body.size())
    return faults_.on_not_fired(plan);
  if (plan.ending == FaultEnding::complete) {
    reply.response.body.resize(*plan.cut_after);
  } else {
    reply.cut_after = plan.cut_after;
    reply.ending = plan.ending;
  }
  faults_.on_fired(plan);
}

void CoreHost::start_watch(WatchId id, const FaultPlan& plan, Front* front) {
  Watch watch{.front = front, .plan = plan};
  if (plan.cut_after_time)
    watch.cut_at = clock_->wall_now() + std::chrono::duration_cast<WallTime::duration>(*plan.cut_after_time);
  watches_.emplace(id, std::move(watch));
}

WatchPiece CoreHost::read(WatchId id) {
  MutexLock lock(mutex_);
  const auto at = watches_.find(id);
  if (at == watches_.end()) return {.ended = true};
  Watch& watch = at->second;
  if (watch.cut) {
    finish(at);
    return {.ended = true, .cut = true};
  }
  WatchOutput output = backend_->read_watch(id);
  WatchPiece piece{.bytes = std::move(output.bytes), .ended = output.ended};
  if (watch.plan.bookmarks != FaultBookmarks::all) withhold_bookmarks(piece.bytes, watch.plan.bookmarks);
  if (watch.plan.cuts() || watch.plan.at_once) corrupt_watch(watch, piece);
  if (!piece.bytes.empty()) watch.between_events = piece.bytes.back() == '\n';
  watch.sent += piece.bytes.size();
  watch.events += static_cast<std::size_t>(std::count(piece.bytes.begin(), piece.bytes.end(), '\n'));
  if (!piece.ended) return piece;
  if (!output.ended) backend_->close_watch(id);
  finish(at);
  return piece;
}

// Returns the number of the next bytes of a watch before its plan's cut; std::nullopt if they do not reach
// it.
std::optional<std::size_t> CoreHost::cut_point(Watch& watch, std::string_view bytes) const {
  FaultPlan& plan = watch.plan;
  std::optional<std::size_t> point;
  const auto consider = [&point](std::optional<std::size_t> at) {
    if (at && (!point || *at < *point)) point = at;
  };
  if (plan.at_once) consider(0);
  if (plan.cut_after) {
    const std::size_t left = *plan.cut_after - watch.sent;  // it is applied before more is sent
    if (!plan.speaks()) {
      if (bytes.size() > left) consider(left);
    } else if (left == 0 && watch.between_events) {
      consider(0);
    } else if (left <= bytes.size()) {
      const auto end = event_end(bytes, left);
      // Past the limit but inside an event: wait for its end.
      if (!end) plan.cut_after = watch.sent + bytes.size();
      consider(end);
    }
  }
  if (plan.cut_after_events) consider(event_end_after(bytes, *plan.cut_after_events - watch.events));
  if (plan.cut_after_time && (!watch.cut_at || *watch.cut_at <= clock_->wall_now())) consider(bytes.size());
  return point;
}

// Applies the fault of a rule to a running watch once it is due.
void CoreHost::corrupt_watch(Watch& watch, WatchPiece& piece) {
  const std::optional<std::size_t> point = cut_point(watch, piece.bytes);
  if (!point) return;
  FaultPlan& plan = watch.plan;
  piece.bytes.resize(*point);
  if (plan.speaks()) piece.bytes += last_line(plan);
  piece.ended = true;
  piece.cut = plan.ending != FaultEnding::complete;
  piece.ending = plan.ending;
  faults_.on_fired(plan);
  plan = {};
}

// Lets running watches continue as if their rules did not exist.
void CoreHost::release(const std::function<bool(const FaultPlan&)>& chosen) {
  for (auto& [id, watch] : watches_) {
    if (watch.plan.rule == 0 || !chosen(watch.plan)) continue;
    faults_.on_not_fired(watch.plan);
    watch.plan = {};
    watch.cut_at.reset();
    backend_->catch_up(id);
  }
  announce();
}

void CoreHost::finish(Watches::iterator at) {
  faults_.on_not_fired(at->second.plan);
  watches_.erase(at);
}

void CoreHost::close(WatchId id) {
  MutexLock lock(mutex_);
  const auto at = watches_.find(id);
  if (at == watches_.end()) return;
  backend_->close_watch(id);
  finish(at);
}

std::size_t CoreHost::cut_watches() {
  MutexLock lock(mutex_);
  std::map<Front*, std::vector<WatchId>> ready;
  std::size_t count = 0;
  for (auto& [id, watch] : watches_) {
    if (watch.cut) continue;
    watch.cut = true;
    backend_->close_watch(id);
    ready[watch.front].push_back(id);
    ++count;
  }
  for (const auto& [front, ids] : ready) front->watches_ready(ids);
  return count;
}

void CoreHost::step() {
  MutexLock lock(mutex_);
  const WallTime now = clock_->wall_now();
  backend_->on_timeout(now);
  for (auto& [id, watch] : watches_) {
    if (!watch.cut_at || *watch.cut_at > now) continue;
    watch.cut_at.reset();
    watch.front->watches_ready({id});
  }
  announce();
}

void CoreHost::on_timeout() {
  step();
  call_for_watches();
}

std::optional<WallTime> CoreHost::next_due() const {
  MutexLock lock(mutex_);
  return due();
}

// Returns the time of the next on_timeout(): that of the core, or of a timed cut.
std::optional<WallTime> CoreHost::due() const {
  std::optional<WallTime> next = backend_->next_due();
  for (const auto& [id, watch] : watches_)
    if (watch.cut_at && (!next || *watch.cut_at < *next)) next = watch.cut_at;
  return next;
}

// Notifies each front of its readable watches, and all fronts if next_due() changed.
void CoreHost::announce() {
  std::map<Front*, std::vector<WatchId>> ready;
  for (const WatchId id : backend_->ready_watches()) {
    const auto at = watches_.find(id);
    if (at != watches_.end()) ready[at->second.front].push_back(id);
  }
  for (const auto& [front, ids] : ready) front->watches_ready(ids);
  const std::optional<WallTime> next = due();
  if (next == announced_tick_) return;
  announced_tick_ = next;
  for (Front* front : fronts_) front->tick_moved();
}

void CoreHost::report(const http::Request& request, const Caller& caller, const Reply& reply) const {
  if (!on_request_) return;
  on_request_({.method = request.method,
               .target = request.target,
               .user = caller.user,
               .status = reply.dropped ? 0 : reply.response.status});
}

FaultId CoreHost::inject(FaultRule rule) {
  MutexLock lock(mutex_);
  return faults_.add(std::move(rule));
}

void CoreHost::remove_fault(FaultId id) {
  MutexLock lock(mutex_);
  faults_.remove(id);
  release([id](const FaultPlan& plan) { return plan.rule == id; });
}

void CoreHost::clear_faults() {
  MutexLock lock(mutex_);
  faults_.clear();
  release([](const FaultPlan&) { return true; });
}

FaultCounts CoreHost::fault_counts(FaultId id) const {
  MutexLock lock(mutex_);
  return faults_.counts(id);
}

void CoreHost::with(const std::function<void(Backend&)>& action) {
  {
    MutexLock lock(mutex_);
    action(*backend_);
    announce();
  }
  call_for_watches();
}

// Calls the webhooks that convert for running watches. They may answer during the call.
void CoreHost::call_for_watches() {
  std::vector<WatchWebhookCall> calls;
  {
    MutexLock lock(mutex_);
    calls = backend_->take_webhook_calls();
  }
  for (const WatchWebhookCall& each : calls) {
    webhooks_->call(each.call, [answers = answers_, id = each.id](const WebhookAnswer& answer) {
      MutexLock lock(answers->mutex);
      if (answers->host != nullptr) answers->host->on_webhook_answer(id, answer);
    });
  }
}

void CoreHost::on_webhook_answer(std::uint64_t id, const WebhookAnswer& answer) {
  MutexLock lock(mutex_);
  backend_->on_webhook_answer(id, answer);
  announce();
}

}  // namespace apiserver::detail
}  // namespace v0
}  // namespace evenkeel
