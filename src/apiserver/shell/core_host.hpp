// SPDX-License-Identifier: Apache-2.0
// A core behind a lock, shared by several fronts (sockets, in-process transports): authentication, fault
// rules, and the assignment of watches to fronts. Shared with floors above.
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
#include <evenkeel/apiserver/webhook_caller.hpp>
#include <evenkeel/base/clock.hpp>
#include <evenkeel/base/mutex.hpp>

#include "apiserver/shell/fault_injector.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver::detail {

/// Interface of a core: ApiServerCore, or a double in tests of the shells.
class Backend {
 public:
  virtual ~Backend() = default;
  virtual Answer handle(const http::Request& request, WallTime now, const Caller& caller,
                        const CacheLag& lag) = 0;
  /// Like handle(), for a request that may have waited for webhooks.
  virtual Answer handle_again(const http::Request& request, WallTime now, const Caller& caller,
                              const CacheLag& lag, const WebhookProgress&) {
    return handle(request, now, caller, lag);
  }
  virtual WatchOutput read_watch(WatchId id) = 0;
  virtual std::vector<WatchId> ready_watches() = 0;
  virtual void catch_up(WatchId id) = 0;
  virtual void close_watch(WatchId id) = 0;
  virtual void on_timeout(WallTime now) = 0;
  virtual std::optional<WallTime> next_due() const = 0;
  /// Returns the calls of webhooks that running watches wait for, and takes their answers.
  virtual std::vector<WatchWebhookCall> take_webhook_calls() { return {}; }
  virtual void on_webhook_answer(std::uint64_t, const WebhookAnswer&) {}
  /// Returns the user of a token that the core issued.
  virtual std::optional<Caller> token_user(std::string_view, WallTime) { return std::nullopt; }
};

/// A transport that serves requests. All members are called on any thread under the host's lock: they must
/// only schedule work.
class Front {
 public:
  virtual void watches_ready(const std::vector<WatchId>& ids) noexcept = 0;
  /// Called when next_due() has changed.
  virtual void tick_moved() noexcept = 0;
  /// Runs `work` on the front's thread, later.
  virtual void schedule(std::function<void()> work) = 0;
  /// Returns the head of the answer to a request whose node the front plays, or a refusal of the request;
  /// nullopt if it plays no such node.
  virtual std::optional<http::Response> node_answer(const http::Request&, const NodeAction&) const {
    return std::nullopt;
  }

 protected:
  ~Front() = default;
};

/// A request after authentication: its caller, and the fault rule that applies.
struct AuthenticatedRequest {
  Caller caller = {};
  FaultPlan plan = {};
  std::optional<http::Response> refusal = {};  ///< 401: the request is not processed.
};

struct Reply {
  http::Response response = {};
  /// There is no response yet: CoreHost::call_webhook(), then execute() again.
  std::optional<WebhookCall> call = {};
  WebhookProgress progress = {};
  std::optional<WatchId> watch = {};    ///< The body is the output of CoreHost::read().
  std::optional<NodeAction> node = {};  ///< The front plays the node; `response` is the head of its answer.
  bool dropped = false;                 ///< The connection ends without a response.
  std::optional<std::size_t> cut_after = {};  ///< The connection ends after this number of bytes of the body.
  FaultEnding ending = FaultEnding::close;    ///< Kind of end, if dropped or cut: never complete.
};

struct WatchPiece {
  std::string bytes = {};
  bool ended = false;                       ///< No more output will follow; the id is invalid.
  bool cut = false;                         ///< With ended: the connection ends as if it had broken.
  FaultEnding ending = FaultEnding::close;  ///< Kind of end, if cut: never complete.
};

/// A core and its faults behind a lock.
/// Thread safety: all members may be called concurrently.
/// Lifetime: fronts call detach() before they end.
class CoreHost {
 public:
  CoreHost(std::unique_ptr<Backend> backend, SharedCoreOptions options);
  ~CoreHost();
  CoreHost(const CoreHost&) = delete;
  CoreHost& operator=(const CoreHost&) = delete;

  const Clock& clock() const { return *clock_; }
  void attach(Front* front) EVENKEEL_EXCLUDES(mutex_);
  /// Ends the watches of `front`, which is not called again.
  void detach(Front* front) EVENKEEL_EXCLUDES(mutex_);

