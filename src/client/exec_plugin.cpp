// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <http/files.hpp>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

#include <client/exec_plugin.hpp>

#include <evenkeel/api/bytes.hpp>
#include <evenkeel/api/json.hpp>
#include <evenkeel/api/time.hpp>

extern char** environ;

namespace evenkeel::inline v0::detail {
namespace {

constexpr auto patience = std::chrono::seconds{60};
constexpr std::size_t longest_output = 1 << 20;

struct FileEnd {
  explicit FileEnd(int descriptor) : number(descriptor) {}
  ~FileEnd() { close(number); }
  FileEnd(const FileEnd&) = delete;
  FileEnd& operator=(const FileEnd&) = delete;
  const int number;
};

[[noreturn]] void fail(const ExecPlugin& plugin, const std::string& problem) {
  std::string text = problem;
  if (!plugin.install_hint.empty()) text += "; " + plugin.install_hint;
  throw ConfigError("credential program " + plugin.command, "", "", text);
}

/// KUBERNETES_EXEC_INFO: what the program is told.
std::string exec_info(const ExecPlugin& plugin, const std::string& server, const http::TlsOptions& tls) {
  Json spec = Json::object({{"interactive", false}});
  if (plugin.provide_cluster_info) {
    Json cluster = Json::object({{"server", server}});
    if (!tls.server_name.empty()) cluster["tls-server-name"] = tls.server_name;
    if (tls.insecure) cluster["insecure-skip-tls-verify"] = true;
    std::string problem, ca = tls.ca_data;
    if (ca.empty() && !tls.ca_file.empty()) ca = read_file(tls.ca_file, problem).value_or("");
    if (!ca.empty()) cluster["certificate-authority-data"] = Bytes(ca).base64();
    spec["cluster"] = std::move(cluster);
  }
  const Json info = Json::object(
      {{"apiVersion", plugin.api_version}, {"kind", "ExecCredential"}, {"spec", std::move(spec)}});
  return info.dump();
}

std::vector<std::string> environment_of(const ExecPlugin& plugin, std::string info) {
  std::vector<std::string> result{"KUBERNETES_EXEC_INFO=" + std::move(info)};
  for (const auto& [name, value] : plugin.env) result.push_back(name + "=" + value);
  const std::size_t own = result.size();
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string text = *variable;
    const std::string name = text.substr(0, text.find('=') + 1);
    bool overridden = false;
    for (std::size_t i = 0; i < own; ++i) overridden = overridden || result[i].starts_with(name);
    if (!overridden) result.push_back(text);
  }
  return result;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  result.reserve(texts.size() + 1);
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

/// Starts the program with its output in `output`.
pid_t start(const ExecPlugin& plugin, std::vector<std::string> environment, int output) {
  std::vector<std::string> arguments{plugin.command};
  arguments.insert(arguments.end(), plugin.args.begin(), plugin.args.end());
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  pid_t pid = -1;
  const int error = posix_spawnp(&pid, plugin.command.c_str(), &actions, &attributes,
                                 pointers(arguments).data(), pointers(environment).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) fail(plugin, "cannot be started: " + std::generic_category().message(error));
  return pid;
}

/// Reads until the end of the output; false if that takes too long or is too much.
bool drain(int input, std::string& output) {
  const auto end = std::chrono::steady_clock::now() + patience;
  char piece[4096];
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now()).count();
    pollfd waiting{.fd = input, .events = POLLIN, .revents = 0};
    if (left <= 0 || output.size() > longest_output) return false;
    if (poll(&waiting, 1, static_cast<int>(left)) <= 0) continue;
    const ssize_t got = read(input, piece, sizeof(piece));
    if (got <= 0) return true;
    output.append(piece, static_cast<std::size_t>(got));
  }
}

ExecCredential parse(const ExecPlugin& plugin, const std::string& output) {
  Json document;
  try {
    document = Json::parse(output);
  } catch (const DecodeError&) {
    fail(plugin, "printed no JSON");
  }
  if (document["kind"].string_or("") != "ExecCredential") fail(plugin, "printed no ExecCredential");
  const Json& status = document["status"];
  ExecCredential credential{.token = status["token"].string_or(""), .expires = {}};
  if (credential.token.empty()) {
    fail(plugin, status.contains("clientCertificateData")
                     ? "gives a client certificate; only tokens are supported"
                     : "gives no token");
  }
  if (const std::string expires = status["expirationTimestamp"].string_or(""); !expires.empty()) {
    const auto time = Time::parse(expires);
    if (!time) fail(plugin, "gives an expirationTimestamp that is no time: " + expires);
    credential.expires = time->value();
  }
  return credential;
}

}  // namespace

ExecCredential run_exec_plugin(const ExecPlugin& plugin, const std::string& server,
                               const http::TlsOptions& tls) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    fail(plugin, "cannot be started: " + std::generic_category().message(errno));
  const FileEnd input{ends[0]};
  pid_t pid = -1;
  {
    const FileEnd theirs{ends[1]};
    pid = start(plugin, environment_of(plugin, exec_info(plugin, server, tls)), theirs.number);
  }
  std::string output;
  const bool complete = drain(input.number, output);
  if (!complete) kill(pid, SIGKILL);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (!complete) fail(plugin, "did not finish within a minute");
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    fail(plugin, WIFEXITED(status) ? "ended with exit code " + std::to_string(WEXITSTATUS(status))
                                   : std::string("was ended by a signal"));
  }
  return parse(plugin, output);
}

}  // namespace evenkeel::inline v0::detail
