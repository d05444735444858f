// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <memory>
#include <stdexcept>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <evenkeel/serve/server.hpp>

#include "serve/listener.hpp"
#include "serve/session.hpp"
#include "serve/site.hpp"

namespace evenkeel::inline v0::http {

using detail::ErrorCode;
using detail::Tcp;

namespace {

bool is_loopback(const Tcp::socket& socket) {
  ErrorCode error;
  const auto peer = socket.remote_endpoint(error);
  if (error) return false;
  const auto address = peer.address();
  if (address.is_v6() && address.to_v6().is_v4_mapped()) {
    return boost::asio::ip::make_address_v4(boost::asio::ip::v4_mapped, address.to_v6()).is_loopback();
  }
  return address.is_loopback();
}

}  // namespace

class Server::Impl final : public detail::SessionOwner {
 public:
  explicit Impl(ServerOptions options) : options_(std::move(options)) {}
  ~Impl() { stop(); }

  std::size_t add_site(SiteOptions options) {
    if (started_) throw std::invalid_argument("Server: a site was added after start()");
    sites_.push_back(std::make_unique<detail::Site>(std::move(options), options_.log));
    return sites_.size() - 1;
  }

  detail::Site& site(std::size_t number) const {
    if (number >= sites_.size()) throw std::invalid_argument("Server: there is no such site");
    return *sites_[number];
  }

  void start() {
    if (std::exchange(started_, true)) throw std::invalid_argument("Server: start() was called before");
    for (const auto& site : sites_) {
      site->load();
      listeners_.push_back(
          std::make_unique<detail::Listener>(context_, site->address().host, site->address().port));
    }
    for (std::size_t at = 0; at < sites_.size(); ++at) {
      listeners_[at]->accept([this, at](Tcp::socket socket) { welcome(*sites_[at], std::move(socket)); });
    }
    thread_ = std::thread([this] {
      if (options_.on_thread_start) options_.on_thread_start(options_.thread_name);
      context_.run();
    });
  }

  void stop() noexcept {
    if (stopped_.exchange(true) || !thread_.joinable()) return;
    boost::asio::post(context_, [this] { end_all(); });
    thread_.join();
  }

  std::uint16_t port(std::size_t number) const {
    site(number);
    if (number >= listeners_.size()) throw std::invalid_argument("Server: it does not listen yet");
    return listeners_[number]->port();
  }

  std::string url(std::size_t number) const {
    const detail::Site& found = site(number);
    std::string host = found.address().host;
    if (host.empty() || host == "0.0.0.0") host = "127.0.0.1";
    if (host == "::") host = "::1";
    if (host.find(':') != std::string::npos) host = "[" + host + "]";
    return (found.tls() ? "https://" : "http://") + host + ":" + std::to_string(port(number));
  }

  std::size_t connections() const { return connections_.load(); }

  // SessionOwner: on the server's thread.
  const ServerOptions& options() const override { return options_; }
  boost::asio::io_context& context() override { return context_; }
  void session_ended(detail::Session& session) override {
    sessions_.erase(&session);
    connections_.store(sessions_.size());
  }

 private:
  void welcome(detail::Site& site, Tcp::socket socket) {
    if (sessions_.size() >= options_.max_connections) return;  // which closes it
    const bool loopback = is_loopback(socket);
    auto session = std::make_shared<detail::Session>(*this, site, site.open(std::move(socket)), loopback);
    sessions_.emplace(session.get(), session);
    connections_.store(sessions_.size());
    session->start();
  }

  void end_all() {
    for (const auto& listener : listeners_) listener->close();
    std::vector<std::shared_ptr<detail::Session>> all;  // those that end leave the table
    for (const auto& [key, session] : sessions_) all.push_back(session);
    for (const auto& session : all) session->close();
    context_.stop();
  }

  const ServerOptions options_;
  bool started_ = false;
  std::atomic<bool> stopped_ = false;
  std::atomic<std::size_t> connections_ = 0;
  std::vector<std::unique_ptr<detail::Site>> sites_;  // complete before the thread starts

  boost::asio::io_context context_{1};
  std::vector<std::unique_ptr<detail::Listener>> listeners_;
  std::unordered_map<detail::Session*, std::shared_ptr<detail::Session>>
      sessions_;  // the server's thread only
  std::thread thread_;
};

Server::Server(ServerOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}
Server::~Server() = default;

std::size_t Server::add_site(SiteOptions options) {
  return impl_->add_site(std::move(options));
}
void Server::route(std::size_t site, std::string path, Handler handler, RouteOptions options) {
  if (!handler) throw std::invalid_argument("Server: a route needs a handler");
  impl_->site(site).route(std::move(path), {std::move(handler), std::move(options)});
}
void Server::start() {
  impl_->start();
}
void Server::stop() noexcept {
  impl_->stop();
}
std::uint16_t Server::port(std::size_t site) const {
  return impl_->port(site);
}
std::string Server::url(std::size_t site) const {
  return impl_->url(site);
}
std::size_t Server::connections() const {
  return impl_->connections();
}

}  // namespace evenkeel::inline v0::http
