// SPDX-License-Identifier: Apache-2.0
// Operators that lose leadership in the middle of a reconcile.
#include <chrono>
#include <memory>
#include <set>
#include <stop_token>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/base/stop.hpp>
#include <evenkeel/election/elector.hpp>

#include "explore_store.hpp"

namespace evenkeel::testing {
namespace explore_leadership {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Moment data_apply{"apply configmaps default/main-data"};
const Moment status_write{"patch stores.test.evenkeel.dev/status default/main"};

void create_once(Harness& cluster) {
  cluster.create({store()});
  cluster.settle();
}

using Reconcile = Result (*)(Context&, const Store&);

ControllerSpec with_data(Reconcile reconcile) {
  return controller_for<Store>(reconcile).owns<ConfigMap>();
}

Client without_stop(const Context& context) {
  return context.client().with({.stop = std::stop_token()});
}

void write_phase(const Client& client, Context& context, const std::string& phase) {
  client.patch_status(context.find<Store>(main_store), [&](StoreStatus& status) { status.phase = phase; });
}

Result apply_data(Context& context, const Store&) {
  context.apply(data_map("main-data"));
  write_phase(context.client(), context, "Ready");
  return done();
}

// ---- A failure is recorded at any price, also by a replica that is not the leader any more.

Result record_at_any_price(Context& context, const Store&) {
  try {
    context.apply(data_map("main-data"));
  } catch (const Error&) {
    write_phase(without_stop(context), context, "Failed");
    throw;
  }
  write_phase(context.client(), context, "Ready");
  return done();
}

TEST(ExploreLeadership, FindsWritesAfterTheStop) {
  const Exploration result = explore([] { return with_data(record_at_any_price); }, create_once);
  ASSERT_EQ(result.findings.size(), 1u) << result.describe();
  const Finding& finding = result.findings[0];
  EXPECT_EQ(finding.plan, (Plan{{lose_leadership_before(data_apply)}})) << result.describe();
  ASSERT_EQ(finding.problems.size(), 1u) << result.describe();
  EXPECT_EQ(finding.problems[0].kind, ProblemKind::not_leader);
  EXPECT_EQ(finding.problems[0].text,
            "a write was sent after leadership was lost: patch stores.test.evenkeel.dev/status default/main");
  EXPECT_THAT(finding.timeline,
              HasSubstr("s  >>> lose leadership right before apply configmaps default/main-data\n"));
  EXPECT_THAT(finding.timeline, HasSubstr("s  patch stores.test.evenkeel.dev/status default/main: refused, "
                                          "as leadership was lost\n"));
  EXPECT_THAT(finding.timeline, HasSubstr("s  --- another replica takes over\n"));
}

// The runtime refuses them: nothing is sent.
Result record_with_its_stop_token(Context& context, const Store&) {
  try {
    context.apply(data_map("main-data"));
  } catch (const Error&) {
    write_phase(context.client(), context, "Failed");
    throw;
  }
  write_phase(context.client(), context, "Ready");
  return done();
}

TEST(ExploreLeadership, AcceptsWritesThatTheRuntimeRefuses) {
  const Exploration result = explore([] { return with_data(record_with_its_stop_token); }, create_once);
  EXPECT_TRUE(result.ok()) << result.describe();
}

// ---- A last write, after the one at which leadership was lost.

Result go_on(Context& context, const Store&) {
  context.apply(data_map("main-data"));
  write_phase(without_stop(context), context, "Ready");
  return done();
}

TEST(ExploreLeadership, FindsAReconcilerThatGoesOn) {
  const Exploration result = explore([] { return with_data(go_on); }, create_once,
                                     {.plans = {Plan{{lose_leadership_after(data_apply)}}}});
  ASSERT_EQ(result.findings.size(), 1u) << result.describe();
  EXPECT_EQ(result.findings[0].problems[0].text,
            "a write was sent after leadership was lost: patch stores.test.evenkeel.dev/status default/main");
  // A write at which leadership is lost was not sent after it.
  const Exploration before = explore([] { return with_data(go_on); }, create_once,
                                     {.plans = {Plan{{lose_leadership_before(status_write)}}}});
  EXPECT_TRUE(before.ok()) << before.describe();
}

// ---- A reconciler learns of the loss as in a manager.

template <class Error, class Call>
bool throws(Call call) {
  try {
    call();
    return false;
  } catch (const Error&) {
    return true;
  }
}

TEST(ExploreLeadership, StopsARunAsAManagerDoes) {
  const auto seen = std::make_shared<std::set<std::string>>();
  const auto make = [seen] {
    return ControllerSpec(controller_for<Store>([seen](Context& context, const Store&) {
                            context.apply(data_map("main-data"));
                            if (!context.stop().stop_requested()) return;
                            seen->insert("stop requested");
                            if (throws<Cancelled>([&] { context.check(); })) seen->insert("checked");
                            if (throws<NotLeader>([&] { context.apply(data_map("more-data")); }))
                              seen->insert("write refused");
                            if (throws<Cancelled>([&] { context.client().find<Secret>(main_store); }))
                              seen->insert("read cancelled");
                            if (context.find<Store>(main_store)) seen->insert("cache read");
                          }).owns<ConfigMap>());
  };
  const Exploration result =
      explore(make, create_once, {.plans = {Plan{{lose_leadership_after(data_apply)}}}});
  EXPECT_TRUE(result.ok()) << result.describe();
  EXPECT_THAT(*seen,
              ElementsAre("cache read", "checked", "read cancelled", "stop requested", "write refused"));
}

// A manager waits for a cancelled run for five seconds, and the process ends.
Result sleep_and_go_on(Context& context, const Store& store) {
  if (store.status.phase == "Ready") return done();
  context.apply(data_map("main-data"));
  sleep_until(context.clock(), context.clock().now() + std::chrono::minutes{1}, std::stop_token());
  write_phase(without_stop(context), context, "Ready");
  return done();
}

TEST(ExploreLeadership, EndsARunThatDoesNotEnd) {
  const Exploration result = explore([] { return with_data(sleep_and_go_on); }, create_once,
                                     {.plans = {Plan{{lose_leadership_after(data_apply)}}}});
  EXPECT_TRUE(result.ok()) << result.describe();
}

// ---- Enumeration

TEST(ExploreLeadership, IsTriedInControllersOfTheLeader) {
  const Exploration leader = explore([] { return with_data(apply_data); }, create_once);
  EXPECT_TRUE(leader.ok()) << leader.describe();
  const auto make = [] {
    ControllerSpec spec = with_data(apply_data);
    spec.options.runs_on = RunsOn::every_instance;
    return spec;
  };
  const Exploration everywhere = explore(make, create_once);
  EXPECT_TRUE(everywhere.ok()) << everywhere.describe();
  // Before the apply, before the status, and after it.
  EXPECT_EQ(leader.plans_run, everywhere.plans_run + 3);
}

}  // namespace explore_leadership
}  // namespace evenkeel::testing
