// SPDX-License-Identifier: Apache-2.0
// Operators that change something outside of Kubernetes, under crashes at the calls that they marked.
#include <cstdint>
#include <map>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/testing/run.hpp>

#include "explore_store.hpp"

namespace evenkeel::testing {
namespace explore_points {

using ::testing::HasSubstr;

struct Volumes {
  std::map<std::string, int> sizes;  // by name
};
EVENKEEL_FIELDS(Volumes, sizes)

const Moment resize{"point resize volume default/main"};

void create_and_grow(Harness& cluster) {
  cluster.create({store()});
  cluster.settle();
  cluster.edit<Store>(main_store, [](Store& changed) { changed.spec.storage = 3; });
  cluster.settle();
}

void record_size(Context& context, const Store& store) {
  context.patch_status(store, [&](StoreStatus& status) { status.storage = store.spec.storage; });
}

// Adds to the volume what the status lacks, and records it afterwards.
ControllerSpec growing_controller(Volumes& volumes) {
  return controller_for<Store>([&volumes](Context& context, const Store& store) {
    const int missing = store.spec.storage - store.status.storage;
    if (missing == 0) return;
    context.explore_point("resize volume", [&] { volumes.sizes[store.metadata.name] += missing; });
    record_size(context, store);
  });
}

ControllerSpec marking_controller(Volumes& volumes) {
  return controller_for<Store>([&volumes](Context& context, const Store& store) {
    const int missing = store.spec.storage - store.status.storage;
    if (missing == 0) return;
    context.explore_point("resize volume");
    volumes.sizes[store.metadata.name] += missing;
    record_size(context, store);
  });
}

// Sets the size, which may be repeated.
ControllerSpec repaired_controller(Volumes& volumes) {
  return controller_for<Store>([&volumes](Context& context, const Store& store) {
    if (store.spec.storage == store.status.storage) return;
    context.explore_point("resize volume", [&] { volumes.sizes[store.metadata.name] = store.spec.storage; });
    record_size(context, store);
  });
}

TEST(ExplorePoint, FindsAVolumeThatGrowsTwiceAfterACrash) {
  const Exploration result = explore<Volumes>(growing_controller, create_and_grow);
  ASSERT_GE(result.findings.size(), 2u) << result.describe();
  const Finding& first = result.findings[0];
  EXPECT_EQ(first.plan, (Plan{{crash_past(resize)}})) << result.describe();
  ASSERT_EQ(first.problems.size(), 1u);
  EXPECT_EQ(first.problems[0].kind, ProblemKind::outside);
  EXPECT_EQ(first.problems[0].text, "outside differs at the end from the reference: sizes.main: 3 -> 4");
  const Finding& second = result.findings[1];
  EXPECT_EQ(second.plan, (Plan{{crash_past({resize.write, 2})}})) << result.describe();
  EXPECT_EQ(second.problems[0].text, "outside differs at the end from the reference: sizes.main: 3 -> 5");
  EXPECT_THAT(result.describe(),
              HasSubstr("\n1. crash past point resize volume default/main, after its effect\n"));
  EXPECT_THAT(result.describe(), HasSubstr("ek::testing::explore<Outside>(make, workload, {.plans = {"));
  EXPECT_THAT(first.timeline, HasSubstr("s  point resize volume default/main\n"));
  EXPECT_THAT(first.timeline,
              HasSubstr("s  >>> crash past point resize volume default/main, after its effect\n"));
  EXPECT_THAT(first.timeline, HasSubstr("s  --- the process starts again\n"));
  EXPECT_THAT(first.timeline, HasSubstr("s  point resize volume default/main (2)\n"));
}

TEST(ExplorePoint, FindsTheSameAtAMarkWithoutAnEffect) {
  const Exploration result = explore<Volumes>(marking_controller, create_and_grow);
  ASSERT_FALSE(result.findings.empty());
  EXPECT_EQ(result.findings[0].plan, (Plan{{crash_past(resize)}})) << result.describe();
  EXPECT_EQ(result.findings[0].problems[0].text,
            "outside differs at the end from the reference: sizes.main: 3 -> 4");
}

TEST(ExplorePoint, FindsNothingInTheRepairedForm) {
  const Exploration result = explore<Volumes>(repaired_controller, create_and_grow, {.steps = 2});
  EXPECT_TRUE(result.ok()) << result.describe();
  EXPECT_GT(result.plans_run, 20u);
}

// ---- A second replica

// A size may be set again, but not after the next leader has set another one.
TEST(ExplorePoint, FindsACallOfAFormerLeaderThatComesLate) {
  const Exploration result = explore<Volumes>(repaired_controller, create_and_grow, {.replicas = 2});
  ASSERT_EQ(result.findings.size(), 1u) << result.describe();
  const Finding& finding = result.findings[0];
  const Moment growth{"workload: patch stores.test.evenkeel.dev default/main"};
  EXPECT_EQ(finding.plan, (Plan{{overtake_at(resize, growth)}})) << result.describe();
  ASSERT_EQ(finding.problems.size(), 1u) << result.describe();
  EXPECT_EQ(finding.problems[0].kind, ProblemKind::outside);
  EXPECT_EQ(finding.problems[0].text, "outside differs at the end from the reference: sizes.main: 3 -> 1");
  EXPECT_THAT(finding.timeline, HasSubstr("s  --- another replica takes over\n"));
  EXPECT_THAT(finding.timeline, HasSubstr("s  point resize volume default/main (3)\n"));
  EXPECT_THAT(finding.timeline, HasSubstr("s  --- the process that was overtaken makes the call of point "
                                          "resize volume default/main\n"));
}

struct FencedVolumes {
  std::map<std::string, int> sizes;  // by name
  std::uint64_t term = 0;            // the latest one

