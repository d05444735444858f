// SPDX-License-Identifier: Apache-2.0
// The embedded API server as a program: for kubectl, and for tests of operators in any language.
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fcntl.h>
#include <fstream>
#include <signal.h>
#include <sstream>
#include <stdexcept>
#include <string>
#include <unistd.h>
#include <vector>

#include <CLI/CLI.hpp>

#include <evenkeel/api/json.hpp>
#include <evenkeel/base/error.hpp>
#include <evenkeel/testing/api_server.hpp>

namespace {

namespace ek = evenkeel;

constexpr int wrong_flag = 2;  // as operators end, see docs/flags.md

struct Flags {
  ek::testing::ApiServerOptions server = {};
  std::string kubeconfig = {};
  std::vector<std::string> manifests = {};
  std::vector<std::string> faults = {};
  bool log_requests = false;
};

void declare(CLI::App& app, Flags& flags) {
  app.add_option("--host", flags.server.host, "Address to listen on")->capture_default_str();
  app.add_option("--port", flags.server.port, "Port to listen on; 0: a free one")->capture_default_str();
  app.add_flag("--tls", flags.server.tls, "Speak TLS, with certificates made at start");
  app.add_option("--token", flags.server.token,
                 "Ask for this bearer token (kubectl sends none without --tls)");
  app.add_option("--write-kubeconfig", flags.kubeconfig, "Write a kubeconfig that leads here")
      ->type_name("FILE");
  app.add_option("--crd", flags.manifests,
                 "Create the objects in this manifest first (CRDs or others); repeatable")
      ->type_name("FILE")
      ->allow_extra_args(false);
  app.add_option("--fault", flags.faults,
                 "Make something go wrong, e.g. verb=watch,resource=pods,cut-after=1000,count=3 or "
                 "status=429,retry-after=1,probability=0.1,seed=7 or verb=update,drop=after; repeatable")
      ->type_name("RULE")
      ->allow_extra_args(false);
  app.add_flag("--log-requests", flags.log_requests, "One line on standard error for each request");
}

// Reports that a file could not be used, with the system's reason.
[[noreturn]] void fail(const std::string& file, const char* what) {
  throw ek::Error(file + ": " + what + ": " + std::strerror(errno));
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf())) fail(path, "cannot read");
  return text.str();
}

// It may carry a token or a key: for the owner's eyes only, and never half written under its own name.
void write_private_file(const std::string& path, const std::string& text) {
  const std::string draft = path + ".new";
  const int file = ::open(draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) fail(draft, "cannot write");
  const bool written = ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  if (::close(file) != 0 || !written) fail(draft, "cannot write");
  if (::rename(draft.c_str(), path.c_str()) != 0) fail(path, "cannot write");
}

void log_request(const ek::testing::ServedRequest& request) {
  const std::string line = std::string(ek::http::method_name(request.method)) + " " + request.target + " " +
                           (request.status ? std::to_string(request.status) : "dropped") + " " +
                           (request.user.empty() ? "-" : request.user) + "\n";
  std::fputs(line.c_str(), stderr);
}

// The signals that end the program, blocked in all threads so that sigwait() gets them.
sigset_t block_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  return signals;
}

int serve(Flags& flags) {
  const sigset_t signals = block_signals();
  for (const std::string& rule : flags.faults)
    flags.server.faults.push_back(ek::testing::parse_fault_rule(rule));
  if (flags.log_requests) flags.server.on_request = log_request;
  ek::testing::ApiServer server(flags.server);
  for (const std::string& manifest : flags.manifests) {
    try {
      server.install(read_file(manifest));
    } catch (const ek::DecodeError& error) {
      throw ek::Error(manifest + ": " + error.what());
    }
  }
  if (!flags.kubeconfig.empty()) write_private_file(flags.kubeconfig, server.kubeconfig());
  std::printf("evenkeel-apiserver is ready at %s\n", server.url().c_str());
  std::fflush(stdout);
  int received = 0;
  sigwait(&signals, &received);
  server.stop();
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  Flags flags;
  CLI::App app("An API server of Kubernetes' API in memory, for tests and demonstrations.",
               "evenkeel-apiserver");
  app.set_version_flag("--version", "evenkeel-apiserver " EVENKEEL_VERSION);
  declare(app, flags);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? EXIT_SUCCESS : wrong_flag;
  }
  try {
    return serve(flags);
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "evenkeel-apiserver: %s\n", error.what());
    return wrong_flag;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "evenkeel-apiserver: %s\n", error.what());
    return EXIT_FAILURE;
  }
}
