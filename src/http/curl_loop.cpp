// SPDX-License-Identifier: Apache-2.0
#include "http/curl_loop.hpp"

#include <algorithm>
#include <stdexcept>

#include "http/connection_user.hpp"

namespace evenkeel {
inline namespace v0 {
namespace http::detail {
namespace {

constexpr std::size_t max_idle_handles = 128;  // 5.6 KB each

// libcurl 7.88 does not wait while a peer withholds something (no stream allowed, no window to write into):
// it asks for a call at once, again and again. After this many turns without progress the loop waits by
// itself, longer each time. A handshake takes about ten turns.
constexpr unsigned free_idle_turns = 100;
constexpr Duration first_brake = std::chrono::milliseconds{1};
constexpr Duration longest_brake = std::chrono::milliseconds{50};

}  // namespace

CurlLoop::CurlLoop(CurlTransportOptions options, std::shared_ptr<TlsFiles> tls)
    : options_(std::move(options)),
      endpoint_(parse_endpoint(options_)),
      tls_(std::move(tls)),
      multi_(curl_multi_init()) {
  if (multi_ == nullptr) throw std::bad_alloc();
  curl_multi_setopt(multi_, CURLMOPT_SOCKETFUNCTION, &CurlLoop::on_socket);
  curl_multi_setopt(multi_, CURLMOPT_SOCKETDATA, static_cast<void*>(this));
  curl_multi_setopt(multi_, CURLMOPT_TIMERFUNCTION, &CurlLoop::on_timer);
  curl_multi_setopt(multi_, CURLMOPT_TIMERDATA, static_cast<void*>(this));
  curl_multi_setopt(multi_, CURLMOPT_PIPELINING, static_cast<long>(CURLPIPE_MULTIPLEX));
  curl_multi_setopt(multi_, CURLMOPT_MAX_CONCURRENT_STREAMS,
                    static_cast<long>(std::min<std::size_t>(options_.max_in_flight, 1000)));
}

CurlLoop::~CurlLoop() {
  for (CURL* easy : idle_handles_) curl_easy_cleanup(easy);
  curl_multi_cleanup(multi_);
}

void CurlLoop::post(Command command, std::shared_ptr<CurlExchange> exchange) noexcept {
  bool wake = false;
  {
    MutexLock lock(mutex_);
    if (stopped_) return;
    inbox_.emplace_back(command, std::move(exchange));
    wake = std::exchange(sleeping_, false);
  }
  if (wake || host_) this->wake();
}

void CurlLoop::wake() noexcept {
  if (host_) return host_->runner()->wake(*this);
  brake_.notify_all();
  sockets_.wake();
}

void CurlLoop::stop() noexcept {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  wake();
}

void CurlLoop::drop_outdated() noexcept {
  {
    MutexLock lock(mutex_);
    rotated_ = true;
    if (!std::exchange(sleeping_, false) && !host_) return;
  }
  wake();
}

void CurlLoop::run_thread() {
  while (take_commands()) turn();
  end_all();
}

void CurlLoop::turn() {
  start_queued();
  if (!host_ && idle_turns_ > free_idle_turns && may_sleep()) brake();
  drive();
  reap();
  expire();
  start_queued();
}

void CurlLoop::open(std::shared_ptr<evenkeel::detail::EventLoopState> host) {
  host_ = std::move(host);
  prerequisites_ =
      std::make_shared<ConnectionPrerequisites>(host_, endpoint_, options_, tls_, [self = weak_from_this()] {
        if (const auto loop = self.lock()) loop->wake();
      });
  host_->watch(sockets_.fd(), *this);
}

void CurlLoop::run() noexcept {
  const std::shared_ptr<CurlLoop> keep = shared_from_this();
  in_turn_ = true;
  if (take_commands() && !is_braked()) turn();
  in_turn_ = false;
  if (!is_stopping()) return arrange();
  close();
  host_->post([keep] {});  // the runner still uses this job when run() has returned
}

// Decides when the host has to call again.
void CurlLoop::arrange() {
  last_turn_ = now();
  if (braked_until_ == TimePoint::min() && idle_turns_ > free_idle_turns) {
    braked_until_ = last_turn_ + brake_time();
    host_->unwatch(sockets_.fd());
  }
  host_->runner()->wake_at(*this, braked_until_ == TimePoint::min() ? next_due() : braked_until_);
}

bool CurlLoop::is_braked() {
  if (braked_until_ == TimePoint::min()) return false;
  if (idle_turns_ > 0 && now() < braked_until_) return true;
  braked_until_ = TimePoint::min();
  host_->watch(sockets_.fd(), *this);
  return false;
}

void CurlLoop::close() noexcept {
  if (in_turn_ || !host_) return;
  const auto keep = shared_from_this();  // end_all() may release the last other reference
  end_all();
  if (braked_until_ == TimePoint::min()) host_->unwatch(sockets_.fd());
  host_->runner()->forget(*this);
}

bool CurlLoop::is_stopping() {
  MutexLock lock(mutex_);
  return stopping_;
}

Duration CurlLoop::brake_time() const {
  const unsigned step = std::min(idle_turns_ - free_idle_turns - 1, 6U);
  return std::min({first_brake * (1 << step), longest_brake, until_timer()});
}

void CurlLoop::brake() {
  const TimePoint until = now() + brake_time();
  MutexLock lock(mutex_);
  while (sleeping_ && !stopping_ && now() < until) brake_.wait_until(lock, until);
}

// Waits until a socket is ready, a timer is due or a command arrives, and lets libcurl do its work.
void CurlLoop::drive() {
  const Duration wait = until_due();
  const TimePoint before = host_ ? last_turn_ : now();
  const bool sleep = !host_ && wait > Duration::zero() && may_sleep();
  ++idle_turns_;
  sockets_.wait(sleep ? wait : Duration::zero(), [this](int socket, unsigned ready) { act(socket, ready); });
  const TimePoint after = now();
  if (after - before >= first_brake) idle_turns_ = 0;
  if (curl_due_ > after) return;
  curl_due_ = TimePoint::max();
  act(CURL_SOCKET_TIMEOUT, 0);
}

void CurlLoop::act(curl_socket_t socket, unsigned ready) {
  if (const auto at = handed_over_.find(socket); at != handed_over_.end()) return serve(*at->second);
  int mask = 0;
  if ((ready & SocketPoller::readable) != 0) mask |= CURL_CSELECT_IN;
  if ((ready & SocketPoller::writable) != 0) mask |= CURL_CSELECT_OUT;
  int running = 0;
  curl_multi_socket_action(multi_, socket, mask, &running);
}

int CurlLoop::on_socket(CURL*, curl_socket_t socket, int interest, void* self, void*) {
  unsigned wanted = 0;
  if (interest == CURL_POLL_IN || interest == CURL_POLL_INOUT) wanted |= SocketPoller::readable;
  if (interest == CURL_POLL_OUT || interest == CURL_POLL_INOUT) wanted |= SocketPoller::writable;
  static_cast<CurlLoop*>(self)->sockets_.set(socket, wanted);
  return 0;
}

int CurlLoop::on_timer(CURLM*, long timeout_ms, void* self) {
  static_cast<CurlLoop*>(self)->curl_due_ =
      timeout_ms < 0 ? TimePoint::max() : now() + std::chrono::milliseconds(timeout_ms);
  return 0;
}

// From here until the next take_commands() a command has to wake this thread; at other times it is seen
// anyway, which saves the two system calls of a wake-up.
bool CurlLoop::may_sleep() {
  MutexLock lock(mutex_);
  sleeping_ = inbox_.empty() && !stopping_ && !rotated_;
  return sleeping_;
}

bool CurlLoop::take_commands() {
  Inbox commands;
  bool rotated = false;
  {
    MutexLock lock(mutex_);
    sleeping_ = false;
    if (stopping_) return false;
    commands.swap(inbox_);
    rotated = std::exchange(rotated_, false);
  }
  if (!commands.empty()) note_progress();
  if (rotated) end_outdated();
  for (const auto& [command, exchange] : commands) carry_out(command, exchange);
  return true;
}

void CurlLoop::end_outdated() {
  const std::shared_ptr<const TlsMaterial> current = tls_->get();
  std::vector<std::shared_ptr<CurlExchange>> outdated;
  for (const auto& exchange : live_) {
    if (exchange->is_stream() && exchange->user() == nullptr && exchange->is_outdated(*current))
      outdated.push_back(exchange);
  }
  for (const auto& exchange : outdated) {
    end(*exchange, std::make_exception_ptr(TransportError(
                       TransportErrorCode::interrupted,
                       exchange->describe(endpoint_.base, "the client certificate was replaced"))));
  }
}

void CurlLoop::carry_out(Command command, const std::shared_ptr<CurlExchange>& exchange) {
  switch (command) {
    case Command::start:
      start(exchange);
      return;
    case Command::cancel:
      if (!exchange->finished()) end(*exchange, exchange->error_of(CURLE_OK, endpoint_.base));
      return;
    case Command::resume:
      if (exchange->user_socket >= 0) return serve(*exchange);
      if (exchange->user() != nullptr) return;
      if (const CURLcode code = exchange->unpause(); code != CURLE_OK) {
        end(*exchange, exchange->error_of(code, endpoint_.base));
      }
      return;
  }
}

void CurlLoop::start(const std::shared_ptr<CurlExchange>& exchange) {
  live_.insert(exchange);
  exchange->start_clock(now(), options_);
  if (auto error = exchange->overdue(now(), endpoint_.base)) {
    end(*exchange, std::move(error));
    return;
  }
  arm(*exchange);
  if (exchange->is_stream()) {
    streams_.push_back(exchange);
  } else {
    queue_.push_back(exchange);
  }
}

bool CurlLoop::may_connect() {
  if (!prerequisites_) return true;
  if (const auto failure = prerequisites_->take_failure()) end_waiting(*failure);
  return (streams_.empty() && queue_.empty()) || prerequisites_->is_done(now());
}

void CurlLoop::end_waiting(const ConnectionPrerequisites::Failure& failure) {
  std::vector<std::shared_ptr<CurlExchange>> waiting = std::exchange(streams_, {});
  waiting.insert(waiting.end(), queue_.begin(), queue_.end());
  queue_.clear();
  for (const auto& exchange : waiting) {
    if (exchange->finished()) continue;
    end(*exchange, std::make_exception_ptr(
                       TransportError(failure.code, exchange->describe(endpoint_.base, failure.reason))));
  }
}

void CurlLoop::start_queued() {
  if (!may_connect()) return;
  for (const auto& stream : std::exchange(streams_, {})) {
    if (!stream->finished()) launch(*stream);
  }
  while (!queue_.empty() && in_flight_ < limit()) {
    const std::shared_ptr<CurlExchange> next = std::move(queue_.front());
    queue_.pop_front();
    if (!next->finished()) launch(*next);
  }
}

void CurlLoop::launch(CurlExchange& exchange) {
  if (auto refusal = exchange.refusal())
    return end(exchange, std::move(refusal));  // the guard may have changed while it was queued
  try {
    // Before a handle is taken, because it throws if files cannot be read.
    const std::shared_ptr<const TlsMaterial> tls = !endpoint_.tls   ? nullptr
                                                   : prerequisites_ ? tls_->current()
                                                                    : tls_->get();
    exchange.attach(take_easy(tls), endpoint_, options_, tls,
                    prerequisites_ ? prerequisites_->addresses() : "");
  } catch (const std::exception& error) {
    if (exchange.running()) curl_easy_cleanup(exchange.detach());
    end(exchange, std::make_exception_ptr(TransportError(TransportErrorCode::tls,
                                                         exchange.describe(endpoint_.base, error.what()))));
    return;
  }
  curl_multi_add_handle(multi_, exchange.easy());
  if (!exchange.is_stream()) ++in_flight_;
}

// A handle keeps the TLS sessions of its connections. One that was made under other authorities must not be
// resumed: its server would not be verified again.
CURL* CurlLoop::take_easy(const std::shared_ptr<const TlsMaterial>& tls) {
  if (tls != idle_tls_) {
    for (CURL* idle : std::exchange(idle_handles_, {})) curl_easy_cleanup(idle);
    idle_tls_ = tls;
  }
  CURL* easy = nullptr;
  if (!idle_handles_.empty()) {
    easy = idle_handles_.back();
    idle_handles_.pop_back();
  } else {
    easy = curl_easy_init();
  }
  if (easy == nullptr) throw std::bad_alloc();
  return easy;
}

void CurlLoop::give_easy(CURL* easy, const std::shared_ptr<const TlsMaterial>& tls) {
  if (tls == idle_tls_ && idle_handles_.size() < max_idle_handles) {
    idle_handles_.push_back(easy);
  } else {
    curl_easy_cleanup(easy);
  }
}

void CurlLoop::reap() {
  int left = 0;
  while (CURLMsg* message = curl_multi_info_read(multi_, &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    char* self = nullptr;
    curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &self);
    auto& exchange = *reinterpret_cast<CurlExchange*>(self);
    long version = 0;
    if (!exchange.is_stream() &&
        curl_easy_getinfo(message->easy_handle, CURLINFO_HTTP_VERSION, &version) == CURLE_OK &&
        version != 0) {
      http2_ = version == CURL_HTTP_VERSION_2_0;
    }
    if (exchange.user() != nullptr && message->data.result == CURLE_OK) {
      hand_over(exchange);
    } else {
      end(exchange, exchange.error_of(message->data.result, endpoint_.base));
    }
  }
}

// The handle stays in the multi handle: without it the connection would be closed.
void CurlLoop::hand_over(CurlExchange& exchange) {
  curl_socket_t socket = CURL_SOCKET_BAD;
  curl_easy_getinfo(exchange.easy(), CURLINFO_ACTIVESOCKET, &socket);
  try {
    if (exchange.cancelled()) std::rethrow_exception(exchange.error_of(CURLE_OK, endpoint_.base));
    if (socket == CURL_SOCKET_BAD)
      throw TransportError(TransportErrorCode::interrupted,
                           exchange.describe(endpoint_.base, "the connection broke"));
    exchange.user_socket = socket;
    exchange.user()->on_connected(exchange.shared_from_this(), socket);
  } catch (...) {
    return end(exchange, std::current_exception());
  }
  handed_over_.emplace(socket, &exchange);
  serve(exchange);
}

// Lets the user of a connection do what it can, and waits for what it needs then.
void CurlLoop::serve(CurlExchange& exchange) {
  note_progress();
  disarm(exchange);
  if (auto ended = exchange.user()->proceed()) return end(exchange, std::move(*ended));
  sockets_.set(exchange.user_socket, exchange.user()->interest());
  arm(exchange);
}

void CurlLoop::expire() {
  const TimePoint at = now();
  // Each at most once: one that is due again at once must not hold up the others.
  for (std::size_t left = timers_.size(); left > 0 && !timers_.empty() && timers_.begin()->first <= at;
       --left) {
    CurlExchange& exchange = *timers_.begin()->second;
    disarm(exchange);
    if (exchange.user_socket >= 0) {
      serve(exchange);
    } else if (auto error = exchange.overdue(at, endpoint_.base)) {
      end(exchange, std::move(error));
    } else {
      arm(exchange);
    }
  }
}

void CurlLoop::arm(CurlExchange& exchange) {
  const TimePoint at = exchange.user_socket >= 0 ? exchange.user()->next_due() : exchange.next_look(now());
  exchange.armed = at;
  if (at != TimePoint::max()) timers_.emplace(at, &exchange);
}

void CurlLoop::disarm(CurlExchange& exchange) {
  timers_.erase({exchange.armed, &exchange});
}

TimePoint CurlLoop::next_due() const {
  return timers_.empty() ? curl_due_ : std::min(curl_due_, timers_.begin()->first);
}

Duration CurlLoop::until_timer() const {
  constexpr Duration longest = std::chrono::seconds{60};
  if (timers_.empty()) return longest;
  return std::clamp<Duration>(timers_.begin()->first - now(), Duration::zero(), longest);
}

Duration CurlLoop::until_due() const {
  const Duration timer = until_timer();
  if (curl_due_ == TimePoint::max()) return timer;
  return std::clamp<Duration>(curl_due_ - now(), Duration::zero(), timer);
}

void CurlLoop::end(CurlExchange& exchange, std::exception_ptr error) {
  const std::shared_ptr<CurlExchange> keep = exchange.shared_from_this();
  note_progress();
  disarm(exchange);
  if (const int socket = std::exchange(exchange.user_socket, -1); socket >= 0) {
    exchange.user()->on_disconnecting();
    sockets_.set(socket, 0);
    handed_over_.erase(socket);
  }
  if (exchange.running()) {
    curl_multi_remove_handle(multi_, exchange.easy());
    if (!exchange.is_stream()) --in_flight_;
    const std::shared_ptr<const TlsMaterial> tls = exchange.tls();
    give_easy(exchange.detach(), tls);
  }
  live_.erase(keep);
  exchange.finish(std::move(error));
}

void CurlLoop::end_all() {
  streams_.clear();  // these are also in live_; left here they would keep this loop alive
  queue_.clear();
  for (;;) {
    Inbox commands;
    {
      MutexLock lock(mutex_);
      commands.swap(inbox_);
      stopped_ = commands.empty() && live_.empty();
      if (stopped_) return;
    }
    for (const auto& [command, exchange] : commands) {
      if (command == Command::start) live_.insert(exchange);
    }
    while (!live_.empty()) {
      CurlExchange& exchange = **live_.begin();
      end(exchange,
          std::make_exception_ptr(TransportError(
              TransportErrorCode::closed, exchange.describe(endpoint_.base, "the transport was closed"))));
    }
  }
}

}  // namespace http::detail
}  // namespace v0
}  // namespace evenkeel
