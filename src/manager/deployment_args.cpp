// SPDX-License-Identifier: Apache-2.0
#include "manager/deployment_args.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

constexpr std::array<std::string_view, 4> switches = {"--print-manifests", "--print-rbac", "--print-crds",
                                                      "--manifest-service-monitor"};
constexpr std::array<std::string_view, 6> with_value = {"--kubeconfig",         "--context",
                                                        "--access-record",      "--manifest-image",
                                                        "--manifest-namespace", "--manifest-replicas"};
constexpr std::array<std::string_view, 8> files = {"--config",
                                                   "--metrics-cert-file",
                                                   "--metrics-key-file",
                                                   "--metrics-token-file",
                                                   "--webhook-cert-file",
                                                   "--webhook-key-file",
                                                   "--cache-directory",
                                                   "--log-file"};

std::string_view name_of(std::string_view arg) {
  return arg.substr(0, arg.find('='));
}

template <class Names>
bool is_one_of(std::string_view arg, const Names& names) {
  return std::find(names.begin(), names.end(), name_of(arg)) != names.end();
}

bool has(const std::vector<std::string>& args, std::string_view flag) {
  return std::any_of(args.begin(), args.end(),
                     [flag](const std::string& arg) { return name_of(arg) == flag; });
}

}  // namespace

std::vector<std::string> completed_args(int argc, const char* const* argv, const RunOptions& program) {
  std::vector<std::string> args(argv + std::min(argc, 1), argv + argc);
  if (!has(args, "--print-manifests") && !has(args, "--print-rbac")) return args;
  const bool shares = program.manager.election || program.manager.shards || has(args, "--shards");
  if (!shares && !has(args, "--leader-elect")) args.emplace_back("--leader-elect");
  if (!program.endpoint.serves_metrics() && !has(args, "--metrics-bind-address"))
    args.emplace_back("--metrics-bind-address=:8080");
  if (!program.endpoint.serves_probes() && !has(args, "--health-probe-bind-address"))
    args.emplace_back("--health-probe-bind-address=:8081");
  if (!has(args, "--log-format")) args.emplace_back("--log-format=json");
  return args;
}

std::vector<std::string> deployment_args(const std::vector<std::string>& completed) {
  std::vector<std::string> args;
  for (std::size_t at = 0; at < completed.size(); ++at) {
    const std::string& arg = completed[at];
    if (is_one_of(arg, switches)) continue;
    if (!is_one_of(arg, with_value))
      args.push_back(arg);
    else if (arg.find('=') == std::string::npos)
      ++at;  // its value
  }
  return args;
}

std::vector<std::string> args_with_files(const std::vector<std::string>& args) {
  std::vector<std::string> found;
  for (const std::string& arg : args) {
    if (is_one_of(arg, files)) found.push_back(arg);
  }
  return found;
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
