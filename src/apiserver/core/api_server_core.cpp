// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>
#include <utility>

#include <evenkeel/apiserver/api_server_core.hpp>

#include "apiserver/controllers/crd_controller.hpp"
#include "apiserver/controllers/garbage_collector.hpp"
#include "apiserver/controllers/kubernetes_service.hpp"
#include "apiserver/controllers/namespace_controller.hpp"
#include "apiserver/controllers/role_controller.hpp"
#include "apiserver/core/request_deadline.hpp"
#include "apiserver/core/router.hpp"
#include "apiserver/core/server.hpp"
#include "apiserver/request/respond.hpp"
#include "apiserver/webhook/conversions.hpp"
#include "apiserver/webhook/webhook_admission.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {
namespace {

ApiServerCoreOptions checked(ApiServerCoreOptions options) {
  if (options.history == 0) throw std::invalid_argument("ApiServerCore: need history > 0");
  if (options.bookmark_interval <= Duration::zero() || options.default_watch_timeout <= Duration::zero())
    throw std::invalid_argument("ApiServerCore: need bookmark_interval > 0 and default_watch_timeout > 0");
  return options;
}

/// The controllers of a control plane that all clients depend on.
struct Controllers {
  Controllers() = default;
  Controllers(const Controllers&) = delete;

  /// The state of the controllers at one time; immutable.
  struct Frozen {
    GarbageCollector::Frozen collector;
    NamespaceController namespaces;
    KubernetesService kubernetes;
    CrdController crds;
    RoleController roles;
  };
  explicit Controllers(const Frozen& from)
      : collector(from.collector),
        namespaces(from.namespaces),
        kubernetes(from.kubernetes),
        crds(from.crds),
        roles(from.roles) {}
  Frozen freeze() { return {collector.freeze(), namespaces, kubernetes, crds, roles}; }

  void observe(Storage& storage, const Change& change) {
    Store& store = storage.store;
    collector.observe(storage, change);
    namespaces.observe(store, change);
    kubernetes.observe(store, change);
    crds.observe(store, change);
    roles.observe(store, change);
  }

  bool has_work() const {
    return collector.has_work() || namespaces.has_work() || kubernetes.has_work() || crds.has_work() ||
           roles.has_work();
  }

  /// Runs until none has work left: one may cause work for another.
  void run(Storage& storage, WatchHub& watches, WallTime now) {
    while (has_work()) {
      collector.run(storage, now);
      namespaces.run(storage, now);
      if (kubernetes.has_work()) kubernetes.run(storage, now);
      crds.run(storage, now);
      crds.settle(storage, watches, now);
      if (roles.has_work()) roles.run(storage, now);
    }
  }

  GarbageCollector collector = {};
  NamespaceController namespaces = {};
  KubernetesService kubernetes = {};
  CrdController crds = {};
  RoleController roles = {};
};

}  // namespace

struct World::State {
  FrozenServer server;
  Controllers::Frozen controllers;
  WallTime time = {};
  bool started = false;
};

struct ApiServerCore::State : Server {
  explicit State(ApiServerCoreOptions options_) : Server(checked(std::move(options_))) { listen(); }
  explicit State(const World::State& from)
      : Server(from.server), controllers(from.controllers), now(from.time), started(from.started) {
    listen();
  }

  void listen() {
    storage.store.listen([this](const ChangePtr& change) {
      controllers.observe(storage, *change);
      watches.publish(change);
    });
  }

  void set_time(WallTime at) {
    now = at;
    storage.store.set_time(at);
  }

  /// Creates the objects that every cluster has.
  void create_initial() {
    NamespaceController::create_initial(storage, now);
    controllers.kubernetes.run(storage, now);
    if (authorizer.enabled()) controllers.roles.create_initial(storage, now);
  }

