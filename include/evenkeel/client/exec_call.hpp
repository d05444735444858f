// SPDX-License-Identifier: Apache-2.0
// Commands in containers, without a waiting thread: the asynchronous form of exec() and ExecSession.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include <evenkeel/base/export.hpp>
#include <evenkeel/base/object_key.hpp>
#include <evenkeel/client/client.hpp>
#include <evenkeel/client/pod_exec.hpp>
#include <evenkeel/http/transport.hpp>

namespace evenkeel {
inline namespace v0 {

/// Receives the output and the end of a process. The functions are called one at a time, on the transport's
/// thread or by EventLoop::poll(); they must neither block nor throw.
struct ProcessListener {
  std::function<void()> on_start = {};  ///< The server has accepted the command.
  std::function<void(ProcessOutput)> on_output = {};
  std::function<void()> on_drained = {};  ///< All written input has been sent.
  /// Called once, last: the exit code, or an error of ExecSession. After an error the command may still run.
  std::function<void(Outcome<int>)> on_end = {};
};

/// A running command. pause() keeps output from the listener, and after 1 MiB slows the process down.
/// cancel() breaks the connection, which does not end the process. Thread safety: all members may be called
/// concurrently. Lifetime: dropping the handle cancels nothing.
class EVENKEEL_API ExecCall : public http::Call {
 public:
  /// Queues bytes for stdin; dropped without ExecOptions::with_stdin, and after the end.
  virtual void write(std::string bytes) = 0;
  /// Ends stdin after the bytes that were written. With a server older than Kubernetes 1.30, which cannot do
  /// so, the call ends with an Error.
  virtual void close_stdin() = 0;
  virtual void resize(TerminalSize size) = 0;
  /// Returns the bytes that are queued.
  virtual std::size_t unsent() const = 0;
};

/// Starts a command, or attaches to a process. Deadline, stop token, timeout, guard of writes and permissions
/// are those of ExecSession. Throws std::invalid_argument for options that exclude each other. Blocks: while
/// a token has to be fetched, unless the client has an event loop.
EVENKEEL_API std::shared_ptr<ExecCall> start_exec(const Client& client, const ObjectKey& pod,
                                                  const ExecOptions& options, ProcessListener listener);
EVENKEEL_API std::shared_ptr<ExecCall> start_attach(const Client& client, const ObjectKey& pod,
                                                    const AttachOptions& options, ProcessListener listener);
/// Runs a command with `input` as its stdin, and collects what it writes, as exec() does.
EVENKEEL_API std::shared_ptr<ExecCall> start_exec(const Client& client, const ObjectKey& pod,
                                                  ExecOptions options, std::string input,
                                                  std::function<void(Outcome<ExecResult>)> done);

}  // namespace v0
}  // namespace evenkeel
