// SPDX-License-Identifier: Apache-2.0
// The decisions of the embedded API server: the response to each request, without sockets, threads or clock.
// apiserver/api_server.hpp adds sockets; apiserver/in_process_transport.hpp connects it to a client directly.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <evenkeel/base/export.hpp>
#include <evenkeel/base/object_key.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/http/message.hpp>

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// The authorization mode of a server.
enum class Authorization : std::uint8_t {
  always_allow,  ///< Every user may do everything.
  rbac,          ///< Roles and bindings decide; the server begins with the default ones.
};

struct ApiServerCoreOptions {
  /// Seed of uids and generated names: equal seeds and equal requests give equal responses.
  std::uint64_t seed = 1;
  /// Number of changes in the history, over all resources. An older resourceVersion or continue token gets
  /// 410 Expired.
  std::size_t history = 100'000;
  /// Interval of the bookmarks of watches that request them.
  Duration bookmark_interval = std::chrono::seconds{60};
  /// Timeout of watches without timeoutSeconds.
  Duration default_watch_timeout = std::chrono::minutes{45};
  /// Limit of the unread bytes of a watch; beyond it the watch is ended and its client must restart it, as
  /// with a real server.
  std::size_t max_unread_bytes = 64u << 20;
  /// Larger request bodies are refused with 413.
  std::size_t max_body_bytes = 3u << 20;
  /// Version in /version, after "v".
  std::string version = "1.36.3";
  Authorization authorization = Authorization::always_allow;
  /// The feature gate ShardedListAndWatch (KEP-5866, alpha): lists, watches and deletions of collections
  /// select by the parameter shardSelector. Without it the parameter is ignored.
  bool sharded_list_and_watch = false;
  /// Secret that signs the tokens of service accounts; empty: one that depends on the seed alone.
  std::string token_key = {};
};

/// The user that sends a request. With Authorization::rbac the group system:masters may do everything.
struct Caller {
  std::string user = "kubernetes-admin";
  std::vector<std::string> groups = {"system:masters", "system:authenticated"};
  std::string uid = {};
  /// Further attributes, by name.
  std::vector<std::pair<std::string, std::vector<std::string>>> extra = {};
};

/// Returns a service account as a caller: its user name and its groups.
EVENKEEL_API Caller service_account_caller(std::string_view namespace_, std::string_view name);

/// A bearer token and its user.
struct TokenUser {
  std::string token = {};
  Caller caller = {};
  /// Expiry by the core's clock; later requests with it get 401. Running watches continue, as with a real
  /// server.
  std::optional<WallTime> expires = {};
};

/// Staleness of the watch cache, relative to the store, for one request.
struct CacheLag {
  Duration time = {};  ///< Delay from a change to the cache.
  std::uint64_t versions =
      0;  ///< Number of later changes, of any resource, after which a change reaches the cache.
  Duration events = {};  ///< Additional delay of watch events.

  bool none() const { return time == Duration::zero() && versions == 0 && events == Duration::zero(); }
};

/// Identifies a running watch; never reused by the same core.
struct WatchId {
  std::uint64_t value = 0;
  auto operator<=>(const WatchId&) const = default;  // NOLINT(modernize-use-nullptr): a false alarm
};

/// A call of a webhook that a request needs before it can be answered: a POST of JSON.
struct WebhookCall {
  std::string webhook = {};  ///< Name of the webhook in the configuration.
  /// For a service "https://name.namespace.svc:port/path"; the query has the timeout.
  std::string url = {};
  std::string service_namespace = {};
  std::string service_name = {};  ///< Empty: the webhook has a URL.
  int service_port = 443;
  std::string ca_bundle = {};  ///< Trusted authorities, as PEM; empty: those of the system.
  Duration timeout = std::chrono::seconds{10};
  std::string body = {};
};

/// The result of a WebhookCall: a response, or the error that prevented it.
struct WebhookAnswer {
  int status = 0;
  std::string body = {};
  std::string error = {};
  std::string content_type = {};
};

class KnownConversions;

/// State of a request that waits for a webhook; a value. Copies share the conversions.
struct WebhookProgress {
  struct Known {
    std::string url = {};
    std::string asked = {};  ///< The body of the call.
    WebhookAnswer answer = {};
  };
  std::uint64_t seed = 0;  ///< Seed for the request's uids and names; 0: it has not begun.
  WallTime began = {};
  std::vector<Known> known = {};
  std::shared_ptr<KnownConversions> conversions = {};  ///< Results of conversion webhooks.
  std::uint64_t version = 0;                           ///< The last change when it was handled last.
  std::uint64_t disturbed = 0;  ///< Times that others wrote in between while the clock stood still.

  /// Adds the answer to a call.
  void add(const WebhookCall& call, WebhookAnswer answer) {
    known.push_back({call.url, call.body, std::move(answer)});
  }
};

/// The part of a request for a Pod that its node has to execute.
struct NodeAction {
  std::string name = {};  ///< The subresource: attach, exec, log or portforward.
  ObjectKey pod = {};
  std::string container = {};  ///< The requested one, or the only one; empty for portforward.
};

