// SPDX-License-Identifier: Apache-2.0
// Clean-ups run whatever the predicates of their controller say, and are complete only when they say so.
#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/api/crd.hpp>
#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/controller/builder.hpp>
#include <evenkeel/controller/dependents.hpp>
#include <evenkeel/testing/harness.hpp>
#include <evenkeel/testing/run.hpp>

namespace evenkeel {
namespace {
namespace finalizer_test {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const ObjectKey a{"default", "a"};
const std::string finalizer = "test.evenkeel.dev/clean-up";

ConfigMap config(std::map<std::string, std::string> labels = {}) {
  return {.metadata = {.name = "a", .namespace_ = "default", .labels = std::move(labels)}};
}

// ---- Predicates

std::vector<std::pair<std::string, Predicate>> predicates() {
  return {{"generation_changed", generation_changed()},
          {"labels_changed", labels_changed()},
          {"annotations_changed", annotations_changed()},
          {"resource_version_changed", resource_version_changed()},
          {"changed", changed<ConfigMap>([](const ConfigMap& map) { return map.data; })},
          {"events_of added, deleted", events_of({EventType::added, EventType::deleted})},
          {"events_of added", events_of({EventType::added})},
          {"matches_labels", matches_labels("app=web")},
          {"all of them", labels_changed() && annotations_changed() && matches_labels("app=web")},
          {"a function", [](const ObjectEvent& event) { return event.type != EventType::updated; }}};
}

TEST(Finalizer, RunsWhateverThePredicatesSay) {
  for (const auto& [name, predicate] : predicates()) {
    for (const bool on_the_watch : {false, true}) {
      SCOPED_TRACE(name + (on_the_watch ? " on the watch" : " as filter"));
      testing::Harness harness;
      int cleaned = 0;
      const auto nothing = [](Context&, const ConfigMap&) {};
      auto spec = on_the_watch ? controller_for<ConfigMap>(nothing, {.when = predicate})
                               : controller_for<ConfigMap>(nothing).filter(predicate);
      harness.add(std::move(spec).finalize(finalizer, [&](Context&, const ConfigMap&) { ++cleaned; }));
      harness.create({config({{"app", "web"}})});
      harness.settle();
      harness.remove<ConfigMap>(a);
      harness.settle();
      EXPECT_EQ(cleaned, 1);
      EXPECT_FALSE(harness.find<ConfigMap>(a));
    }
  }
}

TEST(Finalizer, RunsWhateverThePredicatesSayWithoutAType) {
  testing::Harness harness;
  int cleaned = 0;
  harness.add(controller_for(ResourceId(ConfigMap::resource), [](Context&, const DynamicObject&) {})
                  .filter(labels_changed())
                  .filter(events_of({EventType::added}))
                  .finalize(finalizer, [&](Context&, const DynamicObject&) { ++cleaned; }));
  harness.create({config()});
  harness.settle();
  harness.remove<ConfigMap>(a);
  harness.settle();
  EXPECT_EQ(cleaned, 1);
  EXPECT_FALSE(harness.find<ConfigMap>(a));
}

TEST(Finalizer, RunsForAnObjectThatNoLongerMatchesItsFilter) {
  testing::Harness harness;
  int cleaned = 0;
  harness.add(controller_for<ConfigMap>([](Context&, const ConfigMap&) {})
                  .filter(matches_labels("app=web"))
                  .finalize(finalizer, [&](Context&, const ConfigMap&) { ++cleaned; }));
  harness.create({config({{"app", "web"}})});
  harness.settle();
  harness.edit<ConfigMap>(a, [](ConfigMap& map) { map.metadata.labels.clear(); });
  harness.settle();
  harness.remove<ConfigMap>(a);
  harness.settle();
  EXPECT_EQ(cleaned, 1);
  EXPECT_FALSE(harness.find<ConfigMap>(a));
}

TEST(Finalizer, RunsForAnObjectWhoseDeletionBeganBeforeTheController) {
  testing::Harness harness;
  int cleaned = 0;
  ConfigMap map = config();
  map.metadata.finalizers = {finalizer};
  harness.create({map});
  harness.remove<ConfigMap>(a);
  harness.add(controller_for<ConfigMap>([](Context&, const ConfigMap&) {})
                  .filter(events_of({EventType::updated}))
                  .finalize(finalizer, [&](Context&, const ConfigMap&) { ++cleaned; }));
  harness.settle();
  EXPECT_EQ(cleaned, 1);
  EXPECT_FALSE(harness.find<ConfigMap>(a));
}

TEST(Finalizer, OfDependentsRunsWhateverThePredicatesSay) {
  testing::Harness harness;
  const auto graph = dependents<ConfigMap>()
                         .add<Secret>("secret",
                                      [](const ConfigMap& map) {
                                        return Secret{.metadata = {.name = map.metadata.name + "-s"}};
                                      })
                         .delete_in_order(finalizer);
  harness.add(controller_for(graph).filter(labels_changed()));
  harness.create({config()});
  harness.settle();
  EXPECT_TRUE(harness.find<Secret>({"default", "a-s"}));
  harness.remove<ConfigMap>(a);
  harness.settle();
  EXPECT_FALSE(harness.find<ConfigMap>(a));
  EXPECT_FALSE(harness.find<Secret>({"default", "a-s"}));
}

TEST(Dependents, GetTheEventsThatTheyWaitForWhateverTheFilterSays) {
  testing::Harness harness;
  const auto named = [](const char* suffix) {
    return
        [suffix](const ConfigMap& map) { return Secret{.metadata = {.name = map.metadata.name + suffix}}; };
  };
  const auto has_label = [](const Secret& secret) { return secret.metadata.labels.contains("ready"); };
  const auto graph = dependents<ConfigMap>()
                         .add<Secret>("first", named("-1"), {.ready = has_label})
                         .add<Secret>("second", named("-2"), {.after = {"first"}});
  harness.add(controller_for(graph).filter(annotations_changed()));
  harness.create({config()});
  harness.settle();
  EXPECT_FALSE(harness.find<Secret>({"default", "a-2"}));
  harness.edit<Secret>({"default", "a-1"}, [](Secret& secret) { secret.metadata.labels["ready"] = "yes"; });
  harness.settle();
  EXPECT_TRUE(harness.find<Secret>({"default", "a-2"}));
}

TEST(Finalizer, WithoutOneThePredicatesDecide) {
  testing::Harness harness;
  int runs = 0;
  harness.add(controller_for<ConfigMap>([&](Context&, const Request&) {
                ++runs;
              }).filter(events_of({EventType::added})));
  ConfigMap map = config();
  map.metadata.finalizers = {"other.dev/f"};
  harness.create({map});
  harness.settle();
  harness.remove<ConfigMap>(a);
  harness.settle();
  EXPECT_EQ(runs, 1);
}

TEST(Finalizer, OfASelectionIsWarnedOf) {
  testing::Harness harness;
  harness.add(controller_for<ConfigMap>([](Context&, const ConfigMap&) {}, {.label_selector = "app=web"})
                  .finalize(finalizer, [](Context&, const ConfigMap&) {}));
  ConfigMap map = config();
  map.metadata.labels["app"] = "web";
  harness.create({map});
  harness.settle();
  EXPECT_THAT(harness.log(), Contains(HasSubstr("the controller has finalizers, and watches a selection")));
}

// ---- Results

/// Deletes an object whose clean-up returns such a result until `external` is false.
void expect_kept(const std::function<ControllerSpec(const std::function<Result()>&)>& controller) {
  for (const Duration delay : {Duration(-30s), Duration(0s), Duration(5s)}) {
    SCOPED_TRACE(delay.count());
    testing::Harness harness;
    bool external = true;
    int looks = 0;
    harness.add(controller([&]() -> Result {
      ++looks;
      return external ? requeue_after(delay, "the bucket is not empty") : done();
    }));
    harness.create({config()});
    harness.settle();
    harness.remove<ConfigMap>(a);
    harness.run_for(1min);
    EXPECT_TRUE(harness.find<ConfigMap>(a));
    EXPECT_GT(looks, 1);
    external = false;
    harness.run_for(1h);
    EXPECT_FALSE(harness.find<ConfigMap>(a));
  }
}

TEST(UnfinishedCleanUp, KeepsTheObject) {
  expect_kept([](const std::function<Result()>& clean_up) -> ControllerSpec {
    return controller_for<ConfigMap>([](Context&, const ConfigMap&) {})
        .finalize(finalizer, [clean_up](Context&, const ConfigMap&) { return clean_up(); });
  });
}

TEST(UnfinishedCleanUp, KeepsTheObjectWithoutAType) {
  expect_kept([](const std::function<Result()>& clean_up) -> ControllerSpec {
    return controller_for(ResourceId(ConfigMap::resource), [](Context&, const DynamicObject&) {})
        .finalize(finalizer, [clean_up](Context&, const DynamicObject&) { return clean_up(); });
  });
}

TEST(RequeueAfter, ATimeThatHasPassedRunsAgain) {
  testing::Harness harness;
  int runs = 0;
  harness.add(controller_for<ConfigMap>([&](Context& context, const ConfigMap&) -> Result {
    const auto now = context.clock().wall_now().time_since_epoch();
    const Duration next = std::chrono::floor<std::chrono::minutes>(now) + 1min - now;
    return requeue_after(++runs == 3 ? -1s : next, "until the next minute");  // the third call is slow
  }));
  harness.create({config()});
  harness.run_for(1h);
  EXPECT_GE(runs, 60);
}

TEST(RequeueAfter, ATimeThatHasAlwaysPassedBacksOff) {
  testing::Harness harness;
  harness.add(
      controller_for<ConfigMap>([](Context&, const ConfigMap&) { return requeue_after(-1s, "late"); }));
  harness.create({config()});
  harness.run_for(10min);
  EXPECT_LT(harness.runs().size(), 30U);
  EXPECT_EQ(harness.runs()[0].outcome.kind, OutcomeKind::requeue);
  EXPECT_EQ(harness.runs()[0].outcome.message, "late");
}

TEST(RequeueAfter, ZeroIsNoFurtherRun) {
  testing::Harness harness;
  harness.add(controller_for<ConfigMap>([](Context&, const ConfigMap&) { return requeue_after(0s); }));
  harness.create({config()});
  harness.run_for(1h);
  EXPECT_EQ(harness.runs().size(), 1U);
  EXPECT_EQ(harness.runs()[0].outcome.kind, OutcomeKind::success);
}

// ---- Objects that do not decode

struct BucketSpec {
  std::optional<Duration> max_age = {};
};
EVENKEEL_FIELDS(BucketSpec, max_age)
struct Bucket {
  static constexpr ResourceInfo resource{
      .group = "test.evenkeel.dev", .version = "v1", .kind = "Bucket", .plural = "buckets"};
  ObjectMeta metadata = {};
  BucketSpec spec = {};
};
EVENKEEL_FIELDS(Bucket, metadata, spec)

// A type of the kind whose schema is less strict.
struct LooseSpec {
  std::string max_age = {};
};
EVENKEEL_FIELDS(LooseSpec, max_age)
struct LooseBucket {
  static constexpr ResourceInfo resource = Bucket::resource;
  ObjectMeta metadata = {};
  LooseSpec spec = {};
};
EVENKEEL_FIELDS(LooseBucket, metadata, spec)

class UndecodableObject : public ::testing::Test {
 protected:
  void add(ControllerSpec spec) {
    spec.crd = [] { return crd_for<LooseBucket>(); };
    for (WatchSpec& watch : spec.watches) watch.crd = spec.crd;
    harness.add(std::move(spec));
  }
  void set_age(const std::string& age) {
    harness.edit<LooseBucket>(a, [&](LooseBucket& bucket) { bucket.spec.max_age = age; });
    harness.settle();
  }
  void create() {
    harness.create(
        {LooseBucket{.metadata = {.name = "a", .namespace_ = "default"}, .spec = {.max_age = "720h"}}});
    harness.settle();
  }
  std::vector<std::string> events() const {
    std::vector<std::string> texts;
    for (const auto& event : harness.events())
      texts.push_back(event->type.value_or("") + " " + event->reason.value_or("") + ": " +
                      event->message.value_or(""));
    return texts;
  }

