// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <list>
#include <poll.h>
#include <pthread.h>
#include <stdexcept>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include <evenkeel/base/mutex.hpp>
#include <evenkeel/client/port_forward.hpp>

#include "client/pods/pod_stream.hpp"
#include "client/pods/port_core.hpp"

namespace evenkeel {
inline namespace v0 {
namespace {

using http::WebSocket;

constexpr Duration longest_close = std::chrono::seconds{5};

}  // namespace

class PodConnection::State {
 public:
  State(const Client& client, const ObjectKey& pod, std::uint16_t port)
      : stream_(client, detail::port_request(pod, port), {"v4.channel.k8s.io"}),
        core_(stream_.call(), port) {}

  std::optional<std::string> read(const std::stop_token& stop) {
    while (auto message = stream_.receive(stop)) {
      if (auto bytes = core_.on_message(std::move(*message))) return bytes;
    }
    core_.on_close(*stream_.socket().closed());
    return std::nullopt;
  }
  void write(std::string_view bytes, const std::stop_token& stop) {
    stream_.send(bytes, detail::port_data_message, stop);
  }
  void close(const std::stop_token& stop) {
    stream_.close(std::chrono::steady_clock::now() + longest_close, stop);
  }

 private:
  detail::PodStream stream_;
  detail::PortCore core_;
};

PodConnection::PodConnection(const Client& client, const ObjectKey& pod, std::uint16_t port)
    : state_(std::make_unique<State>(client, pod, port)) {}
PodConnection::~PodConnection() = default;
PodConnection::PodConnection(PodConnection&&) noexcept = default;
PodConnection& PodConnection::operator=(PodConnection&&) noexcept = default;

std::optional<std::string> PodConnection::read(const std::stop_token& stop) {
  return state_->read(stop);
}

void PodConnection::write(std::string_view bytes, const std::stop_token& stop) {
  state_->write(bytes, stop);
}

void PodConnection::close(const std::stop_token& stop) {
  state_->close(stop);
}

namespace {

/// Owner of a file descriptor.
class File {
 public:
  explicit File(int number) : number_(number) {}
  ~File() {
    if (number_ >= 0) ::close(number_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int number() const { return number_; }

 private:
  const int number_;
};

std::thread quiet_thread(std::function<void()> run) {
  return std::thread([run = std::move(run)] {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    pthread_setname_np(pthread_self(), "evenkeel-ports");
    run();
  });
}

bool send_all(int socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

/// A client of the local port, and its connection to the Pod.
class Forwarded {
 public:
  using Connect = std::function<PodConnection(const std::stop_token&)>;
  using OnEnd = std::function<void(const std::exception_ptr&)>;

  explicit Forwarded(int socket) : local_(socket) {}
  ~Forwarded() {
    stop();
    if (thread_.joinable()) thread_.join();
  }
  Forwarded(const Forwarded&) = delete;
  Forwarded& operator=(const Forwarded&) = delete;

  /// `on_end` is called last, on a thread of this object.
  void start(Connect connect, OnEnd on_end) {
    thread_ = quiet_thread(
        [this, connect = std::move(connect), on_end = std::move(on_end)] { on_end(run(connect)); });
  }
  void stop() noexcept {
    stopping_.request_stop();
    ::shutdown(local_.number(), SHUT_RDWR);
  }

 private:
  std::exception_ptr run(const Connect& connect) {
    std::exception_ptr failure = caught([&] {
      PodConnection pod = connect(stopping_.get_token());
      std::exception_ptr upload_failure;
      std::thread upload = quiet_thread([&] { upload_failure = caught([&] { send_to(pod); }); });
      std::exception_ptr download_failure = caught([&] { send_from(pod); });
      stop();  // ends the upload
      upload.join();
      if (download_failure) std::rethrow_exception(download_failure);
      if (upload_failure) std::rethrow_exception(upload_failure);
    });
    stop();
    return failure;
  }

  /// Returns the exception of `step`, but none for the end of this object.
  template <class Step>
  static std::exception_ptr caught(const Step& step) {
    try {
      step();
    } catch (const Cancelled&) {
      return nullptr;
    } catch (...) {
      return std::current_exception();
    }
    return nullptr;
  }

  void send_from(PodConnection& pod) const {
    while (const auto bytes = pod.read(stopping_.get_token())) {
      if (!send_all(local_.number(), *bytes)) return;
    }
  }

  void send_to(PodConnection& pod) {
    std::array<char, detail::longest_piece> buffer;
    for (;;) {
      const ssize_t got = ::recv(local_.number(), buffer.data(), buffer.size(), 0);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) break;
      pod.write({buffer.data(), static_cast<std::size_t>(got)}, stopping_.get_token());
    }
    if (stopping_.stop_requested()) return;
    pod.close(stopping_.get_token());
    stopping_.request_stop();  // ends the download, if the node has not
  }

  const File local_;
  std::stop_source stopping_;
  std::thread thread_;
};

}  // namespace

class PortForward::State {
 public:
  State(const Client& client, const ObjectKey& pod, std::uint16_t port, PortForwardOptions options)
      : client_(client),
        pod_(pod),
        port_(port),
        options_(std::move(options)),
        listener_(open_listener()),
        wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        limits_(client),
        on_stop_(limits_.stop(), Wake{*this}) {
    detail::port_request(pod_, port_);  // checks its arguments
    if (wake_.number() < 0) fail("too few file descriptors may be open (ulimit -n)");
    acceptor_ = quiet_thread([this] { run(); });
  }
  ~State() {
    wake(true);
    acceptor_.join();
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  std::uint16_t local_port() const { return local_port_; }

 private:
  using Connections = std::list<Forwarded>;
  struct Wake {
    State& state;
    void operator()() const noexcept { state.wake(true); }
  };

  [[noreturn]] void fail(const std::string& reason) const {
    throw Error("PortForward: cannot listen on " + options_.address + ":" +
                std::to_string(options_.local_port) + ": " + reason);
  }
  [[noreturn]] void fail_with(int number) const { fail(std::generic_category().message(number)); }
  int open_listener();
  void run();
  void accept_one();
  /// Returns the milliseconds until the deadline, in steps of an hour; -1: none.
  int time_left() const;
  /// Lets a second pass after a failure, or less at the end.
  void pause() const;
  void report(const std::exception_ptr& error) const {
    if (error && options_.on_error) options_.on_error(error);
  }
  void wake(bool stop) noexcept {
    if (stop) stopping_.store(true);
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(wake_.number(), &one, sizeof one);
  }
  void reap() EVENKEEL_EXCLUDES(mutex_);

  const Client client_;
  const ObjectKey pod_;
  const std::uint16_t port_;
  const PortForwardOptions options_;
  std::uint16_t local_port_ = 0;
  const File listener_;
  const File wake_;
  std::atomic<bool> stopping_{false};
  Connections connections_;  // used by the accepting thread only
  Mutex mutex_;
  std::vector<Connections::iterator> ended_ EVENKEEL_GUARDED_BY(mutex_);
  const detail::BoundLimits limits_;
  std::thread acceptor_;
  const std::stop_callback<Wake> on_stop_;  // last: it may be called at once
};

int PortForward::State::open_listener() {
  sockaddr_storage address{};
  auto* const four = reinterpret_cast<sockaddr_in*>(&address);
  auto* const six = reinterpret_cast<sockaddr_in6*>(&address);
  socklen_t size = sizeof *four;
  if (inet_pton(AF_INET, options_.address.c_str(), &four->sin_addr) == 1) {
    four->sin_family = AF_INET;
    four->sin_port = htons(options_.local_port);
  } else if (inet_pton(AF_INET6, options_.address.c_str(), &six->sin6_addr) == 1) {
    six->sin6_family = AF_INET6;
    six->sin6_port = htons(options_.local_port);
    size = sizeof *six;
  } else {
    fail("not an IP address");
  }
  const int listener = ::socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (listener < 0) fail_with(errno);
  const int reuse = 1;
  ::setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &reuse, sizeof reuse);
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  if (::bind(listener, any, size) != 0 || ::listen(listener, SOMAXCONN) != 0 ||
      ::getsockname(listener, any, &size) != 0) {
    const int reason = errno;
    ::close(listener);
    fail_with(reason);
  }
  local_port_ = ntohs(address.ss_family == AF_INET ? four->sin_port : six->sin6_port);
  return listener;
}

void PortForward::State::run() {
  while (!stopping_.load()) {
    const bool may_accept = connections_.size() < options_.max_connections;
    std::array<pollfd, 2> waiting{{{.fd = wake_.number(), .events = POLLIN, .revents = 0},
                                   {.fd = listener_.number(), .events = POLLIN, .revents = 0}}};
    ::poll(waiting.data(), may_accept ? 2 : 1, time_left());
    std::uint64_t count = 0;
    [[maybe_unused]] const auto got = ::read(wake_.number(), &count, sizeof count);
    reap();
    if (limits_.reached(client_.clock()->now())) break;
    if (waiting[1].revents != 0 && !stopping_.load()) accept_one();
  }
  ::shutdown(listener_.number(), SHUT_RDWR);  // those that wait to be accepted, and later ones, are refused
  for (Forwarded& connection : connections_) connection.stop();
  connections_.clear();
}

int PortForward::State::time_left() const {
  if (limits_.deadline() == TimePoint::max()) return -1;
  constexpr Duration longest = std::chrono::hours{1};
  const Duration left = std::clamp(limits_.deadline() - client_.clock()->now(), Duration::zero(), longest);
  return static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(left).count());
}

void PortForward::State::accept_one() {
  const int socket = ::accept4(listener_.number(), nullptr, nullptr, SOCK_CLOEXEC);
  if (socket < 0) {
    const int reason = errno;
    if (reason == EAGAIN || reason == EINTR || reason == ECONNABORTED) return;
    report(std::make_exception_ptr(
        Error("PortForward: cannot accept a connection: " + std::generic_category().message(reason))));
    return pause();
  }
  connections_.emplace_back(socket);
  const auto at = std::prev(connections_.end());
  try {
    at->start(
        [this](const std::stop_token& stop) {
          return PodConnection(client_.with({.stop = stop}), pod_, port_);
        },
        [this, at](const std::exception_ptr& error) {
          report(error);
          MutexLock lock(mutex_);
          ended_.push_back(at);
          wake(false);
        });
  } catch (...) {  // there may be no more threads
    connections_.erase(at);
    report(std::current_exception());
    pause();
  }
}

void PortForward::State::pause() const {
  pollfd waiting{.fd = wake_.number(), .events = POLLIN, .revents = 0};
  ::poll(&waiting, 1, 1000);
}

void PortForward::State::reap() {
  std::vector<Connections::iterator> ended;
  {
    MutexLock lock(mutex_);
    ended.swap(ended_);
  }
  for (const auto& connection : ended) connections_.erase(connection);
}

PortForward::PortForward(const Client& client, const ObjectKey& pod, std::uint16_t port,
                         PortForwardOptions options)
    : state_(std::make_unique<State>(client, pod, port, std::move(options))) {}
PortForward::~PortForward() = default;

std::uint16_t PortForward::local_port() const noexcept {
  return state_->local_port();
}

}  // namespace v0
}  // namespace evenkeel
