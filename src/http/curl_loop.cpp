// SPDX-License-Identifier: Apache-2.0
#include "http/curl_loop.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "http/plain_http.hpp"

namespace evenkeel {
inline namespace v0 {
namespace http::detail {
namespace {

constexpr std::size_t max_idle_handles = 128;  // 5.6 KB each

// libcurl 7.88 does not wait while a peer withholds something (no stream allowed, no window to write into):
// its poll returns immediately. After this many iterations without progress the loop waits by itself, longer
// each time. A handshake takes about ten iterations.
constexpr unsigned free_idle_turns = 100;
constexpr Duration first_brake = std::chrono::milliseconds{1};
constexpr Duration longest_brake = std::chrono::milliseconds{50};

/// Returns the data if there is any, else the contents of the file. Throws std::runtime_error if the file
/// cannot be read.
std::string data_or_file(const std::string& data, const std::string& path, const char* what) {
  if (!data.empty() || path.empty()) return data;
  std::ifstream file(path, std::ios::binary);
  std::string content(std::istreambuf_iterator<char>(file), {});
  if (!file.good() && !file.eof()) throw std::runtime_error(std::string("cannot read ") + what + " " + path);
  if (content.empty()) throw std::runtime_error(std::string(what) + " " + path + " is missing or empty");
  return content;
}

}  // namespace

CurlLoop::CurlLoop(CurlTransportOptions options)
    : options_(std::move(options)), endpoint_(parse_endpoint(options_)), multi_(curl_multi_init()) {
  if (multi_ == nullptr) throw std::bad_alloc();
  // Without it, a command would wait for the end of a poll, up to a minute.
  if (curl_multi_wakeup(multi_) != CURLM_OK) {
    curl_multi_cleanup(multi_);
    throw Error("libcurl has no wake-up pipe: too few file descriptors may be open (ulimit -n)");
  }
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
  if (!wake) return;
  brake_.notify_all();
  curl_multi_wakeup(multi_);
}

void CurlLoop::check_exposure(const Request& request) const {
  if (!endpoint_.exposed || options_.credentials_in_clear) return;
  if (request.headers.find("Authorization") == nullptr) return;
  throw std::invalid_argument(std::string(method_name(request.method)) + " " + endpoint_.base +
                              request.target + ": " +
                              exposed_text(endpoint_.base, "header \"Authorization\"") +
                              "; use https, or set CurlTransportOptions.credentials_in_clear");
}

void CurlLoop::stop() noexcept {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  brake_.notify_all();
  curl_multi_wakeup(multi_);
}

void CurlLoop::run() {
  while (take_commands()) {
    start_queued();
    int running = 0;
    curl_multi_perform(multi_, &running);
    reap();
    expire();
    start_queued();
    if (may_sleep()) sleep();
  }
  end_all();
}

void CurlLoop::sleep() {
  const int timeout = poll_timeout();
  ++idle_turns_;
  if (idle_turns_ > free_idle_turns) {
    const unsigned step = std::min(idle_turns_ - free_idle_turns - 1, 6U);
    const Duration wait = std::min<Duration>(
        {first_brake * (1 << step), longest_brake, std::chrono::milliseconds{std::max(timeout, 1)}});
    const TimePoint until = now() + wait;
    MutexLock lock(mutex_);
    while (sleeping_ && !stopping_ && now() < until) brake_.wait_until(lock, until);
    return;
  }
  const TimePoint before = now();
  curl_multi_poll(multi_, nullptr, 0, timeout, nullptr);
  if (now() - before >= first_brake) idle_turns_ = 0;  // poll did wait
}

// From here until the next take_commands() a command has to wake this thread; at other times it is seen
// anyway, which saves the two system calls of a wake-up.
bool CurlLoop::may_sleep() {
  MutexLock lock(mutex_);
  sleeping_ = inbox_.empty() && !stopping_;
  return sleeping_;
}

bool CurlLoop::take_commands() {
  Inbox commands;
  {
    MutexLock lock(mutex_);
    sleeping_ = false;
    if (stopping_) return false;
    commands.swap(inbox_);
  }
  if (!commands.empty()) note_progress();
  for (const auto& [command, exchange] : commands) obey(command, exchange);
  return true;
}

void CurlLoop::obey(Command command, const std::shared_ptr<CurlExchange>& exchange) {
  switch (command) {
    case Command::start:
      start(exchange);
      return;
    case Command::cancel:
      if (!exchange->finished()) end(*exchange, exchange->error_of(CURLE_OK, endpoint_.base));
      return;
    case Command::resume:
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
    launch(*exchange);
  } else {
    queue_.push_back(exchange);
  }
}

void CurlLoop::start_queued() {
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
    const std::shared_ptr<const TlsMaterial> tls = endpoint_.tls ? tls_material() : nullptr;
    exchange.attach(take_easy(), endpoint_, options_, tls);
  } catch (const std::exception& error) {
    if (exchange.running()) curl_easy_cleanup(exchange.detach());
    end(exchange, std::make_exception_ptr(TransportError(TransportErrorCode::tls,
                                                         exchange.describe(endpoint_.base, error.what()))));
    return;
  }
  curl_multi_add_handle(multi_, exchange.easy());
  if (!exchange.is_stream()) ++in_flight_;
}

CURL* CurlLoop::take_easy() {
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

std::shared_ptr<const TlsMaterial> CurlLoop::tls_material() {
  const TlsOptions& tls = options_.tls;
  const TimePoint at = now();
  if (tls_ && at - tls_read_at_ < options_.tls_reload) return tls_;
  tls_read_at_ = at;
  try {
    TlsMaterial fresh{.ca = tls.insecure ? std::string() : data_or_file(tls.ca_data, tls.ca_file, "CA file"),
                      .cert = data_or_file(tls.cert_data, tls.cert_file, "client certificate"),
                      .key = data_or_file(tls.key_data, tls.key_file, "client key")};
    tls_ = std::make_shared<const TlsMaterial>(std::move(fresh));
  } catch (const std::exception&) {
    if (!tls_) throw;  // during a rotation, keep using the old files
  }
  return tls_;
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
    end(exchange, exchange.error_of(message->data.result, endpoint_.base));
  }
}

void CurlLoop::expire() {
  const TimePoint at = now();
  while (!timers_.empty() && timers_.begin()->first <= at) {
    CurlExchange& exchange = *timers_.begin()->second;
    disarm(exchange);
    if (auto error = exchange.overdue(at, endpoint_.base)) {
      end(exchange, std::move(error));
    } else {
      arm(exchange);
    }
  }
}

void CurlLoop::arm(CurlExchange& exchange) {
  const TimePoint at = exchange.next_look(now());
  exchange.armed = at;
  if (at != TimePoint::max()) timers_.emplace(at, &exchange);
}

void CurlLoop::disarm(CurlExchange& exchange) {
  timers_.erase({exchange.armed, &exchange});
}

int CurlLoop::poll_timeout() const {
  constexpr Duration longest = std::chrono::seconds{60};
  if (timers_.empty()) return 60'000;
  const Duration left = std::clamp<Duration>(timers_.begin()->first - now(), Duration::zero(), longest);
  return static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(left).count());
}

void CurlLoop::end(CurlExchange& exchange, std::exception_ptr error) {
  const std::shared_ptr<CurlExchange> keep = exchange.shared_from_this();
  note_progress();
  disarm(exchange);
  if (exchange.running()) {
    curl_multi_remove_handle(multi_, exchange.easy());
    if (!exchange.is_stream()) --in_flight_;
    CURL* easy = exchange.detach();
    if (idle_handles_.size() < max_idle_handles) {
      idle_handles_.push_back(easy);
    } else {
      curl_easy_cleanup(easy);
    }
  }
  live_.erase(keep);
  exchange.finish(std::move(error));
}

void CurlLoop::end_all() {
  queue_.clear();  // these are also in live_; left here they would keep this loop alive
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
