// SPDX-License-Identifier: Apache-2.0
#include "http/blocking_calls.hpp"

#include <algorithm>
#include <utility>

#include <evenkeel/base/stop.hpp>

#include "http/without_sigpipe.hpp"

namespace evenkeel {
inline namespace v0 {
namespace http::detail {
namespace {

constexpr Duration longest_wait = std::chrono::seconds{60};

}  // namespace

/// One connection: a multi handle, because only those can be woken, with one easy handle.
class BlockingCalls::Lane {
 public:
  Lane() : multi_(curl_multi_init()), easy_(curl_easy_init()) {
    if (multi_ != nullptr && easy_ != nullptr) {
      curl_multi_setopt(multi_, CURLMOPT_MAXCONNECTS, 1L);
      return;
    }
    release();
    throw std::bad_alloc();
  }
  ~Lane() { release(); }
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  CURLM* multi() const { return multi_; }
  CURL* take_easy() { return std::exchange(easy_, nullptr); }
  void give_easy(CURL* easy) { easy_ = easy; }
  void wake() noexcept { curl_multi_wakeup(multi_); }

 private:
  void release() noexcept {
    if (easy_ != nullptr) curl_easy_cleanup(easy_);
    if (multi_ != nullptr) curl_multi_cleanup(multi_);
  }
  CURLM* const multi_;
  CURL* easy_;
};

/// Gives the lane back.
class BlockingCalls::Lease {
 public:
  Lease(BlockingCalls& calls, std::unique_ptr<Lane> lane) : calls_(calls), lane_(std::move(lane)) {}
  ~Lease() { calls_.give_back(std::move(lane_)); }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  Lane& operator*() const { return *lane_; }

 private:
  BlockingCalls& calls_;
  std::unique_ptr<Lane> lane_;
};

BlockingCalls::BlockingCalls(CurlTransportOptions options, std::shared_ptr<TlsFiles> tls)
    : options_(std::move(options)), endpoint_(parse_endpoint(options_)), tls_(std::move(tls)) {}

BlockingCalls::~BlockingCalls() = default;

bool BlockingCalls::is_full() const {
  MutexLock lock(mutex_);
  return busy_.size() >= options_.max_in_flight_http1;
}

Response BlockingCalls::fetch(Request request, const std::stop_token& stop) {
  const std::string name = std::string(method_name(request.method)) + " " + request.target;
  if (stop.stop_requested()) throw Cancelled(name + ": cancelled");
  const auto exchange = std::make_shared<CurlExchange>(nullptr, std::move(request), Completion(), nullptr);
  exchange->start_clock(now(), options_);
  std::exception_ptr error;
  if (std::unique_ptr<Lane> lane = take(*exchange, stop, error)) {
    const Lease lease(*this, std::move(lane));
    error = transfer(*lease, *exchange, stop);
  }
  if (!error) return exchange->take_response();
  if (stop.stop_requested()) throw Cancelled(name + ": cancelled");
  std::rethrow_exception(error);
}

std::exception_ptr BlockingCalls::why_ended(const CurlExchange& exchange, const std::stop_token& stop) const {
  if (stop.stop_requested()) return std::make_exception_ptr(Cancelled(exchange.describe("", "cancelled")));
  return exchange.overdue(now(), endpoint_.base);
}

std::exception_ptr BlockingCalls::closed_error(const CurlExchange& exchange) const {
  return std::make_exception_ptr(TransportError(
      TransportErrorCode::closed, exchange.describe(endpoint_.base, "the transport was closed")));
}

std::unique_ptr<BlockingCalls::Lane> BlockingCalls::take(const CurlExchange& exchange,
                                                         const std::stop_token& stop,
                                                         std::exception_ptr& error) {
  const StopWaker waker(stop, mutex_, freed_);
  MutexLock lock(mutex_);
  for (;;) {
    error = closed_ ? closed_error(exchange) : why_ended(exchange, stop);
    if (error) {
      freed_.notify_one();  // it may have been woken for a connection, which is another caller's now
      return nullptr;
    }
    if (busy_.size() < options_.max_in_flight_http1) break;
    freed_.wait_until(lock, std::min(exchange.next_look(now()), now() + longest_wait));
  }
  std::unique_ptr<Lane> lane;
  if (!idle_.empty()) {
    lane = std::move(idle_.back());
    idle_.pop_back();
  } else {
    lane = std::make_unique<Lane>();
  }
  busy_.insert(lane.get());
  return lane;
}

void BlockingCalls::give_back(std::unique_ptr<Lane> lane) noexcept {
  {
    MutexLock lock(mutex_);
    busy_.erase(lane.get());
    idle_.push_back(std::move(lane));
  }
  freed_.notify_one();
}

bool BlockingCalls::closed() const {
  MutexLock lock(mutex_);
  return closed_;
}

void BlockingCalls::drop_idle() noexcept {
  std::vector<std::unique_ptr<Lane>> idle;  // closed without the lock
  MutexLock lock(mutex_);
  idle.swap(idle_);
}

void BlockingCalls::close() noexcept {
  {
    MutexLock lock(mutex_);
    closed_ = true;
    for (Lane* const lane : busy_) lane->wake();
  }
  freed_.notify_all();
}

std::exception_ptr BlockingCalls::transfer(Lane& lane, CurlExchange& exchange, const std::stop_token& stop) {
  if (auto refusal = exchange.refusal()) return refusal;
  const WithoutSigpipe without_sigpipe;
  try {
    const std::shared_ptr<const TlsMaterial> tls = endpoint_.tls ? tls_->get() : nullptr;
    exchange.attach(lane.take_easy(), endpoint_, options_, tls);
  } catch (const std::exception& error) {
    if (exchange.running()) lane.give_easy(exchange.detach());
    return std::make_exception_ptr(
        TransportError(TransportErrorCode::tls, exchange.describe(endpoint_.base, error.what())));
  }
  const std::stop_callback wake(stop, [&lane]() noexcept { lane.wake(); });
  curl_multi_add_handle(lane.multi(), exchange.easy());
  std::exception_ptr error;
  for (;;) {
    int running = 0;
    curl_multi_perform(lane.multi(), &running);
    if (running == 0) {
      int left = 0;
      const CURLMsg* const message = curl_multi_info_read(lane.multi(), &left);
      error =
          exchange.error_of(message == nullptr ? CURLE_FAILED_INIT : message->data.result, endpoint_.base);
      break;
    }
    error = closed() ? closed_error(exchange) : why_ended(exchange, stop);
    if (error) break;
    const Duration wait =
        std::clamp<Duration>(exchange.next_look(now()) - now(), Duration::zero(), longest_wait);
    curl_multi_poll(lane.multi(), nullptr, 0,
                    static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(wait).count()), nullptr);
  }
  curl_multi_remove_handle(lane.multi(), exchange.easy());
  lane.give_easy(exchange.detach());
  return error;
}

}  // namespace http::detail
}  // namespace v0
}  // namespace evenkeel