  void resize(const std::string& name, int size, std::uint64_t by) {
    if (by < term) throw std::runtime_error("a command of term " + std::to_string(by));
    term = by;
    sizes[name] = size;
  }
  bool operator==(const FencedVolumes& other) const { return sizes == other.sizes; }
};

TEST(ExplorePoint, FindsNothingIfTheOtherSystemRefusesFormerTerms) {
  const auto refused = std::make_shared<int>(0);
  const auto make = [refused](FencedVolumes& volumes) {
    return ControllerSpec(controller_for<Store>([&volumes, refused](Context& context, const Store& store) {
      if (store.spec.storage == store.status.storage) return;
      try {
        context.explore_point("resize volume", [&] {
          volumes.resize(store.metadata.name, store.spec.storage, context.term().value());
        });
      } catch (const std::runtime_error&) {
        ++*refused;
        throw;
      }
      record_size(context, store);
    }));
  };
  const Exploration result = explore<FencedVolumes>(make, create_and_grow, {.replicas = 2});
  EXPECT_TRUE(result.ok()) << result.describe();
  EXPECT_GT(*refused, 0);
}

// Its writes are not sent, unlike those of a process that goes on as the leader.
TEST(ExplorePoint, RefusesTheWritesOfAFormerLeader) {
  const auto without_stop = [](Context& context, const Store& store) {
    if (store.spec.storage == store.status.storage) return;
    context.explore_point("resize volume");
    const Client client = context.client().with({.stop = std::stop_token()});
    client.patch_status(context.find<Store>(main_store),
                        [&](StoreStatus& status) { status.storage = store.spec.storage; });
  };
  const auto make = [without_stop] { return ControllerSpec(controller_for<Store>(without_stop)); };
  const Exploration result =
      explore(make, create_and_grow, {.plans = {Plan{{overtake_at(resize)}}}, .replicas = 2});
  ASSERT_EQ(result.findings.size(), 1u) << result.describe();
  EXPECT_EQ(result.findings[0].problems[0].text,
            "a write was sent after leadership was lost: patch stores.test.evenkeel.dev/status default/main");
}

TEST(ExplorePoint, CrashesAlsoWithoutAStandIn) {
  const auto make = [] {
    return ControllerSpec(controller_for<Store>([](Context& context, const Store& store) {
                            if (store.status.initialized) return;
                            context.patch_status(store,
                                                 [](StoreStatus& status) { status.initialized = true; });
                            context.explore_point("format disk");
                            context.apply(data_map("main-data"));
                          }).owns<ConfigMap>());
  };
  const auto workload = [](Harness& cluster) {
    cluster.create({store()});
    cluster.settle();
  };
  const Plan plan{{crash_at({"point format disk default/main"})}};
  const Exploration result = explore(make, workload, {.plans = {plan}});
  ASSERT_EQ(result.findings.size(), 1u) << result.describe();
  EXPECT_EQ(result.findings[0].problems[0].kind, ProblemKind::creations);
  EXPECT_THAT(result.findings[0].timeline,
              HasSubstr("s  >>> crash at point format disk default/main, before its effect\n"));
}

// ---- A notification, as the last thing that a run does.

struct Mailbox {
  int letters = 0;
  bool operator==(const Mailbox&) const = default;
  std::string str() const { return std::to_string(letters) + " letters"; }
};

ControllerSpec notifying_controller(Mailbox& mailbox) {
  const auto told = std::make_shared<bool>(false);
  return controller_for<Store>([&mailbox, told](Context& context, const Store&) {
    if (*told) return;
    *told = true;
    context.explore_point("send letter");
    ++mailbox.letters;
  });
}

TEST(ExplorePoint, EndsTheProcessAfterAMarkAtTheEndOfItsRun) {
  const auto workload = [](Harness& cluster, Mailbox& mailbox) {
    ++mailbox.letters;
    cluster.create({store()});
    cluster.settle();
  };
  const Plan plan{{crash_past({"point send letter default/main"})}};
  const Exploration result = explore<Mailbox>(notifying_controller, workload, {.plans = {plan}});
  ASSERT_EQ(result.findings.size(), 1u) << result.describe();
  EXPECT_EQ(result.findings[0].problems[0].text,
            "outside differs at the end from the reference: 2 letters -> 3 letters");
}

struct Opaque {
  int value = 0;
  bool operator==(const Opaque&) const = default;
};

TEST(ExplorePoint, ReportsWhatItCannotPrint) {
  const auto make = [](Opaque& outside) {
    const auto known = std::make_shared<bool>(false);
    return ControllerSpec(controller_for<Store>([&outside, known](Context& context, const Store& store) {
      if (!*known) context.explore_point("count", [&] { ++outside.value; });
      *known = true;
      record_size(context, store);
    }));
  };
  const Plan plan{{crash_past({"point count default/main"})}};
  const Exploration result = explore<Opaque>(make, create_and_grow, {.plans = {plan}});
  ASSERT_EQ(result.findings.size(), 1u) << result.describe();
  EXPECT_EQ(result.findings[0].problems[0].text,
            "outside differs at the end from the reference: it is not equal");
}

// ---- The reference

TEST(ExplorePoint, ReportsAReferenceThatIsNotStableOutside) {
  const auto make = [](Volumes& volumes) {
    return ControllerSpec(controller_for<Store>([&volumes](Context& context, const Store&) {
      context.explore_point("resize volume", [&] { ++volumes.sizes["main"]; });
    }));
  };
  const auto workload = [](Harness& cluster) {
    cluster.create({store()});
    cluster.settle();
  };
  const Exploration result = explore<Volumes>(make, workload);
  ASSERT_EQ(result.reference.size(), 1u) << result.describe();
  EXPECT_EQ(result.reference[0].kind, ProblemKind::unstable);
  EXPECT_EQ(result.reference[0].text,
            "once settled, another run of each key changes outside: sizes.main: 1 -> 2");
}

TEST(ExplorePoint, ReportsAReferenceThatIsNotRepeatableOutside) {
  const auto calls = std::make_shared<int>(0);
  const auto make = [calls](Volumes& volumes) {
    return ControllerSpec(controller_for<Store>([&volumes, calls](Context& context, const Store& store) {
      if (store.status.storage == store.spec.storage) return;
      context.explore_point("resize volume", [&] { volumes.sizes["main"] = ++*calls; });
      record_size(context, store);
    }));
  };
  const Exploration result = explore<Volumes>(make, create_and_grow);
  ASSERT_EQ(result.reference.size(), 1u) << result.describe();
  EXPECT_EQ(result.reference[0].kind, ProblemKind::not_repeatable);
  EXPECT_EQ(result.reference[0].text, "two runs without any fault differ outside: sizes.main: 2 -> 4");
}

TEST(ExplorePoint, ReportsAStepWhosePointIsNotReached) {
  const Plan plan{{crash_at({"point paint volume default/main"})}};
  const Exploration result = explore<Volumes>(repaired_controller, create_and_grow, {.plans = {plan}});
  ASSERT_EQ(result.findings.size(), 1u);
  EXPECT_EQ(result.findings[0].problems[0].text,
            "this step never took effect: crash at point paint volume default/main, before its effect");
}

// ---- Elsewhere

TEST(ExplorePoint, IsACallOfItsEffectElsewhere) {
  int runs = 0;
  const auto reconcile = [&](Context& context, const Store&) {
    context.explore_point("nothing");
    int value = 1;
    int& same = context.explore_point("reference", [&]() -> int& { return value; });
    same = 2;
    EXPECT_EQ(value, 2);
    const auto owned = context.explore_point("owned", [] { return std::make_unique<int>(3); });
    EXPECT_EQ(*owned, 3);
    EXPECT_THROW(context.explore_point("broken", [] { throw std::runtime_error("no disk"); }),
                 std::runtime_error);
    ++runs;
  };
  run(reconcile, {store()});
  EXPECT_EQ(runs, 1);
}

TEST(ExplorePoint, ReturnsWhatItsEffectReturnsInAnExploration) {
  const auto make = [] {
    return ControllerSpec(controller_for<Store>([](Context& context, const Store& store) {
      if (store.status.storage == 7) return;
      int size = 0;
      int& same = context.explore_point("find volume", [&]() -> int& { return size; });
      same = context.explore_point("measure volume", [] { return 7; });
      EXPECT_THROW(context.explore_point("broken", [] { throw std::runtime_error("no disk"); }),
                   std::runtime_error);
      context.patch_status(store, [&](StoreStatus& status) { status.storage = size; });
    }));
  };
  const auto workload = [](Harness& cluster) {
    cluster.create({store()});
    cluster.settle();
    if (cluster.get<Store>(main_store)->status.storage != 7) throw std::logic_error("the size is lost");
  };
  const Exploration result = explore(make, workload, {.plans = {Plan{}}});
  EXPECT_TRUE(result.ok()) << result.describe();
}

}  // namespace explore_points
}  // namespace evenkeel::testing
