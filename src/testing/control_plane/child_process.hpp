// SPDX-License-Identifier: Apache-2.0
// Processes that cannot outlive the one that started them, and a directory that cannot either.
#pragma once

#include <string>
#include <sys/types.h>
#include <vector>

namespace evenkeel {
inline namespace v0 {
namespace testing {

/// A temporary directory and a process group. A process of its own, the keeper, reads a pipe whose other end
/// only this process has; when that ends in whatever way, the keeper kills the group and removes the
/// directory. It does not depend on which thread started it, as a parent-death signal would.
/// A child forked without exec holds the pipe as well: the keeper then waits for both.
/// Thread safety: one thread at a time.
class ProcessKeeper {
 public:
  /// Throws Error with the system's reason.
  ProcessKeeper();
  ~ProcessKeeper();
  ProcessKeeper(const ProcessKeeper&) = delete;
  ProcessKeeper& operator=(const ProcessKeeper&) = delete;

  const std::string& directory() const { return directory_; }
  /// The group that children join.
  pid_t group() const { return keeper_; }
  /// Removes the directory and sends the keeper home; the children must have ended. Idempotent.
  void finish() noexcept;

 private:
  std::string directory_;
  pid_t keeper_ = -1;
  int pipe_ = -1;
};

/// A program that runs with its output in a file.
/// Thread safety: one thread at a time.
class ChildProcess {
 public:
  ChildProcess() = default;
  ~ChildProcess() { kill(); }
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  /// Starts `command` (file and arguments); its output is added to `log`. Throws Error if it cannot be
  /// started.
  void start(const std::vector<std::string>& command, const std::string& log, pid_t group);
  /// Whether it runs.
  bool running();
  /// Sends a signal, if it runs: SIGSTOP, SIGCONT.
  void signal(int number) const noexcept;
  /// Kills it and waits until it is gone. Idempotent.
  void kill() noexcept;
  /// How it ended: "ended with code 1", "was killed by signal 9"; valid once running() said false.
  std::string ending() const;

 private:
  pid_t pid_ = -1;
  int status_ = 0;
};

}  // namespace testing
}  // namespace v0
}  // namespace evenkeel
