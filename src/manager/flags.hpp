// SPDX-License-Identifier: Apache-2.0
// The command line of ek::run(). docs/flags.md is the table for users.
#pragma once

#include <cstdint>
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

struct WebhookFlags {
  std::optional<std::string> address = {};
  std::string cert_file = {};
  std::string key_file = {};
  std::string service = {};  ///< "namespace/name"
};

struct ShardFlags {
  bool on = false;
  std::string name = {};
  std::string namespace_ = {};
  std::int64_t slots = 0;  ///< 0: the program's.
  std::string label = {};
  std::optional<ShardBy> by = {};  ///< Nothing: the program's.
};

struct ManifestFlags {
  bool print_manifests = false;
  bool print_rbac = false;
  bool service_monitor = false;
  std::string image = {};
  std::string namespace_ = {};
  std::uint32_t replicas = 0;  ///< 0: the program's.
  std::string access_record = {};
};

struct Flags {
  std::string kubeconfig = {};
  std::string context = {};
  std::string namespace_ = {};
  double kube_api_qps = 0;          ///< 0: no flow control.
  std::int64_t kube_api_burst = 0;  ///< 0: twice the rate.
  std::string config = {};
  SettingsSource settings = {};  ///< Settings of controllers given by flags.
  ElectionFlags election = {};
  ShardFlags shards = {};
  LogLevel log_level = LogLevel::info;
  LogFormat log_format = LogFormat::text;
  std::string log_file = {};
  std::optional<Duration> grace_period = {};
  std::optional<Duration> shutdown_delay = {};
  std::optional<Duration> sync_timeout = {};
  std::string cache_directory = {};
  bool streaming_lists = true;
  std::string otlp_endpoint = {};  ///< Empty: no spans are exported.
  double trace_ratio = 1;
  bool print_crds = false;
  WebhookFlags webhooks = {};
  ManifestFlags manifests = {};
};

/// Either parsed flags, or a text to print and an exit code.
struct FlagsOutcome {
  Flags flags = {};
  std::optional<int> exit_code = {};  ///< 0 after --help and --version, 2 for an invalid flag.
  std::string text = {};  ///< Printed to standard output if the code is 0, else to standard error.
};

/// Parses the flags of `program` and those of the library; --help shows the defaults that `program` sets.
/// Throws std::invalid_argument if a flag of the program has the name of one of the library.
FlagsOutcome parse_flags(int argc, const char* const* argv, const RunOptions& program);

/// Merges the flags into the options of the program.
WebhookServerOptions webhook_options(const WebhookFlags& flags, WebhookServerOptions program);

/// Throws std::invalid_argument naming the flag if the durations of an election are invalid.
void check_election_flags(const ElectionOptions& election);

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
