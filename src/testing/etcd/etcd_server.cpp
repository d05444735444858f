// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>
#include <utility>

#include <evenkeel/apiserver/in_process_transport.hpp>
#include <evenkeel/testing/etcd_server.hpp>

#include "apiserver/shell/http_server.hpp"
#include "testing/etcd/etcd_core.hpp"
#include "testing/etcd/etcd_message.hpp"

namespace evenkeel {
inline namespace v0 {
namespace testing {
namespace {

// The JSON form of a request is longer than the form whose size etcd limits: base64, and member names.
constexpr std::size_t json_growth = 4;

EtcdServerOptions checked(EtcdServerOptions options) {
  if (options.max_txn_ops == 0 || options.max_request_bytes == 0)
    throw std::invalid_argument("EtcdServerOptions: max_txn_ops and max_request_bytes must be positive");
  for (const EtcdUser& user : options.users)
    if (user.name.empty() || user.password.empty())
      throw std::invalid_argument("EtcdServerOptions: a user needs a name and a password");
  return options;
}

}  // namespace

struct EtcdServer::State {
  explicit State(const EtcdServerOptions& options) {
    auto owned = std::make_unique<EtcdCore>(checked(options));
    core = owned.get();
    apiserver::SharedCoreOptions shared;
    shared.faults = options.faults;
    shared.clock = options.clock;
    shared.on_request = options.on_request;
    host = std::make_shared<apiserver::detail::CoreHost>(std::move(owned), std::move(shared));
    server = std::make_unique<apiserver::detail::HttpServer>(
        host,
        apiserver::detail::HttpServerOptions{
            .host = options.host, .port = options.port, .max_body = options.max_request_bytes * json_growth});
    const std::string name = options.host == "0.0.0.0" ? "127.0.0.1" : options.host;
    url = "http://" + name + ":" + std::to_string(server->port());
  }

  EtcdCore* core = nullptr;  // owned by the host; used under its lock
  std::shared_ptr<apiserver::detail::CoreHost> host;
  std::unique_ptr<apiserver::detail::HttpServer> server;
  std::string url;
};

EtcdServer::EtcdServer(EtcdServerOptions options) : state_(std::make_unique<State>(options)) {}
EtcdServer::~EtcdServer() {
  stop();
}

std::uint16_t EtcdServer::port() const {
  return state_->server->port();
}
std::string EtcdServer::url() const {
  return state_->url;
}
std::shared_ptr<http::Transport> EtcdServer::transport() const {
  return std::make_shared<apiserver::InProcessTransport>(state_->host,
                                                         apiserver::InProcessTransportOptions{});
}

void EtcdServer::compact(std::uint64_t revision) {
  state_->host->with([&](apiserver::detail::Backend&) {
    try {
      state_->core->compact(revision == 0 ? state_->core->revision() : revision);
    } catch (const EtcdRefusal& refusal) {
      throw std::invalid_argument(refusal.message);
    }
  });
}
void EtcdServer::forget_tokens() {
  state_->host->with([this](apiserver::detail::Backend&) { state_->core->forget_tokens(); });
}
std::uint64_t EtcdServer::revision() const {
  std::uint64_t revision = 0;
  state_->host->with([&](apiserver::detail::Backend&) { revision = state_->core->revision(); });
  return revision;
}

apiserver::FaultId EtcdServer::inject(apiserver::FaultRule rule) {
  return state_->host->inject(std::move(rule));
}
void EtcdServer::remove_fault(apiserver::FaultId id) {
  state_->host->remove_fault(id);
}
void EtcdServer::clear_faults() {
  state_->host->clear_faults();
}
apiserver::FaultCounts EtcdServer::fault_counts(apiserver::FaultId id) const {
  return state_->host->fault_counts(id);
}
std::size_t EtcdServer::cut_watches() {
  return state_->host->cut_watches();
}
void EtcdServer::stop() noexcept {
  state_->server->stop();
}

}  // namespace testing
}  // namespace v0
}  // namespace evenkeel
