// SPDX-License-Identifier: Apache-2.0
#include "apiserver/shell/http_server.hpp"

#include <algorithm>
#include <atomic>
#include <map>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "apiserver/shell/http_session.hpp"
#include "serve/listener.hpp"
#include "serve/tls_context.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver::detail {
namespace {

constexpr std::chrono::milliseconds sweep_interval{500};
// A clock that is not the machine's may jump: it is looked at this often.
constexpr Duration longest_tick = std::chrono::seconds{1};
constexpr Duration shortest_tick = std::chrono::milliseconds{1};

asio::ssl::context make_context(const HttpServerOptions& options) {
  asio::ssl::context context =
      http::detail::make_tls_context(options.certificate.certificate, options.certificate.key);
  if (!options.client_authority.empty()) {
    context.add_certificate_authority(asio::buffer(options.client_authority));
    context.set_verify_mode(asio::ssl::verify_peer);  // a certificate may be missing, not wrong
    // Needed for sessions to be resumed while certificates are asked for.
    SSL_CTX_set_session_id_context(context.native_handle(),
                                   reinterpret_cast<const unsigned char*>("evenkeel"), 8);
  }
  return context;
}

}  // namespace

class HttpServer::Impl final : public SessionOwner, public Front {
 public:
  Impl(std::shared_ptr<CoreHost> host, HttpServerOptions options)
      : host_(std::move(host)),
        options_(std::move(options)),
        listener_(context_, options_.host, options_.port),
        tick_(context_),
        sweep_(context_) {
    if (options_.tls) tls_.emplace(make_context(options_));
    host_->attach(this);
    thread_ = std::thread([this] {
      listener_.accept([this](Tcp::socket socket) { welcome(std::move(socket)); });
      arm_tick();
      context_.run();
    });
  }

  ~Impl() { stop(); }

  void stop() noexcept {
    if (stopped_.exchange(true)) return;
    host_->detach(this);
    asio::post(context_, [this] { end_all(); });
    thread_.join();
  }

  std::uint16_t port() const { return listener_.port(); }
  std::size_t connections() const { return connections_.load(); }

  // Front: on any thread.
  void watches_ready(const std::vector<WatchId>& ids) noexcept override {
    MutexLock lock(mutex_);
    ready_.insert(ready_.end(), ids.begin(), ids.end());
    schedule();
  }
  void tick_moved() noexcept override {
    MutexLock lock(mutex_);
    tick_moved_ = true;
    schedule();
  }

  // SessionOwner: on the server's thread.
  CoreHost& host() override { return *host_; }
  Front* front() override { return this; }
  const HttpServerOptions& options() const override { return options_; }
  asio::io_context& context() override { return context_; }
  void watch_started(WatchId id, HttpSession& session) override { watches_.emplace(id, &session); }
  void watch_ended(WatchId id) override { watches_.erase(id); }
  void session_ended(HttpSession& session) override {
    sessions_.erase(&session);
    connections_.store(sessions_.size());
  }

 private:
  void welcome(Tcp::socket socket) {
    auto stream = tls_ ? http::detail::make_tls_stream(std::move(socket), *tls_)
                       : http::detail::make_plain_stream(std::move(socket));
    auto session = std::make_shared<HttpSession>(*this, std::move(stream));
    sessions_.emplace(session.get(), session);
    connections_.store(sessions_.size());
    if (sessions_.size() == 1) arm_sweep();
    session->start();
  }

  void schedule() EVENKEEL_REQUIRES(mutex_) {
    if (std::exchange(scheduled_, true)) return;
    asio::post(context_, [this] { take_notices(); });
  }

  void take_notices() {
    std::vector<WatchId> ready;
    bool moved = false;
    {
      MutexLock lock(mutex_);
      scheduled_ = false;
      ready.swap(ready_);
      moved = std::exchange(tick_moved_, false);
    }
    for (const WatchId id : ready) {
      const auto at = watches_.find(id);
      if (at != watches_.end()) at->second->watch_ready();
    }
    if (moved) arm_tick();
  }

  // The timer for what the core does by time alone.
  void arm_tick(Duration at_least = Duration::zero()) {
    const std::optional<WallTime> next = host_->next_tick();
    if (!next) {
      tick_.cancel();
      return;
    }
    const Duration left = *next - host_->clock().wall_now();
    tick_.expires_after(std::clamp(left, at_least, longest_tick));
    tick_.async_wait([this](ErrorCode error) {
      if (error) return;
      host_->tick();
      arm_tick(shortest_tick);
    });
  }

  void arm_sweep() {
    sweep_.expires_after(sweep_interval);
    sweep_.async_wait([this](ErrorCode error) {
      if (error) return;
      const auto now = HttpSession::Steady::now();
      for (const auto& session : all_sessions()) session->check_deadline(now);
      if (!sessions_.empty()) arm_sweep();
    });
  }

  // A copy: sessions that end leave the table.
  std::vector<std::shared_ptr<HttpSession>> all_sessions() const {
    std::vector<std::shared_ptr<HttpSession>> all;
    all.reserve(sessions_.size());
    for (const auto& [key, session] : sessions_) all.push_back(session);
    return all;
  }

  void end_all() {
    listener_.close();
    tick_.cancel();
    sweep_.cancel();
    for (const auto& session : all_sessions()) session->close();
    context_.stop();
  }

  const std::shared_ptr<CoreHost> host_;
  const HttpServerOptions options_;
  std::atomic<std::size_t> connections_ = 0;
  std::atomic<bool> stopped_ = false;

  asio::io_context context_{1};
  std::optional<asio::ssl::context> tls_;
  http::detail::Listener listener_;
  asio::steady_timer tick_;
  asio::steady_timer sweep_;
  std::unordered_map<HttpSession*, std::shared_ptr<HttpSession>> sessions_;  // the server's thread only
  std::map<WatchId, HttpSession*> watches_;                                  // the server's thread only

  Mutex mutex_;
  std::vector<WatchId> ready_ EVENKEEL_GUARDED_BY(mutex_);
  bool tick_moved_ EVENKEEL_GUARDED_BY(mutex_) = false;
  bool scheduled_ EVENKEEL_GUARDED_BY(mutex_) = false;

  std::thread thread_;
};

HttpServer::HttpServer(std::shared_ptr<CoreHost> host, HttpServerOptions options)
    : impl_(std::make_unique<Impl>(std::move(host), std::move(options))) {}
HttpServer::~HttpServer() = default;
std::uint16_t HttpServer::port() const {
  return impl_->port();
}
std::size_t HttpServer::connections() const {
  return impl_->connections();
}
void HttpServer::stop() noexcept {
  impl_->stop();
}

}  // namespace apiserver::detail
}  // namespace v0
}  // namespace evenkeel
