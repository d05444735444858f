// SPDX-License-Identifier: Apache-2.0
// Commands in the containers of a Pod, and attaching to a container's own process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/base/export.hpp>
#include <evenkeel/base/object_key.hpp>
#include <evenkeel/client/client.hpp>

namespace evenkeel {
inline namespace v0 {

/// A command. Source: PodExecOptions of the core API.
struct ExecOptions {
  std::vector<std::string> command = {};  ///< Program and arguments, which no shell interprets.
  std::string container = {};             ///< Empty: the only container of the Pod.
  bool with_stdin = false;
  bool with_stdout = true;
  bool with_stderr = true;  ///< With `tty`, errors are part of stdout.
  bool tty = false;         ///< Gives the command a terminal.
};

/// The streams of a container's own process. Source: PodAttachOptions of the core API.
struct AttachOptions {
  std::string container = {};  ///< Empty: the only container of the Pod.
  bool with_stdin = false;     ///< The container must have been created with stdin.
  bool with_stdout = true;
  bool with_stderr = true;  ///< With `tty`, errors are part of stdout.
  bool tty = false;         ///< The container has a terminal.
};

struct TerminalSize {
  std::uint16_t width = 80;   ///< Columns.
  std::uint16_t height = 24;  ///< Rows.
};

/// A piece of what a process has written, of any size.
struct ProcessOutput {
  bool is_stderr = false;
  std::string bytes = {};
};

/// A connection to a process in a container, over a WebSocket. It has no thread: the threads that call its
/// members send and receive. Not resumed: a broken connection is an error.
///
/// Deadline: that of the client (Client::with(), Context::client()) ends every member with a TransportError;
/// the stop token that is bound applies, too. The client's timeout covers only the constructor.
/// Permissions: "get" and "create" on pods/exec or pods/attach.
/// Thread safety: one thread may read, one write and one resize at the same time.
/// Lifetime: the destructor breaks the connection, which does not end the process. No member may be running.
class EVENKEEL_API ExecSession {
 public:
  /// Starts a command, or attaches to a process. Throws ApiError (no such Pod or container, not permitted),
  /// TransportError, Cancelled, and std::invalid_argument for options that exclude each other.
  ExecSession(const Client& client, const ObjectKey& pod, const ExecOptions& options);
  ExecSession(const Client& client, const ObjectKey& pod, const AttachOptions& options);
  ~ExecSession();
  ExecSession(ExecSession&&) noexcept;
  ExecSession& operator=(ExecSession&&) noexcept;

  /// Returns the next output; nullopt after the end of the process. If output is not read, the process is
  /// slowed down: 1 MiB is read ahead. Throws ApiError if the command could not be run, TransportError if the
  /// connection broke before the process's exit code arrived, and Cancelled.
  std::optional<ProcessOutput> read(const std::stop_token& stop = {});
  /// Writes to stdin; returns when the operating system has accepted all bytes. If the process writes much
  /// while it reads, another thread must read its output at the same time. Bytes written after the end of the
  /// process are discarded. Throws std::logic_error without ExecOptions::with_stdin.
  void write(std::string_view bytes, const std::stop_token& stop = {});
  /// Ends stdin. Throws Error if the server is older than Kubernetes 1.30, which cannot do so.
  void close_stdin(const std::stop_token& stop = {});
  void resize(TerminalSize size, const std::stop_token& stop = {});
  /// Discards further output until the end of the process; returns its exit code. Throws like read().
  int wait(const std::stop_token& stop = {});

 private:
  class State;
  std::unique_ptr<State> state_;
};

/// The result of a command.
struct ExecResult {
  int exit_code = 0;
  std::string out = {};  ///< Output to stdout.
  std::string err = {};  ///< Output to stderr.
};

/// Receives the output of a command while it runs. Called on the thread of exec().
struct ExecListener {
  std::function<void(std::string_view)> on_stdout = {};  ///< Unset: discarded.
  std::function<void(std::string_view)> on_stderr = {};  ///< Unset: discarded.
};

/// Limit of ExecResult: beyond it, exec() throws.
inline constexpr std::size_t max_exec_output = std::size_t{16} << 20;

/// Runs a command in a container, and returns its output; an exit code other than 0 is a normal result.
/// `input` becomes its stdin, unless it is empty and ExecOptions::with_stdin is not set. Throws like
/// ExecSession, and Error if the command writes more than `max_exec_output`. After an exception the command
/// may still run.
EVENKEEL_API ExecResult exec(const Client& client, const ObjectKey& pod, ExecOptions options,
                             std::string_view input = {});
/// Runs a command that may write any amount; returns the exit code. An exception of the listener ends it.
EVENKEEL_API int exec(const Client& client, const ObjectKey& pod, ExecOptions options,
                      const ExecListener& listener, std::string_view input = {});

}  // namespace v0
}  // namespace evenkeel
