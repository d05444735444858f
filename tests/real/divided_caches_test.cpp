// SPDX-License-Identifier: Apache-2.0
// Managers of a ring by ranges divide their caches, on a real kube-apiserver with the feature gate
// ShardedListAndWatch and on the embedded server, or on any server by a label; otherwise they do not where
// the server lacks it.
#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/api/crd.hpp>
#include <evenkeel/apiserver/api_server.hpp>
#include <evenkeel/evenkeel.hpp>
#include <evenkeel/testing/running_manager.hpp>

#include "../support/await.hpp"
#include "real_environment.hpp"

namespace evenkeel {
namespace real_divided_caches {

struct Ferry {
  static constexpr ResourceInfo resource{.group = "sharding.evenkeel.dev",
                                         .version = "v1",
                                         .kind = "Ferry",
                                         .plural = "ferries",
                                         .installs_crd = true};
  ObjectMeta metadata = {};
};
EVENKEEL_FIELDS(Ferry, metadata)

constexpr std::size_t spaces = 10;

std::string space(std::size_t number) {
  return "quay-" + std::to_string(number);
}

/// A replica, whose reconciler makes a ConfigMap for each Ferry.
class Replica {
 public:
  Replica(const Config& config, const std::string& identity, const std::string& label)
      : manager_(Client(config), options(config, identity, label)) {
    manager_.add(controller_for<Ferry>([this](Context& context, const Ferry& ferry) {
                   // Reads of what is not cached throw.
                   if (context.owned_by<ConfigMap>(ferry).empty())
                     context.apply(ConfigMap{
                         .metadata = {.name = ferry.metadata.name, .namespace_ = ferry.metadata.namespace_},
                         .data = {{"captain", "nobody"}}});
                   ++runs_;
                   return done();
                 }).owns<ConfigMap>());
    running_ = std::make_unique<testing::RunningManager>(manager_);
  }
  void stop() { running_->stop(); }

  std::size_t slots() const { return manager_.shards()->status().owned; }
  std::size_t held(const std::string& plural) const {
    for (const CollectionHealth& one : manager_.cache().health()) {
      if (one.resource.plural == plural) return one.informer.objects;
    }
    return 0;
  }
  std::uint64_t failures() const { return manager_.totals().counts.error; }
  std::uint64_t runs() const { return runs_.load(); }

 private:
  static ManagerOptions options(const Config& config, const std::string& identity, const std::string& label) {
    ManagerOptions options{.name = "ferries"};
    options.shards = ShardOptions{.name = "ferries",
                                  .namespace_ = "default",
                                  .identity = identity,
                                  .slots = 16,
                                  .by = ShardBy::namespace_range,
                                  .label = label};
    options.election_client = Client(config);
    options.cache.live_reads = false;
    return options;
  }

  std::atomic<std::uint64_t> runs_ = 0;
  Manager manager_;
  std::unique_ptr<testing::RunningManager> running_;
};

void create_ferries(const Client& client) {
  for (std::size_t i = 0; i < spaces; ++i) {
    client.create(Namespace{.metadata = {.name = space(i)}});
    client.create(Ferry{.metadata = {.name = "f", .namespace_ = space(i)}});
  }
}

constexpr const char* cell_label = "sharding.evenkeel.dev/cell";

/// Returns true if all Ferries and their ConfigMaps have the label of their cell.
bool are_labelled(const Client& client) {
  const auto is_right = [](const auto& object) {
    const auto found = object->metadata.labels.find(cell_label);
    return found != object->metadata.labels.end() && found->second == cell_of(object->metadata.namespace_);
  };
  for (std::size_t i = 0; i < spaces; ++i) {
    if (!is_right(client.get<Ferry>({space(i), "f"})) || !is_right(client.get<ConfigMap>({space(i), "f"})))
      return false;
  }
  return true;
}

/// Two replicas share the Ferries, then one has all again.
void divide(const Config& config, bool gate, const std::string& label = {}) {
  create_ferries(Client(config));
  Replica first(config, "first", label);
  tests::await("the first replica", [&] { return first.held("ferries") == spaces && first.slots() == 16; });
  Replica second(config, "second", label);
  tests::await("the hand-over", [&] { return first.slots() == 8 && second.slots() == 8; });
  if (gate) {
    tests::await("the division", [&] {
      return second.held("ferries") > 0 && first.held("ferries") + second.held("ferries") == spaces;
    });
    EXPECT_LT(first.held("ferries"), spaces);
  } else {
    tests::await("all objects", [&] { return second.held("ferries") == spaces; });
    EXPECT_EQ(first.held("ferries"), spaces);
  }
  // An event reaches the replica that has its namespace.
  const std::uint64_t before = second.runs() + first.runs();
  const Client client(config);
  for (std::size_t i = 0; i < spaces; ++i)
    client.patch(client.find<Ferry>({space(i), "f"}), [](Ferry& ferry) { ferry.metadata.labels["x"] = "y"; });
  tests::await("runs of the changed objects",
               [&] { return second.runs() + first.runs() >= before + spaces; });
  if (!label.empty()) {
    tests::await("the labels", [&] { return are_labelled(client); });
    for (std::size_t i = 0; i < spaces; ++i) {
      client.patch(client.get<Ferry>({space(i), "f"}), [i](Ferry& ferry) {
        ferry.metadata.labels[cell_label] = i % 2 == 0 ? cell_of(space((i + 1) % spaces)) : "none";
      });
    }
    tests::await("the corrected labels", [&] {
      return are_labelled(client) && first.held("ferries") + second.held("ferries") == spaces;
    });
  }
  second.stop();
  tests::await("the return", [&] { return first.slots() == 16 && first.held("ferries") == spaces; });
  EXPECT_EQ(first.failures() + second.failures(), 0U) << "a run has read what was not cached";
  first.stop();
}

TEST(RealDividedCaches, DivideTheCaches) {
  testing::Environment real({.api_server_flags = {"--feature-gates=ShardedListAndWatch=true"}});
  real.install<Ferry>();
  divide(real.config(), true);
}

TEST(RealDividedCaches, AreWholeWithoutTheGate) {
  testing::Environment real({.api_server_flags = {"--feature-gates=ShardedListAndWatch=false"}});
  real.install<Ferry>();
  divide(real.config(), false);
}

TEST(RealDividedCaches, DivideTheCachesByALabel) {
  testing::Environment real({.api_server_flags = {"--feature-gates=ShardedListAndWatch=false"}});
  real.install<Ferry>();
  divide(real.config(), true, cell_label);
}

TEST(EmbeddedDividedCaches, DivideTheCaches) {
  apiserver::ApiServer embedded{{.core = {.sharded_list_and_watch = true}}};
  embedded.install(crd_for<Ferry>().dump());
  divide(embedded.config(), true);
}

TEST(EmbeddedDividedCaches, DivideTheCachesByALabel) {
  apiserver::ApiServer embedded;
  embedded.install(crd_for<Ferry>().dump());
  divide(embedded.config(), true, cell_label);
}

TEST(EmbeddedDividedCaches, AreWholeWithoutTheGate) {
  apiserver::ApiServer embedded;
  embedded.install(crd_for<Ferry>().dump());
  divide(embedded.config(), false);
}

}  // namespace real_divided_caches
}  // namespace evenkeel
