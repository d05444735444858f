// SPDX-License-Identifier: Apache-2.0
// Managers of a ring by ranges, several in one process with one API server core, whose caches hold what each
// of them needs.
#include "manager/cache_divider.hpp"

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/base/hash_ranges.hpp>
#include <evenkeel/base/mutex.hpp>
#include <evenkeel/metrics/text.hpp>

#include "manager/world.hpp"

namespace evenkeel::cache_divider {
namespace {

using ::testing::HasSubstr;

constexpr std::size_t spaces = 12;

std::string space(std::size_t number) {
  return "quay-" + std::to_string(number);
}

/// Records the runs of all managers.
class Runs {
 public:
  void began(const std::string& key, const std::string& by) {
    MutexLock lock(mutex_);
    if (!running_.insert(key).second) ++twice_;
    last_[key] = by;
  }
  void ended(const std::string& key) {
    MutexLock lock(mutex_);
    running_.erase(key);
  }
  /// Returns the number of keys whose last run was by this replica.
  std::size_t of(const std::string& by) const {
    MutexLock lock(mutex_);
    std::size_t count = 0;
    for (const auto& [key, last] : last_) count += last == by ? 1 : 0;
    return count;
  }
  int twice() const {
    MutexLock lock(mutex_);
    return twice_;
  }

 private:
  mutable Mutex mutex_;
  std::set<std::string> running_ EVENKEEL_GUARDED_BY(mutex_);
  std::map<std::string, std::string> last_ EVENKEEL_GUARDED_BY(mutex_);
  int twice_ EVENKEEL_GUARDED_BY(mutex_) = 0;
};

/// A Gadget in each of the namespaces, and a ConfigMap that it owns.
class DividedCaches {
 public:
  explicit DividedCaches(bool gate) : world(core_options(gate)) {
    world.install_crd();
    const Client client = world.client();
    for (std::size_t i = 0; i < spaces; ++i) {
      client.create(Namespace{.metadata = {.name = space(i)}});
      const auto gadget = client.create(
          Gadget{.metadata = {.name = "web", .namespace_ = space(i)}, .spec = {}, .status = {}});
      client.create(ConfigMap{.metadata = {.name = "web",
                                           .namespace_ = space(i),
                                           .owner_references = {{.api_version = "test.evenkeel.dev/v1",
                                                                 .kind = "Gadget",
                                                                 .name = "web",
                                                                 .uid = gadget->metadata.uid,
                                                                 .controller = true}}}});
    }
  }

  static apiserver::ApiServerCoreOptions core_options(bool gate) {
    apiserver::ApiServerCoreOptions options;
    options.sharded_list_and_watch = gate;
    return options;
  }
  ManagerOptions options(const std::string& identity, const std::string& label = {}) const {
    ManagerOptions options = world.options();
    options.shards = ShardOptions{.name = "op",
                                  .namespace_ = "default",
                                  .identity = identity,
                                  .slots = 16,
                                  .by = ShardBy::namespace_range,
                                  .label = label};
    options.election_client = world.client();
    options.cache.live_reads = false;  // what a run reads must be cached
    return options;
  }
  ControllerSpec spec(const std::string& by) {
    return controller_for<Gadget>([this, by](Context& context, const Gadget& gadget) {
             const std::string key = context.key().str();
             runs.began(key, by);
             if (context.owned_by<ConfigMap>(gadget).size() != 1) ++incomplete;
             context.patch_status(gadget, [](GadgetStatus& status) { status.ready_replicas = 1; });
             runs.ended(key);
             return done();
           })
        .owns<ConfigMap>();
  }
  static std::size_t held(const Manager& manager, const std::string& plural) {
    for (const CollectionHealth& one : manager.cache().health()) {
      if (one.resource.plural == plural) return one.informer.objects;
    }
    return 0;
  }
  /// Returns true if the caches of a replica hold the objects of this many namespaces, and no more.
  static bool holds(const Manager& manager, std::size_t count) {
    return held(manager, "gadgets") == count && held(manager, "configmaps") == count;
  }
  /// Returns true if the caches of two replicas have each a part of the Gadgets, and together all.
  static bool divide(const Manager& first, const Manager& second) {
    const std::size_t ours = held(first, "gadgets");
    const std::size_t theirs = held(second, "gadgets");
    return ours > 0 && theirs > 0 && ours + theirs == spaces;
  }
  /// The Gadgets of two replicas are divided, their ConfigMaps are not.
  static void expect_whole_config_maps(const Manager& first, const Manager& second) {
    for (const Manager* const manager : {&first, &second}) {
      EXPECT_EQ(held(*manager, "configmaps"), spaces);
      EXPECT_LT(held(*manager, "gadgets"), spaces);
      EXPECT_GT(held(*manager, "gadgets"), 0U);
    }
  }
  /// Returns true if all objects have the label of their cell.
  bool labelled(const std::string& label) const {
    const Client client = world.client();
    const auto is_right = [&label](const auto& object) {
      const auto found = object->metadata.labels.find(label);
      return found != object->metadata.labels.end() && found->second == cell_of(object->metadata.namespace_);
    };
    for (std::size_t i = 0; i < spaces; ++i) {
      const ObjectKey key{space(i), "web"};
      if (!is_right(client.find<Gadget>(key)) || !is_right(client.find<ConfigMap>(key))) return false;
    }
    return true;
  }
  static std::size_t owned(const Manager& manager) { return manager.shards()->status().owned; }
  static std::string metrics(const Manager& manager) {
    PrometheusText text;
    manager.collect(text);
    return text.str();
  }

