// SPDX-License-Identifier: Apache-2.0
// Credentials from a program (client.authentication.k8s.io), as cloud providers' command lines print them.
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

/// The longest run of a credential program. Cloud providers' take one to five seconds.
constexpr Duration exec_plugin_limit = std::chrono::seconds{20};

/// When a run is given up.
struct ExecLimits {
  std::stop_token stop = {};
  Duration limit = exec_plugin_limit;  ///< The smaller of the two counts.
};

/// Reads what the program printed on its output: a JSON document of kind ExecCredential with a token. Throws
/// ConfigError that names the program, never a part of `output`, which may hold secrets.
ExecCredential read_exec_credential(const ExecPlugin& plugin, std::string_view output);

/// Runs the program without a terminal, in a process group of its own and with no descriptor but 0, 1 and 2,
/// and reads the ExecCredential from its output. Blocks until the program ends; processes that it leaves
/// behind are left alone. One that takes too long is killed with its group. Throws ConfigError that names the
/// program, never what it printed on its output; Cancelled when `limits.stop` is requested.
ExecCredential run_exec_plugin(const ExecPlugin& plugin, const std::string& server,
                               const http::TlsOptions& tls, const ExecLimits& limits = {});

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
