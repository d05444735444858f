// SPDX-License-Identifier: Apache-2.0
// A status that equals its defaults is written all the same: other programs wait for it.
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/controller/builder.hpp>
#include <evenkeel/controller/helpers.hpp>
#include <evenkeel/testing/harness.hpp>
#include <evenkeel/testing/run.hpp>

namespace evenkeel {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

enum class Phase { pending, running };
EVENKEEL_ENUM(Phase, pending, running)

struct Disk {
  int used = 0;
  std::optional<int> limit;
};
EVENKEEL_FIELDS(Disk, used, limit)

struct BoxStatus {
  Phase phase = Phase::pending;
  int ready_replicas = 0;
  bool paused = false;
  std::string image;
  std::optional<int> observed;
  Disk disk;
  std::optional<Disk> cache_disk;
  std::vector<Disk> disks;
  std::map<std::string, std::string> notes;
  std::vector<Condition> conditions;
};
EVENKEEL_FIELDS(BoxStatus, phase, ready_replicas, paused, image, observed, disk, cache_disk, disks, notes,
                conditions)

struct BoxSpec {
  int replicas = 1;
};
EVENKEEL_FIELDS(BoxSpec, replicas)

struct Box {
  static constexpr ResourceInfo resource{
      .group = "test.evenkeel.dev", .version = "v1", .kind = "Box", .plural = "boxes"};
  ObjectMeta metadata;
  BoxSpec spec = {};
  BoxStatus status = {};
};
EVENKEEL_FIELDS(Box, metadata, spec, status)

const ObjectKey web{"default", "web"};
constexpr const char* plain_members =
    R"({"disk":{"used":0},"image":"","paused":false,"phase":"Pending","readyReplicas":0})";

Box box() {
  return {.metadata = {.name = "web", .namespace_ = "default"}};
}

std::string status_of(const testing::Harness& harness) {
  return Json::parse(harness.get<Box>(web).raw())["status"].dump();
}

/// Returns the patches, without the identity of the object.
std::vector<std::string> bodies(const testing::Harness& harness) {
  std::vector<std::string> sent;
  for (const testing::Write& write : harness.writes()) {
    Json body = write.sent;
    body.erase("metadata");
    sent.push_back(body.dump());
  }
  return sent;
}

TEST(FirstStatus, AtItsDefaultsIsWrittenOnce) {
  testing::Harness harness = testing::run<Box>(
      [](Context& context, const Box& box) {
        context.patch_status(box, [](BoxStatus& status) {
          status.phase = Phase::pending;
          status.ready_replicas = 0;
        });
      },
      {box()});
  EXPECT_EQ(status_of(harness), plain_members) << harness.str();
  EXPECT_THAT(bodies(harness), ElementsAre(std::string(R"({"status":)") + plain_members + "}"))
      << "the run that its own write causes sends nothing";
  EXPECT_THAT(harness.runs(), SizeIs(2));
  harness.enqueue(web);
  harness.settle();
  EXPECT_THAT(harness.writes(), SizeIs(1));
}

TEST(FirstStatus, IsWrittenByAnEditThatChangesNothing) {
  const testing::Harness harness = testing::run<Box>(
      [](Context& context, const Box& box) { context.patch_status(box, [](BoxStatus&) {}); }, {box()});
  EXPECT_EQ(status_of(harness), plain_members) << harness.str();
  EXPECT_THAT(harness.writes(), SizeIs(1));
}

TEST(FirstStatus, SendsOptionalsAndContainersOnlyWhenTheyAreSet) {
  const testing::Harness harness = testing::run<Box>(
      [](Context& context, const Box& box) {
        context.patch_status(box, [](BoxStatus& status) {
          status.observed = 0;
          status.cache_disk = Disk{};
          status.disks = {Disk{}};
          status.notes = {{"a", ""}};
        });
      },
      {box()});
  EXPECT_EQ(status_of(harness),
            R"({"cacheDisk":{"used":0},"disk":{"used":0},"disks":[{"used":0}],"image":"","notes":{"a":""},)"
            R"("observed":0,"paused":false,"phase":"Pending","readyReplicas":0})")
      << harness.str();
  EXPECT_THAT(harness.writes(), SizeIs(1));
}

TEST(FirstStatus, OfTwoEditsInOneRunTheSecondSendsItsDifferenceOnly) {
  const testing::Harness harness = testing::run_once<Box>(
      [](Context& context, const Box& box) {
        context.patch_status(box, [](BoxStatus& status) { status.phase = Phase::running; });
        context.patch_status(box, [](BoxStatus& status) { status.disk.limit = 0; });
        context.patch_status(box, [](BoxStatus& status) { status.disk.limit.reset(); });
      },
      {box()});
  EXPECT_THAT(
      bodies(harness),
      ElementsAre(
          R"({"status":{"disk":{"used":0},"image":"","paused":false,"phase":"Running","readyReplicas":0}})",
          R"({"status":{"disk":{"limit":0}}})", R"({"status":{"disk":{"limit":null}}})"));
}

TEST(FirstStatus, OfASetConditionHasThePlainMembersToo) {
  const testing::Harness harness = testing::run<Box>(
      [](Context& context, const Box& box) {
        set_condition(context, box, {.type = "Ready", .status = "True", .reason = "AllGood", .message = ""});
      },
      {box()});
  const Json status = Json::parse(harness.get<Box>(web).raw())["status"];
  EXPECT_EQ(status["phase"].string_or(""), "Pending") << harness.str();
  EXPECT_THAT(status["conditions"].as_array(), SizeIs(1));
  EXPECT_THAT(harness.writes(), SizeIs(1)) << "the same condition again is no write";
}

// Members added by a later version of the operator, next to members that others wrote.
TEST(FirstStatus, AddsMembersThatTheServerLacksAndLeavesTheRest) {
  testing::Harness harness;
  harness.add(controller_for<Box>(
      [](Context& context, const Box& box) { context.patch_status(box, [](BoxStatus&) {}); }));
  harness.create({R"(
apiVersion: test.evenkeel.dev/v1
kind: Box
metadata: {name: web, namespace: default}
status: {phase: Running, disk: {limit: 5}, disks: [{used: 1}]}
)"});
  harness.settle();
  EXPECT_THAT(bodies(harness),
              ElementsAre(R"({"status":{"disk":{"used":0},"image":"","paused":false,"readyReplicas":0}})"))
      << "items of lists are left as they are";
}

// A reconciler that writes its first status and then fails is not run by that write: it is in back-off.
TEST(FirstStatus, IsNoReasonToRunAKeyThatIsInBackOff) {
  int runs = 0;
  const testing::Harness harness = testing::run<Box>(
      [&runs](Context& context, const Box& box) {
        context.patch_status(box, [](BoxStatus&) {});
        if (++runs < 4) throw std::runtime_error("not yet");
      },
      {box()}, {.harness = {.expect_failures = true}});
  ASSERT_THAT(harness.runs(), SizeIs(4)) << harness.str();
  EXPECT_EQ(harness.last().at, std::chrono::milliseconds{35});
  EXPECT_THAT(harness.writes(), SizeIs(1));
}

TEST(FirstStatus, WithoutASubresourceOfItsOwnIsNotTouchedByPatch) {
  const testing::Harness harness =
      testing::run<Box>([](Context& context, const Box& box) { context.patch(box, [](Box&) {}); }, {box()});
  EXPECT_THAT(harness.writes(), ::testing::IsEmpty()) << "patch() sends what an edit changes";
}

// All members of Kubernetes kinds are optional: only those that were set are claimed.
TEST(FirstStatus, OfABuiltInKindHasOnlyWhatIsSet) {
  const testing::Harness harness = testing::run_once<Namespace>(
      [](Context& context, const Namespace& found) {
        context.patch_status(found, [](core_v1::NamespaceStatus&) {});
      },
      {"{apiVersion: v1, kind: Namespace, metadata: {name: team}}"});
  EXPECT_THAT(harness.writes(), ::testing::IsEmpty()) << harness.str();
}

}  // namespace
}  // namespace evenkeel
