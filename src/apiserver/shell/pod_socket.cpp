// SPDX-License-Identifier: Apache-2.0
#include "apiserver/shell/pod_socket.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <string_view>
#include <utility>

#include <boost/asio/compose.hpp>
#include <boost/asio/post.hpp>
#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/rfc7230.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/websocket/rfc6455.hpp>
#include <boost/beast/websocket/stream.hpp>

#include "serve/byte_stream.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver::detail {
namespace {

namespace beast = boost::beast;
namespace websocket = boost::beast::websocket;
using http::detail::ByteStream;
using http::detail::ErrorCode;
using http::detail::Session;
using UpgradeRequest = beast::http::request<beast::http::string_body>;

constexpr std::size_t longest_message = std::size_t{16} << 20;
constexpr auto longest_goodbye = std::chrono::seconds{30};

UpgradeRequest upgrade_request(const http::Request& request) {
  UpgradeRequest upgrade(beast::http::verb::get, request.target, 11);
  for (const auto& [name, value] : request.headers) upgrade.insert(name, value);
  return upgrade;
}

/// The connection of a session as an AsyncStream of Asio. Thread safety: one thread at a time.
class SessionStream {
 public:
  using executor_type = asio::io_context::executor_type;

  SessionStream(asio::io_context& context, ByteStream& bytes, std::string received)
      : bytes_(bytes), received_(std::move(received)), executor_(context.get_executor()) {}

  executor_type get_executor() const noexcept { return executor_; }
  void close() { bytes_.close(); }

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
  // Operations of Asio can only be moved; those of ByteStream are std::function.
  template <class Self>
  static ByteStream::Done done(Self& self) {
    auto kept = std::make_shared<Self>(std::move(self));
    return [kept](ErrorCode error, std::size_t size) { (*kept)(error, size); };
  }

  template <class Buffers>
  struct Read {
    SessionStream& stream;
    Buffers buffers;
    bool begun = false;

    template <class Self>
    void operator()(Self& self, ErrorCode error = {}, std::size_t size = 0) {
      if (std::exchange(begun, true)) return self.complete(error, size);
      SessionStream& from = stream;
      if (const std::size_t ready = asio::buffer_copy(buffers, asio::buffer(from.received_)); ready > 0) {
        from.received_.erase(0, ready);
        return asio::post(from.executor_, [then = done(self), ready] { then({}, ready); });
      }
      asio::mutable_buffer into;
      for (auto at = asio::buffer_sequence_begin(buffers); at != asio::buffer_sequence_end(buffers); ++at) {
        if (into.size() == 0) into = *at;
      }
      from.bytes_.read_some(into, done(self));
    }
  };

  template <class Buffers>
  struct Write {
    SessionStream& stream;
    Buffers buffers;
    bool begun = false;

    template <class Self>
    void operator()(Self& self, ErrorCode error = {}, std::size_t size = 0) {
      if (std::exchange(begun, true)) return self.complete(error, size);
      SessionStream& to = stream;
      ByteStream::Pieces pieces;
      std::size_t count = 0;
      for (auto at = asio::buffer_sequence_begin(buffers); at != asio::buffer_sequence_end(buffers); ++at) {
        const asio::const_buffer piece = *at;
        if (piece.size() > 0 && count < pieces.size()) pieces[count++] = piece;
      }
      if (count == 0) return asio::post(to.executor_, [then = done(self)] { then({}, 0); });
      to.bytes_.write_some(pieces, done(self));
    }
  };

