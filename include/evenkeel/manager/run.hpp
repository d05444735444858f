// SPDX-License-Identifier: Apache-2.0
// The main function of an operator: flags, signals, log, error messages, exit code.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <evenkeel/base/export.hpp>
#include <evenkeel/base/trace.hpp>
#include <evenkeel/manager/endpoint.hpp>
#include <evenkeel/manager/flag_set.hpp>
#include <evenkeel/manager/manager.hpp>
#include <evenkeel/manager/manifests.hpp>
#include <evenkeel/webhook/webhook_server.hpp>

namespace evenkeel {
inline namespace v0 {

struct RunOptions {
  std::string name = "operator";  ///< Name of the program: in messages, as field owner, in the totals.
  std::string version = "0";      ///< Printed by --version.
  std::string description = {};   ///< First line of --help.
  // Not `= {}`: g++ 12 warns at -O3 that members of these may be used uninitialized.
  ManagerOptions manager = ManagerOptions();     ///< Overridden by flags. Its log replaces the default one.
  EndpointOptions endpoint = EndpointOptions();  ///< Overridden by flags. Default: nothing is served.
  WebhookServerOptions webhooks =
      WebhookServerOptions();  ///< Overridden by flags. Serves if there are webhooks.
  /// Records spans; see docs/tracing.md. Null: none, unless --otlp-endpoint makes one.
  std::shared_ptr<Tracer> tracer = {};
  ManifestOptions manifests = ManifestOptions();  ///< Options of --print-manifests; overridden by flags.
  FlagSet flags = {};  ///< The program's own flags, in addition to those of docs/flags.md.
};

/// Parses the flags of docs/flags.md, creates a client and a manager, calls `setup` to add controllers, and
/// runs the manager until SIGINT or SIGTERM. Returns the exit code; errors of the environment are logged, not
/// thrown. A second signal ends the process at once. At the end, totals are printed to standard output as one
/// line of JSON.
/// Thread safety: call it from main(), not concurrently: it installs signal handlers while it runs.
EVENKEEL_API int run(int argc, const char* const* argv, const RunOptions& options,
                     const std::function<void(Manager&)>& setup);

}  // namespace v0
}  // namespace evenkeel
