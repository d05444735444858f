// SPDX-License-Identifier: Apache-2.0
// Processes and a temporary directory that do not outlive the process that created them.
#pragma once

#include <string>
#include <sys/types.h>
#include <vector>

namespace evenkeel {
inline namespace v0 {
namespace testing {

/// A temporary directory and a process group. A separate process, the keeper, reads a pipe whose other end
/// only this process has; when this process ends, in whatever way, the keeper kills the group and removes the
/// directory. Unlike a parent-death signal, this does not depend on the thread that started it. A child
/// forked without exec holds the pipe as well: the keeper then waits for both.
/// Thread safety: one thread at a time.
class ProcessKeeper {
 public:
  /// Throws Error with the system's reason.
  ProcessKeeper();
  ~ProcessKeeper();
  ProcessKeeper(const ProcessKeeper&) = delete;
  ProcessKeeper& operator=(const ProcessKeeper&) = delete;

  const std::string& directory() const { return directory_; }
  /// Returns the process group for children.
  pid_t group() const { return keeper_; }
  /// Removes the directory and ends the keeper; the children must have ended. Idempotent.
  void finish() noexcept;

 private:
  std::string directory_;
  pid_t keeper_ = -1;
  int pipe_ = -1;
};

/// A running program whose output goes to a file.
/// Thread safety: one thread at a time.
class ChildProcess {
 public:
  ChildProcess() = default;
  ~ChildProcess() { kill(); }
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  /// Starts `command` (file and arguments); its output is appended to `log`. Throws Error if it cannot be
  /// started.
  void start(const std::vector<std::string>& command, const std::string& log, pid_t group);
  /// Returns true if it is running.
  bool running();
  /// Sends a signal if it is running: SIGSTOP, SIGCONT.
  void signal(int number) const noexcept;
  /// Kills it and waits for its end. Idempotent.
  void kill() noexcept;
  /// Returns the way in which it ended: "ended with code 1", "was killed by signal 9". Valid once running()
  /// has returned false.
  std::string ending() const;

 private:
  pid_t pid_ = -1;
  int status_ = 0;
};

}  // namespace testing
}  // namespace v0
}  // namespace evenkeel
