// SPDX-License-Identifier: Apache-2.0
// The decisions of the embedded API server: what every request is answered, without sockets, threads or
// clock. testing/api_server.hpp gives it sockets, testing/in_process_transport.hpp a place below a client.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <evenkeel/base/export.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/http/message.hpp>

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

struct ApiServerCoreOptions {
  /// Decides uids and generated names: equal seeds and equal requests give equal answers.
  std::uint64_t seed = 1;
  /// Changes that the server remembers, over all resources. An older resourceVersion, or a continue token
  /// made before them, is answered with 410 Expired.
  std::size_t history = 100'000;
  /// Watches that ask for bookmarks get one this often.
  Duration bookmark_interval = std::chrono::seconds{60};
  /// A watch that names no timeoutSeconds ends after this long.
  Duration default_watch_timeout = std::chrono::minutes{45};
  /// A watch with more unread bytes than this is ended; its client starts anew, as with a real server.
  std::size_t max_unread_bytes = 64u << 20;
  /// Larger request bodies are refused with 413.
  std::size_t max_body_bytes = 3u << 20;
  /// What /version says: "v" + this.
  std::string version = "1.36.3";
};

/// Who asks; written nowhere but into SelfSubjectReview answers. Nothing is forbidden by it.
struct Caller {
  std::string user = "kubernetes-admin";
  std::vector<std::string> groups = {"system:masters", "system:authenticated"};
};

/// How far the watch cache is behind what is stored, for one request.
struct CacheLag {
  Duration time = {};          ///< It learns of a change so much later than the change was made.
  std::uint64_t versions = 0;  ///< It learns of a change when so many more, of anything, were made.
  Duration events = {};        ///< It tells watches so much later than it could.

  bool none() const { return time == Duration::zero() && versions == 0 && events == Duration::zero(); }
};

/// Names a running watch; never reused by the same core.
struct WatchId {
  std::uint64_t value = 0;
  auto operator<=>(const WatchId&) const = default;  // NOLINT(modernize-use-nullptr): a false alarm
};

/// What a request is answered. If `watch` is set, `response` has status and headers only, and the body is
/// what read_watch() gives until it says `ended`.
struct Answer {
  http::Response response = {};
  std::optional<WatchId> watch = {};
};

/// What a watch produced since it was read last.
struct WatchOutput {
  std::string bytes = {};
  bool ended = false;  ///< Nothing more will come; the id is forgotten.
};

/// An API server of kubernetes as a value: it stores objects, and answers requests by the rules of the real
/// one. Time enters as an argument only and may stand still; what happens by time alone (bookmarks, ends of
/// watches, garbage collection, emptying of namespaces) happens in tick().
/// Thread safety: one thread at a time.
class EVENKEEL_API ApiServerCore {
 public:
  /// Throws std::invalid_argument if an interval is not positive or `history` is 0.
  explicit ApiServerCore(ApiServerCoreOptions options = {});
  ~ApiServerCore();
  ApiServerCore(const ApiServerCore&) = delete;
  ApiServerCore& operator=(const ApiServerCore&) = delete;

  /// Answers `request`; `now` becomes the timestamps that it writes. Never throws for what a request holds.
  /// With a `lag`, watches and reads at resourceVersion 0 see an older state; consistent reads never do.
  Answer handle(const http::Request& request, WallTime now, const Caller& caller = {},
                const CacheLag& lag = {});

  /// Takes what the watch produced since the last call; an unknown id has ended.
  WatchOutput read_watch(WatchId id);
  /// Watches that got something to read (or ended) since the last call of this function, in order of id.
  std::vector<WatchId> ready_watches();
  /// Ends the lag of a running watch: what was held back can be read. Unknown ids are ignored.
  void catch_up(WatchId id);
  /// Ends and forgets a watch whose reader is gone. Unknown ids are ignored.
  void close_watch(WatchId id);

  /// Does what is due at `now`: bookmarks, ends of watches, removal of objects whose owners or namespaces are
  /// gone.
  void tick(WallTime now);
  /// When tick() has something to do next; a time in the past means now. Nothing: no call is needed until
  /// the next handle().
  std::optional<WallTime> next_tick() const;

  /// The resourceVersion of the last change.
  std::uint64_t resource_version() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
