// SPDX-License-Identifier: Apache-2.0
// A real control plane for tests: etcd, kube-apiserver and, if asked, kube-controller-manager as processes of
// their own on free loopback ports. Where milliseconds count more than certainty, the embedded server
// (testing/api_server.hpp) answers by the same rules.
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
/// "etcd", "kube-apiserver" or "kube-controller-manager": also the name of its file.
EVENKEEL_API std::string_view component_name(Component component) noexcept;

struct EnvironmentOptions {
  /// Directory that has the programs. Each is looked for here, then in $KUBEBUILDER_ASSETS, then where
  /// `make control-plane` puts them ($EVENKEEL_CACHE, else $XDG_CACHE_HOME/evenkeel, else ~/.cache/evenkeel,
  /// and below it control-plane/current), then on the PATH.
  std::string binaries = {};
  std::string etcd = {};  ///< This file as etcd, wherever the others are: an old one, say.
  /// Starts kube-controller-manager too, with `controllers`: garbage collection, emptying of namespaces,
  /// Deployments and ReplicaSets that make Pods (nothing runs them), service accounts, and the rules of the
  /// roles admin, edit and view. Without it none of that happens.
  bool controller_manager = false;
  /// By the names of its flag --controllers.
  std::vector<std::string> controllers = {
      "garbage-collector-controller", "namespace-controller",      "deployment-controller",
      "replicaset-controller",        "serviceaccount-controller", "clusterrole-aggregation-controller"};
  /// Manifests that are installed before the constructor returns, as text; see Environment::install().
  std::vector<std::string> manifests = {};
  /// More of them as files; of a directory, its *.yaml, *.yml and *.json in the order of their names.
  std::vector<std::string> manifest_files = {};
  /// The administrator's bearer token; empty: a random one.
  std::string token = {};
  /// More tokens and whom they stand for. RBAC decides what these may do: nothing, until a test binds a role.
  std::vector<apiserver::TokenUser> tokens = {};
  /// Added to the command lines; of a flag that is there already the last one counts.
  std::vector<std::string> etcd_flags = {};
  std::vector<std::string> api_server_flags = {};
  std::vector<std::string> controller_manager_flags = {};
  /// For each wait of the environment: a start until it is ready, a definition until it is served.
  Duration timeout = std::chrono::seconds{60};
};

/// Serves from the constructor on, until stop() or destruction: TLS with certificates made for the occasion,
/// RBAC on. Its files are in a temporary directory. A process beside it, which hears if this one ends, kills
/// the programs and removes the directory even if this process crashes or is killed.
/// Any number of them can run at the same time, in one process or in several.
/// Thread safety: all members may be called concurrently.
class EVENKEEL_API Environment {
 public:
  /// Blocks until everything is ready, the namespace default exists and the manifests are installed. Throws
  /// Error: it names the program that is missing and the places that were looked at, or what was waited for
  /// and the last lines of the component's log.
  explicit Environment(EnvironmentOptions options = {});
  ~Environment();
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

  /// Empty if all programs that these options need are there; otherwise the text of the error that the
  /// constructor would throw. For tests that are skipped where there is no control plane.
  static std::string missing_programs(const EnvironmentOptions& options = {});

  /// "https://127.0.0.1:41234"; stays the same over restarts.
  std::string url() const;
  /// The authority that signed the server's certificate, as PEM.
  std::string certificate_authority() const;
  /// The administrator (group system:masters), by token.
  Config config() const;
  /// Another user, by a client certificate made here. RBAC knows the name and groups; the server itself adds
  /// the group system:authenticated.
  Config config_for(const apiserver::Caller& caller) const;
  /// The same for kubectl, as YAML.
  std::string kubeconfig() const;
  std::string kubeconfig_for(const apiserver::Caller& caller) const;

  /// Creates the objects of a manifest (YAML documents or JSON, Lists too), each definition until it is
  /// served; what is there already stays as it is. Throws DecodeError, or Error with kind, name and the
  /// server's message.
  void install(std::string_view manifest);
  /// The same for a file or a directory of them; see EnvironmentOptions::manifest_files.
  void install_file(const std::string& path);
  /// Installs the definition of a C++ type.
  template <ObjectType T>
  void install() {
    install(crd_for<T>().dump());
  }

  /// Ends a component as a crash would, without a word to anybody; connections to it break.
  void kill(Component component);
  /// Starts a component that was killed, on the same port and data, and blocks until it is ready. Throws
  /// Error as the constructor does; std::invalid_argument if it is running or is none of this environment's.
  void start(Component component);
  /// kill() and start().
  void restart(Component component);

  /// What the component wrote so far, over all its starts.
  std::string log(Component component) const;
  /// Directory of the data, logs and certificates; it is gone after stop().
  std::string directory() const;

  /// Kills everything (a kube-apiserver that is told to end waits for its watches) and removes the
  /// directory. Idempotent.
  void stop() noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace testing
}  // namespace v0
}  // namespace evenkeel
