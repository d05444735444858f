// SPDX-License-Identifier: Apache-2.0
// An object that is deleted and created again is another object: no write that starts from the former one
// reaches it.
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/api/kinds/apps.hpp>
#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/client/resource_client.hpp>
#include <evenkeel/controller/builder.hpp>
#include <evenkeel/controller/helpers.hpp>
#include <evenkeel/controller/resource_context.hpp>
#include <evenkeel/testing/harness.hpp>
#include <evenkeel/testing/run.hpp>

namespace evenkeel {
namespace {
namespace object_identity_test {

using ::testing::ElementsAre;

struct TaskSpec {
  std::string image = {};
};
EVENKEEL_FIELDS(TaskSpec, image)
struct TaskStatus {
  std::optional<std::string> phase = {};
  std::vector<Condition> conditions = {};
};
EVENKEEL_FIELDS(TaskStatus, phase, conditions)
struct Task {
  static constexpr ResourceInfo resource{
      .group = "test.evenkeel.dev", .version = "v1", .kind = "Task", .plural = "tasks", .installs_crd = true};
  static constexpr bool complete = true;
  ObjectMeta metadata = {};
  TaskSpec spec = {};
  TaskStatus status = {};
};
EVENKEEL_FIELDS(Task, metadata, spec, status)

const ObjectKey a{"default", "a"};

Task task(const std::string& image) {
  return {.metadata = {.name = "a", .namespace_ = "default"}, .spec = {.image = image}};
}

/// Returns what a write ends with: "ok", "conflict" or another error.
std::string end_of(const std::function<void()>& write) {
  try {
    write();
    return "ok";
  } catch (const ApiError& error) {
    return error.is_conflict() && !error.is_invalid() ? "conflict" : error.what();
  }
}

/// The result of each write, which starts from an object that was deleted, and created again.
class ObjectIdentity : public ::testing::Test {
 protected:
  void replace() {
    harness.client().remove<Task>(a);
    harness.client().create(task("new"));
  }
  void expect_untouched() {
    const auto now = harness.get<Task>(a);
    EXPECT_EQ(now->spec.image, "new");
    EXPECT_EQ(now->status.phase, std::nullopt);
    EXPECT_TRUE(now->status.conditions.empty());
    EXPECT_TRUE(now->metadata.labels.empty());
  }

