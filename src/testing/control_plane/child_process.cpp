// SPDX-License-Identifier: Apache-2.0
#include "testing/control_plane/child_process.hpp"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <spawn.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

#include <evenkeel/base/error.hpp>

extern char** environ;

namespace evenkeel {
inline namespace v0 {
namespace testing {
namespace {

// Waits for a line or for the end of its parent. In the latter case, a process outside the group cleans up:
// repeatedly, since a process that is being killed can still create a file, but a limited number of times.
constexpr char keeper_script[] = R"(trap '' HUP INT QUIT TERM
read -r word
[ "$word" = done ] && exit 0
exec setsid sh -c '
kill -s KILL -- "-$1"
for turn in 1 2 3 4 5 6 7 8 9 10; do
  rm -rf "$2" && [ ! -e "$2" ] && exit 0
  sleep 0.2
  kill -s KILL -- "-$1"
done' keeper $$ "$1")";

std::string reason(int error) {
  return std::generic_category().message(error);
}

struct SpawnPlan {
  SpawnPlan() {
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    sigset_t all;
    sigfillset(&all);
    block({});
    posix_spawnattr_setsigdefault(&attributes, &all);
  }
  ~SpawnPlan() {
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;

  void block(const std::vector<int>& signals) {
    sigset_t set;
    sigemptyset(&set);
    for (const int one : signals) sigaddset(&set, one);
    posix_spawnattr_setsigmask(&attributes, &set);
  }

  // In process group `group`; 0: a new one.
  pid_t run(const std::vector<std::string>& command, pid_t group) {
    posix_spawnattr_setpgroup(&attributes, group);
    posix_spawnattr_setflags(&attributes,
                             POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    std::vector<char*> arguments;
    arguments.reserve(command.size() + 1);
    for (const std::string& one : command) arguments.push_back(const_cast<char*>(one.c_str()));
    arguments.push_back(nullptr);
    pid_t pid = -1;
    const int error = posix_spawnp(&pid, arguments[0], &actions, &attributes, arguments.data(), environ);
    if (error != 0) throw Error(command.front() + ": cannot be started: " + reason(error));
    return pid;
  }

  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
};

// Returns -1 if there is no such child.
int wait_for(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) return -1;
  }
  return status;
}

std::string make_directory() {
  const char* const base = std::getenv("TMPDIR");
  std::string path =
      std::string(base != nullptr && *base != '\0' ? base : "/tmp") + "/evenkeel-environment-XXXXXX";
  if (::mkdtemp(path.data()) == nullptr) throw Error(path + ": cannot be made: " + reason(errno));
  return path;
}

}  // namespace

ProcessKeeper::ProcessKeeper() : directory_(make_directory()) {
  int ends[2] = {};
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    const int error = errno;
    finish();
    throw Error("cannot make a pipe: " + reason(error));
  }
  pipe_ = ends[1];
  SpawnPlan plan;
  posix_spawn_file_actions_adddup2(&plan.actions, ends[0], STDIN_FILENO);
  posix_spawn_file_actions_addopen(&plan.actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&plan.actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addchdir_np(&plan.actions, "/");
  plan.block({SIGHUP, SIGINT, SIGQUIT, SIGTERM});  // until the script ignores them
  try {
    keeper_ = plan.run({"/bin/sh", "-c", keeper_script, "keeper", directory_}, 0);
  } catch (...) {
    ::close(ends[0]);
    finish();
    throw;
  }
  ::close(ends[0]);
}

ProcessKeeper::~ProcessKeeper() {
  finish();
}

void ProcessKeeper::finish() noexcept {
  std::error_code ignored;
  if (!directory_.empty()) std::filesystem::remove_all(directory_, ignored);
  if (pipe_ >= 0) {
    // Without a reader, the keeper is gone; this must not raise SIGPIPE.
    sigset_t pipe_signal;
    sigset_t before;
    sigemptyset(&pipe_signal);
    sigaddset(&pipe_signal, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
    const bool told = ::write(pipe_, "done\n", 5) == 5;
    if (!told) {
      const timespec at_once{};
      sigtimedwait(&pipe_signal, nullptr, &at_once);
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    ::close(pipe_);
  }
  if (keeper_ > 0) wait_for(keeper_);
  pipe_ = -1;
  keeper_ = -1;
}

void ChildProcess::start(const std::vector<std::string>& command, const std::string& log, pid_t group) {
  kill();
  SpawnPlan plan;
  posix_spawn_file_actions_addopen(&plan.actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&plan.actions, STDOUT_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_APPEND,
                                   0600);
  posix_spawn_file_actions_adddup2(&plan.actions, STDOUT_FILENO, STDERR_FILENO);
  pid_ = plan.run(command, group);
}

bool ChildProcess::running() {
  if (pid_ < 0) return false;
  int status = 0;
  const pid_t ended = ::waitpid(pid_, &status, WNOHANG);
  if (ended == 0 || (ended < 0 && errno == EINTR)) return true;
  status_ = ended == pid_ ? status : -1;
  pid_ = -1;
  return false;
}

void ChildProcess::signal(int number) const noexcept {
  if (pid_ > 0) ::kill(pid_, number);
}

void ChildProcess::kill() noexcept {
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  status_ = wait_for(pid_);
  pid_ = -1;
}

std::string ChildProcess::ending() const {
  if (status_ == -1) return "ended, and its exit code was taken by another wait";
  if (WIFSIGNALED(status_)) return "was killed by signal " + std::to_string(WTERMSIG(status_));
  return "ended with code " + std::to_string(WEXITSTATUS(status_));
}

}  // namespace testing
}  // namespace v0
}  // namespace evenkeel
