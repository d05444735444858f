// SPDX-License-Identifier: Apache-2.0
#include <future>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <evenkeel/apiserver/shared_core.hpp>

#include "apiserver/shell/core_host.hpp"
#include "apiserver/shell/manifest.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {
namespace {

class CoreBackend final : public detail::Backend {
 public:
  explicit CoreBackend(ApiServerCoreOptions options) : core_(std::move(options)) {}
  explicit CoreBackend(const World& world) : core_(world) {}

  Answer handle(const http::Request& request, WallTime now, const Caller& caller,
                const CacheLag& lag) override {
    return core_.handle(request, now, caller, lag);
  }
  Answer handle_again(const http::Request& request, WallTime now, const Caller& caller, const CacheLag& lag,
                      const WebhookProgress& progress) override {
    return core_.handle(request, now, caller, lag, progress);
  }
  WatchOutput read_watch(WatchId id) override { return core_.read_watch(id); }
  std::vector<WatchId> ready_watches() override { return core_.ready_watches(); }
  void catch_up(WatchId id) override { core_.catch_up(id); }
  void close_watch(WatchId id) override { core_.close_watch(id); }
  void on_timeout(WallTime now) override { core_.on_timeout(now); }
  std::optional<WallTime> next_due() const override { return core_.next_due(); }

  std::vector<WatchWebhookCall> take_webhook_calls() override { return core_.take_webhook_calls(); }
  void on_webhook_answer(std::uint64_t id, const WebhookAnswer& answer) override {
    core_.on_webhook_answer(id, answer);
  }

  std::optional<Caller> token_user(std::string_view token, WallTime now) override {
    return core_.token_user(token, now);
  }

  ApiServerCore& core() { return core_; }

 private:
  ApiServerCore core_;
};

}  // namespace

SharedCore::SharedCore(SharedCoreOptions options) {
  auto backend = options.world ? std::make_unique<CoreBackend>(*options.world)
                               : std::make_unique<CoreBackend>(options.core);
  backend->core().accept_tokens(options.tokens);
  host_ = std::make_shared<detail::CoreHost>(std::move(backend), std::move(options));
}

SharedCore::~SharedCore() = default;

http::Response SharedCore::handle(const http::Request& request) {
  Answer answer;
  for (;;) {
    host_->with([&](detail::Backend& backend) {
      answer = backend.handle_again(request, host_->clock().wall_now(), {}, {}, answer.progress);
      if (answer.watch) backend.close_watch(*answer.watch);
    });
    if (!answer.call) return std::move(answer.response);
    // The caller waits; the lock is free. The promise is shared: set_value() may last longer than the wait.
    const auto promise = std::make_shared<std::promise<WebhookAnswer>>();
    host_->webhooks()->call(*answer.call,
                            [promise](WebhookAnswer found) { promise->set_value(std::move(found)); });
    WebhookAnswer found = promise->get_future().get();
    answer.progress.add(*answer.call, std::move(found));
  }
}

void SharedCore::install(std::string_view manifest) {
  const Asks ask = [this](const http::Request& request) { return handle(request); };
  ObjectCreator creator(ask);
  // Each text is freed once the core has its own.
  std::vector<ManifestObject> objects = read_manifest(manifest);
  for (ManifestObject& object : objects) creator.create(std::exchange(object, {}));
}

FaultId SharedCore::inject(FaultRule rule) {
  return host_->inject(std::move(rule));
}
void SharedCore::remove_fault(FaultId id) {
  host_->remove_fault(id);
}
void SharedCore::clear_faults() {
  host_->clear_faults();
}
FaultCounts SharedCore::fault_counts(FaultId id) const {
  return host_->fault_counts(id);
}
std::size_t SharedCore::cut_watches() {
  return host_->cut_watches();
}

World SharedCore::snapshot() {
  std::optional<World> world;
  with([&](ApiServerCore& core) { world = core.snapshot(host_->clock().wall_now()); });
  return *std::move(world);
}

void SharedCore::with(const std::function<void(ApiServerCore&)>& action) {
  // The backend was created here, so its type is known.
  host_->with([&](detail::Backend& backend) { action(static_cast<CoreBackend&>(backend).core()); });
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
