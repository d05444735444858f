// SPDX-License-Identifier: Apache-2.0
// Logs of the containers of a Pod.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include <evenkeel/base/export.hpp>
#include <evenkeel/base/object_key.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/client/call.hpp>
#include <evenkeel/client/client.hpp>

namespace evenkeel {
inline namespace v0 {

/// Selection of log lines. Source: PodLogOptions of the core API.
struct PodLogOptions {
  std::string container = {};                   ///< Empty: the only container of the Pod.
  bool follow = false;                          ///< Go on with new lines until the container ends.
  bool previous = false;                        ///< Read the container's previous run.
  bool timestamps = false;                      ///< Begin each line with "2026-01-02T15:04:05.000000000Z ".
  std::optional<std::int64_t> tail_lines = {};  ///< Begin with this many of the last lines.
  std::optional<Duration> since = {};           ///< Lines of this time until now, whole seconds, 1 s or more.
  std::string since_time = {};                  ///< Lines from "2026-01-02T15:04:05Z" on; not with `since`.
  std::optional<std::int64_t> limit_bytes = {};
};

namespace calls {

/// Reads a log as one text. Throws std::invalid_argument if the options follow it.
EVENKEEL_API ApiCall<std::string> read_pod_logs(const ObjectKey& pod, const PodLogOptions& options = {});

}  // namespace calls

/// Reads a log line by line, as it arrives: the server is throttled while the reader is behind. Unlike a
/// watch it is not resumed: a cut connection is an error. Thread safety: one thread at a time.
class EVENKEEL_API PodLogReader {
 public:
  PodLogReader(const Client& client, const ObjectKey& pod, const PodLogOptions& options = {});
  ~PodLogReader();
  PodLogReader(PodLogReader&&) noexcept;
  PodLogReader& operator=(PodLogReader&&) noexcept;

  /// Returns the next line without its terminator, a line of more than 1 MiB in parts; nullopt at the end of
  /// the log, or once `stop` is requested. Throws ApiError (no such Pod or container, or it has not started),
  /// TransportError, also once the deadline that is bound to the client has passed, and Cancelled once the
  /// stop token that is bound to it is triggered.
  std::optional<std::string> next(const std::stop_token& stop = {});

 private:
  class State;
  std::unique_ptr<State> state_;
};

/// Receives a log. The functions are called one at a time, on the transport's thread; they must neither block
/// nor throw.
struct PodLogListener {
  std::function<void(std::string)> on_line = {};
  /// Called once, last: null at the end of the log, Cancelled after cancel(), otherwise an error of
  /// PodLogReader::next().
  std::function<void(std::exception_ptr)> on_end = {};
};

/// Asynchronous form of PodLogReader; the stop token and the deadline that are bound to the client end it.
/// Blocks: while a token has to be fetched. pause() and resume() of the
/// handle throttle the server.
EVENKEEL_API std::shared_ptr<http::Call> start_pod_logs(const Client& client, const ObjectKey& pod,
                                                        const PodLogOptions& options,
                                                        PodLogListener listener);

}  // namespace v0
}  // namespace evenkeel
