// SPDX-License-Identifier: Apache-2.0
// One slow, failing, huge, panicking or stuck item does not delay others. Progress is shown by virtual time
// or by order, never by measured durations.
//
// kube-rs blocks as a whole in these cases: all its triggers are one stream with one back-off.
#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/base/stop.hpp>
#include <evenkeel/manager/manager.hpp>
#include <evenkeel/testing/harness.hpp>

#include "../support/await.hpp"
#include "world.hpp"

namespace evenkeel {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;

ConfigMap config_map(const std::string& namespace_, const std::string& name) {
  return {.metadata = {.name = name, .namespace_ = namespace_}};
}

// ---- In virtual time

struct Failure {
  const char* name;
  std::function<Result()> fail;
};

class OneKeyThatFails : public ::testing::TestWithParam<Failure> {};

// One worker, one key that always fails. Another object changes each second for ten minutes, and each change
// is reconciled at the moment of its arrival.
TEST_P(OneKeyThatFails, TheOthersAreReconciledTheMomentTheyChange) {
  testing::Harness harness({.expect_failures = true, .max_runs = 5000});
  harness.add(controller_for<ConfigMap>([](Context& context, const ConfigMap&) -> Result {
    if (context.key().name == "bad") return GetParam().fail();
    return done();
  }));
  harness.client().create(config_map("default", "bad"));
  harness.client().create(config_map("default", "good"));
  harness.settle(1ms);
  constexpr int changes = 600;
  std::vector<Duration> changed_at;
  for (int i = 0; i < changes; ++i) {
    harness.run_for(1s);
    changed_at.push_back(harness.elapsed());
    harness.edit<ConfigMap>({"default", "good"},
                            [i](ConfigMap& map) { map.data["change"] = std::to_string(i); });
  }
  harness.run_for(1s);
  std::vector<Duration> good;
  std::size_t bad = 0;
  for (const testing::ReconcileRun& run : harness.runs()) {
    if (run.key.name == "bad") {
      ++bad;
    } else {
      good.push_back(run.at);
    }
  }
  good.erase(good.begin());  // that of its creation
  EXPECT_EQ(good, changed_at);
  // 5 ms, doubled each time: 17 delays fit into ten minutes.
  EXPECT_GE(bad, 16U);
  EXPECT_LE(bad, 19U);
}

INSTANTIATE_TEST_SUITE_P(
    HeadOfLine, OneKeyThatFails,
    ::testing::Values(Failure{"AnError", []() -> Result { throw std::runtime_error("never"); }},
                      Failure{"APanic", []() -> Result { throw std::logic_error("bug"); }},
                      Failure{"NoStdException", []() -> Result { throw 42; }}),
    [](const auto& one) { return std::string(one.param.name); });

// The first list of a whole namespace waits in the queue. A later change by a user runs first.
TEST(HugeNamespace, ItsFirstListWaitsBehindLiveChanges) {
  testing::Harness harness({.max_runs = 5000});
  constexpr int objects = 2000;
  harness.client().create(Namespace{.metadata = {.name = "huge"}});
  for (int i = 0; i < objects; ++i) harness.client().create(config_map("huge", "m" + std::to_string(i)));
  harness.client().create(config_map("default", "wanted"));
  harness.add(controller_for<ConfigMap>([](Context&, const ConfigMap&) {}));
  ASSERT_TRUE(harness.step());
  const std::size_t before = harness.runs().size();
  harness.edit<ConfigMap>({"default", "wanted"}, [](ConfigMap& map) { map.data["now"] = "yes"; });
  ASSERT_TRUE(harness.step());
  ASSERT_TRUE(harness.step());
  EXPECT_TRUE(harness.runs()[before].key.name == "wanted" || harness.runs()[before + 1].key.name == "wanted")
      << harness.str();
  ASSERT_TRUE(harness.settle());
  EXPECT_GE(harness.runs().size(), static_cast<std::size_t>(objects) + 1) << "and all of it is reconciled";
}

// Live changes of thousands of objects in one namespace, and one in another: with the fair store the two
// namespaces take turns.
TEST(HugeNamespace, ItsStormOfChangesTakesTurnsWithOtherNamespaces) {
  testing::Harness harness({.max_runs = 5000});
  constexpr int objects = 2000;
  harness.client().create(Namespace{.metadata = {.name = "huge"}});
  ControllerOptions fair;
  fair.store = [] { return AnyStore<RequestKey>(FairStore<RequestKey, ByNamespace>()); };
  harness.add(controller_for<ConfigMap>([](Context&, const ConfigMap&) {}).with(fair));
  harness.settle(1ms);
  for (int i = 0; i < objects; ++i) harness.client().create(config_map("huge", "m" + std::to_string(i)));
  harness.client().create(config_map("default", "wanted"));
  ASSERT_TRUE(harness.settle());
  std::size_t place = 0;
  while (place < harness.runs().size() && harness.runs()[place].key.name != "wanted") ++place;
  EXPECT_LE(place, 1U) << "it waits for one key of the other namespace";
  EXPECT_EQ(harness.runs().size(), static_cast<std::size_t>(objects) + 1);
}

// ---- With threads: while one item is blocked, others make progress

class HeadOfLineConcurrency : public ::testing::Test {
 protected:
  HeadOfLineConcurrency() { world_.install_crd(); }
  void make_map(const std::string& name) {
    world_.call(http::Method::post, world_.config_maps,
                R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":")" + name + R"("}})");
  }
  void hold() {
    ++held_;
    world_.happenings->note();
    world_.wait_until([&] { return released_.load(); });
  }
  void release() {
    released_ = true;
    world_.happenings->note();
  }
  auto count() {
    return [this](Context&, const ConfigMap&) {
      ++maps_;
      world_.happenings->note();
    };
  }
  /// Sequentially: each is reconciled before the next is created.
  void expect_maps_go_on() {
    for (int i = 0; i < 20; ++i) {
      const int before = maps_;
      make_map("map-" + std::to_string(++made_));
      world_.wait_until([&] { return maps_ > before; });
    }
    EXPECT_FALSE(released_);
  }

