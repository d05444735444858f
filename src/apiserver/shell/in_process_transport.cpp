// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <functional>
#include <list>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <evenkeel/apiserver/in_process_transport.hpp>
#include <evenkeel/base/clock.hpp>
#include <evenkeel/base/mutex.hpp>

#include "apiserver/shell/core_host.hpp"
#include "base/leftover_thread.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {
namespace {

using detail::AuthenticatedRequest;
using detail::CoreHost;
using detail::Reply;
using detail::WatchPiece;

constexpr Duration request_time = std::chrono::seconds{60};

std::exception_ptr broken(TransportErrorCode code, const http::Request& request, const char* reason) {
  return std::make_exception_ptr(TransportError(
      code, std::string(http::method_name(request.method)) + " " + request.target + ": " + reason));
}

}  // namespace

class InProcessTransport::Impl final : public detail::Front, public std::enable_shared_from_this<Impl> {
 public:
  Impl(std::shared_ptr<CoreHost> host, InProcessTransportOptions options)
      : host_(std::move(host)), options_(std::move(options)) {}

  void start();
  void finish() noexcept;
  std::shared_ptr<http::Call> enqueue(http::Request request, http::Completion completion,
                                      std::shared_ptr<http::StreamHandler> handler);
  std::size_t pump();
  std::optional<TimePoint> next_due() const;
  void require_pumped() const {
    if (!options_.pumped)
      throw std::invalid_argument("InProcessTransport: pump() and next_due() need options.pumped");
  }

  void watches_ready(const std::vector<WatchId>& ids) noexcept override {
    MutexLock lock(mutex_);
    ready_.insert(ready_.end(), ids.begin(), ids.end());
    wake();
  }
  void tick_moved() noexcept override {
    MutexLock lock(mutex_);
    wake();
  }
  void schedule(std::function<void()> work) override {
    MutexLock lock(mutex_);
    work_.push_back(std::move(work));
    wake();
  }
  void nudge() noexcept {
    MutexLock lock(mutex_);
    wake();
  }

 private:
  class Exchange;
  using Exchanges = std::list<std::shared_ptr<Exchange>>;

  void wake() EVENKEEL_REQUIRES(mutex_) {
    nudged_ = true;
    changed_.notify_all();
  }
  const Clock& clock() const { return host_->clock(); }
  void run();
  void close() noexcept;
  std::size_t step();
  void take_new_calls();
  bool advance(Exchange& exchange);
  bool begin(Exchange& exchange);
  void execute(Exchange& exchange, const WebhookProgress& progress = {});
  bool run_work();
  void answer(Exchange& exchange, Reply reply);
  bool read_watch(Exchange& exchange);
  void deliver(Exchange& exchange, std::string_view bytes) const;
  static bool watches_silence(const Exchange& exchange);
  static TimePoint guarded_until(const Exchange& exchange);
  bool is_refused(Exchange& exchange);
  void break_off(Exchange& exchange, FaultEnding ending, const char* where);
  void end(Exchange& exchange, std::exception_ptr error);
  bool run_timers();
  std::optional<TimePoint> due_now() const;

  const std::shared_ptr<CoreHost> host_;
  const InProcessTransportOptions options_;

  mutable Mutex mutex_;
  mutable CondVar changed_;
  Exchanges incoming_ EVENKEEL_GUARDED_BY(mutex_);
  std::vector<WatchId> ready_ EVENKEEL_GUARDED_BY(mutex_);
  std::vector<std::function<void()>> work_ EVENKEEL_GUARDED_BY(mutex_);
  bool nudged_ EVENKEEL_GUARDED_BY(mutex_) = false;
  bool closing_ EVENKEEL_GUARDED_BY(mutex_) = false;

  Exchanges running_;  // used by the pumping thread only
  std::thread thread_;
};

