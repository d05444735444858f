// SPDX-License-Identifier: Apache-2.0
#include "http/curl_web_socket.hpp"

#include <algorithm>
#include <deque>
#include <exception>
#include <utility>

#include <boost/asio/compose.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/websocket/stream.hpp>

#include <evenkeel/base/cond_var.hpp>
#include <evenkeel/base/error.hpp>
#include <evenkeel/base/mutex.hpp>

#include "base/ascii.hpp"
#include "http/curl_connection.hpp"
#include "http/off_fiber.hpp"
#include "http/socket_poller.hpp"
#include "http/without_sigpipe.hpp"

namespace evenkeel {
inline namespace v0 {
namespace http::detail {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace websocket = boost::beast::websocket;
using ErrorCode = boost::system::error_code;

constexpr std::size_t read_ahead = std::size_t{1} << 20;        // of messages that nobody has received
constexpr std::size_t longest_message = std::size_t{16} << 20;  // that a server may send
constexpr std::size_t one_record = std::size_t{16} << 10;       // of TLS
constexpr int most_unanswered = 4;  // pings within the time after which a peer is dead

/// Counts the bytes of an answer's head, which ends with CR LF CR LF.
class HeadEnd {
 public:
  /// Returns how many of these bytes belong to the head.
  std::size_t count(const std::string& bytes) {
    std::size_t i = 0;
    while (i < bytes.size() && matched_ < 4) {
      constexpr char end[] = "\r\n\r\n";
      const char next = bytes[i++];
      matched_ = next == end[matched_] ? matched_ + 1 : (next == '\r' ? 1 : 0);
    }
    return i;
  }
  bool found() const { return matched_ == 4; }

 private:
  std::size_t matched_ = 0;
};

/// The connection as an AsyncStream of Asio. Thread safety: one thread at a time.
class CurlStream {
 public:
  using executor_type = asio::io_context::executor_type;

  CurlStream(asio::io_context& context, CurlConnection& connection)
      : connection_(connection),
        descriptor_(context, connection.socket()),
        executor_(context.get_executor()) {
    ahead_.reserve(one_record);
    record_.reserve(one_record);
  }
  ~CurlStream() { descriptor_.release(); }  // the socket is the connection's
  CurlStream(const CurlStream&) = delete;
  CurlStream& operator=(const CurlStream&) = delete;

  executor_type get_executor() const noexcept { return executor_; }
  /// Returns the number of times that bytes have arrived.
  std::size_t arrivals() const { return arrivals_; }
  /// Returns what the socket is waited for, as bits of SocketPoller.
  unsigned interest() const {
    return (waits_to_read_ ? SocketPoller::readable : 0) | (waits_to_write_ ? SocketPoller::writable : 0);
  }

  template <class Buffers, class Handler>
  auto async_read_some(const Buffers& buffers, Handler&& handler) {
    return asio::async_compose<Handler, void(ErrorCode, std::size_t)>(Read<Buffers>{*this, buffers}, handler,
                                                                      executor_);
  }
  template <class Buffers, class Handler>
  auto async_write_some(const Buffers& buffers, Handler&& handler) {
    return asio::async_compose<Handler, void(ErrorCode, std::size_t)>(Write<Buffers>{*this, buffers}, handler,
                                                                      executor_);
  }

 private:
  /// Completes with bytes of ahead_, which it fills.
  template <class Buffers>
  struct Read {
    CurlStream& stream;
    Buffers buffers;
    bool begun = false;

    template <class Self>
    void operator()(Self& self, ErrorCode error = {}) {
      if (!std::exchange(begun, true)) return asio::post(stream.executor_, std::move(self));
      if (!error) error = stream.fill();
      stream.waits_to_read_ = error == asio::error::would_block;
      if (stream.waits_to_read_)
        return stream.descriptor_.async_wait(asio::posix::stream_descriptor::wait_read, std::move(self));
      const std::size_t bytes = error ? 0 : stream.take(buffers);
      self.complete(error, bytes);
    }
  };

  /// Sends what fits into a record of TLS.
  template <class Buffers>
  struct Write {
    CurlStream& stream;
    Buffers buffers;
    bool begun = false;

    template <class Self>
    void operator()(Self& self, ErrorCode error = {}) {
      if (!std::exchange(begun, true)) {
        stream.copy(buffers);
        return asio::post(stream.executor_, std::move(self));
      }
      std::size_t bytes = 0;
      if (!error) error = stream.send(bytes);
      stream.waits_to_write_ = error == asio::error::would_block;
      if (stream.waits_to_write_)
        return stream.descriptor_.async_wait(asio::posix::stream_descriptor::wait_write, std::move(self));
      self.complete(error, bytes);
    }
  };

  ErrorCode fill() {
    if (taken_ < ahead_.size()) return {};
    taken_ = 0;
    ahead_.resize(one_record);
    const CurlConnection::Transfer got = connection_.receive(ahead_.data(), ahead_.size());
    ahead_.resize(got.bytes);
    if (got.bytes > 0) ++arrivals_;
    if (!head_.found()) head_left_ = head_.count(ahead_);
    return code_of(got.state);
  }

  // Beast must not read beyond the head: it has no room for frames that come in one piece with a long one.
  template <class Buffers>
  std::size_t take(const Buffers& buffers) {
    const std::size_t limit = head_left_ > 0 ? head_left_ : ahead_.size() - taken_;
    const std::size_t bytes = asio::buffer_copy(buffers, asio::buffer(ahead_.data() + taken_, limit));
    taken_ += bytes;
    head_left_ -= std::min(head_left_, bytes);
    return bytes;
  }

  template <class Buffers>
  void copy(const Buffers& buffers) {
    record_.resize(std::min(one_record, asio::buffer_size(buffers)));
    asio::buffer_copy(asio::buffer(record_), buffers);
  }

  // A peer that is done may end the connection while something is being sent to it. Its last messages can
  // still be read, but not after an error in Beast's stream: reads report the end.
  ErrorCode send(std::size_t& bytes) {
    bytes = record_.size();
    if (record_.empty() || is_deaf_) return {};
    const CurlConnection::Transfer sent = connection_.send(record_.data(), record_.size());
    is_deaf_ = sent.state == CurlConnection::State::failed;
    if (is_deaf_) return {};
    bytes = sent.bytes;
    return code_of(sent.state);
  }

  static ErrorCode code_of(CurlConnection::State state) {
    switch (state) {
      case CurlConnection::State::done:
        return {};
      case CurlConnection::State::blocked:
        return asio::error::would_block;
      case CurlConnection::State::ended:
        return asio::error::eof;
      case CurlConnection::State::failed:
        break;
    }
    return asio::error::connection_reset;  // the connection has the reason
  }

  CurlConnection& connection_;
  asio::posix::stream_descriptor descriptor_;
  const executor_type executor_;
  std::string ahead_;      // received
  std::size_t taken_ = 0;  // of ahead_
  std::size_t arrivals_ = 0;
  HeadEnd head_;
  std::size_t head_left_ = 0;  // bytes of ahead_ that belong to the head
  std::string record_;         // being sent
  bool is_deaf_ = false;       // the peer takes no more bytes
  bool waits_to_read_ = false;
  bool waits_to_write_ = false;
};

// Beast calls these when both sides have closed the WebSocket, and when its own timers expire, which are off.
template <class Handler>
void async_teardown(beast::role_type, CurlStream& stream, Handler&& handler) {
  asio::post(stream.get_executor(),
             [handler = std::forward<Handler>(handler)]() mutable { handler(ErrorCode()); });
}
void beast_close_socket(CurlStream&) {}

/// The parts of a URL that a request's head has.
struct RequestLine {
  std::string host;
  std::string target;
};

RequestLine line_of(const Endpoint& endpoint, const std::string& target) {
  const std::size_t begin = endpoint.base.find("://") + 3;
  const std::size_t path = std::min(endpoint.base.find('/', begin), endpoint.base.size());
  constexpr std::string_view host_header = "Host: ";
  return {.host = endpoint.host_header.empty() ? endpoint.base.substr(begin, path - begin)
                                               : endpoint.host_header.substr(host_header.size()),
          .target = endpoint.base.substr(path) + target};
}

template <class Text>
std::string text_of(const Text& text) {
  return {text.data(), text.size()};
}

/// A WebSocket without a thread. Of the threads that wait, one drives the event loop until its own condition
/// holds; the others wait for it, and one of them takes over. All operations of Beast are started and
/// completed by the driving thread.
class CurlWebSocket final : public DrivenWebSocket {
 public:
  CurlWebSocket(std::unique_ptr<CurlConnection> connection, Duration dead_peer_timeout,
                const std::stop_token& closing)
      : connection_(std::move(connection)),
        ping_interval_(dead_peer_timeout / most_unanswered),
        work_(context_.get_executor()),
        timer_(context_),
        stream_(context_, *connection_),
        on_closing_(closing, Break{*this}) {
    stream_.binary(true);
    stream_.auto_fragment(false);  // Go's golang.org/x/net/websocket takes each frame for a message
    stream_.write_buffer_bytes(one_record);
    stream_.read_message_max(longest_message);
  }

  /// Asks the server for the WebSocket; returns its answer.
  Response handshake(const Request& request, const CurlTransportOptions& options,
                     const std::vector<std::string>& protocols, const std::stop_token& stop);

  void begin(const Request& request, const CurlTransportOptions& options,
             const std::vector<std::string>& protocols) override;
  std::optional<Response> answer() override EVENKEEL_EXCLUDES(mutex_);
  void proceed() override EVENKEEL_EXCLUDES(mutex_);
  unsigned interest() const override { return stream_.next_layer().interest(); }
  TimePoint next_due() const override { return next_ping_; }
  bool may_send() const override EVENKEEL_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return !outbox_;
  }

  const std::string& protocol() const noexcept override { return protocol_; }
  unsigned wait(unsigned wanted, TimePoint until, const std::stop_token& stop) override
      EVENKEEL_EXCLUDES(mutex_) {
    {
      MutexLock lock(mutex_);
      if (const unsigned holds = ready() & wanted; holds != 0) return holds;
    }
    return run_off_fiber([&] { return drive(wanted, until, stop); });
  }
  std::optional<std::string> receive() override EVENKEEL_EXCLUDES(mutex_);
  bool send(std::string message) override EVENKEEL_EXCLUDES(mutex_);
  void close() override EVENKEEL_EXCLUDES(mutex_);
  std::optional<WebSocketClose> closed() const override EVENKEEL_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return closed_;
  }

 private:
  static constexpr unsigned answered = 4;  // condition of handshake()

  struct Break {
    CurlWebSocket& self;
    void operator()() const noexcept { self.break_off(); }
  };

  unsigned drive(unsigned wanted, TimePoint until, const std::stop_token& stop) EVENKEEL_EXCLUDES(mutex_);
  std::exception_ptr run_one();
  std::size_t run_ready(std::exception_ptr& thrown);
  unsigned ready() const EVENKEEL_REQUIRES(mutex_);
  void start_due() EVENKEEL_REQUIRES(mutex_);
  void keep_alive() EVENKEEL_REQUIRES(mutex_);
  void arm(TimePoint due);
  void interrupt() noexcept;
  void break_off() noexcept EVENKEEL_EXCLUDES(mutex_);
  void on_handshake(ErrorCode error) EVENKEEL_EXCLUDES(mutex_);
  void on_read(ErrorCode error) EVENKEEL_EXCLUDES(mutex_);
  void on_written(ErrorCode error) EVENKEEL_EXCLUDES(mutex_);
  void on_closed(ErrorCode error) EVENKEEL_EXCLUDES(mutex_);
  void on_pinged(ErrorCode error) EVENKEEL_EXCLUDES(mutex_);
  void end(ErrorCode error) EVENKEEL_REQUIRES(mutex_);
  bool has_ended() const EVENKEEL_REQUIRES(mutex_) { return error_ || closed_; }
  std::exception_ptr error_of(ErrorCode error) const;
  std::exception_ptr failure(TransportErrorCode code, const std::string& reason) const {
    return std::make_exception_ptr(TransportError(code, connection_->describe(reason)));
  }

  const std::unique_ptr<CurlConnection> connection_;
  const Duration ping_interval_;
  asio::io_context context_{1};
  const asio::executor_work_guard<asio::io_context::executor_type> work_;
  std::vector<std::string> protocols_;  // that were offered
  std::string protocol_;                // constant after the handshake

  // Used by the driving thread only.
  asio::steady_timer timer_;
  TimePoint armed_ = TimePoint::max();
  websocket::stream<CurlStream, false> stream_;
  beast::flat_buffer incoming_;
  std::string leaving_;  // the message that is being written
  websocket::response_type answer_;
  bool is_open_ = false;
  bool reading_ = false;
  bool writing_ = false;
  bool close_sent_ = false;
  bool pinging_ = false;
  TimePoint next_ping_ = TimePoint::max();
  int unanswered_ = 0;        // consecutive pings after which nothing arrived; ping intervals since a close
  std::size_t arrivals_ = 0;  // at the last ping

  mutable Mutex mutex_;
  CondVar changed_;  // notified when the driving thread has made progress, or stops driving
  bool driving_ EVENKEEL_GUARDED_BY(mutex_) = false;
  bool is_answered_ EVENKEEL_GUARDED_BY(mutex_) = false;
  bool is_closing_ EVENKEEL_GUARDED_BY(mutex_) = false;
  bool is_broken_off_ EVENKEEL_GUARDED_BY(mutex_) = false;
  std::deque<std::string> inbox_ EVENKEEL_GUARDED_BY(mutex_);
  std::size_t inbox_bytes_ EVENKEEL_GUARDED_BY(mutex_) = 0;
  std::optional<std::string> outbox_ EVENKEEL_GUARDED_BY(mutex_);  // until it is written
  std::exception_ptr error_ EVENKEEL_GUARDED_BY(mutex_);
  std::optional<WebSocketClose> closed_ EVENKEEL_GUARDED_BY(mutex_);

  const std::stop_callback<Break> on_closing_;  // last: it may be called at once
};

Response CurlWebSocket::handshake(const Request& request, const CurlTransportOptions& options,
                                  const std::vector<std::string>& protocols, const std::stop_token& stop) {
  begin(request, options, protocols);
  while ((drive(answered, connection_->next_look(), stop) & answered) == 0) {
    if (const auto error = connection_->overdue()) std::rethrow_exception(error);
  }
  return answer().value();
}

void CurlWebSocket::begin(const Request& request, const CurlTransportOptions& options,
                          const std::vector<std::string>& protocols) {
  protocols_ = protocols;
  const auto add_headers = [headers = request.headers, agent = options.user_agent,
                            offered =
                                evenkeel::detail::ascii::join(protocols)](websocket::request_type& head) {
    for (const auto& [name, value] : headers) head.insert(name, value);
    if (headers.find("User-Agent") == nullptr) head.set("User-Agent", agent);
    if (!offered.empty()) head.set("Sec-WebSocket-Protocol", offered);
  };
  stream_.set_option(websocket::stream_base::decorator(add_headers));
  const RequestLine line = line_of(connection_->endpoint(), request.target);
  stream_.async_handshake(answer_, line.host, line.target, [this](ErrorCode error) { on_handshake(error); });
}

std::optional<Response> CurlWebSocket::answer() {
  MutexLock lock(mutex_);
  if (error_ && !is_open_) std::rethrow_exception(error_);  // later errors follow the messages
  if (!is_answered_) return std::nullopt;
  Response response{.status = static_cast<int>(answer_.result_int()), .headers = {}, .body = answer_.body()};
  for (const auto& field : answer_)
    response.headers.add(text_of(field.name_string()), text_of(field.value()));
  if (const std::string* chosen = response.headers.find("Sec-WebSocket-Protocol")) protocol_ = *chosen;
  if (is_open_ && !protocol_.empty() &&
      std::find(protocols_.begin(), protocols_.end(), protocol_) == protocols_.end()) {
    std::rethrow_exception(
        failure(TransportErrorCode::protocol,
                "the server chose the subprotocol \"" + protocol_ + "\", which was not offered"));
  }
  return response;
}

std::optional<std::string> CurlWebSocket::receive() {
  MutexLock lock(mutex_);
  if (inbox_.empty()) {
    if (error_) std::rethrow_exception(error_);
    return std::nullopt;
  }
  std::string message = std::move(inbox_.front());
  inbox_.pop_front();
  const bool was_full = inbox_bytes_ >= read_ahead;
  inbox_bytes_ -= message.size();
  if (was_full && driving_) interrupt();  // it may read on
  return message;
}

bool CurlWebSocket::send(std::string message) {
  MutexLock lock(mutex_);
  if (error_) std::rethrow_exception(error_);
  if (closed_ || is_closing_) return true;
  if (outbox_) return false;
  outbox_ = std::move(message);
  if (driving_) interrupt();
  return true;
}

void CurlWebSocket::close() {
  MutexLock lock(mutex_);
  is_closing_ = true;
  if (driving_) interrupt();
}

unsigned CurlWebSocket::ready() const {
  if (has_ended()) return readable | writable | answered;
  return (inbox_.empty() ? 0 : readable) | (outbox_ ? 0 : writable) | (is_answered_ ? answered : 0);
}

unsigned CurlWebSocket::drive(unsigned wanted, TimePoint until, const std::stop_token& stop) {
  const std::stop_callback wake(stop, [this]() noexcept {
    MutexLock lock(mutex_);
    changed_.notify_all();
    if (driving_) interrupt();
  });
  MutexLock lock(mutex_);
  for (;;) {
    if (is_broken_off_ && !has_ended())
      error_ = failure(TransportErrorCode::closed, "the transport was closed");
    if (const unsigned holds = ready() & wanted; holds != 0) return holds;
    if (stop.stop_requested()) throw Cancelled(connection_->describe("cancelled"));
    if (now() >= until) return 0;
    if (driving_) {
      changed_.wait_until(lock, until);
      continue;
    }
    start_due();
    if (has_ended()) continue;
    arm(std::min(until, next_ping_));
    driving_ = true;
    lock.unlock();
    const std::exception_ptr thrown = run_one();
    lock.lock();
    driving_ = false;
    if (thrown && !has_ended()) error_ = thrown;
    changed_.notify_all();
  }
}

/// Runs a handler, or waits for one; returns its exception.
std::exception_ptr CurlWebSocket::run_one() {
  const WithoutSigpipe without_sigpipe;
  try {
    if (context_.stopped()) context_.restart();
    context_.run_one();
  } catch (...) {
    return std::current_exception();
  }
  return nullptr;
}

/// Runs the handlers that need not be waited for; returns their number.
std::size_t CurlWebSocket::run_ready(std::exception_ptr& thrown) {
  try {
    if (context_.stopped()) context_.restart();
    return context_.poll();
  } catch (...) {
    thrown = std::current_exception();
    return 0;
  }
}

void CurlWebSocket::proceed() {
  const WithoutSigpipe without_sigpipe;
  MutexLock lock(mutex_);
  for (bool progress = true; progress && !has_ended();) {
    start_due();
    lock.unlock();
    std::exception_ptr thrown;
    progress = run_ready(thrown) > 0;
    lock.lock();
    if (thrown && !has_ended()) error_ = thrown;
  }
  // Its end may not be taken for long: a paused exchange is due no more.
  if (has_ended()) next_ping_ = TimePoint::max();
}

void CurlWebSocket::start_due() {
  if (!is_open_ || has_ended()) return;
  if (!reading_ && inbox_bytes_ < read_ahead) {
    reading_ = true;
    stream_.async_read(incoming_, [this](ErrorCode error, std::size_t) { on_read(error); });
  }
  if (outbox_ && !writing_) {
    writing_ = true;
    leaving_ = *outbox_;
    stream_.async_write(asio::buffer(leaving_), [this](ErrorCode error, std::size_t) { on_written(error); });
  }
  if (is_closing_ && !outbox_ && !std::exchange(close_sent_, true)) {
    next_ping_ = deadline_after(now(), ping_interval_);
    unanswered_ = 0;
    stream_.async_close(websocket::close_code::normal, [this](ErrorCode error) { on_closed(error); });
  }
  keep_alive();
}

// Pings keep the connection alive in proxies that end silent ones, and find a peer that is gone. Time in
// which no thread drives, or in which nothing is read because nobody receives, is not held against the peer.
// After a close there are no pings; the peer has as much time to answer it, even if it still sends messages.
void CurlWebSocket::keep_alive() {
  const TimePoint at = now();
  if (at < next_ping_) return;
  next_ping_ = deadline_after(at, ping_interval_);
  const std::size_t arrivals = stream_.next_layer().arrivals();
  const bool silent = std::exchange(arrivals_, arrivals) == arrivals;
  unanswered_ = close_sent_ || (silent && reading_) ? unanswered_ + 1 : 0;
  if (unanswered_ >= most_unanswered) {
    error_ =
        failure(TransportErrorCode::timeout,
                close_sent_ ? "no answer to the close of the WebSocket"
                            : "no answer to " + std::to_string(most_unanswered) + " pings of the WebSocket");
  } else if (!close_sent_ && !std::exchange(pinging_, true)) {
    stream_.async_ping({}, [this](ErrorCode error) { on_pinged(error); });
  }
}

/// Makes run_one() return at `due`.
void CurlWebSocket::arm(TimePoint due) {
  if (due == armed_) return;
  armed_ = due;
  timer_.cancel();
  if (due == TimePoint::max()) return;
  timer_.expires_at(due);
  timer_.async_wait([this](ErrorCode error) {
    if (!error) armed_ = TimePoint::max();
  });
}

/// Makes run_one() return soon.
void CurlWebSocket::interrupt() noexcept {
  try {
    asio::post(context_, [] {});
  } catch (const std::bad_alloc&) {
    context_.stop();  // allocates nothing
  }
}

void CurlWebSocket::break_off() noexcept {
  MutexLock lock(mutex_);
  is_broken_off_ = true;
  changed_.notify_all();
  if (driving_) interrupt();
}

void CurlWebSocket::on_handshake(ErrorCode error) {
  MutexLock lock(mutex_);
  is_answered_ = true;
  is_open_ = !error;
  if (is_open_) {
    next_ping_ = deadline_after(now(), ping_interval_);
  } else if (error != websocket::error::upgrade_declined) {
    error_ = error_of(error);
  }
}

void CurlWebSocket::on_read(ErrorCode error) {
  MutexLock lock(mutex_);
  reading_ = false;
  if (error) return end(error);
  if (stream_.got_text()) {
    error_ = failure(TransportErrorCode::protocol, "a message is text, and not binary");
    return;
  }
  if (!is_closing_) {
    inbox_.push_back(beast::buffers_to_string(incoming_.data()));
    inbox_bytes_ += inbox_.back().size();
  }
  incoming_.consume(incoming_.size());
}

void CurlWebSocket::on_written(ErrorCode error) {
  MutexLock lock(mutex_);
  writing_ = false;
  outbox_.reset();
  if (error) end(error);
}

void CurlWebSocket::on_closed(ErrorCode error) {
  MutexLock lock(mutex_);
  end(error ? error : ErrorCode(websocket::error::closed));
}

void CurlWebSocket::on_pinged(ErrorCode error) {
  MutexLock lock(mutex_);
  pinging_ = false;
  if (error) end(error);
}

void CurlWebSocket::end(ErrorCode error) {
  // Another operation gets the reason.
  if (has_ended() || error == asio::error::operation_aborted) return;
  if (error == websocket::error::closed) {
    closed_ = WebSocketClose{.code = stream_.reason().code, .reason = text_of(stream_.reason().reason)};
    if (closed_->code == websocket::close_code::none) closed_->code = websocket::close_code::no_status;
  } else {
    error_ = error_of(error);
  }
}

std::exception_ptr CurlWebSocket::error_of(ErrorCode error) const {
  if (error == asio::error::connection_reset) return connection_->error();
  const bool ended = error == asio::error::eof || error == beast::http::error::end_of_stream ||
                     error == beast::http::error::partial_message;
  if (ended && !is_open_)
    return failure(TransportErrorCode::interrupted, "the connection ended within the headers");
  if (ended) return failure(TransportErrorCode::interrupted, "the connection ended without a close frame");
  return failure(
      TransportErrorCode::protocol,
      (is_open_ ? "not a valid WebSocket: " : "not a valid answer to a WebSocket: ") + error.message());
}

}  // namespace

std::unique_ptr<DrivenWebSocket> make_driven_web_socket(std::unique_ptr<CurlConnection> connection,
                                                        Duration dead_peer_timeout) {
  return std::make_unique<CurlWebSocket>(std::move(connection), dead_peer_timeout, std::stop_token());
}

WebSocketAnswer open_curl_web_socket(const CurlTransportOptions& options, TlsFiles& tls,
                                     const Request& request, const std::vector<std::string>& protocols,
                                     const std::stop_token& stop, const std::stop_token& closing) {
  return run_off_fiber([&] {
    auto connection = std::make_unique<CurlConnection>(options, tls, request, stop, closing);
    auto socket = std::make_unique<CurlWebSocket>(std::move(connection), options.dead_peer_timeout, closing);
    WebSocketAnswer answer;
    answer.response = socket->handshake(request, options, protocols, stop);
    if (answer.response.status == 101) answer.socket = std::move(socket);
    return answer;
  });
}

}  // namespace http::detail
}  // namespace v0
}  // namespace evenkeel