  /// A request that may call webhooks, also to convert, has uids and a time of its own, which it keeps when
  /// it is handled again.
  Answer handle(const http::Request& request, const Turn& turn) {
    const bool begun = turn.webhooks.seed != 0;
    const bool admits = request.method != http::Method::get && has_webhooks(storage);
    if (!begun && !admits && !storage.registry.has_hooks()) return route(*this, request, turn);
    WebhookProgress progress = turn.webhooks;
    if (!begun) {
      progress.seed = storage.identity.fork();
      progress.began = turn.now;
      progress.conversions = std::make_shared<KnownConversions>(progress.seed);
    }
    const Identity shared = std::exchange(storage.identity, Identity(progress.seed));
    Answer answer;
    try {
      answer = route(*this, request, {progress.began, turn.caller, turn.lag, progress});
    } catch (WebhookNeeded& needed) {
      if (const auto late = overdue(request, progress, turn.now, storage.store.version())) {
        answer.response = status_response(*late);
      } else {
        answer.call = std::move(needed.call);
        answer.progress = std::move(progress);
      }
    }
    storage.identity = shared;
    return answer;
  }

  Controllers controllers = {};
  WallTime now = {};
  bool started = false;
};

ApiServerCore::ApiServerCore(ApiServerCoreOptions options)
    : state_(std::make_unique<State>(std::move(options))) {}
ApiServerCore::ApiServerCore(const World& world) : state_(std::make_unique<State>(*world.state_)) {}
ApiServerCore::~ApiServerCore() = default;

World ApiServerCore::snapshot(WallTime now) {
  state_->set_time(now);
  return World(std::make_shared<const World::State>(
      World::State{state_->freeze(), state_->controllers.freeze(), state_->now, state_->started}));
}

std::uint64_t World::resource_version() const {
  return state_->server.storage.store.version;
}

Authorization World::authorization() const {
  return state_->server.options.authorization;
}

WallTime World::time() const {
  return state_->time;
}

Answer ApiServerCore::handle(const http::Request& request, WallTime now, const Caller& caller,
                             const CacheLag& lag, const WebhookProgress& progress) {
  state_->set_time(now);
  if (!std::exchange(state_->started, true)) state_->create_initial();
  Answer answer = state_->handle(request, {now, caller, lag, progress});
  state_->controllers.crds.settle(state_->storage, state_->watches, now);
  state_->storage.store.shrink();
  return answer;
}

void ApiServerCore::accept_tokens(std::vector<TokenUser> tokens) {
  state_->authenticator.accept(std::move(tokens));
}

std::optional<Caller> ApiServerCore::token_user(std::string_view token, WallTime now) {
  return state_->authenticator.check(state_->storage, token, {}, now).caller;
}

Caller service_account_caller(std::string_view namespace_, std::string_view name) {
  const std::string space(namespace_);
  return {.user = "system:serviceaccount:" + space + ":" + std::string(name),
          .groups = {"system:serviceaccounts", "system:serviceaccounts:" + space, "system:authenticated"}};
}

WatchOutput ApiServerCore::read_watch(WatchId id) {
  return state_->watches.read(id, state_->now);
}

std::vector<WatchId> ApiServerCore::ready_watches() {
  return state_->watches.take_ready();
}

std::vector<WatchWebhookCall> ApiServerCore::take_webhook_calls() {
  return state_->watches.take_calls();
}

void ApiServerCore::on_webhook_answer(std::uint64_t id, const WebhookAnswer& answer) {
  state_->watches.on_answer(id, answer);
}

void ApiServerCore::catch_up(WatchId id) {
  state_->watches.catch_up(id);
}

void ApiServerCore::close_watch(WatchId id) {
  state_->watches.close(id);
}

void ApiServerCore::on_timeout(WallTime now) {
  state_->set_time(now);
  state_->controllers.run(state_->storage, state_->watches, now);
  state_->storage.store.shrink();
  state_->watches.on_timeout(now, state_->storage.store.version());
}

std::optional<WallTime> ApiServerCore::next_due() const {
  if (state_->controllers.has_work()) return WallTime{};
  return state_->watches.next_due();
}

std::uint64_t ApiServerCore::resource_version() const {
  return state_->storage.store.version();
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
