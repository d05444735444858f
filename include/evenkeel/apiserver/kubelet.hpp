// SPDX-License-Identifier: Apache-2.0
// The node of an embedded API server, played by the program: commands, attached processes, logs and ports of
// Pods.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include <evenkeel/base/export.hpp>
#include <evenkeel/base/object_key.hpp>
#include <evenkeel/client/pod_exec.hpp>
#include <evenkeel/client/pod_logs.hpp>

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// The streams of a process, a log or a port, as the process sees them; the client is at their other end.
/// Thread safety: all members may be called concurrently. Lifetime: valid until the function that got it
/// returns.
class EVENKEEL_API KubeletStreams {
 public:
  virtual ~KubeletStreams() = default;
  /// Blocks; returns the next bytes of stdin, or of the port. nullopt: its end, or the client has gone.
  virtual std::optional<std::string> read() = 0;
  /// Writes to stdout, to the log or to the port; blocks while the client is more than 1 MiB behind. What the
  /// client has not asked for is discarded. Throws Cancelled once the client has gone or the server stops.
  virtual void write(std::string_view bytes) = 0;
  /// Like write(), to stderr. With a terminal, and without a process, the same as write().
  virtual void write_error(std::string_view bytes) = 0;
  /// Returns the size that the client has given its terminal last; nullopt before.
  virtual std::optional<TerminalSize> terminal_size() const = 0;
  /// Requested once the client has gone or the server stops; a function that waits for something else obeys
  /// it.
  virtual std::stop_token stop_token() const = 0;
};

/// Functions that play the node of every Pod whose spec.nodeName is set. One that is not set leaves the
/// request its answer without a kubelet: 501 NotImplemented. Each call has a thread of its own, which the
/// server joins when it stops.
///
/// Errors: the message of an exception that on_exec and on_attach throw becomes "500 InternalError" of the
/// client, that of on_port_forward the error of the forwarded port; on_logs gives 500 if it has written
/// nothing, and else breaks the connection. Thread safety: the functions may be called concurrently.
struct Kubelet {
  /// Runs a command; returns its exit code. `options.container` is set.
  std::function<int(const ObjectKey& pod, const ExecOptions& options, KubeletStreams& streams)> on_exec = {};
  /// Plays the container's own process until it ends; returns its exit code.
  std::function<int(const ObjectKey& pod, const AttachOptions& options, KubeletStreams& streams)> on_attach =
      {};
  /// Writes the log that `options` select; with `follow`, goes on until the container ends.
  std::function<void(const ObjectKey& pod, const PodLogOptions& options, KubeletStreams& streams)> on_logs =
      {};
  /// Plays what listens on a port, for one connection; its return ends it.
  std::function<void(const ObjectKey& pod, std::uint16_t port, KubeletStreams& streams)> on_port_forward = {};
};

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
