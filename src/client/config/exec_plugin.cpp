// SPDX-License-Identifier: Apache-2.0
#include "client/config/exec_plugin.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <poll.h>
#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include <evenkeel/api/bytes.hpp>
#include <evenkeel/api/json.hpp>
#include <evenkeel/api/time.hpp>
#include <evenkeel/base/duration_text.hpp>

#include "base/files.hpp"
#include "http/pair_check.hpp"

extern char** environ;

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

constexpr std::size_t longest_output = 1 << 20;

struct FileEnd {
  explicit FileEnd(int descriptor) : number(descriptor) {}
  ~FileEnd() {
    if (number >= 0) close(number);
  }
  FileEnd(const FileEnd&) = delete;
  FileEnd& operator=(const FileEnd&) = delete;
  const int number;
};

[[noreturn]] void fail(const ExecPlugin& plugin, const std::string& problem) {
  std::string text = problem;
  if (!plugin.install_hint.empty()) text += "; " + plugin.install_hint;
  throw ConfigError("credential program " + plugin.command, "", "", text);
}

/// Returns KUBERNETES_EXEC_INFO, the input of the program.
std::string exec_info(const ExecPlugin& plugin, const ExecCluster& of, bool interactive) {
  Json spec = Json::object({{"interactive", interactive}});
  if (plugin.provide_cluster_info) {
    Json cluster = Json::object({{"server", of.server}});
    if (!of.tls.server_name.empty()) cluster["tls-server-name"] = of.tls.server_name;
    if (of.tls.insecure) cluster["insecure-skip-tls-verify"] = true;
    std::string problem, ca = of.tls.ca_data;
    if (ca.empty() && !of.tls.ca_file.empty()) ca = read_file(of.tls.ca_file, problem).value_or("");
    if (!ca.empty()) cluster["certificate-authority-data"] = Bytes(ca).base64();
    if (!of.proxy.empty()) cluster["proxy-url"] = of.proxy;
    if (!plugin.cluster_config.empty())
      cluster["config"] = Json::parse(plugin.cluster_config, "ExecPlugin.cluster_config");
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

/// Closes all inherited descriptors except 0, 1 and 2.
void close_the_rest(posix_spawn_file_actions_t& actions) {
#if __GLIBC_PREREQ(2, 34)
  posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
#else
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", ignored)) {
    const std::string name = entry.path().filename();
    int number = -1;
    std::from_chars(name.data(), name.data() + name.size(), number);
    if (number > STDERR_FILENO) posix_spawn_file_actions_addclose(&actions, number);
  }
#endif
}

/// Starts the program with its output going to `output`. A program that reads from the terminal must be in
/// the group that the terminal has in the foreground; else it would be stopped.
pid_t start(const ExecPlugin& plugin, std::vector<std::string> environment, int output, bool interactive) {
  std::vector<std::string> arguments{plugin.command};
  arguments.insert(arguments.end(), plugin.args.begin(), plugin.args.end());
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (!interactive) posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  close_the_rest(actions);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setpgroup(&attributes, 0);
  const int group = interactive ? 0 : POSIX_SPAWN_SETPGROUP;
  posix_spawnattr_setflags(&attributes, static_cast<short>(POSIX_SPAWN_SETSIGMASK | group));
  pid_t pid = -1;
  const int error = posix_spawnp(&pid, plugin.command.c_str(), &actions, &attributes,
                                 pointers(arguments).data(), pointers(environment).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) fail(plugin, "cannot be started: " + std::generic_category().message(error));
  return pid;
}

/// One execution of the program.
class Run {
 public:
  enum class End : unsigned char { ended, late, overflowing, cancelled };

  Run(pid_t pid, bool owns_group, int input, int cancelled)
      : pid_(pid), killed_(owns_group ? -pid : pid), input_(input), cancelled_(cancelled) {}

  /// Reads its output until it ends; kills it with its process group if it does not end in time.
  End wait(Duration limit) {
    const auto end = std::chrono::steady_clock::now() + limit;
    for (bool reads = true; !has_ended();) {
      const auto left =
          std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now()).count();
      if (left <= 0) return end_by_force(End::late);
      if (output_.size() > longest_output) return end_by_force(End::overflowing);
      pollfd waiting[] = {{.fd = cancelled_, .events = POLLIN, .revents = 0},
                          {.fd = reads ? input_ : -1, .events = POLLIN, .revents = 0}};
      // Polls for its end, because a background process that it started may keep the output open.
      if (poll(waiting, 2, static_cast<int>(std::min<std::int64_t>(left, pause_))) < 0) continue;
      if (waiting[0].revents != 0) return end_by_force(End::cancelled);
      if (waiting[1].revents != 0) reads = read_some();
      pause_ = std::min(pause_ * 2, longest_pause);
    }
    while (output_.size() <= longest_output && has_output() && read_some()) {
    }
    return output_.size() <= longest_output ? End::ended : End::overflowing;
  }

  const std::string& output() const { return output_; }
  int status() const { return status_; }

 private:
  static constexpr int longest_pause = 50;  // ms

  bool has_ended() {
    const pid_t ended = waitpid(pid_, &status_, WNOHANG);
    return ended == pid_ || (ended < 0 && errno == ECHILD);  // the host may reap its children itself
  }
  bool has_output() const {
    pollfd waiting{.fd = input_, .events = POLLIN, .revents = 0};
    return poll(&waiting, 1, 0) > 0;
  }
  bool read_some() {
    char piece[4096];
    const ssize_t got = read(input_, piece, sizeof(piece));
    if (got > 0) output_.append(piece, static_cast<std::size_t>(got));
    return got > 0 || (got < 0 && errno == EINTR);
  }
  End end_by_force(End why) {
    kill(killed_, SIGKILL);
    while (waitpid(pid_, &status_, 0) < 0 && errno == EINTR) {
    }
    return why;
  }

  const pid_t pid_;
  const pid_t killed_;  // the process, or minus its process group
  const int input_;
  const int cancelled_;
  int pause_ = 1;  // ms
  int status_ = 0;
  std::string output_;
};

