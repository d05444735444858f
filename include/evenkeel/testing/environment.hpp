// SPDX-License-Identifier: Apache-2.0
// A real control plane for tests: etcd, kube-apiserver and optionally kube-controller-manager as separate
// processes on free loopback ports. Where speed matters more than certainty, use the embedded server
// (apiserver/api_server.hpp), which follows the same rules.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/api/crd.hpp>
#include <evenkeel/apiserver/api_server_core.hpp>
#include <evenkeel/apiserver/shared_core.hpp>
#include <evenkeel/base/export.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/client/config.hpp>

namespace evenkeel {
inline namespace v0 {
namespace testing {

/// A program of the control plane.
enum class Component : std::uint8_t {
  etcd,
  api_server,          ///< kube-apiserver
  controller_manager,  ///< kube-controller-manager
};
/// Returns "etcd", "kube-apiserver" or "kube-controller-manager", which is also the name of the executable.
EVENKEEL_API std::string_view component_name(Component component) noexcept;

struct EnvironmentOptions {
  /// Directory of the programs. Each is looked up here, then in $KUBEBUILDER_ASSETS, then in the directory of
  /// `make control-plane` ($EVENKEEL_CACHE, else $XDG_CACHE_HOME/evenkeel, else ~/.cache/evenkeel, and below
  /// it control-plane/current), then on the PATH.
  std::string binaries = {};
  std::string etcd = {};  ///< Path of etcd, if not in `binaries`, for example of an old version.
  /// Start kube-controller-manager too, with `controllers`: garbage collection, deletion of namespaces,
  /// Deployments and ReplicaSets that create Pods (no kubelet runs them), service accounts, and the rules of
  /// the roles admin, edit and view.
  bool controller_manager = false;
  /// Names as in its flag --controllers.
  std::vector<std::string> controllers = {
      "garbage-collector-controller", "namespace-controller",      "deployment-controller",
      "replicaset-controller",        "serviceaccount-controller", "clusterrole-aggregation-controller"};
  /// Manifests, as text, that are installed before the constructor returns; see Environment::install().
  std::vector<std::string> manifests = {};
  /// Files of such manifests; of a directory, its *.yaml, *.yml and *.json in the order of their names.
  std::vector<std::string> manifest_files = {};
  /// The administrator's bearer token; empty: a random one.
  std::string token = {};
  /// Additional tokens and their users. RBAC decides what these may do: nothing, until a test binds a role.
  std::vector<apiserver::TokenUser> tokens = {};
  /// Appended to the command lines; they override flags of the same name.
  std::vector<std::string> etcd_flags = {};
  std::vector<std::string> api_server_flags = {};
  std::vector<std::string> controller_manager_flags = {};
  /// Limit of each wait: for a start until readiness, for a definition until it is served.
  Duration timeout = std::chrono::seconds{60};
};

/// Serves from construction until stop() or destruction, with TLS (certificates are generated) and RBAC. Its
/// files are in a temporary directory. A supervisor process, which notices the end of this process, kills the
/// programs and removes the directory even if this process crashes or is killed.
/// Any number of environments can run at the same time, in one process or in several.
/// Thread safety: all members may be called concurrently.
class EVENKEEL_API Environment {
 public:
  /// Blocks until all components are ready, the namespace default exists and the manifests are installed.
  /// Throws Error with the missing program and the searched directories, or with the component that did not
  /// become ready and the last lines of its log.
  explicit Environment(EnvironmentOptions options = {});
  ~Environment();
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

  /// Returns an empty string if all programs that these options need are present; otherwise the text of the
  /// error that the constructor would throw. For tests that are skipped without a control plane.
  static std::string missing_programs(const EnvironmentOptions& options = {});

  /// "https://127.0.0.1:41234"; stays the same over restarts.
  std::string url() const;
  /// Returns the authority that signed the server's certificate, as PEM.
  std::string certificate_authority() const;
  /// Returns the administrator's configuration (group system:masters), with a token.
  Config config() const;
  /// Returns the configuration of another user, with a generated client certificate. RBAC sees the name and
  /// groups; the server adds the group system:authenticated.
  Config config_for(const apiserver::Caller& caller) const;
  /// Returns the same configurations for kubectl, as YAML.
  std::string kubeconfig() const;
  std::string kubeconfig_for(const apiserver::Caller& caller) const;

  /// Creates the objects of a manifest (YAML documents or JSON, Lists too) and waits until definitions are
  /// served; objects that exist are not changed. Throws DecodeError, or Error with kind, name and the
  /// server's message.
  void install(std::string_view manifest);
  /// Installs a file or the files of a directory; see EnvironmentOptions::manifest_files.
  void install_file(const std::string& path);
  /// Installs the definition of a C++ type.
  template <ObjectType T>
  void install() {
    install(crd_for<T>().dump());
  }

  /// Kills a component without a graceful shutdown; its connections break.
  void kill(Component component);
  /// Starts a component that was killed, on the same port and data, and blocks until it is ready. Throws
  /// Error like the constructor; std::invalid_argument if it is running or is not a component of this
  /// environment.
  void start(Component component);
  /// Calls kill() and start().
  void restart(Component component);

  /// Returns the output of the component so far, of all its starts.
  std::string log(Component component) const;
  /// Returns the directory of data, logs and certificates; removed by stop().
  std::string directory() const;

  /// Kills all components (on termination, a kube-apiserver would wait for its watches) and removes the
  /// directory. Idempotent.
  void stop() noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace testing
}  // namespace v0
}  // namespace evenkeel
