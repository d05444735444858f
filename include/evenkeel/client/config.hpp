// SPDX-License-Identifier: Apache-2.0
// Which server to speak to, and as whom: read from kubeconfig files or from the pod that the program runs in.
#pragma once

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

/// A configuration that cannot be used. what() names file, context and field, as far as they are known:
/// `~/.kube/config: context "dev": cluster "c1": server: missing`. It never shows a secret.
class EVENKEEL_API ConfigError : public Error {
 public:
  ConfigError(std::string file, std::string context, std::string field, const std::string& problem);
  const std::string& file() const noexcept { return file_; }
  const std::string& context() const noexcept { return context_; }
  /// `cluster "c1": server`, "current-context", or "" where the file as a whole is meant.
  const std::string& field() const noexcept { return field_; }

 private:
  std::string file_;
  std::string context_;
  std::string field_;
};

/// As whom to act, for those who may act as others.
struct Impersonation {
  std::string user = {};
  std::string uid = {};
  std::vector<std::string> groups = {};
  std::map<std::string, std::vector<std::string>> extra = {};
};

/// A program that prints a credential (client.authentication.k8s.io).
struct ExecPlugin {
  std::string api_version = {};
  std::string command = {};
  std::vector<std::string> args = {};
  std::vector<std::pair<std::string, std::string>> env = {};
  std::string install_hint = {};
  bool provide_cluster_info = false;

  bool empty() const { return command.empty(); }
};

/// A server and an identity.
struct Config {
  std::string server = {};             ///< "https://10.0.0.1:6443"
  std::string namespace_ = "default";  ///< Of the context or the pod; the client does not apply it by itself.
  http::TlsOptions tls = {};           ///< With the client certificate, if there is one.
  std::optional<std::string> proxy = {};  ///< Unset: from the environment.
  std::string token = {};
  std::string token_file = {};  ///< Read again every minute, and when the server says 401; wins over `token`.
  std::string username = {};    ///< Basic authentication, if there is no token.
  std::string password = {};
  ExecPlugin exec = {};
  Impersonation impersonate = {};
  std::string origin = {};  ///< For people: `~/.kube/config, context "dev"`, "in-cluster".
  /// Send credentials also over plain http to another machine, where everyone on the way can read them.
  /// Unset, a client of such a configuration is refused with ConfigError. Loopback addresses need no
  /// permission.
  bool credentials_in_clear = false;
};

struct LoadConfigOptions {
  std::string kubeconfig = {};  ///< A file; empty: $KUBECONFIG, the pod, ~/.kube/config, in this order.
  std::string context = {};     ///< Empty: the current one.
  /// Reads an environment variable; unset: the process's own.
  std::function<std::optional<std::string>(const std::string&)> environment = {};
  std::string service_account = "/var/run/secrets/kubernetes.io/serviceaccount";
};

/// Finds and reads the configuration. $KUBECONFIG may list files, separated by ":": of each name the first
/// file that has it wins, files that do not exist are skipped. Paths in a file are relative to it. Over
/// plain http no credential is taken from a file, so that none is sent in the clear.
/// Throws ConfigError.
/// Source: client-go clientcmd, controller-runtime config.GetConfig; errors are more precise.
EVENKEEL_API Config load_config(const LoadConfigOptions& options = {});
/// One kubeconfig given as text; `name` stands for the file in errors and is what paths are relative to.
EVENKEEL_API Config parse_kubeconfig(std::string_view text, std::string_view name = "kubeconfig",
                                     std::string_view context = "");
/// The configuration of a pod: KUBERNETES_SERVICE_HOST and _PORT, and the files of its service account.
EVENKEEL_API Config in_cluster_config(const LoadConfigOptions& options = {});

}  // namespace v0
}  // namespace evenkeel