  /// Determines the caller (`known`: from a client certificate) and the fault rule of a request.
  AuthenticatedRequest authenticate(const http::Request& request, const std::optional<Caller>& known)
      EVENKEEL_EXCLUDES(mutex_);
  /// Answers a request; to be called after authenticated.plan.delay. A watch that it starts belongs to
  /// `front` and must be read once immediately.
  Reply execute(const http::Request& request, const AuthenticatedRequest& authenticated, Front* front,
                const WebhookProgress& progress = {}) EVENKEEL_EXCLUDES(mutex_);
  /// Ends a request whose client has gone before execute() returned a response: its fault rule did not fire.
  void abandon(const AuthenticatedRequest& authenticated) EVENKEEL_EXCLUDES(mutex_);
  /// Makes the call that a reply needs, and then runs `again` with its answer on the front's thread, unless
  /// the front was detached meanwhile. Other requests are served in between.
  void call_webhook(Reply reply, Front* front, std::function<void(const WebhookProgress&)> again);
  /// Makes the calls of webhooks.
  const std::shared_ptr<WebhookCaller>& webhooks() const { return webhooks_; }
  WatchPiece read(WatchId id) EVENKEEL_EXCLUDES(mutex_);
  void close(WatchId id) EVENKEEL_EXCLUDES(mutex_);
  /// Ends all running watches as if their connections had broken; returns their number.
  std::size_t cut_watches() EVENKEEL_EXCLUDES(mutex_);

  void on_timeout() EVENKEEL_EXCLUDES(mutex_);
  std::optional<WallTime> next_due() const EVENKEEL_EXCLUDES(mutex_);

  FaultId inject(FaultRule rule) EVENKEEL_EXCLUDES(mutex_);
  void remove_fault(FaultId id) EVENKEEL_EXCLUDES(mutex_);
  void clear_faults() EVENKEEL_EXCLUDES(mutex_);
  FaultCounts fault_counts(FaultId id) const EVENKEEL_EXCLUDES(mutex_);

  /// Runs `action` under the lock, then notifies the fronts of readable watches.
  void with(const std::function<void(Backend&)>& action) EVENKEEL_EXCLUDES(mutex_);

 private:
  struct Watch {
    Front* front = nullptr;
    FaultPlan plan = {};
    std::optional<WallTime> cut_at = {};  // of the plan; reset once it has passed
    std::size_t sent = 0;
    std::size_t events = 0;
    bool between_events = true;
    bool cut = false;  // by cut_watches()
  };
  using Watches = std::map<WatchId, Watch>;

  std::optional<Caller> identify(const http::Request& request) EVENKEEL_EXCLUDES(mutex_);
  Reply perform(const http::Request& request, const AuthenticatedRequest& authenticated, Front* front,
                const WebhookProgress& progress) EVENKEEL_REQUIRES(mutex_);
  Reply refused(const FaultPlan& plan) EVENKEEL_REQUIRES(mutex_);
  void spoil_answer(const FaultPlan& plan, Reply& reply) EVENKEEL_REQUIRES(mutex_);
  void start_watch(WatchId id, const FaultPlan& plan, Front* front) EVENKEEL_REQUIRES(mutex_);
  std::optional<std::size_t> cut_point(Watch& watch, std::string_view bytes) const EVENKEEL_REQUIRES(mutex_);
  void corrupt_watch(Watch& watch, WatchPiece& piece) EVENKEEL_REQUIRES(mutex_);
  void release(const std::function<bool(const FaultPlan&)>& chosen) EVENKEEL_REQUIRES(mutex_);
  void finish(Watches::iterator at) EVENKEEL_REQUIRES(mutex_);
  std::optional<WallTime> due() const EVENKEEL_REQUIRES(mutex_);
  void announce() EVENKEEL_REQUIRES(mutex_);
  void report(const http::Request& request, const Caller& caller, const Reply& reply) const;
  void step() EVENKEEL_EXCLUDES(mutex_);
  void call_for_watches() EVENKEEL_EXCLUDES(mutex_);
  void on_webhook_answer(std::uint64_t id, const WebhookAnswer& answer) EVENKEEL_EXCLUDES(mutex_);

  // The fronts that wait for answers of webhooks. It outlives the host as long as calls run.
  class Listeners {
   public:
    void add(Front* front) EVENKEEL_EXCLUDES(mutex_);
    void remove(Front* front) EVENKEEL_EXCLUDES(mutex_);
    /// Schedules `work` on a front that is still here.
    void schedule(Front* front, std::function<void()> work) EVENKEEL_EXCLUDES(mutex_);

   private:
    Mutex mutex_;
    std::vector<Front*> fronts_ EVENKEEL_GUARDED_BY(mutex_);
  };

  // The host for answers of webhooks that running watches wait for. It outlives the host as long as calls
  // run.
  struct AnswerBox {
    Mutex mutex;
    CoreHost* host EVENKEEL_GUARDED_BY(mutex) = nullptr;
  };

  const std::shared_ptr<AnswerBox> answers_ = std::make_shared<AnswerBox>();
  const std::shared_ptr<Listeners> listeners_ = std::make_shared<Listeners>();
  const std::shared_ptr<const Clock> clock_;
  const std::vector<TokenUser> tokens_;
  const bool rbac_;
  const bool anonymous_;
  const std::shared_ptr<WebhookCaller> webhooks_;
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
