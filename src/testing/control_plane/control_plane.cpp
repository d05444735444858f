// SPDX-License-Identifier: Apache-2.0
#include "testing/control_plane/control_plane.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <netinet/in.h>
#include <sstream>
#include <stdexcept>
#include <sys/socket.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>

#include <openssl/rand.h>

#include <evenkeel/http/curl_transport.hpp>

#include "apiserver/shell/kubeconfig_writer.hpp"
#include "apiserver/shell/manifest.hpp"

namespace evenkeel {
inline namespace v0 {
namespace testing {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto poll_interval = std::chrono::milliseconds{20};
constexpr auto request_timeout = std::chrono::seconds{10};
constexpr int attempts = 5;
constexpr std::size_t log_tail_lines = 15;

// A component could not listen because another process took its port.
class PortTaken : public Error {
 public:
  using Error::Error;
};

// Returns a port that was free at the time of the call.
std::uint16_t free_port() {
  const ReservedPort port;
  return port.number();
}

std::string loopback_url(const char* scheme, std::uint16_t port) {
  return std::string(scheme) + "://127.0.0.1:" + std::to_string(port);
}

std::string random_token() {
  unsigned char bytes[16];
  if (RAND_bytes(bytes, sizeof bytes) != 1) throw Error("cannot generate a random token");
  std::string text;
  for (const unsigned char byte : bytes) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

EnvironmentOptions completed(EnvironmentOptions options) {
  if (options.timeout <= Duration::zero())
    throw std::invalid_argument("EnvironmentOptions: timeout must be positive");
  if (options.token.empty()) options.token = random_token();
  return options;
}

void write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  if (!(file << text) || !file.flush()) throw Error(path + ": cannot be written");
}

std::string read_file(const std::string& path) {
  const std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

// Returns one line of a token file: CSV with quotes doubled.
std::string token_line(const apiserver::TokenUser& user, std::size_t number) {
  const auto quoted = [](const std::string& text) {
    std::string out = "\"";
    for (const char letter : text) out += letter == '"' ? std::string("\"\"") : std::string(1, letter);
    return out + '"';
  };
  std::string groups;
  for (const std::string& group : user.caller.groups) groups += (groups.empty() ? "" : ",") + group;
  return quoted(user.token) + "," + quoted(user.caller.user) + "," + std::to_string(number) + "," +
         quoted(groups) + "\n";
}

// Returns the last lines of `text`, each with a prefix.
std::string tail(const std::string& text) {
  std::size_t start = text.size();
  for (std::size_t lines = 0; start > 0 && lines <= log_tail_lines; ++lines)
    start = start < 2                                          ? 0
            : text.rfind('\n', start - 2) == std::string::npos ? 0
                                                               : text.rfind('\n', start - 2) + 1;
  std::string out;
  std::istringstream lines(text.substr(start));
  for (std::string line; std::getline(lines, line);) out += "\n  | " + line;
  return out.empty() ? "\n  (its log is empty)" : out;
}

// Returns the lines of /readyz about failed checks; any other text is returned unchanged.
std::string failed_checks(const std::string& body) {
  std::string failed;
  std::istringstream lines(body);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("[-]")) failed += (failed.empty() ? "" : ", ") + line.substr(3);
  }
  return failed.empty() ? body : failed;
}

// Returns std::nullopt once a GET is answered with 200; the response as text until then.
std::optional<std::string> state_of(const std::string& target, const http::Response& answer) {
  if (answer.status == 200) return std::nullopt;
  return "GET " + target + " was answered with " + std::to_string(answer.status) + ": " +
         failed_checks(answer.body);
}

void append(std::vector<std::string>& command, const std::vector<std::string>& flags) {
  command.insert(command.end(), flags.begin(), flags.end());
}

}  // namespace

// ---- Ports ----

ReservedPort::ReservedPort() {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  const int yes = 1;
  socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (socket_ < 0 || ::setsockopt(socket_, SOL_SOCKET, SO_REUSEPORT, &yes, sizeof yes) != 0 ||
      ::bind(socket_, generic, size) != 0 || ::getsockname(socket_, generic, &size) != 0) {
    const int error = errno;
    if (socket_ >= 0) ::close(socket_);
    throw Error("no port on 127.0.0.1: " + std::generic_category().message(error));
  }
  number_ = ntohs(address.sin_port);
}

ReservedPort::~ReservedPort() {
  ::close(socket_);
}

// ---- Start and end ----

ControlPlane::ControlPlane(EnvironmentOptions options, ComponentFiles files)
    : options_(completed(std::move(options))),
      files_(std::move(files)),
      authority_(apiserver::make_authority()) {
  write_files();
  transport_ =
      http::make_curl_transport({.server = url(), .tls = {.ca_data = authority_.certificate}, .proxy = ""});
  start_storage_and_server();
  if (options_.controller_manager) start(Component::controller_manager);
}

ControlPlane::~ControlPlane() {
  stop();
}

void ControlPlane::stop() noexcept {
  const MutexLock lock(mutex_);
  for (Process& one : processes_) one.child.kill();
  keeper_.finish();
}

void ControlPlane::write_files() {
  const apiserver::CertifiedKey server = apiserver::make_server_certificate(
      authority_, {"localhost", "127.0.0.1", "::1", "kubernetes", "kubernetes.default",
                   "kubernetes.default.svc", "10.0.0.1"});
  // Tokens of service accounts are signed with a separate key.
  const apiserver::CertifiedKey accounts = apiserver::make_server_certificate(authority_, {"localhost"});
  std::string tokens = token_line({.token = options_.token, .caller = {}}, 0);
  for (std::size_t at = 0; at < options_.tokens.size(); ++at)
    tokens += token_line(options_.tokens[at], at + 1);
  write_file(path("authority.crt"), authority_.certificate);
  write_file(path("server.crt"), server.certificate);
  write_file(path("server.key"), server.key);
  write_file(path("accounts.crt"), accounts.certificate);
  write_file(path("accounts.key"), accounts.key);
  write_file(path("tokens.csv"), tokens);
  write_file(path("kubeconfig"), kubeconfig());
}

// etcd's ports cannot be reserved while it uses them: if one is lost, start again with others.
void ControlPlane::start_storage_and_server() {
  for (int attempt = 1;; ++attempt) {
    etcd_url_ = loopback_url("http", free_port());
    etcd_peer_url_ = loopback_url("http", free_port());
    etcd_data_ = path("etcd-" + std::to_string(attempt));
    try {
      launch(Component::etcd);
      launch(Component::api_server);
      await(Component::etcd);
      await(Component::api_server);
      return;
    } catch (const PortTaken&) {
      if (attempt == attempts) throw;
      kill(Component::api_server);
      kill(Component::etcd);
    }
  }
}

void ControlPlane::kill(Component component) {
  const MutexLock lock(mutex_);
  process(component).child.kill();
  process(component).wanted = false;
}

void ControlPlane::start(Component component) {
  if (component == Component::controller_manager && files_.controller_manager.empty())
    throw std::invalid_argument("Environment: it was made without kube-controller-manager");
  {
    const MutexLock lock(mutex_);
    if (process(component).child.running())
      throw std::invalid_argument("Environment: " + std::string(component_name(component)) + " is running");
  }
  launch(component);
  await(component);
}

void ControlPlane::launch(Component component) {
  const MutexLock lock(mutex_);
  Process& one = process(component);
  one.log_start = log(component).size();
  const auto command = component == Component::etcd         ? etcd_command()
                       : component == Component::api_server ? api_server_command()
                                                            : controller_manager_command();
  one.child.start(command, log_path(component), keeper_.group());
  one.wanted = true;
}

// ---- Command lines ----

std::vector<std::string> ControlPlane::etcd_command() const {
  std::vector<std::string> command = {
      files_.etcd, "--data-dir=" + etcd_data_, "--listen-client-urls=" + etcd_url_,
      "--advertise-client-urls=" + etcd_url_, "--listen-peer-urls=" + etcd_peer_url_,
      "--initial-advertise-peer-urls=" + etcd_peer_url_, "--initial-cluster=default=" + etcd_peer_url_,
      // Data need not survive a crash of the machine.
      "--unsafe-no-fsync"};
  append(command, options_.etcd_flags);
  return command;
}

std::vector<std::string> ControlPlane::api_server_command() const {
  std::vector<std::string> command = {
      files_.api_server, "--etcd-servers=" + etcd_url_, "--bind-address=127.0.0.1",
      "--secure-port=" + std::to_string(port_.number()), "--permit-port-sharing=true",
      // No network except loopback is needed, and endpoints are not used.
      "--advertise-address=127.0.0.1", "--endpoint-reconciler-type=none",
      "--cert-dir=" + path("certificates"), "--tls-cert-file=" + path("server.crt"),
      "--tls-private-key-file=" + path("server.key"), "--client-ca-file=" + path("authority.crt"),
      "--token-auth-file=" + path("tokens.csv"), "--authorization-mode=RBAC",
      "--service-account-issuer=https://kubernetes.default.svc",
      "--service-account-key-file=" + path("accounts.crt"),
      "--service-account-signing-key-file=" + path("accounts.key"), "--service-cluster-ip-range=10.0.0.0/24",
      // Pods need no service account, which may not exist yet.
      "--disable-admission-plugins=ServiceAccount", "--allow-privileged=true"};
  append(command, options_.api_server_flags);
  return command;
}

std::vector<std::string> ControlPlane::controller_manager_command() const {
  std::string controllers;
  for (const std::string& one : options_.controllers) controllers += (controllers.empty() ? "" : ",") + one;
  std::vector<std::string> command = {
      files_.controller_manager, "--kubeconfig=" + path("kubeconfig"), "--controllers=" + controllers,
      "--leader-elect=false", "--bind-address=127.0.0.1",
      "--secure-port=" + std::to_string(manager_port_.number()), "--permit-port-sharing=true",
      "--tls-cert-file=" + path("server.crt"), "--tls-private-key-file=" + path("server.key"),
      // The defaults would delete a test's thousand objects at twenty a second.
      "--kube-api-qps=500", "--kube-api-burst=1000"};
  append(command, options_.controller_manager_flags);
  return command;
}

// ---- Readiness ----

void ControlPlane::await(Component component) {
  switch (component) {
    case Component::etcd:
      return await_etcd();
    case Component::api_server:
      return await_api_server();
    case Component::controller_manager:
      return await_controller_manager();
  }
}

void ControlPlane::await_etcd() {
  await_answer(Component::etcd, "etcd to be healthy", {.server = etcd_url_, .proxy = ""}, "/health");
}

void ControlPlane::await_api_server() {
  for (const auto& [what, target] : {std::pair("kube-apiserver to be ready", "/readyz"),
                                     std::pair("the namespace default", "/api/v1/namespaces/default")}) {
    wait_until(Component::api_server, what, [this, target = std::string(target)] {
      return state_of(target, ask(apiserver::json_request(http::Method::get, target)));
    });
  }
}

void ControlPlane::await_controller_manager() {
  await_answer(Component::controller_manager, "kube-controller-manager to be healthy",
               {.server = loopback_url("https", manager_port_.number()),
                .tls = {.ca_data = authority_.certificate},
                .proxy = ""},
               "/healthz");
}

void ControlPlane::await_answer(Component component, const std::string& what,
                                http::CurlTransportOptions server, const std::string& target) {
  const auto transport = http::make_curl_transport(std::move(server));
  wait_until(component, what, [&] {
    return state_of(target, transport->fetch({.target = target, .deadline = Clock::now() + request_timeout}));
  });
}

void ControlPlane::wait_until(Component component, const std::string& what,
                              const std::function<std::optional<std::string>()>& done) {
  const auto deadline = Clock::now() + options_.timeout;
  for (;;) {
    std::string state;
    try {
      const auto found = done();
      if (!found) return;
      state = *found;
    } catch (const TransportError& error) {
      state = error.what();
    }
    if (const auto ended = fallen())
      fail(ended->first,
           "waited for " + what + ", but " + std::string(component_name(ended->first)) + " " + ended->second);
    if (Clock::now() >= deadline) {
      const auto seconds = std::chrono::duration<double>(options_.timeout).count();
      std::ostringstream text;
      text << "waited " << seconds << " s for " << what << "; " << state;
      fail(component, text.str());
    }
    std::this_thread::sleep_for(poll_interval);
  }
}

std::optional<std::pair<Component, std::string>> ControlPlane::fallen() {
  const MutexLock lock(mutex_);
  for (const Component one : {Component::etcd, Component::api_server, Component::controller_manager}) {
    if (process(one).wanted && !process(one).child.running())
      return std::pair(one, process(one).child.ending());
  }
  return std::nullopt;
}

void ControlPlane::fail(Component component, const std::string& problem) {
  const MutexLock lock(mutex_);
  Process& one = process(component);
  const std::string written = log(component).substr(one.log_start);
  const std::string text =
      problem + "; the end of the log of " + std::string(component_name(component)) + ":" + tail(written);
  if (!one.child.running() && written.find("address already in use") != std::string::npos)
    throw PortTaken(text);
  throw Error(text);
}

// ---- Accessors ----

std::string ControlPlane::url() const {
  return loopback_url("https", port_.number());
}

std::string ControlPlane::kubeconfig() const {
  return apiserver::write_kubeconfig(
      {.server = url(), .certificate_authority = authority_.certificate, .token = options_.token});
}

std::string ControlPlane::log_path(Component component) const {
  return path(std::string(component_name(component)) + ".log");
}

std::string ControlPlane::log(Component component) const {
  return read_file(log_path(component));
}

http::Response ControlPlane::ask(const http::Request& request) const {
  http::Request sent = request;
  sent.headers.set("Authorization", "Bearer " + options_.token);
  sent.deadline = Clock::now() + request_timeout;
  return transport_->fetch(std::move(sent));
}

}  // namespace testing
}  // namespace v0
}  // namespace evenkeel
