// SPDX-License-Identifier: Apache-2.0
#include "programs/common/program.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include <evenkeel/base/error.hpp>

#include "base/files.hpp"
#include "base/shown_text.hpp"

namespace evenkeel::program {
namespace {

constexpr int wrong_flag = 2;  // as for operators, see docs/flags.md

// Shows an error, which may quote what a server or a file has.
void show_error(const std::string& name, const std::exception& error) {
  std::fprintf(stderr, "%s: %s\n", name.c_str(), evenkeel::detail::shown_text(error.what()).c_str());
}

}  // namespace

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf())) throw Error(path + ": cannot read: " + std::strerror(errno));
  return text.str();
}

void write_private_file(const std::string& path, const std::string& text) {
  try {
    evenkeel::detail::replace_file(path, text);
  } catch (const Error& error) {
    throw Error(path + ": cannot write: " + error.what());
  }
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
    show_error(app.get_name(), error);
    return wrong_flag;
  } catch (const std::exception& error) {
    show_error(app.get_name(), error);
    return EXIT_FAILURE;
  }
}

}  // namespace evenkeel::program