  World world_;
  std::atomic<bool> released_ = false;
  std::atomic<int> held_ = 0;
  std::atomic<int> maps_ = 0;
  int made_ = 0;
};

TEST_F(HeadOfLineConcurrency, AReconcileThatNeverEndsHoldsOneWorkerAndNothingElse) {
  ManagerOptions options = world_.options();
  options.lifecycle.grace_period = 0s;
  Manager manager(world_.client(), options);
  std::atomic<int> others = 0;
  manager.add(controller_for<Gadget>([&](Context& context, const Gadget& gadget) {
                if (gadget.metadata.name == "stuck") {
                  ++held_;
                  world_.happenings->note();
                  sleep_until(context.clock(), TimePoint::max(), context.stop());
                  return;
                }
                ++others;
                world_.happenings->note();
              }).with({.workers = 2}));
  manager.add(controller_for<ConfigMap>(count()));
  Running running(manager);
  world_.create_gadget("stuck");
  world_.wait_until([&] { return held_ == 1; });
  for (int i = 0; i < 20; ++i) {
    world_.create_gadget("free-" + std::to_string(i));
    world_.wait_until([&] { return others > i; });
  }
  expect_maps_go_on();
  // It observes its stop token, so it ends, and is reported by name.
  try {
    running.stop();
    FAIL() << "nothing was thrown";
  } catch (const GracePeriodExceeded& error) {
    EXPECT_THAT(error.what(), HasSubstr("gadget"));
    EXPECT_THAT(error.stuck(), ::testing::IsEmpty());
  }
}

// All workers of one controller are blocked: the watches and the other controllers are not.
TEST_F(HeadOfLineConcurrency, AControllerWhoseWorkersAreAllHeldHoldsNoOther) {
  Manager manager(world_.client(), world_.options());
  manager.add(controller_for<Gadget>([&](Context&, const Gadget&) { hold(); }).with({.workers = 2}));
  manager.add(controller_for<ConfigMap>(count()));
  Running running(manager);
  for (int i = 0; i < 5; ++i) world_.create_gadget("web-" + std::to_string(i));
  world_.wait_until([&] { return held_ == 2; });
  expect_maps_go_on();
  EXPECT_EQ(held_, 2);
  // The cache receives the pending objects.
  tests::await("the last gadget in the cache",
               [&] { return manager.cache().informer<Gadget>().size() == 5; });
  release();
  world_.wait_until([&] { return held_ == 5; });
  EXPECT_NO_THROW(running.stop());
}

// Mappings of the program run on their own threads: a slow one delays only its own watch.
TEST_F(HeadOfLineConcurrency, AMappingThatTakesItsTimeHoldsNoOtherWatch) {
  Manager manager(world_.client(), world_.options());
  std::atomic<int> gadgets = 0;
  manager.add(controller_for<Gadget>([&](Context&, const Gadget&) {
                ++gadgets;
                world_.happenings->note();
              }).watches<Secret>([this](const Secret& secret) {
    hold();
    return ObjectKey{"default", secret.metadata.name};
  }));
  manager.add(controller_for<ConfigMap>(count()));
  Running running(manager);
  world_.wait_until([&] { return world_.happenings->lines_with("workers started").size() == 2; });
  for (const std::string name : {"one", "two"}) {
    world_.call(http::Method::post, "/api/v1/namespaces/default/secrets",
                R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":")" + name + R"("}})");
  }
  world_.wait_until([&] { return held_ == 1; });
  expect_maps_go_on();
  for (int i = 0; i < 20; ++i) {
    world_.create_gadget("web-" + std::to_string(i));
    world_.wait_until([&] { return gadgets > i; });
  }
  tests::await("the second secret in the cache",
               [&] { return manager.cache().informer<Secret>().size() == 2; });
  // Probes and other accessors of the watches are not blocked.
  EXPECT_EQ(manager.watch_health().size(), 3u);
  EXPECT_EQ(manager.answer_probe("/healthz").status, 200);
  EXPECT_EQ(manager.answer_probe("/readyz").status, 200);
  EXPECT_EQ(held_, 1);
  EXPECT_FALSE(released_);
  release();
  world_.wait_until([&] { return held_ == 2; });
  EXPECT_NO_THROW(running.stop());
}

// If a predicate throws, the event passes, whatever the exception.
TEST_F(HeadOfLineConcurrency, APredicateThatThrowsLosesNoEvent) {
  Manager manager(world_.client(), world_.options());
  manager.add(
      controller_for<ConfigMap>(count(), {.when = Predicate([](const ObjectEvent&) -> bool { throw 42; })}));
  Running running(manager);
  expect_maps_go_on();
  EXPECT_NO_THROW(running.stop());
}

// An event whose mapping throws is logged and mapped again later; other events are not affected.
TEST_F(HeadOfLineConcurrency, AMappingThatThrowsHoldsNoOtherEventAndSaysSo) {
  Manager manager(world_.client(), world_.options());
  manager.add(controller_for<ConfigMap>(count()).watches<Secret>([](const Secret& secret) {
    if (secret.metadata.name == "bad") throw 42;
    return ObjectKey{secret.metadata.namespace_, "from-secret"};
  }));
  Running running(manager);
  world_.wait_for_line("workers started");
  make_map("from-secret");
  world_.wait_until([&] { return maps_ == 1; });
  for (const std::string name : {"bad", "good"}) {
    world_.call(http::Method::post, "/api/v1/namespaces/default/secrets",
                R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":")" + name + R"("}})");
  }
  world_.wait_until([&] { return maps_ == 2; });
  EXPECT_THAT(world_.happenings->lines_with("could not be mapped"),
              AllOf(Not(::testing::IsEmpty()),
                    Each(AllOf(HasSubstr("kind=Secret"), HasSubstr("object=default/bad")))));
  expect_maps_go_on();
  EXPECT_NO_THROW(running.stop());
}

// A secondary kind is removed while a controller runs: changes of the primary kind are still reconciled.
TEST_F(HeadOfLineConcurrency, AWatchThatFailsHoldsNoOtherOfItsController) {
  ManagerOptions options = world_.options();
  options.cache.reflector = {.backoff_base = 1ms, .backoff_max = 5ms};
  Manager manager(world_.client(), options);
  manager.add(controller_for<ConfigMap>(count()).owns<Gadget>());
  Running running(manager);
  world_.wait_for_line("workers started");
  world_.remove("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/gadgets.test.evenkeel.dev");
  world_.wait_until([&] { return manager.watch_health().at(1).problem == WatchProblem::no_such_kind; });
  expect_maps_go_on();
  EXPECT_EQ(manager.watch_health().at(1).problem, WatchProblem::no_such_kind);
  EXPECT_EQ(manager.watch_health().at(0).problem, WatchProblem::none);
  EXPECT_NO_THROW(running.stop());
}

// ---- In the cache, step by step

// Counts its events, and records the count of another handler at its first event.
class Order final : public EventHandler {
 public:
  explicit Order(const int* other = nullptr) : other_(other) {}
  void on_event(const ObjectEvent&) noexcept override {
    if (told++ == 0 && other_ != nullptr) other_at_first = *other_;
  }
  void on_synced() noexcept override {}