  testing::Harness harness;
};

TEST_F(ObjectIdentity, WritesOfAClientEndInAConflict) {
  harness.create({task("old")});
  const Client& client = harness.client();
  const auto old = client.get<Task>(a);
  const auto bare = Snapshot<Task>(*old);  // without the document that was read
  replace();
  Task changed = *old;
  changed.spec.image = "written";
  changed.status.phase = "Succeeded";
  Task only_uid = changed;
  only_uid.metadata.resource_version.clear();
  const auto image = [](Task& it) { it.spec.image = "written"; };
  const auto phase = [](TaskStatus& status) { status.phase = "Succeeded"; };
  const auto condition = [](TaskStatus& status) { status.conditions.push_back({.type = "Ready"}); };
  EXPECT_EQ(end_of([&] { client.patch(old, image); }), "conflict");
  EXPECT_EQ(end_of([&] { client.patch(bare, image); }), "conflict");
  EXPECT_EQ(end_of([&] { client.patch(old, [](Task& it) { it.metadata.labels["x"] = "y"; }); }), "conflict");
  EXPECT_EQ(end_of([&] { client.patch(old, [](Task& it) { add_finalizer(it.metadata, "x.dev/f"); }); }),
            "conflict");
  EXPECT_EQ(end_of([&] { client.patch_status(old, phase); }), "conflict");
  EXPECT_EQ(end_of([&] { client.patch_status(bare, phase); }), "conflict");
  EXPECT_EQ(end_of([&] { client.patch_status(bare, condition); }), "conflict");
  EXPECT_EQ(end_of([&] { client.apply(changed); }), "conflict");
  EXPECT_EQ(end_of([&] { client.apply(only_uid); }), "conflict");
  EXPECT_EQ(end_of([&] { client.apply_status(changed); }), "conflict");
  EXPECT_EQ(end_of([&] { client.apply_status(only_uid); }), "conflict");
  EXPECT_EQ(end_of([&] { client.update(changed); }), "conflict");
  EXPECT_EQ(end_of([&] { client.remove(changed); }), "conflict");
  expect_untouched();
}

TEST_F(ObjectIdentity, WritesWithoutATypeEndInAConflict) {
  harness.create({task("old")});
  const ResourceClient tasks = harness.client().resource(Task::resource);
  const auto old = tasks.get(a);
  replace();
  DynamicObject changed = *old;
  changed["status"]["phase"] = "Succeeded";
  const auto image = [](DynamicObject& it) { it["spec"]["image"] = "written"; };
  const auto phase = [](DynamicObject& it) { it["status"]["phase"] = "Succeeded"; };
  EXPECT_EQ(end_of([&] { tasks.patch(old, image); }), "conflict");
  EXPECT_EQ(end_of([&] { tasks.patch(old, phase, "status"); }), "conflict");
  EXPECT_EQ(end_of([&] { tasks.apply(changed, {}, "status"); }), "conflict");
  EXPECT_EQ(end_of([&] { tasks.update(changed); }), "conflict");
  EXPECT_EQ(end_of([&] { tasks.update(changed, "status"); }), "conflict");
  EXPECT_EQ(end_of([&] { tasks.remove(changed); }), "conflict");
  expect_untouched();
}

TEST_F(ObjectIdentity, AsynchronousWritesEndInAConflict) {
  harness.create({task("old")});
  const Client& client = harness.client();
  const auto old = client.get<Task>(a);
  replace();
  std::vector<std::string> ends;
  const auto done = [&](const auto& outcome) {
    ends.push_back(outcome.ok() ? "ok" : end_of([&] { std::rethrow_exception(outcome.error()); }));
  };
  client.start(calls::patch(old, [](Task& it) { it.spec.image = "written"; }), done);
  client.start(calls::patch_status(old, [](TaskStatus& status) { status.phase = "Succeeded"; }), done);
  client.start(calls::apply_status(*old), done);
  client.start(calls::remove(*old), done);
  harness.settle();
  EXPECT_THAT(ends, ElementsAre("conflict", "conflict", "conflict", "conflict"));
  expect_untouched();
}

TEST_F(ObjectIdentity, AScaleOfAReadObjectEndsInAConflict) {
  const auto make = [] {
    apps_v1::Deployment it;
    it.metadata = {.name = "a", .namespace_ = "default"};
    it.spec.selector = LabelSelector{.match_labels = {{"app", "a"}}};
    it.spec.template_.metadata.labels = {{"app", "a"}};
    it.spec.template_.spec.containers = {{.name = "a", .image = "a"}};
    return it;
  };
  const Client& client = harness.client();
  const auto old = client.create(make());
  const auto dynamic = client.resource(apps_v1::Deployment::resource).get(a);
  client.remove(*old);
  const auto now = client.create(make());
  EXPECT_EQ(client.scale(*now, 2).uid, now->metadata.uid);
  EXPECT_EQ(end_of([&] { client.scale(*old, 3); }), "conflict");
  EXPECT_EQ(end_of([&] { client.resource(apps_v1::Deployment::resource).scale(*dynamic, 3); }), "conflict");
  EXPECT_EQ(client.scale<apps_v1::Deployment>(a).replicas, 2);
}

// ---- In a reconcile

TEST_F(ObjectIdentity, WritesOfAReconcileEndInAConflictAndTheRunIsRepeated) {
  using Write = std::function<void(Context&, const Task&)>;
  const std::vector<Write> writes = {
      [](Context& context, const Task& it) { context.patch(it, [](Task& t) { t.spec.image = "written"; }); },
      [](Context& context, const Task& it) {
        context.patch_status(it, [](TaskStatus& status) { status.phase = "Succeeded"; });
      },
      [](Context& context, const Task& it) {
        set_condition(context, it, {.type = "Ready", .status = "True"});
      },
      [](Context& context, const Task&) {
        Task applied = task("written");
        context.apply(applied);
      },
      [](Context& context, const Task&) {
        Task applied = task("");
        applied.status.phase = "Succeeded";
        context.apply_status(applied);
      },
      [](Context& context, const Task& it) { context.remove(it); },
      [](Context& context, const Task&) { context.remove<Task>(a); },
  };
  for (std::size_t at = 0; at < writes.size(); ++at) {
    SCOPED_TRACE(at);
    testing::Harness one;
    int runs = 0;
    one.add(controller_for<Task>([&](Context& context, const Task& it) {
      if (++runs > 1) return;
      one.client().remove<Task>(a);
      one.client().create(task("new"));
      writes[at](context, it);
    }));
    one.create({task("old")});
    one.settle();
    EXPECT_EQ(one.runs().front().outcome.kind, OutcomeKind::conflict);
    EXPECT_GT(runs, 1);
    const auto now = one.find<Task>(a);
    ASSERT_TRUE(now);
    EXPECT_EQ(now->spec.image, "new");
    EXPECT_EQ(now->status.phase, std::nullopt);
    EXPECT_TRUE(now->status.conditions.empty());
  }
}

TEST_F(ObjectIdentity, AnAppliedReconciledObjectIsNotCreatedAgain) {
  harness.add(controller_for<Task>([&](Context& context, const Task&) {
    harness.client().remove<Task>(a);
    context.apply(task("written"));
  }));
  harness.create({task("old")});
  harness.settle();
  EXPECT_EQ(harness.runs().front().outcome.kind, OutcomeKind::conflict);
  EXPECT_FALSE(harness.find<Task>(a));
}

// The status of a custom resource is written although something else changes at the same time, as before.
TEST_F(ObjectIdentity, AStatusIsWrittenIntoTheSameObjectWhateverElseHasChanged) {
  harness.create({task("old")});
  const Client& client = harness.client();
  const auto read = client.get<Task>(a);
  client.patch(read, [](Task& it) { it.spec.image = "changed"; });
  const auto now = client.patch_status(read, [](TaskStatus& status) { status.phase = "Running"; });
  EXPECT_EQ(now->spec.image, "changed");
  EXPECT_EQ(now->status.phase, "Running");
  Task applied = *read;
  applied.status.phase = "Done";
  EXPECT_EQ(client.apply_status(applied)->status.phase, "Done");
  const auto dynamic = client.resource(Task::resource).get(a);
  client.patch(now, [](Task& it) { it.spec.image = "again"; });
  client.resource(Task::resource)
      .patch(
          dynamic, [](DynamicObject& it) { it["status"]["phase"] = "Idle"; }, "status");
  EXPECT_EQ(harness.get<Task>(a)->status.phase, "Idle");
  EXPECT_EQ(harness.get<Task>(a)->spec.image, "again");
}

}  // namespace object_identity_test
}  // namespace
}  // namespace evenkeel
