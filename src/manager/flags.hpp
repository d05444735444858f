// SPDX-License-Identifier: Apache-2.0
// The command line of an operator: what ek::run() understands. docs/flags.md is the table for people.
#pragma once

#include <optional>
#include <string>

#include <evenkeel/base/time.hpp>
#include <evenkeel/manager/log.hpp>
#include <evenkeel/manager/run.hpp>

#include "manager/settings.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {

struct ElectionFlags {
  bool on = false;
  std::string name = {};
  std::string namespace_ = {};
  std::optional<Duration> lease_duration = {};
  std::optional<Duration> renew_deadline = {};
  std::optional<Duration> retry_period = {};
};

struct Flags {
  std::string kubeconfig = {};
  std::string context = {};
  std::string namespace_ = {};
  std::string config = {};
  SettingsSource settings = {};  ///< What flags say of controllers.
  ElectionFlags election = {};
  LogLevel log_level = LogLevel::info;
  LogFormat log_format = LogFormat::text;
  std::string log_file = {};
  std::optional<Duration> grace_period = {};
  std::optional<Duration> sync_timeout = {};
  bool print_crds = false;
};

/// Either flags to go on with, or a text to print and the exit code to end with.
struct FlagsOutcome {
  Flags flags = {};
  std::optional<int> exit_code = {};  ///< 0 after --help and --version, 2 for a flag that is wrong.
  std::string text = {};              ///< For standard output if the code is 0, else for standard error.
};

/// Reads the flags of `program` and ours; --help names the defaults that `program` sets. Throws
/// std::invalid_argument if a flag of the program has the name of one of ours.
FlagsOutcome parse_flags(int argc, const char* const* argv, const RunOptions& program);

/// Throws std::invalid_argument, which names the flag, for durations that an election cannot have.
void check_election_flags(const ElectionOptions& election);

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