/// Returns the expiry of a credential, if it has one. An invalid time is an error, as in client-go: treated
/// as absent, the token would be used until the server rejects it.
std::optional<WallTime> expiry_of(const ExecPlugin& plugin, const Json& status) {
  const Json& value = status["expirationTimestamp"];
  if (value.is_null()) return std::nullopt;
  const auto time = Time::parse(value.string_or(""));
  if (!time) fail(plugin, "returned an expirationTimestamp that is not a time");
  return time->value();
}

/// Returns why the certificate and the key cannot be used together, or "".
std::string pair_problem(const http::CertificatePair& pair) {
  switch (http::detail::check_pair(pair.cert, pair.key)) {
    case http::detail::PairProblem::certificate:
      return "status.clientCertificateData: not a certificate as PEM";
    case http::detail::PairProblem::key:
      return "status.clientKeyData: not an unencrypted private key as PEM";
    case http::detail::PairProblem::mismatch:
      return "status.clientKeyData: not the key of status.clientCertificateData";
    case http::detail::PairProblem::none:
      break;
  }
  return "";
}

/// Returns the certificate of a credential, or null if it has none.
std::shared_ptr<const http::CertificatePair> certificate_of(const ExecPlugin& plugin, const Json& status) {
  http::CertificatePair pair{.cert = status["clientCertificateData"].string_or(""),
                             .key = status["clientKeyData"].string_or("")};
  if (pair.cert.empty() && pair.key.empty()) return nullptr;
  if (pair.key.empty())
    fail(plugin, "status.clientKeyData: missing, although there is a clientCertificateData");
  if (pair.cert.empty())
    fail(plugin, "status.clientCertificateData: missing, although there is a clientKeyData");
  if (const std::string problem = pair_problem(pair); !problem.empty()) fail(plugin, problem);
  return std::make_shared<const http::CertificatePair>(std::move(pair));
}

}  // namespace

bool is_interactive(const ExecPlugin& plugin) {
  const bool terminal = isatty(STDIN_FILENO) == 1;
  switch (plugin.interactive_mode) {
    case ExecInteractiveMode::never:
      return false;
    case ExecInteractiveMode::if_available:
      return terminal && !plugin.stdin_unavailable;
    case ExecInteractiveMode::always:
      break;
  }
  const std::string problem = "cannot support interactive mode: standard input is ";
  if (!terminal) fail(plugin, problem + "not a terminal");
  if (plugin.stdin_unavailable) fail(plugin, problem + "unavailable");
  return true;
}

ExecCredential read_exec_credential(const ExecPlugin& plugin, std::string_view output) {
  Json parsed;
  try {
    parsed = Json::parse(output);
  } catch (const DecodeError&) {
    fail(plugin, "printed no JSON");
  }
  const Json& document = parsed;  // absent members read as null; a mutable document would throw
  if (document["kind"].string_or("") != "ExecCredential") fail(plugin, "printed no ExecCredential");
  if (!plugin.api_version.empty() && document["apiVersion"].string_or("") != plugin.api_version)
    fail(plugin, "apiVersion: expected " + plugin.api_version + ", as configured");
  const Json& status = document["status"];
  ExecCredential credential{.token = status["token"].string_or(""),
                            .certificate = certificate_of(plugin, status),
                            .expires = expiry_of(plugin, status)};
  if (credential.token.empty() && !credential.certificate)
    fail(plugin, "gives neither a token nor a client certificate");
  return credential;
}

ExecCredential run_exec_plugin(const ExecPlugin& plugin, const ExecCluster& cluster,
                               const ExecLimits& limits) {
  const std::string cancelled = "credential program " + plugin.command + ": cancelled";
  if (limits.stop.stop_requested()) throw Cancelled(cancelled);
  const bool interactive = is_interactive(plugin);
  const FileEnd stopped{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  int ends[2];
  if (stopped.number < 0 || pipe2(ends, O_CLOEXEC) != 0) {
    fail(plugin, "cannot be started: " + std::generic_category().message(errno));
  }
  const FileEnd input{ends[0]};
  pid_t pid = -1;
  {
    const FileEnd theirs{ends[1]};
    pid = start(plugin, environment_of(plugin, exec_info(plugin, cluster, interactive)), theirs.number,
                interactive);
  }
  const std::stop_callback wake(limits.stop, [&stopped] { eventfd_write(stopped.number, 1); });
  const Duration limit = std::min(limits.limit, exec_limit_of(interactive));
  Run run(pid, !interactive, input.number, stopped.number);
  switch (run.wait(limit)) {
    case Run::End::cancelled:
      throw Cancelled(cancelled);
    case Run::End::late:
      fail(plugin, "did not finish within " + format_duration(limit) + " and was killed");
    case Run::End::overflowing:
      fail(plugin, "printed more than " + std::to_string(longest_output) + " bytes and was killed");
    case Run::End::ended:
      break;
  }
  const int status = run.status();
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    fail(plugin, WIFEXITED(status) ? "ended with exit code " + std::to_string(WEXITSTATUS(status))
                                   : std::string("was ended by a signal"));
  }
  return read_exec_credential(plugin, run.output());
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
