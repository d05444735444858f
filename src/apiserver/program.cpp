// SPDX-License-Identifier: Apache-2.0
#include "apiserver/program.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fcntl.h>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <unistd.h>

#include <evenkeel/base/error.hpp>

namespace evenkeel::program {
namespace {

constexpr int wrong_flag = 2;  // as operators end, see docs/flags.md

// Reports that a file could not be used, with the system's reason.
[[noreturn]] void fail(const std::string& file, const char* what) {
  throw Error(file + ": " + what + ": " + std::strerror(errno));
}

}  // namespace

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf())) fail(path, "cannot read");
  return text.str();
}

void write_private_file(const std::string& path, const std::string& text) {
  const std::string draft = path + ".new";
  const int file = ::open(draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) fail(draft, "cannot write");
  const bool written = ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  if (::close(file) != 0 || !written) fail(draft, "cannot write");
  if (::rename(draft.c_str(), path.c_str()) != 0) fail(path, "cannot write");
}

sigset_t block_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  return signals;
}

void serve_until_told(const std::string& name, const std::string& url, const sigset_t& signals) {
  std::printf("%s is ready at %s\n", name.c_str(), url.c_str());
  std::fflush(stdout);
  int received = 0;
  sigwait(&signals, &received);
}

int run(CLI::App& app, int argc, char** argv, const std::function<void()>& serve) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? EXIT_SUCCESS : wrong_flag;
  }
  try {
    serve();
    return EXIT_SUCCESS;
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "%s: %s\n", app.get_name().c_str(), error.what());
    return wrong_flag;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", app.get_name().c_str(), error.what());
    return EXIT_FAILURE;
  }
}

}  // namespace evenkeel::program
