// SPDX-License-Identifier: Apache-2.0
// Credentials from an external program (client.authentication.k8s.io), such as the command lines of cloud
// providers.
#pragma once

#include <chrono>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include <evenkeel/base/time.hpp>
#include <evenkeel/client/config.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

struct ExecCredential {
  std::string token;
  std::optional<WallTime> expires;
};

/// Maximum run time of a credential program. Those of cloud providers take one to five seconds.
constexpr Duration exec_plugin_limit = std::chrono::seconds{20};

/// Limits of a run.
struct ExecLimits {
  std::stop_token stop = {};
  Duration limit = exec_plugin_limit;  ///< The smaller of the two applies.
};

/// Parses the program's output: a JSON document of kind ExecCredential with a token. Throws ConfigError that
/// names the program, never a part of `output`, which may contain secrets.
ExecCredential read_exec_credential(const ExecPlugin& plugin, std::string_view output);

/// Runs the program without a terminal, in its own process group and with descriptors 0, 1 and 2 only, and
/// parses the ExecCredential from its output. Blocks until the program ends; background processes that it
/// started are not killed. A program that takes too long is killed with its group. Throws ConfigError that
/// names the program, never its output; Cancelled when `limits.stop` is requested.
ExecCredential run_exec_plugin(const ExecPlugin& plugin, const std::string& server,
                               const http::TlsOptions& tls, const ExecLimits& limits = {});

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
