// SPDX-License-Identifier: Apache-2.0
// One core behind a lock, shared by several fronts (sockets, in-process transports): who a caller is, what
// fault rules do to a request, and which front a watch belongs to.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/apiserver/api_server_core.hpp>
#include <evenkeel/apiserver/shared_core.hpp>
#include <evenkeel/base/clock.hpp>
#include <evenkeel/base/mutex.hpp>

#include "apiserver/shell/fault_injector.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver::detail {

/// What the shells ask of a core; ApiServerCore in earnest, a double in tests of the shells.
class Backend {
 public:
  virtual ~Backend() = default;
  virtual Answer handle(const http::Request& request, WallTime now, const Caller& caller,
                        const CacheLag& lag) = 0;
  virtual WatchOutput read_watch(WatchId id) = 0;
  virtual std::vector<WatchId> ready_watches() = 0;
  virtual void catch_up(WatchId id) = 0;
  virtual void close_watch(WatchId id) = 0;
  virtual void tick(WallTime now) = 0;
  virtual std::optional<WallTime> next_tick() const = 0;
};

/// A way in. Both members are called on any thread under the host's lock: they may only schedule.
class Front {
 public:
  virtual void watches_ready(const std::vector<WatchId>& ids) noexcept = 0;
  /// next_tick() is another time than before.
  virtual void tick_moved() noexcept = 0;

 protected:
  ~Front() = default;
};

/// A request that was let in: who asks, and what a fault rule has in store for it.
struct AuthenticatedRequest {
  Caller caller = {};
  FaultPlan plan = {};
  std::optional<http::Response> refusal = {};  ///< 401: nothing else happens.
};

struct Reply {
  http::Response response = {};
  std::optional<WatchId> watch = {};          ///< The body is what CoreHost::read() gives.
  bool dropped = false;                       ///< The connection ends without an answer.
  std::optional<std::size_t> cut_after = {};  ///< The connection ends after so many bytes of the body.
  FaultEnding ending = FaultEnding::close;    ///< How, if it is dropped or cut: never complete.
};

struct WatchPiece {
  std::string bytes = {};
  bool ended = false;                       ///< Nothing more will come; the id is forgotten.
  bool cut = false;                         ///< With ended: the connection ends as if it had broken.
  FaultEnding ending = FaultEnding::close;  ///< How, if it is cut: never complete.
};

/// Thread safety: all members may be called concurrently. Lifetime: fronts detach before they end.
class CoreHost {
 public:
  CoreHost(std::unique_ptr<Backend> backend, SharedCoreOptions options);

  const Clock& clock() const { return *clock_; }
  void attach(Front* front) EVENKEEL_EXCLUDES(mutex_);
  /// Ends the watches of `front`; it is not called again.
  void detach(Front* front) EVENKEEL_EXCLUDES(mutex_);

  /// Finds out who asks (`known`: from a client certificate) and which fault rule takes the request.
  AuthenticatedRequest authenticate(const http::Request& request, const std::optional<Caller>& known)
      EVENKEEL_EXCLUDES(mutex_);
  /// Answers; to be called after authenticated.plan.delay. The watch that it may start is `front`'s; it must
  /// be read once right away.
  Reply execute(const http::Request& request, const AuthenticatedRequest& authenticated, Front* front)
      EVENKEEL_EXCLUDES(mutex_);
  WatchPiece read(WatchId id) EVENKEEL_EXCLUDES(mutex_);
  void close(WatchId id) EVENKEEL_EXCLUDES(mutex_);
  /// Ends all running watches as if their connections had broken; returns how many.
  std::size_t cut_watches() EVENKEEL_EXCLUDES(mutex_);

  void tick() EVENKEEL_EXCLUDES(mutex_);
  std::optional<WallTime> next_tick() const EVENKEEL_EXCLUDES(mutex_);

  FaultId inject(FaultRule rule) EVENKEEL_EXCLUDES(mutex_);
  void remove_fault(FaultId id) EVENKEEL_EXCLUDES(mutex_);
  void clear_faults() EVENKEEL_EXCLUDES(mutex_);
  FaultCounts fault_counts(FaultId id) const EVENKEEL_EXCLUDES(mutex_);

  /// Runs `action` under the lock, then tells the fronts what it made ready.
  void with(const std::function<void(Backend&)>& action) EVENKEEL_EXCLUDES(mutex_);

 private:
  struct Watch {
    Front* front = nullptr;
    FaultPlan plan = {};
    std::optional<WallTime> cut_at = {};  // by the plan; unset once its time has come
    std::size_t sent = 0;
    std::size_t events = 0;
    bool between_events = true;
    bool cut = false;  // by cut_watches()
  };
  using Watches = std::map<WatchId, Watch>;

  std::optional<Caller> identify(const http::Request& request) const;
  Reply perform(const http::Request& request, const AuthenticatedRequest& authenticated, Front* front)
      EVENKEEL_REQUIRES(mutex_);
  Reply refused(const FaultPlan& plan) EVENKEEL_REQUIRES(mutex_);
  void spoil_answer(const FaultPlan& plan, Reply& reply) EVENKEEL_REQUIRES(mutex_);
  void start_watch(WatchId id, const FaultPlan& plan, Front* front) EVENKEEL_REQUIRES(mutex_);
  std::optional<std::size_t> cut_point(Watch& watch, std::string_view bytes) const EVENKEEL_REQUIRES(mutex_);
  void spoil_watch(Watch& watch, WatchPiece& piece) EVENKEEL_REQUIRES(mutex_);
  void release(const std::function<bool(const FaultPlan&)>& chosen) EVENKEEL_REQUIRES(mutex_);
  void finish(Watches::iterator at) EVENKEEL_REQUIRES(mutex_);
  std::optional<WallTime> due() const EVENKEEL_REQUIRES(mutex_);
  void announce() EVENKEEL_REQUIRES(mutex_);
  void report(const http::Request& request, const Caller& caller, const Reply& reply) const;

  const std::shared_ptr<const Clock> clock_;
  const std::vector<TokenUser> tokens_;
  const std::function<void(const ServedRequest&)> on_request_;
  mutable Mutex mutex_;
  const std::unique_ptr<Backend> backend_ EVENKEEL_PT_GUARDED_BY(mutex_);
  FaultInjector faults_ EVENKEEL_GUARDED_BY(mutex_);
  Watches watches_ EVENKEEL_GUARDED_BY(mutex_);
  std::vector<Front*> fronts_ EVENKEEL_GUARDED_BY(mutex_);
  std::optional<WallTime> announced_tick_ EVENKEEL_GUARDED_BY(mutex_);
};

}  // namespace apiserver::detail
}  // namespace v0
}  // namespace evenkeel
