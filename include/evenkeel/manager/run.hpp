// SPDX-License-Identifier: Apache-2.0
// The main function of an operator: flags, signals, log, errors in words, exit code.
#pragma once

#include <functional>
#include <string>

#include <evenkeel/base/export.hpp>
#include <evenkeel/manager/endpoint.hpp>
#include <evenkeel/manager/flag_set.hpp>
#include <evenkeel/manager/manager.hpp>

namespace evenkeel {
inline namespace v0 {

struct RunOptions {
  std::string name = "operator";  ///< The program's name: in messages, as field owner, in the totals.
  std::string version = "0";      ///< For --version.
  std::string description = {};   ///< The first line of --help.
  // Not `= {}`: g++ 12 warns at -O3 that a member of it may be used uninitialized.
  ManagerOptions manager =
      ManagerOptions();           ///< Used where no flag says otherwise. Its log replaces the default.
  EndpointOptions endpoint = {};  ///< Likewise. By default nothing is served.
  FlagSet flags = {};             ///< The program's own flags, beside those of docs/flags.md.
};

/// Reads the flags of docs/flags.md, makes a client and a manager, has `setup` add controllers to it, and
/// runs it until SIGINT or SIGTERM. Returns the exit code; never throws for what the world does. A second
/// signal ends the process at once. On the way out one line of JSON on standard output sums up what was done.
/// Thread safety: from main(), once at a time: it installs signal handlers while it runs.
EVENKEEL_API int run(int argc, const char* const* argv, const RunOptions& options,
                     const std::function<void(Manager&)>& setup);

}  // namespace v0
}  // namespace evenkeel
