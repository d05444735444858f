// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <sys/resource.h>
#include <thread>
#include <utility>
#include <vector>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include <evenkeel/base/mutex.hpp>
#include <evenkeel/serve/server.hpp>

#include "base/limits.hpp"
#include "base/repeated_line.hpp"
#include "serve/body_budget.hpp"
#include "serve/connection_table.hpp"
#include "serve/listener.hpp"
#include "serve/session.hpp"
#include "serve/site.hpp"
#include "serve/wire.hpp"

namespace evenkeel {
inline namespace v0 {
namespace http {

using detail::ErrorCode;
using detail::Tcp;
using evenkeel::detail::RepeatedLine;

namespace {

// Returns the peer's address, IPv4 in its own form also on a dual-stack socket. Unspecified if the peer has
// disconnected.
boost::asio::ip::address peer_of(const Tcp::socket& socket) {
  ErrorCode error;
  const auto address = socket.remote_endpoint(error).address();
  if (error) return {};
  if (address.is_v6() && address.to_v6().is_v4_mapped())
    return boost::asio::ip::make_address_v4(boost::asio::ip::v4_mapped, address.to_v6());
  return address;
}

// Returns true if a connection cannot be accepted because the process, or the machine, has no descriptor
// left.
bool is_out_of_descriptors(const ErrorCode& error) {
  namespace errc = boost::system::errc;
  return error == errc::too_many_files_open || error == errc::too_many_files_open_in_system;
}

// Returns the maximum number of connections of each of `sites`: what the options say, but not more than a
// quarter of the descriptors of the process for all sites together. An operator has up to three servers, and
// needs descriptors for its own connections and files.
std::size_t connections_of_site(const ServerOptions& options, std::size_t sites) {
  constexpr std::size_t share = 4;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return options.max_connections;
  return std::min(options.max_connections,
                  std::max<std::size_t>(static_cast<std::size_t>(limit.rlim_cur) / share / sites, 1));
}

// Decides which lines about a state that comes and goes are logged: the first, and one a minute.
bool is_due(RepeatedLine& line) {
  return line.on_line(std::chrono::time_point_cast<Duration>(std::chrono::steady_clock::now())) > 0;
}

// Runs functions on the server's thread while there is one.
class Mailbox {
 public:
  explicit Mailbox(boost::asio::io_context& context) : context_(&context) {}
  void post(std::function<void()> function) EVENKEEL_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    if (context_ != nullptr) boost::asio::post(*context_, std::move(function));
  }
  void close() noexcept EVENKEEL_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    context_ = nullptr;
  }

 private:
  Mutex mutex_;
  boost::asio::io_context* context_ EVENKEEL_GUARDED_BY(mutex_);
};

/// Threads that call handlers. Thread safety: start() and stop() on one thread; call() concurrently with
/// itself.
class Workers {
 public:
  void start(std::size_t count, std::size_t first, const ServerOptions& options) {
    for (std::size_t number = first; number < first + count; ++number) {
      threads_.emplace_back([this, number, &options] {
        if (options.on_thread_start)
          options.on_thread_start(options.thread_name + "-" + std::to_string(number));
        context_.run();
      });
    }
  }
  /// Returns false if `limit` functions wait for a thread already.
  bool call(std::function<void()> function, std::size_t limit) {
    if (waiting_.fetch_add(1) >= limit) {
      --waiting_;
      return false;
    }
    boost::asio::post(context_, [this, function = std::move(function)] {
      --waiting_;
      function();
    });
    return true;
  }
  /// Drops the functions that wait, and returns when the others have.
  void stop() {
    context_.stop();
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  boost::asio::io_context context_;
  const boost::asio::executor_work_guard<boost::asio::io_context::executor_type> stay_{
      context_.get_executor()};
  std::atomic<std::size_t> waiting_ = 0;
  std::vector<std::thread> threads_;
};

detail::SessionLimits limits_of(const ServerOptions& options) {
  return {.max_header = options.max_header,
          .max_body = options.max_body,
          .first_byte_timeout = options.first_byte_timeout,
          .request_timeout = options.request_timeout,
          .idle_timeout = options.idle_timeout,
          .write_timeout = options.write_timeout};
}

}  // namespace

class Server::Impl final {
 public:
  explicit Impl(ServerOptions options) : options_(std::move(options)) {
    if (options_.max_waiting == 0)
      throw std::invalid_argument("ServerOptions: max_waiting must be at least 1");
  }
  ~Impl() {
    stop();
    mailbox_->close();
  }

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
    if (stopped_) throw std::invalid_argument("Server: stop() was called before start()");
    if (std::exchange(started_, true)) throw std::invalid_argument("Server: start() was called before");
    for (const auto& site : sites_) {
      site->load();
      auto at = std::make_unique<Serving>(*site, connections_of_site(options_, sites_.size()),
                                          options_.max_connections_of_peer);
      at->listener = std::make_unique<detail::Listener>(context_, site->address().host, site->address().port);
      serving_.push_back(std::move(at));
    }
    for (const auto& at : serving_) {
      at->listener->accept(
          [this, &at = *at](Tcp::socket socket) { accept(at, std::move(socket)); },
          [this, &at = *at](const ErrorCode& problem) { return on_accept_problem(at, problem); });
    }
    thread_ = std::thread([this] {
      if (options_.on_thread_start) options_.on_thread_start(options_.thread_name);
      context_.run();
    });
    workers_.start(options_.workers, 0, options_);
    reserved_workers_.start(options_.reserved_workers, options_.workers, options_);
  }

  void stop() noexcept {
    if (stopped_.exchange(true) || !thread_.joinable()) return;
    boost::asio::post(context_, [this] { end_all(); });
    thread_.join();
    workers_.stop();
    reserved_workers_.stop();
  }

  std::uint16_t port(std::size_t number) const { return serving(number).listener->port(); }

  std::string url(std::size_t number) const { return url(serving(number)); }

  std::size_t connections() const {
    MutexLock lock(mutex_);
    std::size_t open = 0;
    for (const auto& at : serving_) open += at->counts.open;
    return open;
  }

  ConnectionCounts connection_counts(std::size_t number) const {
    const Serving& at = serving(number);
    MutexLock lock(mutex_);
    return at.counts;
  }

 private:
  // A listening site. Used only on the server's thread, except for the counts.
  struct Serving {
    Serving(detail::Site& site_, std::size_t connections_, std::size_t connections_of_peer)
        : site(site_), connections(connections_), table(connections_, connections_of_peer) {}

    detail::Site& site;
    const std::size_t connections;  // at most
    std::unique_ptr<detail::Listener> listener;
    detail::ConnectionTable table;
    std::map<detail::ConnectionTable::Id, std::shared_ptr<detail::Session>> sessions;
    std::set<detail::ConnectionTable::Id> in_review;  // those whose access is being reviewed
    RepeatedLine accept_problems;
    bool tells_recovery = false;  // the problem was logged
    RepeatedLine evictions;
    ConnectionCounts counts;  // guarded by the server's mutex_
  };

  /// The handler behind one connection of a site.
  class Connection final : public detail::SessionHandler {
   public:
    Connection(Impl& server, Serving& at, detail::ConnectionTable::Id id, bool peer_is_loopback)
        : server_(server), at_(at), id_(id), peer_is_loopback_(peer_is_loopback) {}

    bool on_body(detail::Session& session, std::size_t size) override {
      return size <= limits::uncounted_body || server_.hold(session, size);
    }
    void on_request(detail::Session& session, Request request, bool) override {
      server_.bodies_.on_complete(&session);
      request_ = std::make_shared<const Request>(std::move(request));
      if (const auto question = at_.site.question(*request_))
        return server_.review(at_, id_, session, request_, *question);
      server_.answer(at_.site, session, request_,
                     peer_is_loopback_ ? detail::Peer::loopback : detail::Peer::remote);
    }
    Response refusal(detail::Refusal why) override {
      switch (why) {
        case detail::Refusal::body_too_large:
          return detail::plain_answer(413, "413 request too large\n");
        case detail::Refusal::header_too_large:
          return detail::plain_answer(431, "431 request head too large\n");
        case detail::Refusal::unknown_method:
          return detail::plain_answer(405, "405 method not allowed\n");
        case detail::Refusal::unknown_coding:
          return detail::plain_answer(501, "501 unknown transfer encoding\n");
        case detail::Refusal::overloaded:
          return detail::plain_answer(503, "503 too many bytes of requests wait\n");
        case detail::Refusal::malformed:
          break;
      }
      return detail::plain_answer(400, "400 bad request\n");
    }
    void on_answered(detail::Session& session) override {
      request_.reset();
      server_.bodies_.on_freed(&session);
      at_.table.answered(id_);
    }
    void on_closed(detail::Session& session, bool timed_out) override {
      request_.reset();
      server_.bodies_.on_freed(&session);
      server_.forget(at_, id_, timed_out);
    }

   private:
    Impl& server_;
    Serving& at_;
    const detail::ConnectionTable::Id id_;
    const bool peer_is_loopback_;
    std::shared_ptr<const Request> request_;  // until it is answered or the client has left
  };

  // Records the bytes of a request that arrives; returns false if it has to be refused. Others may be, too.
  bool hold(detail::Session& session, std::size_t size) {
    bodies_.on_arrived(&session, size);
    while (detail::Session* const excess = bodies_.next_excess()) {
      bodies_.on_freed(excess);
      if (is_due(full_of_bodies_))
        options_.log.warn("too many bytes of requests wait; the longest arriving ones are refused",
                          {{"limit", limits::server_bodies}});
      if (excess == &session) return false;
      excess->shed();
    }
    return true;
  }

  // Calls the handler: here, or on a worker, which skips a request that its connection has dropped.
  void answer(detail::Site& site, detail::Session& session, const std::shared_ptr<const Request>& request,
              detail::Peer peer) {
    Workers* const workers = workers_for(site, *request);
    if (workers == nullptr) return session.answer(site.answer(*request, peer));
    const auto handle = [this, &site, weak = session.weak_from_this(),
                         asked = std::weak_ptr<const Request>(request), peer] {
      if (const auto kept = asked.lock()) hand_back(weak, site.answer(*kept, peer));
    };
    if (!workers->call(handle, options_.max_waiting)) {
      site.note_overload(*request);
      return session.answer(detail::plain_answer(503, "503 too many requests wait\n"));
    }
    session.watch_client();
  }

  // Returns null for the server's own thread.
  Workers* workers_for(detail::Site& site, const Request& request) {
    if (options_.reserved_workers > 0 && site.is_reserved(request)) return &reserved_workers_;
    return options_.workers > 0 ? &workers_ : nullptr;
  }

  // Called by a worker.
  void hand_back(std::weak_ptr<detail::Session> weak, Response answer) {
    boost::asio::post(context_, [weak = std::move(weak), answer = std::move(answer)]() mutable {
      const auto session = weak.lock();
      if (session && !session->closed()) session->answer(std::move(answer));
    });
  }

  // The session answers when the review is decided. The mailbox is closed before the server is destroyed.
  void review(Serving& at, detail::ConnectionTable::Id id, detail::Session& session,
              const std::shared_ptr<const Request>& request, const AccessQuestion& question) {
    at.in_review.insert(id);
    session.watch_client();
    at.site.review(question,
                   [this, mailbox = mailbox_, &at, id, weak = session.weak_from_this(),
                    asked = std::weak_ptr<const Request>(request)](std::optional<Response> refusal) {
                     mailbox->post([this, &at, id, weak, asked, refusal = std::move(refusal)]() mutable {
                       const auto waiting = weak.lock();
                       if (!waiting || waiting->closed()) return;
                       at.in_review.erase(id);
                       if (refusal) return waiting->answer(*std::move(refusal));
                       if (const auto kept = asked.lock())
                         answer(at.site, *waiting, kept, detail::Peer::reviewed);
                     });
                   });
  }

  void forget(Serving& at, detail::ConnectionTable::Id id, bool timed_out) {
    at.table.closed(id);
    at.sessions.erase(id);
    at.in_review.erase(id);
    {
      MutexLock lock(mutex_);
      at.counts.open = at.sessions.size();
      if (timed_out) ++at.counts.timed_out;
    }
    if (draining_) end_if_drained();
  }

  void accept(Serving& at, Tcp::socket socket) {
    const auto peer = peer_of(socket);
    const detail::ConnectionTable::Admission admission = at.table.admit(peer.to_string());
    if (admission.evicted) evict(at, admission, peer.to_string());
    auto session = std::make_shared<detail::Session>(
        context_, at.site.open(std::move(socket)), limits_of(options_),
        std::make_unique<Connection>(*this, at, admission.id, peer.is_loopback()));
    at.sessions.emplace(admission.id, session);
    {
      MutexLock lock(mutex_);
      ++at.counts.accepted;
      at.counts.open = at.sessions.size();
    }
    session->start();
  }

  void evict(Serving& at, const detail::ConnectionTable::Admission& admission, const std::string& peer) {
    const bool of_peer = admission.reason == detail::Eviction::peer_full;
    if (is_due(at.evictions)) {
      options_.log.warn("too many connections; the longest waiting ones are closed",
                        {{"url", url(at)},
                         {"limit", of_peer ? "of one peer" : "of the address"},
                         {"connections", of_peer ? options_.max_connections_of_peer : at.connections},
                         {"peer", peer}});
    }
    {
      MutexLock lock(mutex_);
      ++(of_peer ? at.counts.evicted_peer_full : at.counts.evicted_site_full);
    }
    close(at, *admission.evicted);
  }

  static void close(const Serving& at, detail::ConnectionTable::Id id) {
    const auto found = at.sessions.find(id);
    if (found == at.sessions.end()) return;
    const std::shared_ptr<detail::Session> evicted = found->second;
    evicted->close();
  }

  // Closes the longest waiting connection of the fullest site; returns false if there is none.
  bool make_room() {
    const auto fullest = std::max_element(
        serving_.begin(), serving_.end(),
        [](const auto& one, const auto& other) { return one->table.size() < other->table.size(); });
    Serving& at = **fullest;
    const auto evicted = at.table.evict();
    if (!evicted) return false;
    {
      MutexLock lock(mutex_);
      ++at.counts.evicted_site_full;
    }
    close(at, *evicted);
    return true;
  }

  const Serving& serving(std::size_t number) const {
    site(number);
    if (number >= serving_.size()) throw std::invalid_argument("Server: it does not listen yet");
    return *serving_[number];
  }

  static std::string url(const Serving& at) {
    std::string host = at.site.address().host;
    if (host.empty() || host == "0.0.0.0") host = "127.0.0.1";
    if (host == "::") host = "::1";
    if (host.find(':') != std::string::npos) host = "[" + host + "]";
    return (at.site.tls() ? "https://" : "http://") + host + ":" + std::to_string(at.listener->port());
  }

  // No `problem` means that connections are accepted again. Returns true if there is room for the next one.
  bool on_accept_problem(Serving& at, const ErrorCode& problem) {
    if (!problem) {
      if (std::exchange(at.tells_recovery, false))
        options_.log.info("connections are accepted again", {{"url", url(at)}});
      return true;
    }
    if (is_due(at.accept_problems)) {
      at.tells_recovery = true;
      options_.log.error("connections cannot be accepted; retrying",
                         {{"url", url(at)}, {"error", problem.message()}});
    }
    return is_out_of_descriptors(problem) && make_room();
  }

  // Requests that workers have, and answers that are being sent, end first.
  void end_all() {
    for (const auto& at : serving_) {
      at->listener->close();
      const auto all = at->sessions;  // ending sessions remove themselves from the table
      for (const auto& [id, session] : all) {
        if (at->in_review.contains(id))
          session->close();
        else
          session->finish();
      }
    }
    draining_ = true;
    drain_limit_.expires_after(options_.drain_timeout);
    drain_limit_.async_wait([this](detail::ErrorCode stopped) {
      if (!stopped) close_all();
    });
    end_if_drained();
  }

  void end_if_drained() {
    if (connections() == 0) context_.stop();
  }

  void close_all() {
    for (const auto& at : serving_) {
      const auto all = at->sessions;
      for (const auto& [id, session] : all) session->close();
    }
  }

  const ServerOptions options_;
  bool started_ = false;
  std::atomic<bool> stopped_ = false;
  std::vector<std::unique_ptr<detail::Site>> sites_;  // complete before the thread starts

  boost::asio::io_context context_{1};
  const std::shared_ptr<Mailbox> mailbox_ = std::make_shared<Mailbox>(context_);
  std::vector<std::unique_ptr<Serving>> serving_;  // complete before the thread starts
  boost::asio::steady_timer drain_limit_{context_};
  bool draining_ = false;  // used on the server's thread, like the next two
  detail::BodyBudget<detail::Session> bodies_{limits::server_bodies};
  RepeatedLine full_of_bodies_;
  mutable Mutex mutex_;
  std::thread thread_;
  Workers workers_;
  Workers reserved_workers_;
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
void Server::set_certificate(std::size_t site, const TlsPair& pair) {
  impl_->site(site).set_certificate(pair);
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
ConnectionCounts Server::connection_counts(std::size_t site) const {
  return impl_->connection_counts(site);
}

}  // namespace http
}  // namespace v0
}  // namespace evenkeel