// A running request. Everything except the two flags belongs to the thread that pumps.
class InProcessTransport::Impl::Exchange final : public http::Call,
                                                 public std::enable_shared_from_this<Exchange> {
 public:
  void cancel() noexcept override { set(cancelled, true); }
  void pause() noexcept override { set(paused, true); }
  void resume() noexcept override { set(paused, false); }

  std::weak_ptr<Impl> transport;
  std::atomic<bool> cancelled = false;
  std::atomic<bool> paused = false;

  http::Request request;
  http::Completion completion;
  std::shared_ptr<http::StreamHandler> handler;
  std::optional<TimePoint> deadline;
  std::optional<AuthenticatedRequest> authenticated = {};
  TimePoint due{};  // after authentication: end of a rule's delay
  bool executed = false;
  bool answered = false;  // the host has returned a response
  std::optional<WatchId> watch;
  bool readable = false;  // the watch may have output
  bool silent = false;    // by a rule: ended only by time, cancel() or the end of the transport
  TimePoint last_piece{};
  http::Response collected;  // of a watch that was sent as a unary request
  bool over = false;

 private:
  void set(std::atomic<bool>& flag, bool value) const noexcept {
    flag.store(value);
    if (const auto owner = transport.lock()) owner->nudge();
  }
};

void InProcessTransport::Impl::start() {
  host_->attach(this);
  if (!options_.pumped) {
    thread_ = std::thread([self = shared_from_this()] {
      self->run();
      self->close();
    });
  }
}

void InProcessTransport::Impl::finish() noexcept {
  {
    MutexLock lock(mutex_);
    closing_ = true;
    wake();
  }
  if (!thread_.joinable()) return close();
  evenkeel::detail::join_or_leave(std::move(thread_));  // the thread keeps this alive
}

void InProcessTransport::Impl::close() noexcept {
  host_->detach(this);
  for (take_new_calls(); !running_.empty(); take_new_calls()) {  // handlers may send during the loop
    const Exchanges left = std::exchange(running_, {});
    for (const auto& exchange : left)
      end(*exchange, broken(TransportErrorCode::closed, exchange->request, "the transport is closed"));
  }
}

std::shared_ptr<http::Call> InProcessTransport::Impl::enqueue(http::Request request,
                                                              http::Completion completion,
                                                              std::shared_ptr<http::StreamHandler> handler) {
  auto exchange = std::make_shared<Exchange>();
  exchange->transport = weak_from_this();
  exchange->request = std::move(request);
  exchange->deadline = exchange->request.deadline;
  if (!exchange->deadline && !handler) exchange->deadline = clock().now() + request_time;
  exchange->completion = std::move(completion);
  exchange->handler = std::move(handler);
  MutexLock lock(mutex_);
  incoming_.push_back(exchange);
  wake();
  return exchange;
}

std::size_t InProcessTransport::Impl::pump() {
  std::size_t total = 0;
  while (const std::size_t done = step()) total += done;
  return total;
}

void InProcessTransport::Impl::run() {
  for (;;) {
    {
      MutexLock lock(mutex_);
      if (closing_) return;
      nudged_ = false;
    }
    pump();
    const std::optional<TimePoint> due = due_now();
    MutexLock lock(mutex_);
    while (!nudged_ && !closing_ && !(due && *due <= clock().now())) {
      if (due) {
        clock().wait_until(changed_, lock, *due);
      } else {
        clock().wait(changed_, lock);
      }
    }
  }
}

// One round over all running requests. Timed work first, so that a stream does not time out when a bookmark
// is due.
std::size_t InProcessTransport::Impl::step() {
  const bool timed = run_timers();
  const bool ran = run_work() || timed;
  take_new_calls();
  std::size_t done = ran ? 1 : 0;
  for (auto at = running_.begin(); at != running_.end();) {
    const std::shared_ptr<Exchange> exchange = *at;
    if (advance(*exchange)) ++done;
    at = exchange->over ? running_.erase(at) : std::next(at);
  }
  return done;
}

// Continues requests whose webhooks have answered.
bool InProcessTransport::Impl::run_work() {
  std::vector<std::function<void()>> work;
  {
    MutexLock lock(mutex_);
    work.swap(work_);
  }
  for (const std::function<void()>& one : work) one();
  return !work.empty();
}

void InProcessTransport::Impl::take_new_calls() {
  std::vector<WatchId> ready;
  {
    MutexLock lock(mutex_);
    running_.splice(running_.end(), incoming_);
    ready.swap(ready_);
  }
  if (ready.empty()) return;
  std::sort(ready.begin(), ready.end());
  for (const auto& exchange : running_) {
    if (exchange->watch && std::binary_search(ready.begin(), ready.end(), *exchange->watch))
      exchange->readable = true;
  }
}

