// SPDX-License-Identifier: Apache-2.0
// No callback is called under a lock of the library: during each callback, another thread calls all public
// functions to completion. A lock would block that without end, on any machine.
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/base/metrics.hpp>
#include <evenkeel/controller/explanation.hpp>
#include <evenkeel/controller/observer.hpp>
#include <evenkeel/election/elector.hpp>
#include <evenkeel/manager/manager.hpp>
#include <evenkeel/metrics/registry.hpp>
#include <evenkeel/metrics/text.hpp>
#include <evenkeel/serve/server.hpp>

#include "world.hpp"

namespace evenkeel {
namespace {

using namespace std::chrono_literals;

class CallbacksConcurrency : public ::testing::Test {
 protected:
  CallbacksConcurrency() { world_.install_crd(); }

  /// For the callback under test: calls all accessors, once, on another thread, and waits for it.
  void look() {
    if (!armed_ || looking_.exchange(true)) return;
    std::thread([this] { look_at_everything(); }).join();
    looked_ = true;
    world_.happenings->note();
  }

  void make(const std::function<void(ManagerOptions&)>& change = {}) {
    ManagerOptions options = world_.options();
    if (change) change(options);
    manager_ = std::make_unique<Manager>(world_.client(), std::move(options));
  }
  void add(ControllerSpec spec) { controller_ = &manager_->add(std::move(spec)); }
  static ControllerBuilder<Gadget> plain() {
    return controller_for<Gadget>([](Context&, const Gadget&) {});
  }
  /// Runs the manager, calls `cause`, and waits until the callback has run.
  void run(const std::function<void()>& cause = {}) {
    Running running(*manager_);
    world_.wait_for_line("workers started");
    armed_ = true;
    if (cause) cause();
    world_.wait_until([this] { return looked_.load(); });
    EXPECT_NO_THROW(running.stop());
  }
  void create_secret(const std::string& name) {
    world_.call(http::Method::post, "/api/v1/namespaces/default/secrets",
                R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":")" + name + R"("}})");
  }
  void create_gadget() { world_.create_gadget("web"); }

  World world_;
  std::unique_ptr<Manager> manager_;
  std::atomic<Controller*> controller_ = nullptr;
  std::atomic<bool> armed_ = false;
  std::atomic<bool> looked_ = false;

 private:
  void look_at_everything() {
    const ObjectKey other{"default", "other"};
    manager_->watch_health();
    manager_->answer_probe("/healthz?verbose");
    manager_->answer_probe("/readyz?verbose");
    const http::Request request;
    const http::Target target;
    for (const char* rest : {"", "gadget", "gadget/default/web"})
      manager_->answer_explain({.request = request, .target = target, .rest = rest});
    PrometheusText text;
    manager_->collect(text);
    manager_->totals();
    manager_->crds();
    manager_->is_leader();
    manager_->log().debug("somebody looks");
    Cache& cache = manager_->cache();
    cache.health();
    cache.live_reads();
    Informer& gadgets = cache.informer<Gadget>();
    if (gadgets.synced()) {
      cache.find<Gadget>(other);
      cache.list<Gadget>();
      cache.owned_by<Gadget>("a uid");
    }
    gadgets.health();
    gadgets.remove_handler(gadgets.add_handler(std::make_shared<Deaf>(), {.delivery = Delivery::direct}));
    if (Controller* const controller = controller_) look_at(*controller, other);
  }
  static void look_at(Controller& controller, const ObjectKey& key) {
    controller.explain(key);
    controller.summary();
    controller.problem();
    controller.look_for_stuck();
    controller.watch_health();
    controller.counts();
    controller.latency();
    controller.objects();
    controller.queue_size();
    controller.is_synced();
    controller.next_due();
    controller.enqueue(key);
    controller.unwatch(controller.watch(watch_object<ConfigMap>({.form = WireForm::metadata_only})));
  }
  struct Deaf final : EventHandler {
    void on_event(const ObjectEvent&) noexcept override {}
  };