  ByteStream& bytes_;
  std::string received_;  // behind the request
  const executor_type executor_;
};

// Beast calls these when both sides have closed the WebSocket, and when it has taken too long.
template <class Handler>
void async_teardown(beast::role_type, SessionStream& stream, Handler&& handler) {
  asio::post(stream.get_executor(),
             [handler = std::forward<Handler>(handler)]() mutable { handler(ErrorCode()); });
}
void beast_close_socket(SessionStream& stream) {
  stream.close();
}

class SessionWebSocket final : public PodSocket, public std::enable_shared_from_this<SessionWebSocket> {
 public:
  SessionWebSocket(Session& session, asio::io_context& context, std::shared_ptr<PodChannel> channel,
                   std::string protocol)
      : session_(session.shared_from_this()),
        channel_(std::move(channel)),
        protocol_(std::move(protocol)),
        socket_(context, session.upgrade(), session.take_input()) {
    socket_.binary(true);
    socket_.auto_fragment(false);  // Go's golang.org/x/net/websocket takes each frame for a message
    socket_.read_message_max(longest_message);
    socket_.set_option(websocket::stream_base::timeout{.handshake_timeout = longest_goodbye,
                                                       .idle_timeout = websocket::stream_base::none(),
                                                       .keep_alive_pings = false});
    socket_.set_option(
        websocket::stream_base::decorator([chosen = protocol_](websocket::response_type& head) {
          head.set(beast::http::field::sec_websocket_protocol, chosen);
        }));
  }

  void start(const http::Request& request, std::function<void()> on_open) override {
    request_ = upgrade_request(request);
    socket_.async_accept(request_,
                         [self = shared_from_this(), on_open = std::move(on_open)](ErrorCode error) {
                           if (error) return self->finish();
                           self->is_open_ = true;
                           on_open();
                           self->pump();
                         });
  }

  void pump() override {
    if (!is_open_) return;
    if (!reading_ && channel_->room()) read();
    if (!writing_) write();
  }

  void on_closed() override {
    is_open_ = false;
    channel_->on_gone();
  }

 private:
  void read() {
    reading_ = true;
    socket_.async_read(incoming_, [self = shared_from_this()](ErrorCode error, std::size_t) {
      self->reading_ = false;
      if (error) return self->finish();
      self->channel_->on_message(beast::buffers_to_string(self->incoming_.data()));
      self->incoming_.consume(self->incoming_.size());
      self->pump();
    });
  }

  void write() {
    if (auto message = channel_->next()) {
      writing_ = true;
      leaving_ = std::move(*message);
      socket_.async_write(asio::buffer(leaving_), [self = shared_from_this()](ErrorCode error, std::size_t) {
        self->writing_ = false;
        if (error) return self->finish();
        self->pump();
      });
    } else if (channel_->ended() && !std::exchange(closing_, true)) {
      socket_.async_close(websocket::close_code::normal,
                          [self = shared_from_this()](ErrorCode) { self->finish(); });
    }
  }

  void finish() { session_->close(); }

  const std::shared_ptr<Session> session_;  // has the connection
  const std::shared_ptr<PodChannel> channel_;
  const std::string protocol_;
  websocket::stream<SessionStream> socket_;
  UpgradeRequest request_;
  beast::flat_buffer incoming_;
  std::string leaving_;
  bool is_open_ = false;
  bool reading_ = false;
  bool writing_ = false;
  bool closing_ = false;
};

}  // namespace

bool asks_for_web_socket(const http::Request& request) {
  return request.method == http::Method::get && websocket::is_upgrade(upgrade_request(request));
}

std::string chosen_protocol(const http::Request& request, bool of_port) {
  const std::string* const offered = request.headers.find("Sec-WebSocket-Protocol");
  if (offered == nullptr) return "";
  for (const auto& protocol : beast::http::token_list(*offered)) {
    const std::string name(protocol.data(), protocol.size());
    if (name == "v4.channel.k8s.io" || (name == "v5.channel.k8s.io" && !of_port)) return name;
  }
  return "";
}

std::shared_ptr<PodSocket> make_pod_socket(Session& session, asio::io_context& context,
                                           std::shared_ptr<PodChannel> channel, std::string protocol) {
  return std::make_shared<SessionWebSocket>(session, context, std::move(channel), std::move(protocol));
}

}  // namespace apiserver::detail
}  // namespace v0
}  // namespace evenkeel
