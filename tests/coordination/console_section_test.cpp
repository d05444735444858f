// SPDX-License-Identifier: Apache-2.0
// The thread behind a section of the console: when it reads the store, and what it does while that is away.
#include <chrono>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include <evenkeel/base/clock.hpp>
#include <evenkeel/coordination/console_section.hpp>
#include <evenkeel/coordination/deny_list.hpp>
#include <evenkeel/coordination/memory_store.hpp>
#include <evenkeel/testing/faulty_store.hpp>

#include "../support/await.hpp"
#include "../support/hanging_store.hpp"

namespace evenkeel::coordination::console_section_tests {
namespace {

using namespace std::chrono_literals;
using tests::await;

const Layout layout("/db");

struct World {
  std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>();
  testing::FaultyStore store{std::make_shared<MemoryStore>()};
  std::function<Json()> section = console_section(store, layout, {.most_bytes = 1000, .clock = clock});

  Json shown(const std::string& fact) { return section()[0]["content"][fact]; }
  void read() {
    await("a read", [this] { return shown("read") == Json("0s ago"); });
  }
};

TEST(ConsoleSectionConcurrency, ReadsTheStoreOnlyWhileSomebodyLooks) {
  World world;
  EXPECT_EQ(world.store.counts().snapshots, 0U);
  world.read();
  for (int i = 0; i < 1000; ++i) world.section();
  world.clock->advance(4999ms);
  EXPECT_EQ(world.shown("read"), Json("4s ago"));
  EXPECT_EQ(world.store.counts().snapshots, 1U);
  world.clock->advance(1h);
  EXPECT_EQ(world.store.counts().snapshots, 1U) << "nobody looked";
  EXPECT_EQ(world.shown("read"), Json("1h0m4s ago")) << "it does not wait for the read that it begins";
  world.read();
  EXPECT_EQ(world.store.counts().snapshots, 2U);
}

TEST(ConsoleSectionConcurrency, ShowsTheProblemAndTheAgeWhileTheStoreIsAway) {
  World world;
  DenyList(world.store, layout, "coordctl", {.delay = {}, .clock = world.clock}).apply({{"dc3"}}, "drill");
  world.read();
  world.store.set_cut(true);
  world.clock->advance(7s);
  await("a problem", [&] { return world.shown("problem") == Json("injected: cut off"); });
  EXPECT_EQ(world.shown("read"), Json("7s ago"));
  EXPECT_EQ(world.section()[5]["content"]["rows"].dump(), R"([["dc3","coordctl","0s ago","drill"]])");
  world.store.set_cut(false);
  world.clock->advance(5s);
  world.read();
  EXPECT_TRUE(world.shown("problem").is_null());
}

TEST(ConsoleSectionConcurrency, ShowsThatTheStoreHasTooMuch) {
  World world;
  world.store.commit({.puts = {{"/db/instances/dc1", std::string(1000, 'x')}}});
  await("a problem", [&] { return !world.shown("problem").is_null(); });
  EXPECT_EQ(world.shown("problem"),
            Json("the store has more than 1000 bytes of keys and values, which is too "
                 "much for a section of the console"));
  EXPECT_EQ(world.shown("read"), Json("not yet"));
}

TEST(ConsoleSectionConcurrency, NeitherWaitsForAStoreThatHangsNorReadsItTwice) {
  const auto clock = std::make_shared<ManualClock>();
  tests::HangingStore store;
  {
    const std::function<Json()> section = console_section(store, layout, {.clock = clock});
    section();
    await("the read", [&] { return store.begun == 1; });
    clock->advance(1h);
    for (int i = 0; i < 1000; ++i) section();
    EXPECT_EQ(section().dump(),
              R"([{"content":{"keys below":"/db","problem":"the store has not answered for 1h0m0s",)"
              R"("read":"not yet","store":"hanging"},"title":"Store"}])");
    EXPECT_EQ(store.begun, 1);
    EXPECT_EQ(store.cancelled, 0);
  }
  EXPECT_EQ(store.cancelled, 1) << "the end of the section ends the read";
  EXPECT_EQ(store.begun, 1);
}

std::string refused(const ConsoleSectionOptions& options) {
  MemoryStore store;
  try {
    console_section(store, layout, options);
  } catch (const std::invalid_argument& wrong) {
    return wrong.what();
  }
  return "accepted";
}

TEST(ConsoleSection, RefusesBadOptions) {
  EXPECT_EQ(refused({.interval = Duration::zero()}), "ConsoleSectionOptions: interval must be positive");
  EXPECT_EQ(refused({.most_bytes = 0}), "ConsoleSectionOptions: most_bytes must be positive");
  EXPECT_EQ(refused({}), "accepted");
}

}  // namespace
}  // namespace evenkeel::coordination::console_section_tests
