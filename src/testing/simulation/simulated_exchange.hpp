// SPDX-License-Identifier: Apache-2.0
// One request on its way through the network of a simulation, and its answer or stream.
#pragma once

#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <evenkeel/http/transport.hpp>

#include "testing/simulation/simulated_network.hpp"

namespace evenkeel {
inline namespace v0 {
namespace testing::detail {

/// Thread safety: one thread at a time. Lifetime: held by its port until it is over, and by the events that
/// concern it.
class SimulatedExchange final : public http::Call, public std::enable_shared_from_this<SimulatedExchange> {
 public:
  SimulatedExchange(const std::shared_ptr<SimulatedPort>& port, std::shared_ptr<SimulatedHost> host,
                    std::uint64_t number, http::Request request);

  void cancel() noexcept override;
  void pause() noexcept override { paused_ = true; }
  void resume() noexcept override;

  /// Sends the request; one of the two receivers is set.
  void begin(http::Completion completion, std::shared_ptr<http::StreamHandler> handler);
  /// Ends it for the client, as an event of its own.
  void end_soon(std::exception_ptr error);
  std::exception_ptr error(TransportErrorCode code, const std::string& reason) const;
  std::uint64_t number() const { return number_; }
  /// Returns true for a stream that is half-open, or of which something is on its way.
  bool is_behind() const { return handler_ != nullptr && (silent_ || last_arrival_ > now()); }

 private:
  class Feed;
  friend class Feed;
  using Deliver = std::function<void(http::StreamHandler&)>;

  const NetworkParts& parts() const { return port_->parts_; }
  Duration now() const { return parts().schedule.now(); }
  bool is_write() const { return request_.method != http::Method::get; }
  void send();
  void arrive();
  http::Response handled();
  void report(const http::Response& response, std::uint64_t changes_before);
  void answer(http::Response response);
  void open_stream();
  void piece(std::size_t bytes, const std::function<Deliver(std::size_t bytes)>& deliver);
  void deliver(Deliver piece);
  void close_server_side();
  void finish(http::Response response);
  void fail(const std::exception_ptr& error);
  void leave();
  void watch_deadline();
  void watch_silence();
  void wake_at(TimePoint when, void (*look)(SimulatedExchange&));
  void note(const std::string& what) const;

  const std::shared_ptr<SimulatedPort> port_;
  const std::shared_ptr<SimulatedHost> host_;
  const std::uint64_t number_;
  http::Request request_;
  http::Completion completion_;
  std::shared_ptr<http::StreamHandler> handler_;
  RequestFate fate_;
  std::uint64_t runs_ = 0;
  bool over_ = false;
  bool paused_ = false;
  bool silent_ = false;  // nothing will arrive any more
  bool closed_ = false;  // the server's side is
  Duration last_arrival_{};
  TimePoint last_piece_{};
  std::deque<Deliver> waiting_;  // while paused
  std::shared_ptr<http::Call> server_side_;
};

}  // namespace testing::detail
}  // namespace v0
}  // namespace evenkeel
