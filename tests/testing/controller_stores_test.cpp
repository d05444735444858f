// SPDX-License-Identifier: Apache-2.0
// Each backing store in a controller: the order in which one worker gets four objects of the first list and
// one or more that are created while the first run is in progress.
#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/base/stop.hpp>
#include <evenkeel/evenkeel.hpp>
#include <evenkeel/testing/harness.hpp>

namespace evenkeel::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

ConfigMap config(const std::string& namespace_, const std::string& name) {
  return {.metadata = {.name = name, .namespace_ = namespace_}};
}

using MakeStore = std::function<AnyStore<RequestKey>()>;

class ControllerStores : public ::testing::Test {
 protected:
  void SetUp() override {
    harness.create({Namespace{.metadata = {.name = "big"}}, Namespace{.metadata = {.name = "small"}}});
    for (const char* name : {"a", "b", "c"}) harness.create({config("big", name)});
    harness.create({config("small", "x")});
  }

  std::vector<std::string> order_with(MakeStore store) {
    const auto reconcile = [this](Context& context, const ConfigMap&) {
      if (context.key().namespace_ == "big" || context.key().namespace_ == "small")
        order.push_back(context.key().str());
      sleep_until(context.clock(), context.clock().now() + 10ms, context.stop());
    };
    harness.add(controller_for<ConfigMap>(reconcile).with({.store = std::move(store)}));
    harness.after(5ms, [this] {
      for (const char* name : live) harness.create({config("big", name)});
    });
    harness.settle();
    return order;
  }

  Harness harness;
  std::vector<const char*> live = {"d"};  // created during the first run
  std::vector<std::string> order;
};

TEST_F(ControllerStores, PrioritiesPutLiveChangesBeforeTheFirstList) {
  EXPECT_THAT(order_with({}), ElementsAre("big/a", "big/d", "big/b", "big/c", "small/x")) << "the default";
}

TEST_F(ControllerStores, PrioritiesByName) {
  EXPECT_THAT(order_with([] { return PriorityStore(); }),
              ElementsAre("big/a", "big/d", "big/b", "big/c", "small/x"));
}

TEST_F(ControllerStores, FirstInFirstOut) {
  EXPECT_THAT(order_with([] { return FifoStore(); }),
              ElementsAre("big/a", "big/b", "big/c", "small/x", "big/d"));
}

TEST_F(ControllerStores, TwoLanesGiveTheSlowOneItsShare) {
  live = {"d", "e", "f"};
  EXPECT_THAT(order_with([] { return TwoLaneStore({.slow_share = 2}); }),
              ElementsAre("big/a", "big/d", "big/b", "big/e", "big/c", "big/f", "small/x"));
}

TEST_F(ControllerStores, TwoLanesPutLiveChangesBeforeTheFirstList) {
  live = {"d", "e", "f"};
  EXPECT_THAT(order_with([] { return TwoLaneStore(); }),
              ElementsAre("big/a", "big/d", "big/e", "big/f", "big/b", "big/c", "small/x"));
}

TEST_F(ControllerStores, APolicyChoosesTheLane) {
  const auto small_first = [](const RequestKey& key) {
    return key.namespace_() == "small" ? Lane::fast : Lane::slow;
  };
  EXPECT_THAT(order_with([&] { return PolicyLaneStore<RequestKey, decltype(small_first)>(small_first); }),
              ElementsAre("small/x", "big/a", "big/b", "big/c", "big/d"));
}

TEST_F(ControllerStores, NamespacesTakeTurns) {
  // Within the first list. A live change goes before what waits since the first list, in every namespace.
  EXPECT_THAT(order_with([] { return FairStore<RequestKey>(); }),
              ElementsAre("big/a", "big/d", "small/x", "big/b", "big/c"));
}

// Hands out the last name first.
class LastNameFirst {
 public:
  using Node = QueueNode<RequestKey>;
  void push(Node& node) { nodes_.emplace(node.key().str(), &node); }
  Node& pop() {
    const auto last = std::prev(nodes_.end());
    Node& node = *last->second;
    nodes_.erase(last);
    return node;
  }
  std::size_t size() const { return nodes_.size(); }
  void touch(Node& /*node*/, std::uint64_t /*place*/) {}

 private:
  std::map<std::string, Node*> nodes_;
};

TEST_F(ControllerStores, OneOfTheProgram) {
  EXPECT_THAT(order_with([] { return LastNameFirst(); }),
              ElementsAre("small/x", "big/d", "big/c", "big/b", "big/a"));
}

// One object whose run takes long and that changes meanwhile, and three that are created after that.
std::vector<std::string> order_of_readd(Readd readd) {
  Harness harness;
  std::vector<std::string> order;
  const auto reconcile = [&](Context& context, const ConfigMap& config) {
    if (config.metadata.labels.empty()) return;
    order.push_back(context.key().name);
    sleep_until(context.clock(), context.clock().now() + 10ms, context.stop());
  };
  const auto labelled = [](const char* name, const char* value) {
    ConfigMap made = config("default", name);
    made.metadata.labels = {{"round", value}};
    return made;
  };
  harness.create({labelled("a", "1")});
  harness.add(
      controller_for<ConfigMap>(reconcile).with({.store = [] { return FifoStore(); }, .readd = readd}));
  harness.after(2ms, [&] {
    harness.edit<ConfigMap>({"default", "a"}, [](ConfigMap& a) { a.metadata.labels["round"] = "2"; });
  });
  harness.after(5ms, [&] { harness.create({labelled("b", "1"), labelled("c", "1"), labelled("d", "1")}); });
  harness.settle();
  return order;
}

TEST(ControllerReadd, KeepsThePlaceByDefault) {
  EXPECT_THAT(order_of_readd(ControllerOptions().readd), ElementsAre("a", "a", "b", "c", "d"));
}

TEST(ControllerReadd, PutsTheKeyAtTheBackIfChosen) {
  EXPECT_THAT(order_of_readd(Readd::at_back), ElementsAre("a", "b", "c", "d", "a"));
}

// One worker checks a hundred objects, which were created live, for 10 ms each at every full hour; another
// one is created during the first check. Returns how long that waits for its first run.
Duration wait_of_a_new_object(std::optional<Priority> requeue_priority) {
  Harness harness;
  const auto reconcile = [&](Context& context, const ConfigMap&) -> Result {
    if (context.key().namespace_ != "default") return done();
    if (context.key().name != "new")
      sleep_until(context.clock(), context.clock().now() + 10ms, context.stop());
    return requeue_after(1h - harness.elapsed() % 1h);
  };
  harness.add(controller_for<ConfigMap>(reconcile).with({.requeue_priority = requeue_priority}));
  harness.settle(0s);
  for (int i = 0; i < 100; ++i) harness.create({config("default", "checked-" + std::to_string(i))});
  harness.after(1h + 5ms, [&] { harness.create({config("default", "new")}); });
  harness.run_for(1h + 5s);
  for (const ReconcileRun& run : harness.runs())
    if (run.key.name == "new") return run.at - (1h + 5ms);
  return Duration::max();
}

TEST(ControllerPeriodicWork, LetsANewObjectWait) {
  EXPECT_EQ(wait_of_a_new_object({}), 995ms) << "behind all the others";
  EXPECT_EQ(wait_of_a_new_object(Lane::slow), 5ms) << "behind the check that runs";
}

}  // namespace
}  // namespace evenkeel::testing
