// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>
#include <utility>

#include <evenkeel/testing/api_server_core.hpp>

#include "testing/router.hpp"
#include "testing/server.hpp"

namespace evenkeel::inline v0::testing {
namespace {

ApiServerCoreOptions checked(ApiServerCoreOptions options) {
  if (options.history == 0) throw std::invalid_argument("ApiServerCore: need history > 0");
  if (options.bookmark_interval <= Duration::zero() || options.default_watch_timeout <= Duration::zero())
    throw std::invalid_argument("ApiServerCore: need bookmark_interval > 0 and default_watch_timeout > 0");
  return options;
}

}  // namespace

struct ApiServerCore::State : Server {
  explicit State(ApiServerCoreOptions options_) : Server(checked(std::move(options_))) {
    store.listen([this](const ChangePtr& change) {
      collector.observe(change);
      namespaces.observe(change);
      kubernetes.observe(change);
      crds.observe(change);
      watches.publish(change);
    });
  }

  bool has_work() const {
    return collector.has_work() || namespaces.has_work() || kubernetes.has_work() || crds.has_work();
  }

  /// The objects that every cluster has.
  void create_initial(WallTime at) {
    NamespaceController::create_initial(*this, at);
    kubernetes.run(*this, at);
  }

  /// What one controller does may be work for another.
  void work(WallTime at) {
    while (has_work()) {
      collector.run(*this, at);
      namespaces.run(*this, at);
      if (kubernetes.has_work()) kubernetes.run(*this, at);
      crds.run(*this, at);
      crds.settle(*this, at);
    }
    store.shrink();
  }

  WallTime now = {};
  bool started = false;
};

ApiServerCore::ApiServerCore(ApiServerCoreOptions options)
    : state_(std::make_unique<State>(std::move(options))) {}
ApiServerCore::~ApiServerCore() = default;

Answer ApiServerCore::handle(const http::Request& request, WallTime now, const Caller& caller,
                             const CacheLag& lag) {
  state_->now = now;
  state_->store.set_time(now);
  if (!std::exchange(state_->started, true)) state_->create_initial(now);
  Answer answer = route(*state_, request, now, caller, lag);
  state_->crds.settle(*state_, now);
  state_->store.shrink();
  return answer;
}

WatchOutput ApiServerCore::read_watch(WatchId id) {
  return state_->watches.read(id, state_->now);
}

std::vector<WatchId> ApiServerCore::ready_watches() {
  return state_->watches.take_ready();
}

void ApiServerCore::catch_up(WatchId id) {
  state_->watches.catch_up(id);
}

void ApiServerCore::close_watch(WatchId id) {
  state_->watches.close(id);
}

void ApiServerCore::tick(WallTime now) {
  state_->now = now;
  state_->store.set_time(now);
  state_->work(now);
  state_->watches.tick(now, state_->store.version());
}

std::optional<WallTime> ApiServerCore::next_tick() const {
  if (state_->has_work()) return WallTime{};
  return state_->watches.next_tick();
}

std::uint64_t ApiServerCore::resource_version() const {
  return state_->store.version();
}

}  // namespace evenkeel::inline v0::testing