// Performs one step of an exchange; returns false if there was nothing to do.
bool InProcessTransport::Impl::advance(Exchange& exchange) {
  if (exchange.over) return false;  // ended by the answer of a webhook
  if (exchange.cancelled.load()) {
    end(exchange, std::make_exception_ptr(Cancelled("the call was cancelled")));
    return true;
  }
  if (exchange.watch && exchange.readable && !exchange.paused.load() && read_watch(exchange)) return true;
  const TimePoint now = clock().now();
  if (exchange.deadline && now >= *exchange.deadline) {
    end(exchange, broken(TransportErrorCode::timeout, exchange.request, "the deadline passed"));
    return true;
  }
  if (now >= guarded_until(exchange)) {
    if (is_refused(exchange)) return true;
    end(exchange,
        broken(TransportErrorCode::timeout, exchange.request, "no answer before its guard's time was over"));
    return true;
  }
  if (watches_silence(exchange) && now - exchange.last_piece >= *exchange.request.idle_timeout) {
    end(exchange,
        broken(TransportErrorCode::timeout, exchange.request, "the stream was silent for too long"));
    return true;
  }
  if (exchange.executed) return false;
  return begin(exchange);
}

bool InProcessTransport::Impl::begin(Exchange& exchange) {
  if (!exchange.authenticated) {
    if (is_refused(exchange)) return true;
    exchange.authenticated = host_->authenticate(exchange.request, options_.caller);
    exchange.due = clock().now() + exchange.authenticated->plan.delay;
  }
  if (clock().now() < exchange.due) return false;
  execute(exchange);
  return true;
}

void InProcessTransport::Impl::execute(Exchange& exchange, const WebhookProgress& progress) {
  exchange.executed = true;
  Reply reply = host_->execute(exchange.request, *exchange.authenticated, this, progress);
  if (reply.call)
    return host_->call_webhook(std::move(reply), this,
                               [this, weak = exchange.weak_from_this()](const WebhookProgress& answered) {
                                 const auto waiting = weak.lock();
                                 if (waiting && !waiting->over) execute(*waiting, answered);
                               });
  exchange.answered = true;
  if (reply.dropped) return break_off(exchange, reply.ending, "");
  if (!reply.watch) return answer(exchange, std::move(reply));
  exchange.watch = reply.watch;
  exchange.readable = true;
  exchange.last_piece = clock().now();
  if (exchange.handler) {
    exchange.handler->on_response(reply.response.status, reply.response.headers);
  } else {
    exchange.collected = std::move(reply.response);
  }
}

void InProcessTransport::Impl::answer(Exchange& exchange, Reply reply) {
  if (reply.cut_after) reply.response.body.resize(*reply.cut_after);
  if (exchange.handler) {
    exchange.handler->on_response(reply.response.status, reply.response.headers);
    deliver(exchange, reply.response.body);
  } else {
    exchange.collected = std::move(reply.response);
  }
  if (reply.cut_after) return break_off(exchange, reply.ending, " inside the answer");
  end(exchange, nullptr);
}

// Ends the exchange as if its connection had ended, or leaves it silent.
void InProcessTransport::Impl::break_off(Exchange& exchange, FaultEnding ending, const char* where) {
  if (ending == FaultEnding::silence) {
    exchange.silent = true;
    exchange.last_piece = clock().now();
    return;
  }
  const std::string reason =
      std::string(ending == FaultEnding::reset ? "the connection was reset" : "the connection broke") + where;
  end(exchange, broken(TransportErrorCode::interrupted, exchange.request, reason.c_str()));
}

TimePoint InProcessTransport::Impl::guarded_until(const Exchange& exchange) {
  return exchange.request.guard ? exchange.request.guard->valid_until() : TimePoint::max();
}

// Ends a request that was not sent yet and that its guard rejects; returns true if it did.
bool InProcessTransport::Impl::is_refused(Exchange& exchange) {
  if (!exchange.request.guard || exchange.authenticated) return false;
  try {
    exchange.request.guard->check();
    return false;
  } catch (...) {
    end(exchange, std::current_exception());
    return true;
  }
}