  testing::Harness harness = testing::Harness({.expect_failures = true});
};

TEST_F(UndecodableObject, IsATerminalErrorWithAnEvent) {
  int runs = 0;
  add(controller_for<Bucket>([&](Context&, const Bucket&) { ++runs; }));
  create();
  EXPECT_EQ(runs, 1);
  set_age("30d");
  harness.run_for(24h);
  ASSERT_EQ(harness.runs().size(), 2U) << "no retry can help";
  EXPECT_EQ(harness.last().outcome.kind, OutcomeKind::terminal_error);
  EXPECT_THAT(events(), ElementsAre(HasSubstr("Warning CannotDecode: ")));
  EXPECT_THAT(events(), ElementsAre(HasSubstr("spec.maxAge")));
  set_age("24h");
  EXPECT_EQ(runs, 2) << "the next event runs it";
}

TEST_F(UndecodableObject, IsATerminalErrorForAReconcilerOfKeys) {
  add(controller_for<Bucket>([](Context&, const Request&) {}));
  create();
  set_age("30d");
  harness.run_for(1h);
  EXPECT_EQ(harness.last().outcome.kind, OutcomeKind::terminal_error);
  EXPECT_EQ(harness.runs().size(), 2U);
}

TEST_F(UndecodableObject, IsCleanedUpByItsMetadata) {
  std::vector<std::string> cleaned;
  add(controller_for<Bucket>([](Context&, const Bucket&) {
      }).finalize(finalizer, [&](Context&, const PartialObject& object) -> Result {
    cleaned.push_back(object.kind + " " + key_of(object.metadata).str());
    return cleaned.size() < 2 ? requeue_after(1min) : done();
  }));
  create();
  set_age("30d");
  harness.remove<LooseBucket>(a);
  harness.run_for(1h);
  EXPECT_THAT(cleaned, ElementsAre("Bucket default/a", "Bucket default/a"));
  EXPECT_FALSE(harness.find<LooseBucket>(a));
}

TEST_F(UndecodableObject, KeepsTheFinalizersThatNeedIt) {
  std::vector<std::string> cleaned;
  add(controller_for<Bucket>([](Context&, const Bucket&) {})
          .finalize("test.evenkeel.dev/first",
                    [&](Context&, const PartialObject&) { cleaned.emplace_back("first"); })
          .finalize("test.evenkeel.dev/second",
                    [&](Context&, const Bucket&) { cleaned.emplace_back("second"); })
          .finalize("test.evenkeel.dev/third",
                    [&](Context&, const PartialObject&) { cleaned.emplace_back("third"); }));
  create();
  set_age("30d");
  harness.remove<LooseBucket>(a);
  harness.run_for(1h);
  EXPECT_THAT(cleaned, ElementsAre("first")) << "they run in order";
  EXPECT_EQ(harness.last().outcome.kind, OutcomeKind::terminal_error);
  set_age("1h");
  EXPECT_THAT(cleaned, ElementsAre("first", "second", "third"));
  EXPECT_FALSE(harness.find<LooseBucket>(a));
}

TEST(Finalizer, OfMetadataRunsForObjectsOfEveryForm) {
  testing::Harness harness;
  std::vector<std::string> cleaned;
  const auto clean_up = [&](Context&, const PartialObject& object) {
    cleaned.push_back(object.api_version + " " + object.kind + " " + object.metadata.name);
  };
  harness.add(controller_for<ConfigMap>([](Context&, const ConfigMap&) {}).finalize(finalizer, clean_up));
  harness.add(controller_for(ResourceId(ConfigMap::resource), [](Context&, const DynamicObject&) {})
                  .named("dynamic")
                  .finalize("test.evenkeel.dev/dynamic", clean_up));
  harness.create({config()});
  harness.settle();
  harness.remove<ConfigMap>(a);
  harness.settle();
  EXPECT_THAT(cleaned, ElementsAre("v1 ConfigMap a", "v1 ConfigMap a"));
}

}  // namespace finalizer_test
}  // namespace
}  // namespace evenkeel
