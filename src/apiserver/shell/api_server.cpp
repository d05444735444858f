// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <stdexcept>
#include <utility>

#include <evenkeel/apiserver/api_server.hpp>
#include <evenkeel/apiserver/in_process_transport.hpp>

#include "apiserver/shell/http_server.hpp"
#include "apiserver/shell/kubeconfig_writer.hpp"
#include "apiserver/shell/tls_certificates.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {
namespace {

bool uses_rbac(const ApiServerOptions& options) {
  return options.authorization == Authorization::rbac || options.core.authorization == Authorization::rbac;
}

// Returns the options with a token for the administrator where one is needed.
ApiServerOptions completed(ApiServerOptions options) {
  if (!uses_rbac(options)) return options;
  options.core.authorization = Authorization::rbac;
  if (options.core.token_key.empty()) options.core.token_key = random_text();
  if (options.token.empty() && !options.client_certificate) options.token = random_text();
  return options;
}

std::shared_ptr<SharedCore> make_core(const ApiServerOptions& options) {
  SharedCoreOptions shared{.core = options.core,
                           .tokens = options.tokens,
                           .anonymous = options.anonymous,
                           .faults = options.faults,
                           .webhooks = options.webhooks,
                           .clock = options.clock,
                           .on_request = options.on_request};
  if (!options.token.empty()) shared.tokens.insert(shared.tokens.begin(), {.token = options.token});
  return std::make_shared<SharedCore>(std::move(shared));
}

// Returns the names for which the server's certificate is valid.
std::vector<std::string> certified_hosts(const std::string& host) {
  std::vector<std::string> hosts = {"localhost", "127.0.0.1", "::1", "kubernetes", "kubernetes.default.svc"};
  if (std::find(hosts.begin(), hosts.end(), host) == hosts.end()) hosts.push_back(host);
  return hosts;
}

// Returns the form in which a client on this machine writes the address that a server listens on.
std::string dialled(const std::string& host) {
  if (host == "0.0.0.0") return "127.0.0.1";
  if (host == "::") return "[::1]";
  return host.find(':') == std::string::npos ? host : "[" + host + "]";
}

}  // namespace

struct ApiServer::State {
  State(std::shared_ptr<SharedCore> shared, const ApiServerOptions& options)
      : core(std::move(shared)), token(options.token) {
    if (options.client_certificate && !options.tls)
      throw std::invalid_argument("ApiServerOptions: client_certificate needs tls");
    if (token.empty() && !options.tokens.empty()) token = options.tokens.front().token;
    detail::HttpServerOptions http{.host = options.host,
                                   .port = options.port,
                                   .tls = options.tls,
                                   .max_body = options.core.max_body_bytes,
                                   .write_timeout = options.write_timeout,
                                   .kubelet = options.kubelet};
    if (options.tls) {
      const CertifiedKey authority_key = make_authority();
      authority = authority_key.certificate;
      http.certificate = make_server_certificate(authority_key, certified_hosts(options.host));
      http.client_authority = authority;
      if (options.client_certificate) client = make_client_certificate(authority_key, {});
    }
    server.emplace(core->host(), std::move(http));
    url =
        (options.tls ? "https://" : "http://") + dialled(options.host) + ":" + std::to_string(server->port());
  }

  const std::shared_ptr<SharedCore> core;
  std::string token;
  std::string authority;
  CertifiedKey client;
  std::string url;
  std::optional<detail::HttpServer> server;
};

ApiServer::ApiServer(ApiServerOptions options) {
  options = completed(std::move(options));
  state_ = std::make_unique<State>(make_core(options), options);
}

ApiServer::ApiServer(std::shared_ptr<SharedCore> core, ApiServerOptions options)
    : state_(std::make_unique<State>(std::move(core), options)) {}

ApiServer::~ApiServer() {
  stop();
}

std::uint16_t ApiServer::port() const {
  return state_->server->port();
}
std::string ApiServer::url() const {
  return state_->url;
}
std::string ApiServer::certificate_authority() const {
  return state_->authority;
}
const std::shared_ptr<SharedCore>& ApiServer::core() const {
  return state_->core;
}

Config ApiServer::config() const {
  const bool certified = !state_->client.certificate.empty();
  Config config{.server = state_->url, .origin = "embedded API server"};
  config.tls.ca_data = state_->authority;
  config.tls.cert_data = state_->client.certificate;
  config.tls.key_data = state_->client.key;
  if (!certified) config.token = state_->token;
  return config;
}

std::string ApiServer::kubeconfig() const {
  const bool certified = !state_->client.certificate.empty();
  std::string token = certified ? std::string() : state_->token;
  // Over TLS, kubectl without credentials prompts for a name and a password.
  if (!certified && token.empty() && !state_->authority.empty()) token = "not-looked-at";
  return write_kubeconfig({.server = state_->url,
                           .certificate_authority = state_->authority,
                           .token = std::move(token),
                           .client_certificate = state_->client.certificate,
                           .client_key = state_->client.key});
}

std::shared_ptr<http::Transport> ApiServer::transport() const {
  return std::make_shared<InProcessTransport>(state_->core);
}

FaultId ApiServer::inject(FaultRule rule) {
  return state_->core->inject(std::move(rule));
}
void ApiServer::remove_fault(FaultId id) {
  state_->core->remove_fault(id);
}
void ApiServer::clear_faults() {
  state_->core->clear_faults();
}
FaultCounts ApiServer::fault_counts(FaultId id) const {
  return state_->core->fault_counts(id);
}
std::size_t ApiServer::cut_watches() {
  return state_->core->cut_watches();
}
void ApiServer::install(std::string_view manifest) {
  state_->core->install(manifest);
}
std::size_t ApiServer::connections() const {
  return state_->server->connections();
}
void ApiServer::stop() noexcept {
  state_->server->stop();
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
