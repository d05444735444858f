// SPDX-License-Identifier: Apache-2.0
// Conversions in the harness: the server calls them in virtual time.
#include <chrono>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/controller/builder.hpp>
#include <evenkeel/testing/harness.hpp>

namespace evenkeel::testing {
namespace harness_conversions {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

struct OldSpec {
  int size = 1;
};
EVENKEEL_FIELDS(OldSpec, size)
struct OldBarge {
  static constexpr ResourceInfo resource{.group = "test.evenkeel.dev",
                                         .version = "v1",
                                         .kind = "Barge",
                                         .plural = "barges",
                                         .installs_crd = true};
  static constexpr CrdVersion crd_version{.storage = false};
  ObjectMeta metadata;
  OldSpec spec;
};
EVENKEEL_FIELDS(OldBarge, metadata, spec)

struct BargeSpec {
  int replicas = 1;
};
EVENKEEL_FIELDS(BargeSpec, replicas)
struct Barge {
  static constexpr ResourceInfo resource{.group = "test.evenkeel.dev",
                                         .version = "v2",
                                         .kind = "Barge",
                                         .plural = "barges",
                                         .installs_crd = true};
  ObjectMeta metadata;
  BargeSpec spec;
};
EVENKEEL_FIELDS(Barge, metadata, spec)

struct Uninstalled {
  static constexpr ResourceInfo resource{
      .group = "test.evenkeel.dev", .version = "v2", .kind = "Barge", .plural = "barges"};
  ObjectMeta metadata;
  BargeSpec spec;
};
EVENKEEL_FIELDS(Uninstalled, metadata, spec)

const ObjectKey a{"default", "a"};

template <class Hub>
Conversion barges() {
  return conversion_through<Hub>().template converts<OldBarge>(
      [](const OldBarge& from, Hub& to) {
        if (from.spec.size > 100) throw Error("no barge is that large");
        to.spec.replicas = from.spec.size;
      },
      [](const Hub& from, OldBarge& to) { to.spec.size = from.spec.replicas; });
}

OldBarge old_barge(int size) {
  return {.metadata = {.name = "a", .namespace_ = "default"}, .spec = {.size = size}};
}

// Keeps a config map with the size of a barge, which it reads in the version of `T`.
template <class T>
ControllerSpec controller() {
  return controller_for<T>([](Context& context, const T& barge) {
    std::string size;
    if constexpr (std::is_same_v<T, Barge>) {
      size = std::to_string(barge.spec.replicas);
    } else {
      size = std::to_string(barge.spec.size);
    }
    context.apply(ConfigMap{.metadata = {.name = barge.metadata.name}, .data = {{"size", size}}});
    return done();
  });
}

TEST(HarnessConversions, ShowControllersTheVersionThatTheyReconcile) {
  Harness harness({.conversions = {barges<Barge>()}});
  harness.add(controller<Barge>());
  harness.create({old_barge(3)});
  harness.settle();
  EXPECT_EQ(harness.get<ConfigMap>(a)->data.at("size"), "3");
  EXPECT_EQ(harness.get<Barge>(a)->spec.replicas, 3);
  EXPECT_EQ(harness.get<OldBarge>(a)->spec.size, 3);
}

TEST(HarnessConversions, ConvertTheEventsOfAControllerOfTheOldVersion) {
  Harness harness({.conversions = {barges<Barge>()}});
  harness.add(controller<OldBarge>());
  harness.create({Barge{.metadata = {.name = "a", .namespace_ = "default"}, .spec = {.replicas = 4}}});
  harness.settle();
  EXPECT_EQ(harness.get<ConfigMap>(a)->data.at("size"), "4");
  harness.edit<Barge>(a, [](Barge& barge) { barge.spec.replicas = 5; });
  harness.settle();
  EXPECT_EQ(harness.get<ConfigMap>(a)->data.at("size"), "5");
}

TEST(HarnessConversions, FailWithTheWordsOfARealServer) {
  Harness harness({.conversions = {barges<Barge>()}});
  harness.add(controller<Barge>());
  std::string message;
  try {
    harness.create({old_barge(101)});
  } catch (const ApiError& error) {
    message = error.status().message;
  }
  EXPECT_EQ(message,
            "conversion webhook for test.evenkeel.dev/v1, Kind=Barge failed: Barge default/a: "
            "test.evenkeel.dev/v1 to test.evenkeel.dev/v2: no barge is that large");
}

TEST(HarnessConversions, MakeEqualRunsWithEqualSeeds) {
  const auto story = [] {
    Harness harness({.conversions = {barges<Barge>()}});
    harness.add(controller<OldBarge>());
    harness.create({old_barge(3)});
    harness.settle();
    return harness.str();
  };
  EXPECT_EQ(story(), story());
}

TEST(HarnessConversions, NeedTheDefinitionsOfAllVersions) {
  try {
    Harness harness({.conversions = {barges<Uninstalled>()}});
    FAIL() << "no exception";
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(),
                 "HarnessOptions::conversions: Barge (test.evenkeel.dev/v2) has no definition: set "
                 "ResourceInfo::installs_crd");
  }
}

}  // namespace harness_conversions
}  // namespace evenkeel::testing