  int told = 0;
  int other_at_first = -1;

 private:
  const int* other_;
};

// Thousands of events of one kind are to be stored at once, in chunks as from sockets, followed by one of
// another kind. A kind has its turn for 32 chunks.
TEST(HugeNamespace, ItsEventsAreStoredInTurnWithThoseOfOtherKinds) {
  const auto clock = std::make_shared<ManualClock>();
  const auto core = std::make_shared<apiserver::SharedCore>(apiserver::SharedCoreOptions{.clock = clock});
  const auto transport = std::make_shared<apiserver::InProcessTransport>(
      core, apiserver::InProcessTransportOptions{.pumped = true, .largest_piece = 1024});
  const Client client(Config{.server = "http://in-process"}, {.transport = transport, .clock = clock});
  Cache cache(client, {.threads = 0});
  const auto many = std::make_shared<Order>();
  const auto one = std::make_shared<Order>(&many->told);
  cache.informer<ConfigMap>().add_handler(many);
  cache.informer<Secret>().add_handler(one);
  cache.start();
  while (transport->pump() + cache.pump() > 0) continue;
  ASSERT_TRUE(cache.informer<ConfigMap>().synced());
  ASSERT_TRUE(cache.informer<Secret>().synced());

  const auto create = [&](const std::string& resource, const std::string& kind, const std::string& name) {
    http::Request request{
        .method = http::Method::post,
        .target = "/api/v1/namespaces/default/" + resource,
        .body = R"({"apiVersion":"v1","kind":")" + kind + R"(","metadata":{"name":")" + name + R"("}})"};
    request.headers.set("Content-Type", "application/json");
    ASSERT_EQ(core->handle(request).status, 201);
  };
  constexpr int objects = 3000;
  for (int i = 0; i < objects; ++i) create("configmaps", "ConfigMap", "m" + std::to_string(i));
  create("secrets", "Secret", "wanted");
  transport->pump();
  while (transport->pump() + cache.pump() > 0) continue;
  EXPECT_EQ(many->told, objects);
  EXPECT_EQ(one->told, 1);
  EXPECT_LE(one->other_at_first, objects / 10) << "it had to wait for the whole storm";
}

}  // namespace
}  // namespace evenkeel
