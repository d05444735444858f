// SPDX-License-Identifier: Apache-2.0
// A program as a child process, whose outputs are read line by line.
#pragma once

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <memory>
#include <spawn.h>
#include <stdexcept>
#include <string>
#include <string_view>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>
#include <vector>

namespace evenkeel {

/// Thread safety: one thread at a time. The destructor kills a running process.
class Child {
 public:
  explicit Child(std::vector<std::string> command, std::vector<std::string> environment = {}) {
    std::array<int, 2> out;
    std::array<int, 2> err;
    if (::pipe2(out.data(), O_CLOEXEC) != 0 || ::pipe2(err.data(), O_CLOEXEC) != 0) {
      throw std::system_error(errno, std::generic_category(), "pipe");
    }
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    ::posix_spawn_file_actions_adddup2(&actions, err[1], 2);
    const std::vector<char*> argv = pointers(command);
    const std::vector<char*> envp = pointers(environment);
    const int failure = ::posix_spawn(&pid_, argv[0], &actions, nullptr, argv.data(), envp.data());
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(out[1]);
    ::close(err[1]);
    out_.reset(::fdopen(out[0], "r"));
    err_.reset(::fdopen(err[0], "r"));
    if (failure != 0) throw std::system_error(failure, std::generic_category(), command[0]);
  }
  ~Child() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    int status = 0;
    ::waitpid(pid_, &status, 0);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// Reads standard error up to a line that contains `part`; throws with all output if it ends before.
  std::string wait_for_line(std::string_view part) {
    for (std::string line = read_line(err_.get()); !line.empty(); line = read_line(err_.get())) {
      log_ += line;
      if (line.find(part) != std::string::npos) return line;
    }
    throw std::runtime_error("no line with \"" + std::string(part) + "\" in:\n" + log_);
  }
  void signal(int number) { ::kill(pid_, number); }
  /// Waits for its end; returns its exit code, or minus the signal that killed it.
  int wait() {
    for (std::string line = read_line(out_.get()); !line.empty(); line = read_line(out_.get()))
      output_ += line;
    for (std::string line = read_line(err_.get()); !line.empty(); line = read_line(err_.get())) log_ += line;
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
  /// Return the output read so far from standard output and standard error.
  const std::string& output() const { return output_; }
  const std::string& log() const { return log_; }
  std::string last_output_line() const {
    const std::size_t end = output_.find_last_not_of('\n');
    if (end == std::string::npos) return {};
    const std::size_t before = output_.find_last_of('\n', end);
    const std::size_t begin = before == std::string::npos ? 0 : before + 1;
    return output_.substr(begin, end + 1 - begin);
  }
  long pid() const { return pid_; }

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  static std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> all;
    for (std::string& text : texts) all.push_back(text.data());
    all.push_back(nullptr);
    return all;
  }
  // Returns a line with its line end; empty at the end of the file.
  static std::string read_line(std::FILE* file) {
    std::string line;
    for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) {
      line += static_cast<char>(c);
      if (c == '\n') break;
    }
    return line;
  }

  pid_t pid_ = -1;
  std::unique_ptr<std::FILE, Close> out_;
  std::unique_ptr<std::FILE, Close> err_;
  std::string output_;
  std::string log_;
};

}  // namespace evenkeel
