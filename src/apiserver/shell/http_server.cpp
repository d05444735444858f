// SPDX-License-Identifier: Apache-2.0
#include "apiserver/shell/http_server.hpp"

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "apiserver/shell/core_session.hpp"
#include "serve/listener.hpp"
#include "serve/tls_context.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver::detail {
namespace {

// A clock other than the machine's may jump: it is read this often.
constexpr Duration longest_timer = std::chrono::seconds{1};
constexpr Duration shortest_timer = std::chrono::milliseconds{1};

// Large enough to read large request bodies in few steps.
constexpr std::size_t read_size = 64u << 10;

http::detail::SessionLimits limits_of(const HttpServerOptions& options) {
  return {.max_header = options.max_header,
          .max_body = options.max_body,
          .read_size = read_size,
          .first_byte_timeout = options.idle_timeout,
          .request_timeout = options.head_timeout,
          .body_timeout = options.body_timeout,
          .idle_timeout = options.idle_timeout,
          .write_timeout = options.write_timeout};
}

asio::ssl::context make_context(const HttpServerOptions& options) {
  asio::ssl::context context =
      http::detail::make_tls_context(options.certificate.certificate, options.certificate.key);
  if (!options.client_authority.empty()) {
    context.add_certificate_authority(asio::buffer(options.client_authority));
    context.set_verify_mode(asio::ssl::verify_peer);  // a client certificate may be absent, but not invalid
    // Required for the resumption of sessions when client certificates are requested.
    SSL_CTX_set_session_id_context(context.native_handle(),
                                   reinterpret_cast<const unsigned char*>("evenkeel"), 8);
  }
  return context;
}

}  // namespace

class HttpServer::Impl final : public SessionOwner, public Front {
 public:
  using Session = http::detail::Session;

  Impl(std::shared_ptr<CoreHost> host, HttpServerOptions options)
      : host_(std::move(host)),
        options_(std::move(options)),
        listener_(context_, options_.host, options_.port),
        timer_(context_),
        nodes_(options_.kubelet, context_) {
    if (options_.tls) tls_.emplace(make_context(options_));
    host_->attach(this);
    thread_ = std::thread([this] {
      listener_.accept([this](Tcp::socket socket) { welcome(std::move(socket)); });
      arm_timer();
      context_.run();
    });
  }

  ~Impl() { stop(); }

  void stop() noexcept {
    if (stopped_.exchange(true)) return;
    host_->detach(this);
    asio::post(context_, [this] { end_all(); });
    thread_.join();
    nodes_.join();
  }

  std::uint16_t port() const { return listener_.port(); }
  std::size_t connections() const { return connections_.load(); }

  // Front: on any thread.
  void watches_ready(const std::vector<WatchId>& ids) noexcept override {
    MutexLock lock(mutex_);
    ready_.insert(ready_.end(), ids.begin(), ids.end());
    schedule_notices();
  }
  void tick_moved() noexcept override {
    MutexLock lock(mutex_);
    tick_moved_ = true;
    schedule_notices();
  }

  void schedule(std::function<void()> work) override { asio::post(context_, std::move(work)); }

  std::optional<http::Response> node_answer(const http::Request& request,
                                            const NodeAction& action) const override {
    return nodes_.answer(request, action);
  }

  // SessionOwner: on the server's thread.
  CoreHost& host() override { return *host_; }
  Front* front() override { return this; }
  NodeDesk& nodes() override { return nodes_; }
  const HttpServerOptions& options() const override { return options_; }
  asio::io_context& context() override { return context_; }
  void watch_started(WatchId id, Session& session) override { watches_.emplace(id, &session); }
  void watch_ended(WatchId id) override { watches_.erase(id); }
  void session_ended(Session& session) override {
    sessions_.erase(&session);
    connections_.store(sessions_.size());
  }

 private:
  void welcome(Tcp::socket socket) {
    auto stream = tls_ ? http::detail::make_tls_stream(std::move(socket), *tls_)
                       : http::detail::make_plain_stream(std::move(socket));
    auto session = std::make_shared<Session>(context_, std::move(stream), limits_of(options_),
                                             std::make_unique<CoreSession>(*this));
    sessions_.emplace(session.get(), session);
    connections_.store(sessions_.size());
    session->start();
  }

  void schedule_notices() EVENKEEL_REQUIRES(mutex_) {
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
      if (at != watches_.end()) at->second->stream_ready();
    }
    if (moved) arm_timer();
  }

  // Sets the timer for the core's timed work.
  void arm_timer(Duration at_least = Duration::zero()) {
    const std::optional<WallTime> next = host_->next_due();
    if (!next) {
      timer_.cancel();
      return;
    }
    const Duration left = *next - host_->clock().wall_now();
    timer_.expires_after(std::clamp(left, at_least, longest_timer));
    timer_.async_wait([this](ErrorCode error) {
      if (error) return;
      host_->on_timeout();
      arm_timer(shortest_timer);
    });
  }

  void end_all() {
    listener_.close();
    timer_.cancel();
    const auto all = sessions_;  // a copy: sessions that end are removed from the table
    for (const auto& [key, session] : all) session->close();
    context_.stop();
  }

  const std::shared_ptr<CoreHost> host_;
  const HttpServerOptions options_;
  std::atomic<std::size_t> connections_ = 0;
  std::atomic<bool> stopped_ = false;

  asio::io_context context_{1};
  std::optional<asio::ssl::context> tls_;
  http::detail::Listener listener_;
  asio::steady_timer timer_;
  NodeDesk nodes_;
  std::unordered_map<Session*, std::shared_ptr<Session>> sessions_;  // used on the server's thread only
  std::map<WatchId, Session*> watches_;                              // used on the server's thread only

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
