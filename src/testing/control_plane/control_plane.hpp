// SPDX-License-Identifier: Apache-2.0
// The processes of an environment: files, ports, command lines and readiness checks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <evenkeel/base/error.hpp>
#include <evenkeel/base/mutex.hpp>
#include <evenkeel/http/curl_transport.hpp>
#include <evenkeel/http/transport.hpp>
#include <evenkeel/testing/environment.hpp>

#include "apiserver/shell/tls_certificates.hpp"
#include "testing/control_plane/child_process.hpp"
#include "testing/control_plane/component_files.hpp"

namespace evenkeel {
inline namespace v0 {
namespace testing {

/// Reserves a loopback port during its lifetime, except against processes of the same user with SO_REUSEPORT:
/// for a server that is configured to share its port, from before its first start until after its last.
class ReservedPort {
 public:
  /// Throws Error with the system's reason.
  ReservedPort();
  ~ReservedPort();
  ReservedPort(const ReservedPort&) = delete;
  ReservedPort& operator=(const ReservedPort&) = delete;
  std::uint16_t number() const { return number_; }

 private:
  int socket_ = -1;
  std::uint16_t number_ = 0;
};

/// Starts all components in its constructor; see the members of Environment with the same names.
/// Thread safety: all members may be called concurrently.
class ControlPlane {
 public:
  ControlPlane(EnvironmentOptions options, ComponentFiles files);
  ~ControlPlane();
  ControlPlane(const ControlPlane&) = delete;
  ControlPlane& operator=(const ControlPlane&) = delete;

  std::string url() const;
  const apiserver::CertifiedKey& authority() const { return authority_; }
  const std::string& token() const { return options_.token; }
  std::string kubeconfig() const;
  const std::string& directory() const { return keeper_.directory(); }
  std::string log(Component component) const;

  /// Sends a request as administrator. Throws TransportError.
  http::Response ask(const http::Request& request) const;
  /// Calls `done` until it returns std::nullopt; its last value is the state for the error. Throws Error
  /// after options.timeout, or when a running component ends, with `what`, the component, its state and the
  /// end of its log.
  void wait_until(Component component, const std::string& what,
                  const std::function<std::optional<std::string>()>& done) EVENKEEL_EXCLUDES(mutex_);

  void kill(Component component) EVENKEEL_EXCLUDES(mutex_);
  void start(Component component) EVENKEEL_EXCLUDES(mutex_);
  void stop() noexcept EVENKEEL_EXCLUDES(mutex_);

 private:
  struct Process {
    ChildProcess child;
    bool wanted = false;        // started, and not killed by kill()
    std::size_t log_start = 0;  // size of the log when it was started
  };

  Process& process(Component component) EVENKEEL_REQUIRES(mutex_) {
    return processes_.at(static_cast<std::size_t>(component));
  }
  std::string path(const std::string& name) const { return keeper_.directory() + "/" + name; }
  std::string log_path(Component component) const;
  void write_files();
  void start_storage_and_server();
  std::vector<std::string> etcd_command() const;
  std::vector<std::string> api_server_command() const;
  std::vector<std::string> controller_manager_command() const;
  void launch(Component component) EVENKEEL_EXCLUDES(mutex_);
  void await(Component component);
  void await_etcd();
  void await_api_server();
  void await_controller_manager();
  void await_answer(Component component, const std::string& what, http::CurlTransportOptions server,
                    const std::string& target);
  /// Returns a component that ended by itself, and the way in which it ended.
  std::optional<std::pair<Component, std::string>> fallen() EVENKEEL_EXCLUDES(mutex_);
  [[noreturn]] void fail(Component component, const std::string& problem) EVENKEEL_EXCLUDES(mutex_);

  EnvironmentOptions options_;
  const ComponentFiles files_;
  const apiserver::CertifiedKey authority_;
  const ReservedPort port_;
  const ReservedPort manager_port_;
  mutable Mutex mutex_;
  ProcessKeeper keeper_;
  std::string etcd_url_;
  std::string etcd_peer_url_;
  std::string etcd_data_;
  std::array<Process, 3> processes_ EVENKEEL_GUARDED_BY(mutex_);
  std::shared_ptr<http::Transport> transport_;
};

}  // namespace testing
}  // namespace v0
}  // namespace evenkeel