/// The result of a request. If `watch` is set, `response` has status and headers only, and the body is the
/// output of read_watch() until `ended`. If `call` is set, there is no result yet, and nothing has changed:
/// make the call, add its answer to `progress`, and handle the request again.
struct Answer {
  http::Response response = {};
  std::optional<WatchId> watch = {};
  std::optional<WebhookCall> call = {};
  WebhookProgress progress = {};
  std::optional<NodeAction> node = {};  ///< Set with 501: the action that a node would execute.
};

/// Output of a watch since the last read.
struct WatchOutput {
  std::string bytes = {};
  bool ended = false;  ///< No more output will follow; the id is invalid.
};

/// A call of a conversion webhook for running watches: no request waits for it.
struct WatchWebhookCall {
  std::uint64_t id = 0;
  WebhookCall call = {};
};

/// The state of a server at one time: objects, definitions, the history of changes, and the pending work of
/// its controllers; not its running watches. A value that is copied in constant time. It shares the memory of
/// unchanged objects with the servers that start from it.
/// Thread safety: immutable; servers that began from it may be on different threads.
class EVENKEEL_API World {
 public:
  /// Returns the resourceVersion of the last change.
  std::uint64_t resource_version() const;
  /// Returns the time at which it was taken.
  WallTime time() const;
  /// Returns that of the server.
  Authorization authorization() const;

 private:
  friend class ApiServerCore;
  struct State;
  explicit World(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

/// A Kubernetes API server as a value: it stores objects, and answers requests by the rules of the real one.
/// Time is an argument and may stand still; time-dependent work (bookmarks, timeouts of watches, garbage
/// collection, deletion of namespace contents) is done by on_timeout().
/// Driver:
///  1. calls handle() for each request and sends the response; of a watch, its head; while it needs a
///     webhook, makes the call (other requests may be handled meanwhile) and calls handle() again;
///  2. after each call of 1 and 3, sends the read_watch() of each of ready_watches();
///  3. calls on_timeout() at next_due();
///  4. calls close_watch() when the client of a watch is gone;
///  5. makes the calls of take_webhook_calls() after each call of 1 and 3, and passes each answer to
///     on_webhook_answer(), after which 2 applies too.
/// Thread safety: one thread at a time.
class EVENKEEL_API ApiServerCore {
 public:
  /// Throws std::invalid_argument if an interval is not positive or `history` is 0.
  explicit ApiServerCore(ApiServerCoreOptions options = {});
  /// Starts from the state of `world`, with the options of the original server: equal requests get the
  /// responses that the original server would give, uids and versions included. `now` of calls must not be
  /// before world.time().
  explicit ApiServerCore(const World& world);
  ~ApiServerCore();
  ApiServerCore(const ApiServerCore&) = delete;
  ApiServerCore& operator=(const ApiServerCore&) = delete;

  /// Answers `request`; `now` is used for timestamps. Never throws because of the request. With a `lag`,
  /// watches and reads at resourceVersion 0 see an older state; consistent reads never do. `progress` is that
  /// of the last answer to the same request.
  Answer handle(const http::Request& request, WallTime now, const Caller& caller = {},
                const CacheLag& lag = {}, const WebhookProgress& progress = {});

  /// Replaces the tokens that a TokenReview accepts in addition to those of service accounts; not part of a
  /// World.
  void accept_tokens(std::vector<TokenUser> tokens);
  /// Returns the user of a token, given or issued for a service account; std::nullopt if it is not valid.
  std::optional<Caller> token_user(std::string_view token, WallTime now);

  /// Returns and removes the output of the watch since the last call; for an unknown id, `ended` is set.
  WatchOutput read_watch(WatchId id);
  /// Returns the watches that have output (or ended) since the last call of this function, in the order of
  /// ids.
  std::vector<WatchId> ready_watches();
  /// Returns and removes the calls of webhooks that convert the objects of running watches. The events wait
  /// for them.
  std::vector<WatchWebhookCall> take_webhook_calls();
  /// Takes the answer to a call. Unknown ids are ignored.
  void on_webhook_answer(std::uint64_t id, const WebhookAnswer& answer);
  /// Removes the lag of a running watch: delayed events can be read. Unknown ids are ignored.
  void catch_up(WatchId id);
  /// Ends a watch whose client is gone. Unknown ids are ignored.
  void close_watch(WatchId id);

  /// Does the work that is due at `now`: bookmarks, timeouts of watches, deletion of objects whose owners or
  /// namespaces are gone.
  void on_timeout(WallTime now);
  /// Returns the time of the next on_timeout(); a time in the past means now. std::nullopt: no call is needed
  /// until the next handle().
  std::optional<WallTime> next_due() const;

  /// Returns the resourceVersion of the last change.
  std::uint64_t resource_version() const;
  /// Returns the state at `now`. Takes time proportional to the number of collections, not of objects.
  World snapshot(WallTime now);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