  std::atomic<bool> looking_ = false;
};

TEST_F(CallbacksConcurrency, AReconciler) {
  make();
  add(controller_for<Gadget>([this](Context&, const Gadget&) { look(); }));
  run([this] { create_gadget(); });
}

TEST_F(CallbacksConcurrency, APredicateOfTheOwnKind) {
  make();
  add(controller_for<Gadget>([](Context&, const Gadget&) {}, {.when = Predicate([this](const ObjectEvent&) {
                                                                look();
                                                                return true;
                                                              })}));
  run([this] { create_gadget(); });
}

TEST_F(CallbacksConcurrency, APredicate) {
  make();
  add(plain().watches<Secret>([](const Secret& secret) { return key_of(secret); },
                              {.when = Predicate([this](const ObjectEvent&) {
                                 look();
                                 return false;
                               })}));
  run([this] { create_secret("web"); });
}

TEST_F(CallbacksConcurrency, AMapping) {
  make();
  add(plain().watches<Secret>([this](const Secret& secret) {
    look();
    return key_of(secret);
  }));
  run([this] { create_secret("web"); });
}

TEST_F(CallbacksConcurrency, AMappingThatLooksThingsUp) {
  make();
  add(plain().watches<Secret>([this](const Secret& secret, const Cache& cache) {
    cache.list<Gadget>();
    look();
    return key_of(secret);
  }));
  run([this] { create_secret("web"); });
}

TEST_F(CallbacksConcurrency, AMappingThatIsAskedAgain) {
  make();
  std::atomic<int> calls = 0;
  add(plain().watches<Secret>([&](const Secret& secret) {
    if (++calls == 1) throw std::runtime_error("no idea");
    look();
    return key_of(secret);
  }));
  run([this] { create_secret("web"); });
  EXPECT_EQ(calls, 2);
}

TEST_F(CallbacksConcurrency, AMappingOfAChannel) {
  make();
  EventChannel<Secret> channel;
  add(plain().source(channel, [this](const Secret& secret) {
    look();
    return key_of(secret);
  }));
  run([&] { channel.push(Secret{.metadata = {.name = "web", .namespace_ = "default"}}); });
}

struct Handler final : EventHandler {
  explicit Handler(std::function<void()> on) : on_(std::move(on)) {}
  void on_event(const ObjectEvent&) noexcept override { on_(); }
  std::function<void()> on_;
};

TEST_F(CallbacksConcurrency, AnInformerHandler) {
  make();
  add(plain());
  manager_->cache().informer<Secret>().add_handler(std::make_shared<Handler>([this] { look(); }),
                                                   {.delivery = Delivery::direct});
  run([this] { create_secret("web"); });
}

TEST_F(CallbacksConcurrency, AnInformerHandlerOnItsOwnThread) {
  make();
  add(plain());
  manager_->cache().informer<Secret>().add_handler(std::make_shared<Handler>([this] { look(); }));
  run([this] { create_secret("web"); });
}

TEST_F(CallbacksConcurrency, ASource) {
  make();
  add(plain().source("calls", [this](const KeySink& sink, std::stop_token stop) {
    world_.wait_until([&] { return armed_ || stop.stop_requested(); });
    look();
    sink.add({"default", "web"});
  }));
  run([this] { world_.happenings->note(); });
}

TEST_F(CallbacksConcurrency, ATimer) {
  make();
  add(plain().every(1ms, [this](Cache&) {
    look();
    return std::vector<ObjectKey>{{"default", "web"}};
  }));
  run();
}

// Managers have no observers: this controller is created directly.
TEST_F(CallbacksConcurrency, AnObserver) {
  struct Watcher final : ControllerObserver {
    explicit Watcher(std::function<void()> on) : on_(std::move(on)) {}
    void key_added(const KeyAdded&) noexcept override { on_(); }
    void event_refused(std::string_view, const ObjectEvent&) noexcept override { on_(); }
    std::function<void()> on_;
  };
  make();
  KeyTable keys;
  KeyChannel channel;
  manager_->add(plain().named("other"));
  Controller observed(plain().source("calls", channel),
                      {.client = world_.client(),
                       .cache = manager_->cache(),
                       .keys = keys,
                       .observers = {std::make_shared<Watcher>([this] { look(); })}});
  controller_ = &observed;
  observed.attach();
  run([&] { channel.push({"default", "web"}); });
}

TEST_F(CallbacksConcurrency, ACheck) {
  make();
  add(plain());
  for (const bool live : {true, false}) {
    const auto check = [this] {
      look();
      return std::string();
    };
    live ? manager_->add_health_check("own", check) : manager_->add_readiness_check("own", check);
  }
  run([this] { manager_->answer_probe("/healthz"); });
}

TEST_F(CallbacksConcurrency, ALogSink) {
  class Sink final : public LogSink {
   public:
    Sink(std::shared_ptr<Happenings> lines, std::function<void()> on)
        : lines_(std::move(lines)), on_(std::move(on)) {}
    bool enabled(LogLevel) const noexcept override { return true; }
    void write(LogLevel level, std::string_view message, LogFields bound,
               LogFields fields) noexcept override {
      lines_->write(level, message, bound, fields);
      on_();
    }

   private:
    const std::shared_ptr<Happenings> lines_;
    const std::function<void()> on_;
  };
  make([this](ManagerOptions& options) {
    options.log = Log(std::make_shared<Sink>(world_.happenings, [this] { look(); }));
  });
  add(controller_for<Gadget>([](Context&, const Gadget&) { throw std::runtime_error("not today"); }));
  run([this] { create_gadget(); });
}

TEST_F(CallbacksConcurrency, AMetric) {
  make();
  add(plain());
  manager_->metrics().add("own", [this](MetricSink&) { look(); });
  run([this] {
    PrometheusText text;
    manager_->collect(text);
  });
}

TEST_F(CallbacksConcurrency, ACompletion) {
  make();
  add(plain());
  const Client client = world_.client();
  run([&] { client.start(calls::find<Gadget>({"default", "web"}), [this](const auto&) { look(); }); });
}

TEST_F(CallbacksConcurrency, ATask) {
  make();
  add(plain());
  manager_->add_task("own", [this](std::stop_token stop) {
    world_.wait_until([&] { return armed_ || stop.stop_requested(); });
    look();
  });
  run([this] { world_.happenings->note(); });
}

TEST_F(CallbacksConcurrency, AWriteGuard) {
  struct Guard final : WriteGuard {
    explicit Guard(std::function<void()> on) : on_(std::move(on)) {}
    void check() const override { on_(); }
    std::function<void()> on_;
  };
  make();
  add(plain());
  const Client client = world_.client().with({.write_guard = std::make_shared<Guard>([this] { look(); })});
  run([&] { client.create(ConfigMap{.metadata = {.name = "web", .namespace_ = "default"}}); });
}

TEST_F(CallbacksConcurrency, TheHooksOfAManager) {
  std::atomic<int> threads = 0;
  make([&](ManagerOptions& options) {
    options.adjust_controller = [this](ControllerOptions&) { look(); };
    options.on_thread_start = [&](std::string_view) { ++threads; };
  });
  armed_ = true;
  add(plain());
  EXPECT_TRUE(looked_);
}

TEST_F(CallbacksConcurrency, TheStartOfAThread) {
  make([this](ManagerOptions& options) { options.on_thread_start = [this](std::string_view) { look(); }; });
  add(plain());
  armed_ = true;
  Running running(*manager_);
  world_.wait_until([this] { return looked_.load(); });
  EXPECT_NO_THROW(running.stop());
}

TEST_F(CallbacksConcurrency, AnElection) {
  make([this](ManagerOptions& options) {
    options.election = ElectionOptions{.name = "op", .namespace_ = "default", .identity = "a"};
    options.election->on_new_holder = [this](const std::string&) { look(); };
    options.election_client = world_.client();
  });
  add(plain());
  armed_ = true;
  run();
}

TEST_F(CallbacksConcurrency, ADefinition) {
  make();
  ControllerSpec spec = plain();
  spec.crd = [this] {
    look();
    return crd_for<Gadget>();
  };
  add(std::move(spec));
  armed_ = true;
  EXPECT_EQ(manager_->crds().size(), 1u);
  EXPECT_TRUE(looked_);
}

}  // namespace
}  // namespace evenkeel
