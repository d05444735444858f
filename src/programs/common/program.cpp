// SPDX-License-Identifier: Apache-2.0
#include "programs/common/program.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fcntl.h>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <sys/stat.h>
#include <unistd.h>

#include <evenkeel/base/error.hpp>

namespace evenkeel::program {
namespace {

constexpr int wrong_flag = 2;  // as for operators, see docs/flags.md

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
  // A new file with an unpredictable name: an existing one may be readable by others or be a link.
  std::string draft = path + ".XXXXXX";
  const int file = ::mkostemp(draft.data(), O_CLOEXEC);
  if (file < 0) fail(path, "cannot write");
  std::size_t done = 0;
  bool good = ::fchmod(file, S_IRUSR | S_IWUSR) == 0;
  while (good && done < text.size()) {
    const ssize_t count = ::write(file, text.data() + done, text.size() - done);
    good = count > 0 || (count < 0 && errno == EINTR);
    done += count > 0 ? static_cast<std::size_t>(count) : 0;
  }
  good = ::close(file) == 0 && good && ::rename(draft.c_str(), path.c_str()) == 0;
  if (good) return;
  const int reason = errno;
  ::unlink(draft.c_str());
  errno = reason;
  fail(path, "cannot write");
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
