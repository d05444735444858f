// SPDX-License-Identifier: Apache-2.0
// Requests that the functions of the kubelet serve.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include <boost/asio/io_context.hpp>

#include <evenkeel/apiserver/api_server_core.hpp>
#include <evenkeel/apiserver/kubelet.hpp>
#include <evenkeel/http/message.hpp>

#include "apiserver/shell/kubelet_threads.hpp"
#include "apiserver/shell/pod_channel.hpp"
#include "apiserver/shell/pod_socket.hpp"
#include "serve/session.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver::detail {

/// Returns the query of a request.
std::string_view request_query(const http::Request& request);

/// Thread safety: one thread at a time (the server's), except answer(). Lifetime: the context outlives it.
class NodeDesk {
 public:
  NodeDesk(const Kubelet& kubelet, boost::asio::io_context& context)
      : kubelet_(std::make_shared<const Kubelet>(kubelet)), context_(context) {}

  /// Returns the head of the answer to a request, or its refusal, for which no function is run; nullopt if
  /// there is no function for it.
  std::optional<http::Response> answer(const http::Request& request, const NodeAction& action) const;
  /// Accepts a WebSocket and runs the function of the action.
  std::shared_ptr<PodSocket> open(http::detail::Session& session, const http::Request& request,
                                  const NodeAction& action);
  /// Runs the function of a log; `on_ready` is called on the server's thread when there is more of it.
  std::shared_ptr<PodChannel> read_log(const http::Request& request, const NodeAction& action,
                                       std::function<void()> on_ready);
  /// Waits for the functions; the sessions must have closed.
  void join() { threads_.join(); }

 private:
  using Work = std::function<void(PodChannel&)>;

  bool serves(const NodeAction& action) const noexcept;
  void run(const std::shared_ptr<PodChannel>& channel, const Work& work);

  const std::shared_ptr<const Kubelet> kubelet_;
  boost::asio::io_context& context_;
  KubeletThreads threads_;
};

}  // namespace apiserver::detail
}  // namespace v0
}  // namespace evenkeel