  World world;
  Runs runs;
  std::atomic<int> incomplete = 0;  // runs that did not see the ConfigMap
};

TEST(CacheDividerConcurrency, EachReplicaHoldsItsShareAndRunsNoKeyBefore) {
  DividedCaches test(true);
  Manager first(test.world.client(), test.options("first"));
  first.add(test.spec("first"));
  Running one(first);
  test.world.wait_until([&] { return test.runs.of("first") == spaces && test.holds(first, spaces); });
  EXPECT_THAT(test.metrics(first), HasSubstr("evenkeel_shards_cache_selects{ring=\"op\"} 1\n"));

  Manager second(test.world.client(), test.options("second"));
  second.add(test.spec("second"));
  Running two(second);
  test.world.wait_until([&] {
    const std::size_t theirs = test.runs.of("second");
    return test.owned(second) == 8 && theirs > 0 && test.holds(second, theirs) &&
           test.holds(first, spaces - theirs);
  });
  EXPECT_LT(test.runs.of("second"), spaces);
  EXPECT_GE(test.runs.of("second"), spaces / 4);

  two.stop();
  test.world.wait_until([&] { return test.runs.of("first") == spaces && test.holds(first, spaces); });
  EXPECT_EQ(test.runs.twice(), 0);
  EXPECT_EQ(test.incomplete, 0);
  EXPECT_EQ(test.world.happenings->lines_with("the cache cannot answer").size(), 0U);
  EXPECT_THAT(test.metrics(first),
              HasSubstr("evenkeel_informer_missing_seconds{group=\"test.evenkeel.dev\""));
  // Each gain was a list of its own ranges.
  for (const CollectionHealth& kind : first.cache().health())
    EXPECT_EQ(kind.informer.counters.lists, kind.informer.counters.growths) << kind.resource.plural;
  one.stop();
}

TEST(CacheDividerConcurrency, WithoutTheFeatureOfTheServerEveryReplicaHoldsAll) {
  DividedCaches test(false);
  Manager first(test.world.client(), test.options("first"));
  Manager second(test.world.client(), test.options("second"));
  first.add(test.spec("first"));
  second.add(test.spec("second"));
  Running one(first);
  Running two(second);
  test.world.wait_until([&] {
    return test.owned(first) == 8 && test.owned(second) == 8 && test.holds(first, spaces) &&
           test.holds(second, spaces);
  });
  test.world.wait_until([&] { return test.runs.of("first") + test.runs.of("second") == spaces; });
  EXPECT_THAT(test.metrics(first), HasSubstr("evenkeel_shards_cache_selects{ring=\"op\"} 0\n"));
  EXPECT_EQ(test.runs.twice(), 0);
  EXPECT_EQ(test.incomplete, 0);
}

constexpr const char* label = "sharding.evenkeel.dev/cell";

TEST(CacheDividerConcurrency, ALabelDividesTheCachesOfAnyServer) {
  DividedCaches test(false);
  Manager first(test.world.client(), test.options("first", label));
  first.add(test.spec("first"));
  Running one(first);
  test.world.wait_until([&] { return test.runs.of("first") == spaces && test.holds(first, spaces); });
  EXPECT_THAT(test.metrics(first), HasSubstr("evenkeel_shards_cache_selects{ring=\"op\"} 1\n"));

  Manager second(test.world.client(), test.options("second", label));
  second.add(test.spec("second"));
  Running two(second);
  test.world.wait_until([&] {
    const std::size_t theirs = test.runs.of("second");
    return test.owned(second) == 8 && theirs > 0 && test.holds(second, theirs) &&
           test.holds(first, spaces - theirs);
  });
  EXPECT_LT(test.runs.of("second"), spaces);
  test.world.wait_until([&] {
    const auto patched = first.cache().cell_labels().labelled + second.cache().cell_labels().labelled;
    return test.labelled(label) && patched >= 2 * spaces;
  });
  EXPECT_THAT(test.metrics(first), HasSubstr("evenkeel_shards_labelled_total{ring=\"op\"} "));

  two.stop();
  test.world.wait_until([&] { return test.runs.of("first") == spaces && test.holds(first, spaces); });
  EXPECT_EQ(test.runs.twice(), 0);
  EXPECT_EQ(test.incomplete, 0) << "what has no label yet is cached, too";
  EXPECT_EQ(test.world.happenings->lines_with("the cache cannot answer").size(), 0U);
  one.stop();
}

TEST(CacheDividerConcurrency, LabelsThatUsersRemoveOrChangeAreCorrected) {
  DividedCaches test(false);
  Manager first(test.world.client(), test.options("first", label));
  Manager second(test.world.client(), test.options("second", label));
  first.add(test.spec("first"));
  second.add(test.spec("second"));
  Running one(first);
  Running two(second);
  test.world.wait_until([&] {
    return test.owned(first) == 8 && test.owned(second) == 8 && test.divide(first, second) &&
           test.labelled(label);
  });
  const Client client = test.world.client();
  const auto set = [&client](std::size_t number, std::optional<std::string> value) {
    client.patch(client.find<Gadget>({space(number), "web"}), [&value](Gadget& gadget) {
      gadget.metadata.labels.erase(label);
      if (value) gadget.metadata.labels.emplace(label, *value);
    });
  };
  for (std::size_t i = 0; i < spaces; ++i) {
    set(i, std::nullopt);
    set(i, "none");
    set(i, cell_of(space((i + 1) % spaces)));
  }
  test.world.wait_until([&] { return test.labelled(label) && test.divide(first, second); });
  EXPECT_EQ(test.runs.twice(), 0);
}

// An event of a ConfigMap may concern a Gadget of any namespace, and each replica may have to look at all
// Pods.
TEST(CacheDividerConcurrency, KindsThatLeadToOtherNamespacesAreHeldWhole) {
  DividedCaches test(true);
  const auto add = [&](Manager& manager, const std::string& by) {
    manager.add(controller_for<Gadget>([&test, by](Context& context, const Gadget&) {
                  test.runs.began(context.key().str(), by);
                  test.runs.ended(context.key().str());
                  return done();
                }).watches<ConfigMap>([](const ConfigMap& map) {
      return std::vector<ObjectKey>{{map.metadata.namespace_, "web"}, {space(0), "web"}};
    }));
  };
  Manager first(test.world.client(), test.options("first"));
  Manager second(test.world.client(), test.options("second"));
  add(first, "first");
  add(second, "second");
  Running one(first);
  Running two(second);
  test.world.wait_until([&] {
    return test.owned(first) == 8 && test.owned(second) == 8 && test.divide(first, second) &&
           test.held(first, "configmaps") == spaces && test.held(second, "configmaps") == spaces;
  });
  test.expect_whole_config_maps(first, second);
}

TEST(CacheDividerConcurrency, AControllerOfEveryInstanceKeepsItsKindWhole) {
  DividedCaches test(true);
  const auto add = [&](Manager& manager, const std::string& by) {
    manager.add(test.spec(by));
    manager.add(controller_for<ConfigMap>([](Context&, const ConfigMap&) { return done(); })
                    .named("everywhere")
                    .with({.runs_on = RunsOn::every_instance}));
  };
  Manager first(test.world.client(), test.options("first"));
  Manager second(test.world.client(), test.options("second"));
  add(first, "first");
  add(second, "second");
  Running one(first);
  Running two(second);
  test.world.wait_until([&] {
    return test.owned(first) == 8 && test.owned(second) == 8 && test.divide(first, second) &&
           test.held(first, "configmaps") == spaces && test.held(second, "configmaps") == spaces;
  });
  test.expect_whole_config_maps(first, second);
}

TEST(CacheDividerConcurrency, ReadsOfOtherNamespacesGoToTheServer) {
  DividedCaches test(true);
  ManagerOptions options = test.options("first");
  options.cache.live_reads = true;
  Manager first(test.world.client(), options);
  Manager second(test.world.client(), test.options("second"));
  first.add(test.spec("first"));
  second.add(test.spec("second"));
  Running one(first);
  Running two(second);
  test.world.wait_until([&] { return test.owned(first) == 8 && test.divide(first, second); });
  std::size_t found = 0;
  for (std::size_t i = 0; i < spaces; ++i) found += first.cache().find<Gadget>({space(i), "web"}) ? 1 : 0;
  EXPECT_EQ(found, spaces);
  const std::uint64_t reads = first.cache().live_reads();
  EXPECT_GT(reads, 0U);
  EXPECT_LT(reads, spaces);
  EXPECT_EQ(first.cache().list<Gadget>().size(), spaces);
  EXPECT_EQ(first.cache().live_reads(), reads + 1);
}

// Both selectors by labels apply.
TEST(CacheDividerConcurrency, TheSelectorOfAnInformerAppliesBesideThatOfItsShare) {
  World world;
  const Client client = world.client();
  const auto create = [&client](const std::string& namespace_, const std::string& name, const char* app) {
    client.create(ConfigMap{.metadata = {.name = name, .namespace_ = namespace_, .labels = {{"app", app}}}});
  };
  for (std::size_t i = 0; i < 2; ++i) {
    client.create(Namespace{.metadata = {.name = space(i)}});
    create(space(i), "web", "web");
    create(space(i), "db", "db");
  }
  const std::uint64_t cell = std::stoull(cell_of(space(0)), nullptr, 16);
  ASSERT_NE(cell_of(space(0)), cell_of(space(1)));
  Cache cache(client, {.reflector = {.cell_label = label}});
  const Informer& informer =
      cache.informer(detail::resource_of<ConfigMap>(), {.label_selector = "app=web", .divisible = true});
  cache.select(HashRanges({{cell << 56U, (cell << 56U) + ((std::uint64_t{1} << 56U) - 1)}}));
  cache.start();
  world.wait_until([&] {
    return client.get<ConfigMap>({space(0), "web"})->metadata.labels.count(label) > 0 &&
           informer.holds(space(0)) && cache.cell_labels().waiting == 0;
  });
  EXPECT_EQ(informer.size(), 1U);
  EXPECT_TRUE(informer.store().find(space(0), "web"));
  EXPECT_EQ(client.get<ConfigMap>({space(0), "web"})->metadata.labels.at(label), cell_of(space(0)));
  EXPECT_EQ(client.get<ConfigMap>({space(0), "db"})->metadata.labels.count(label), 0U);
  EXPECT_EQ(client.get<ConfigMap>({space(1), "web"})->metadata.labels.count(label), 0U);
  cache.stop();
}

// A ring of one replica holds everything. When another one joins, only what is missing is listed.
TEST(CacheDividerConcurrency, ACollectionThatIsHeldWholeIsLabelled) {
  World world;
  const Client client = world.client();
  client.create(Namespace{.metadata = {.name = space(0)}});
  client.create(ConfigMap{.metadata = {.name = "web", .namespace_ = space(0)}});
  Cache cache(client, {.reflector = {.cell_label = label}});
  cache.select(HashRanges::all());
  cache.start();
  cache.informer(detail::resource_of<ConfigMap>(), {.divisible = true}).start();
  world.wait_until([&] {
    return client.get<ConfigMap>({space(0), "web"})->metadata.labels.count(label) > 0;
  });
  cache.stop();
}

TEST(CacheDivider, FindsOutIfTheServerSelects) {
  for (const bool gate : {false, true}) {
    const World world(DividedCaches::core_options(gate));
    EXPECT_EQ(detail::selects_shards(world.client(), "default"), gate);
  }
}

}  // namespace
}  // namespace evenkeel::cache_divider
