// SPDX-License-Identifier: Apache-2.0
// Credentials from an external program (client.authentication.k8s.io), such as the command lines of cloud
// providers.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include <evenkeel/base/time.hpp>
#include <evenkeel/client/config.hpp>
#include <evenkeel/http/client_certificate.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// A token, a certificate, or both.
struct ExecCredential {
  std::string token = {};  ///< "": none.
  std::shared_ptr<const http::CertificatePair> certificate = {};
  std::optional<WallTime> expires = {};
};

/// The parts of a configuration that a program gets.
struct ExecCluster {
  std::string server = {};
  std::string proxy = {};
  http::TlsOptions tls = {};
};

/// Maximum run time of a credential program. Those of cloud providers take one to five seconds.
constexpr Duration exec_plugin_limit = std::chrono::seconds{20};
/// Maximum run time of a program that asks a person.
constexpr Duration interactive_exec_limit = std::chrono::minutes{5};

/// Limits of a run.
struct ExecLimits {
  std::stop_token stop = {};
  Duration limit = interactive_exec_limit;  ///< The smaller of this and the limit of the program applies.
};

/// Decides whether the program gets the standard input of this process. Throws ConfigError if it needs it and
/// cannot have it.
bool is_interactive(const ExecPlugin& plugin);

/// Returns the maximum run time of the program.
inline Duration exec_limit_of(bool interactive) {
  return interactive ? interactive_exec_limit : exec_plugin_limit;
}

/// Parses the program's output: a JSON document of kind ExecCredential with a token, a client certificate and
/// its key, or all three. Throws ConfigError that names the program and the field, never a part of `output`,
/// which may contain secrets.
ExecCredential read_exec_credential(const ExecPlugin& plugin, std::string_view output);

/// Runs the program with descriptors 0, 1 and 2 only and parses the ExecCredential from its output. Unless it
/// is interactive, it has neither a terminal nor the process group of this process. Blocks until the program
/// ends; background processes that it started are not killed. A program that takes too long is killed, with
/// its group if it has one. Throws ConfigError that names the program, never its output; Cancelled when
/// `limits.stop` is requested. Source: client-go plugin/pkg/client/auth/exec,
/// Authenticator.refreshCredsLocked.
ExecCredential run_exec_plugin(const ExecPlugin& plugin, const ExecCluster& cluster,
                               const ExecLimits& limits = {});

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
