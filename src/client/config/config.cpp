// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>

#include <evenkeel/client/config.hpp>

#include "base/files.hpp"
#include "client/config/foreign_kubeconfig.hpp"
#include "client/config/kubeconfig.hpp"

namespace evenkeel {
inline namespace v0 {
namespace {

std::string text_of(const std::string& file, const std::string& context, const std::string& field,
                    const std::string& problem) {
  std::string text;
  for (const std::string& part : {file, context.empty() ? context : "context \"" + context + "\"", field}) {
    if (!part.empty()) text += part + ": ";
  }
  return text + problem;
}

std::optional<std::string> variable(const LoadConfigOptions& options, const std::string& name) {
  std::optional<std::string> value;
  if (options.environment) {
    value = options.environment(name);
  } else if (const char* text = std::getenv(name.c_str())) {
    value = text;
  }
  return value && !value->empty() ? value : std::nullopt;
}

std::vector<std::string> split_paths(const std::string& list) {
  std::vector<std::string> paths;
  for (std::size_t start = 0; start <= list.size();) {
    const std::size_t end = std::min(list.find(':', start), list.size());
    if (end > start) paths.push_back(list.substr(start, end - start));
    start = end + 1;
  }
  return paths;
}

Config load_file(const std::string& path, const std::string& context) {
  std::string problem;
  const auto text = detail::read_file(path, problem);
  if (!text) throw ConfigError(path, "", "", "cannot be read: " + problem);
  return parse_kubeconfig(*text, path, context);
}

Config load_list(const std::string& list, const std::string& context) {
  detail::Kubeconfig kubeconfig;
  bool any = false;
  std::string empty;  // the first file of nothing but comments
  for (const std::string& path : split_paths(list)) {
    std::string problem;
    const auto text = detail::read_file(path, problem);
    if (!text && detail::is_missing(problem)) continue;
    if (!text) throw ConfigError(path, "", "", "cannot be read: " + problem);
    if (kubeconfig.add(path, *text)) {
      any = true;
    } else if (empty.empty()) {
      empty = path;
    }
  }
  if (!any && !empty.empty()) throw ConfigError(empty, "", "", "empty");
  if (!any) throw ConfigError("KUBECONFIG=" + list, "", "", "no such file");
  return kubeconfig.resolve(context);
}

}  // namespace

ConfigError::ConfigError(std::string file, std::string context, std::string field, const std::string& problem)
    : Error(text_of(file, context, field, problem)),
      file_(std::move(file)),
      context_(std::move(context)),
      field_(std::move(field)) {}

Config parse_kubeconfig(std::string_view text, std::string_view name, std::string_view context) {
  detail::Kubeconfig kubeconfig;
  if (!kubeconfig.add(std::string(name), text)) throw ConfigError(std::string(name), "", "", "empty");
  return kubeconfig.resolve(std::string(context));
}

Config detail::parse_foreign_kubeconfig(std::string_view text, std::string_view name) {
  Kubeconfig kubeconfig;
  if (!kubeconfig.add(std::string(name), text)) throw ConfigError(std::string(name), "", "", "empty");
  return kubeconfig.resolve({}, NamedFiles::untouched);
}

Config in_cluster_config(const LoadConfigOptions& options) {
  const auto host = variable(options, "KUBERNETES_SERVICE_HOST");
  const auto port = variable(options, "KUBERNETES_SERVICE_PORT");
  if (!host || !port) {
    throw ConfigError("in-cluster", "", host ? "KUBERNETES_SERVICE_PORT" : "KUBERNETES_SERVICE_HOST",
                      "not set");
  }
  const bool bare_ipv6 = host->find(':') != std::string::npos;
  Config config;
  config.server = "https://" + (bare_ipv6 ? "[" + *host + "]" : *host) + ":" + *port;
  config.origin = "in-cluster";
  config.token_file = options.service_account + "/token";
  std::string problem;
  if (!detail::read_file(config.token_file, problem)) {
    throw ConfigError("in-cluster", "", "token", config.token_file + " cannot be read: " + problem);
  }
  const std::string ca = options.service_account + "/ca.crt";
  if (detail::read_file(ca, problem)) config.tls.ca_file = ca;  // else the system's authorities
  if (auto space = detail::read_file(options.service_account + "/namespace", problem)) {
    while (!space->empty() && space->back() <= ' ') space->pop_back();
    if (!space->empty()) config.namespace_ = std::move(*space);
  }
  return config;
}

Config load_config(const LoadConfigOptions& options) {
  if (!options.kubeconfig.empty()) return load_file(options.kubeconfig, options.context);
  if (const auto list = variable(options, "KUBECONFIG")) return load_list(*list, options.context);
  // A context is a name in a file; pods have none.
  const bool in_cluster = variable(options, "KUBERNETES_SERVICE_HOST").has_value();
  if (in_cluster && options.context.empty()) return in_cluster_config(options);
  const auto home = variable(options, "HOME");
  if (home) {
    const std::string path = *home + "/.kube/config";
    std::string problem;
    if (detail::read_file(path, problem) || !detail::is_missing(problem))
      return load_file(path, options.context);
  }
  throw ConfigError("", "", "",
                    "no configuration: KUBECONFIG is not set, this is not a pod, and " +
                        (home ? *home : std::string("~")) + "/.kube/config does not exist");
}

}  // namespace v0
}  // namespace evenkeel
