// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include <evenkeel/client/pod_connection_call.hpp>

#include "client/pods/pod_call.hpp"
#include "client/pods/port_core.hpp"

namespace evenkeel {
inline namespace v0 {
namespace {

class StartedConnection final : public PodConnectionCall, public detail::PodCall {
 public:
  StartedConnection(const RestRequest& request, std::uint16_t port, PodConnectionListener listener)
      : PodCall(describe(request)), core_(call(), port), listener_(std::move(listener)) {}

  void start(const Client& client, const RestRequest& request, const std::shared_ptr<PodCall>& self) {
    open(client, request, {"v4.channel.k8s.io"}, self);
  }

  void cancel() noexcept override { cancel_socket(); }
  void pause() noexcept override { set_paused(true); }
  void resume() noexcept override { set_paused(false); }
  void write(std::string bytes) override { send(bytes, detail::port_data_message); }
  void close() override { close_socket(); }
  std::size_t unsent() const override { return unsent_bytes(); }

 private:
  void take_open(const std::string&) override {}
  void take_message(std::string message) override {
    auto bytes = core_.on_message(std::move(message));
    if (bytes && listener_.on_data) listener_.on_data(std::move(*bytes));
  }
  void on_drained() override {
    if (listener_.on_drained) listener_.on_drained();
  }
  void take_close(const http::WebSocketClose& close) override { core_.on_close(close); }
  void take_end(std::exception_ptr error) override {
    const PodConnectionListener listener = std::move(listener_);
    if (listener.on_end) listener.on_end(std::move(error));
  }

  detail::PortCore core_;
  PodConnectionListener listener_;
};

}  // namespace

std::shared_ptr<PodConnectionCall> start_pod_connection(const Client& client, const ObjectKey& pod,
                                                        std::uint16_t port, PodConnectionListener listener) {
  const RestRequest request = detail::port_request(pod, port);
  auto connection = std::make_shared<StartedConnection>(request, port, std::move(listener));
  connection->start(client, request, connection);
  return connection;
}

}  // namespace v0
}  // namespace evenkeel
