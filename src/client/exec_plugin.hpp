// SPDX-License-Identifier: Apache-2.0
// Credentials from a program (client.authentication.k8s.io), as cloud providers' command lines print them.
#pragma once

#include <optional>
#include <string>

#include <evenkeel/base/time.hpp>
#include <evenkeel/client/config.hpp>

namespace evenkeel::inline v0::detail {

struct ExecCredential {
  std::string token;
  std::optional<WallTime> expires;
};

/// Runs the program without a terminal and reads the ExecCredential from its output. Blocks until it ends,
/// for at most a minute. Throws ConfigError that names the program, never what it printed on its output.
ExecCredential run_exec_plugin(const ExecPlugin& plugin, const std::string& server,
                               const http::TlsOptions& tls);

}  // namespace evenkeel::inline v0::detail