// Returns true for a stream with a running idle timeout.
bool InProcessTransport::Impl::watches_silence(const Exchange& exchange) {
  return exchange.request.idle_timeout && !exchange.paused.load() &&
         (exchange.watch || (exchange.silent && exchange.handler));
}

bool InProcessTransport::Impl::read_watch(Exchange& exchange) {
  exchange.readable = false;
  const WatchPiece piece = host_->read(*exchange.watch);
  if (piece.bytes.empty() && !piece.ended) return false;
  exchange.last_piece = clock().now();
  deliver(exchange, piece.bytes);
  if (piece.ended) {
    exchange.watch.reset();
    if (piece.cut) {
      break_off(exchange, piece.ending, " inside the stream");
    } else {
      end(exchange, nullptr);
    }
  }
  return true;
}

void InProcessTransport::Impl::deliver(Exchange& exchange, std::string_view bytes) const {
  if (!exchange.handler) {
    exchange.collected.body += bytes;
    return;
  }
  const std::size_t largest = options_.largest_piece == 0 ? bytes.size() : options_.largest_piece;
  while (!bytes.empty()) {
    exchange.handler->on_data(bytes.substr(0, largest));
    bytes.remove_prefix(std::min(largest, bytes.size()));
  }
}

void InProcessTransport::Impl::end(Exchange& exchange, std::exception_ptr error) {
  exchange.over = true;
  if (exchange.authenticated && !std::exchange(exchange.answered, true))
    host_->abandon(*exchange.authenticated);
  if (exchange.watch) host_->close(*std::exchange(exchange.watch, std::nullopt));
  if (exchange.handler) {
    std::exchange(exchange.handler, nullptr)->on_end(std::move(error));
    return;
  }
  const http::Completion completion = std::exchange(exchange.completion, nullptr);
  if (error) {
    completion(std::move(error));
  } else {
    completion(std::move(exchange.collected));
  }
}

bool InProcessTransport::Impl::run_timers() {
  const std::optional<WallTime> next = host_->next_due();
  if (!next || *next > clock().wall_now()) return false;
  host_->on_timeout();
  // Work that is due already is done in the next step; work that is not due yet must not be requested again.
  return host_->next_due() != next;
}

// Returns the time of the next step that depends on time alone.
std::optional<TimePoint> InProcessTransport::Impl::due_now() const {
  std::optional<TimePoint> due;
  const auto consider = [&due](TimePoint at) { due = due ? std::min(*due, at) : at; };
  if (const auto next = host_->next_due()) consider(clock().now() + (*next - clock().wall_now()));
  for (const auto& exchange : running_) {
    if (exchange->deadline) consider(*exchange->deadline);
    if (exchange->request.guard) consider(exchange->request.guard->valid_until());
    if (!exchange->executed) consider(exchange->authenticated ? exchange->due : clock().now());
    if (watches_silence(*exchange)) consider(exchange->last_piece + *exchange->request.idle_timeout);
  }
  return due;
}

std::optional<TimePoint> InProcessTransport::Impl::next_due() const {
  {
    MutexLock lock(mutex_);
    if (!incoming_.empty() || !ready_.empty() || !work_.empty()) return clock().now();
  }
  return due_now();
}

InProcessTransport::InProcessTransport(const std::shared_ptr<SharedCore>& core,
                                       InProcessTransportOptions options)
    : InProcessTransport(core->host(), std::move(options)) {}

InProcessTransport::InProcessTransport(std::shared_ptr<detail::CoreHost> host,
                                       InProcessTransportOptions options)
    : impl_(std::make_shared<Impl>(std::move(host), std::move(options))) {
  impl_->start();
}

InProcessTransport::~InProcessTransport() {
  impl_->finish();
}

std::shared_ptr<http::Call> InProcessTransport::send(http::Request request, http::Completion completion) {
  return impl_->enqueue(std::move(request), std::move(completion), nullptr);
}

std::shared_ptr<http::Call> InProcessTransport::stream(http::Request request,
                                                       std::shared_ptr<http::StreamHandler> handler) {
  return impl_->enqueue(std::move(request), nullptr, std::move(handler));
}

std::size_t InProcessTransport::pump() {
  impl_->require_pumped();
  return impl_->pump();
}

std::optional<TimePoint> InProcessTransport::next_due() const {
  impl_->require_pumped();
  return impl_->next_due();
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
