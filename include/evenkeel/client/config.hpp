// SPDX-License-Identifier: Apache-2.0
// Server address and credentials, from kubeconfig files or from the pod in which the program runs.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/base/error.hpp>
#include <evenkeel/base/export.hpp>
#include <evenkeel/http/tls.hpp>

namespace evenkeel {
inline namespace v0 {

/// An unusable configuration. what() names file, context and field, as far as they are known:
/// `~/.kube/config: context "dev": cluster "c1": server: missing`. It never contains a secret.
class EVENKEEL_API ConfigError : public Error {
 public:
  ConfigError(std::string file, std::string context, std::string field, const std::string& problem);
  const std::string& file() const noexcept { return file_; }
  const std::string& context() const noexcept { return context_; }
  /// The field, such as `cluster "c1": server` or "current-context"; "" if the file as a whole is invalid.
  const std::string& field() const noexcept { return field_; }

 private:
  std::string file_;
  std::string context_;
  std::string field_;
};

/// The identity to impersonate.
struct Impersonation {
  std::string user = {};
  std::string uid = {};
  std::vector<std::string> groups = {};
  std::map<std::string, std::vector<std::string>> extra = {};
};

/// Relation of a credential program to the standard input of the process.
enum class ExecInteractiveMode : std::uint8_t {
  never,         ///< It does not use standard input, and gets an empty one.
  if_available,  ///< It gets standard input if that is a terminal.
  always,        ///< It needs standard input; without a terminal the program is not run, which is an error.
};

/// An external program that prints a credential (client.authentication.k8s.io): a token, a client certificate
/// with its key, or both. It is run again when the credential expires or is rejected with 401. A certificate
/// needs the transport that the client makes; ClientOptions::transport gets only the token.
struct ExecPlugin {
  /// client.authentication.k8s.io/v1 or /v1beta1, which the program's output must have as well; empty: not
  /// checked.
  std::string api_version = {};
  std::string command = {};
  std::vector<std::string> args = {};
  std::vector<std::pair<std::string, std::string>> env = {};
  std::string install_hint = {};
  bool provide_cluster_info = false;  ///< The program gets server, proxy and CA of the cluster.
  /// JSON for a program that gets these, as spec.cluster.config: in a kubeconfig the cluster's extension
  /// "client.authentication.k8s.io/exec". Empty: none.
  std::string cluster_config = {};
  /// An interactive program inherits standard input, belongs to the process group of its parent and may take
  /// five minutes, or as long as the deadline of the call that needs the credential.
  ExecInteractiveMode interactive_mode = ExecInteractiveMode::never;
  /// Set by a process that uses standard input itself, although it may be a terminal.
  bool stdin_unavailable = false;

  bool empty() const { return command.empty(); }
};

/// A server and the credentials for it.
struct Config {
  std::string server = {};  ///< "https://10.0.0.1:6443"
  /// Namespace of the context or the pod; the client does not apply it implicitly.
  std::string namespace_ = "default";
  http::TlsOptions tls = {};              ///< Includes the client certificate, if there is one.
  std::optional<std::string> proxy = {};  ///< Unset: from the environment.
  std::string token = {};
  std::string token_file = {};  ///< Reread every minute and after a 401; takes precedence over `token`.
  std::string username = {};    ///< Basic authentication, if there is no token.
  std::string password = {};
  ExecPlugin exec = {};  ///< Not run if there is a token, a user name or a client certificate.
  Impersonation impersonate = {};
  /// See http::CurlTransportOptions::compression; false if the kubeconfig has `disable-compression`.
  std::optional<bool> compression = {};
  std::string origin = {};  ///< Origin for messages: `~/.kube/config, context "dev"`, "in-cluster".
  /// Allows credentials over plain http to another machine, where anyone on the network path can read them.
  /// Otherwise the client rejects such a configuration with ConfigError. Loopback addresses are always
  /// allowed.
  bool credentials_in_clear = false;
};

struct LoadConfigOptions {
  std::string kubeconfig = {};  ///< A file; empty: $KUBECONFIG, the pod, ~/.kube/config, in this order.
  std::string context = {};     ///< Empty: the current context.
  /// Reads an environment variable; unset: from the process's environment.
  std::function<std::optional<std::string>(const std::string&)> environment = {};
  std::string service_account = "/var/run/secrets/kubernetes.io/serviceaccount";
};

/// Finds and reads the configuration. $KUBECONFIG may list files, separated by ":"; for each name the first
/// file that defines it wins, and missing files are skipped. Paths in a file are relative to it. If the
/// server is a plain http URL, no credential is read from the file, so that none is sent in clear text.
/// Throws ConfigError.
/// Source: client-go clientcmd, controller-runtime config.GetConfig; errors are more precise.
EVENKEEL_API Config load_config(const LoadConfigOptions& options = {});
/// Parses one kubeconfig; `name` stands for the file in errors, and paths are relative to it.
EVENKEEL_API Config parse_kubeconfig(std::string_view text, std::string_view name = "kubeconfig",
                                     std::string_view context = "");
/// Returns the configuration of a pod: KUBERNETES_SERVICE_HOST and _PORT, and the files of its service
/// account.
EVENKEEL_API Config in_cluster_config(const LoadConfigOptions& options = {});

}  // namespace v0
}  // namespace evenkeel
