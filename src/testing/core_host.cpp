// SPDX-License-Identifier: Apache-2.0
#include "testing/core_host.hpp"

#include <algorithm>
#include <utility>

#include "testing/request_target.hpp"
#include "testing/status_answer.hpp"

namespace evenkeel::inline v0::testing::detail {
namespace {

// The ERROR event by which a watch is told that it fails.
std::string error_event(const http::Response& status) {
  return R"({"type":"ERROR","object":)" + status.body + "}\n";
}

}  // namespace

CoreHost::CoreHost(std::unique_ptr<Backend> backend, SharedCoreOptions options)
    : clock_(std::move(options.clock)),
      tokens_(std::move(options.tokens)),
      on_request_(std::move(options.on_request)),
      backend_(std::move(backend)) {
  for (FaultRule& rule : options.faults) faults_.add(std::move(rule));
}

void CoreHost::attach(Front* front) {
  MutexLock lock(mutex_);
  fronts_.push_back(front);
}

void CoreHost::detach(Front* front) {
  MutexLock lock(mutex_);
  std::erase(fronts_, front);
  for (auto at = watches_.begin(); at != watches_.end();) {
    const auto watch = at++;
    if (watch->second.front != front) continue;
    backend_->close_watch(watch->first);
    finish(watch);
  }
}

std::optional<Caller> CoreHost::identify(const http::Request& request) const {
  if (tokens_.empty()) return Caller{};
  const std::string* line = request.headers.find("Authorization");
  constexpr std::string_view scheme = "Bearer ";
  if (line == nullptr || !line->starts_with(scheme)) return std::nullopt;
  const std::string_view token = std::string_view(*line).substr(scheme.size());
  for (const TokenUser& user : tokens_) {
    if (user.token == token) return user.caller;
  }
  return std::nullopt;
}

Admission CoreHost::admit(const http::Request& request, const std::optional<Caller>& known) {
  const std::optional<Caller> caller = known ? known : identify(request);
  if (!caller) return {.refusal = status_answer(401, "", "Unauthorized")};
  Admission admission{.caller = *caller};
  MutexLock lock(mutex_);
  if (!faults_.empty()) admission.plan = faults_.plan(request_target(request), caller->user);
  return admission;
}

// What a rule does without asking the core.
Reply CoreHost::faulty(const FaultPlan& plan) {
  faults_.fired(plan);
  if (plan.answer) return {.response = *plan.answer};
  return {.dropped = true};
}

Reply CoreHost::execute(const http::Request& request, const Admission& admission, Front* front) {
  const FaultPlan& plan = admission.plan;
  Reply reply;
  if (admission.refusal) {
    reply.response = *admission.refusal;
  } else {
    const bool watch_later = plan.answer && plan.cut_after && request_target(request).verb == "watch";
    MutexLock lock(mutex_);
    if ((plan.answer && !watch_later) || plan.drop == FaultDrop::before) {
      reply = faulty(plan);
    } else {
      Answer answer = backend_->handle(request, clock_->wall_now(), admission.caller);
      reply.response = std::move(answer.response);
      reply.watch = answer.watch;
      if (reply.watch && plan.drop == FaultDrop::never) {
        start_watch(*reply.watch, plan, front);
      } else if (plan.drop == FaultDrop::after) {
        if (reply.watch) backend_->close_watch(*reply.watch);
        reply = faulty(plan);
      } else if (plan.cut_after && !plan.answer && *plan.cut_after < reply.response.body.size()) {
        reply.cut_after = plan.cut_after;
        faults_.fired(plan);
      } else {
        faults_.spared(plan);
      }
      announce();
    }
  }
  report(request, admission.caller, reply);
  return reply;
}

void CoreHost::start_watch(WatchId id, const FaultPlan& plan, Front* front) {
  watches_.emplace(id, Watch{.front = front, .plan = plan});
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
  if (watch.plan.cut_after) spoil(watch, piece);
  if (!piece.bytes.empty()) watch.between_events = piece.bytes.back() == '\n';
  watch.sent += piece.bytes.size();
  if (!piece.ended) return piece;
  if (!output.ended) backend_->close_watch(id);
  finish(at);
  return piece;
}

// Applies what a rule has in store for a running watch once enough bytes were sent.
void CoreHost::spoil(Watch& watch, WatchPiece& piece) {
  FaultPlan& plan = watch.plan;
  const std::size_t left = *plan.cut_after - watch.sent;  // fires before more was sent
  if (!plan.answer) {
    if (piece.bytes.size() <= left) return;
    piece.bytes.resize(left);
    piece.cut = true;
  } else if (left == 0 && watch.between_events) {
    piece.bytes = error_event(*plan.answer);
  } else {
    const std::size_t end =
        left > piece.bytes.size() ? std::string::npos : piece.bytes.find('\n', left == 0 ? 0 : left - 1);
    if (end == std::string::npos) {
      // Past the mark but inside an event: its end is waited for.
      if (left <= piece.bytes.size()) plan.cut_after = watch.sent + piece.bytes.size();
      return;
    }
    piece.bytes.resize(end + 1);
    piece.bytes += error_event(*plan.answer);
  }
  piece.ended = true;
  faults_.fired(plan);
  plan.cut_after.reset();
}

void CoreHost::finish(Watches::iterator at) {
  faults_.spared(at->second.plan);
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

void CoreHost::tick() {
  MutexLock lock(mutex_);
  backend_->tick(clock_->wall_now());
  announce();
}

std::optional<WallTime> CoreHost::next_tick() const {
  MutexLock lock(mutex_);
  return backend_->next_tick();
}

// Tells each front which of its watches can be read, and all of them when the next tick moved.
void CoreHost::announce() {
  std::map<Front*, std::vector<WatchId>> ready;
  for (const WatchId id : backend_->ready_watches()) {
    const auto at = watches_.find(id);
    if (at != watches_.end()) ready[at->second.front].push_back(id);
  }
  for (const auto& [front, ids] : ready) front->watches_ready(ids);
  const std::optional<WallTime> next = backend_->next_tick();
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
}

void CoreHost::clear_faults() {
  MutexLock lock(mutex_);
  faults_.clear();
}

FaultCounts CoreHost::fault_counts(FaultId id) const {
  MutexLock lock(mutex_);
  return faults_.counts(id);
}

void CoreHost::with(const std::function<void(Backend&)>& action) {
  MutexLock lock(mutex_);
  action(*backend_);
  announce();
}

}  // namespace evenkeel::inline v0::testing::detail
