// SPDX-License-Identifier: Apache-2.0
// A node simulated by the program for an embedded API server: commands, attached processes, logs and ports of
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
  /// Blocks; returns the next bytes of stdin, or of the port. nullopt: end of input, or the client has gone.
  virtual std::optional<std::string> read() = 0;
  /// Writes to stdout, to the log or to the port; blocks while the client is more than 1 MiB behind. Streams
  /// that the client did not request are discarded. Throws Cancelled once the client has gone or the server
  /// stops.
  virtual void write(std::string_view bytes) = 0;
  /// Like write(), to stderr. With a terminal, and without a process, the same as write().
  virtual void write_error(std::string_view bytes) = 0;
  /// Returns the size that the client last reported for its terminal; nullopt if it has not reported any.
  virtual std::optional<TerminalSize> terminal_size() const = 0;
  /// Requested once the client has gone or the server stops; a function that waits for something else must
  /// return then.
  virtual std::stop_token stop_token() const = 0;
};

/// Functions that act as the node of every Pod whose spec.nodeName is set. Requests for a function that is
/// not set get 501 NotImplemented. Each call runs on a dedicated thread, which the server joins when it
/// stops.
///
/// Errors: an exception of on_exec or on_attach is returned to the client as "500 InternalError" with its
/// message, one of on_port_forward as the error of the forwarded port. An exception of on_logs results in 500
/// if nothing was written yet; otherwise the connection breaks. Thread safety: the functions may be called
/// concurrently.
struct Kubelet {
  /// Runs a command; returns its exit code. `options.container` is set.
  std::function<int(const ObjectKey& pod, const ExecOptions& options, KubeletStreams& streams)> on_exec = {};
  /// Acts as the container's own process until it ends; returns its exit code.
  std::function<int(const ObjectKey& pod, const AttachOptions& options, KubeletStreams& streams)> on_attach =
      {};
  /// Writes the log that `options` select; with `follow`, continues until the container ends.
  std::function<void(const ObjectKey& pod, const PodLogOptions& options, KubeletStreams& streams)> on_logs =
      {};
  /// Acts as the server behind a port, for one connection, which ends when the function returns.
  std::function<void(const ObjectKey& pod, std::uint16_t port, KubeletStreams& streams)> on_port_forward = {};
};

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
